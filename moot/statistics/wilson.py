"""Shares, and differences of shares, after a number of trials that was fixed before the first one.

Looked at again and again while trials come in, these miss the truth far more often than they say: `shares` does not.

Source: Wilson, 1927; Newcombe, 1998, "Interval estimation for the difference between independent proportions" (his
method 10).
"""

from __future__ import annotations

import math
from statistics import NormalDist

from moot.statistics.shares import Interval


def wilson_interval(count: int, trials: int, alpha: float) -> Interval:
    """Bound a share, but for `alpha`, at one time that was chosen beforehand; [0, 1] without trials.

    Args:
        count: In how many of `trials` it was seen.
    """
    if not trials:
        return Interval(0.0, 1.0)
    z = NormalDist().inv_cdf(1.0 - alpha / 2.0)
    share = count / trials
    middle = share + z * z / (2 * trials)
    half = z * math.sqrt(share * (1.0 - share) / trials + z * z / (4 * trials * trials))
    whole = 1.0 + z * z / trials
    low = 0.0 if count == 0 else (middle - half) / whole
    high = 1.0 if count == trials else (middle + half) / whole
    return Interval(low, high)


def difference_interval(
    count: int, trials: int, other_count: int, other_trials: int, alpha: float
) -> Interval:
    """Bound by how much the share of other trials exceeds that of some, but for `alpha`; in [-1, 1].

    Args:
        count: In how many of `trials` it was seen.
        other_count: In how many of `other_trials`.
    """
    low, high = wilson_interval(count, trials, alpha)
    other_low, other_high = wilson_interval(other_count, other_trials, alpha)
    share = count / trials if trials else 0.5
    other = other_count / other_trials if other_trials else 0.5
    difference = other - share
    return Interval(
        difference - math.hypot(other - other_low, high - share),
        difference + math.hypot(other_high - other, share - low),
    )
