"""How large a share is, by an interval that holds at all times together, so that one may stop whenever one likes.

Were p the true share, then the likelihood of what was seen under a share drawn uniformly from [0, 1], divided by that
under p, would be a martingale that starts at 1. It ever reaches c with a chance of at most 1/c (Ville's inequality), so
the shares for which it never did hold the true one but for an error of 1/c, over all times together.

Source: Ville, 1939; Robbins, 1970, "Statistical methods related to the law of the iterated logarithm"; Waudby-Smith and
Ramdas, 2020, "Confidence sequences for sampling without replacement" (the ratio of prior to posterior).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

DECIMALS: Final = 6
"""Bounds are rounded outwards to so many."""

_HALVINGS: Final = 60


class Interval(NamedTuple):
    """From where to where."""

    low: float
    high: float


def share_intervals(counts: Sequence[int], alpha: float) -> tuple[Interval, ...]:
    """Bound the share of each outcome, all of them at all times together but for `alpha`.

    Each takes its part of `alpha` (Bonferroni), so nothing is assumed on how they hang together.

    Args:
        counts: How often each was seen, every possible outcome among them, also one never seen.

    Raises:
        ValueError: A count is negative, or alpha not in (0, 1).
    """
    trials = sum(counts)
    return tuple(share_interval(count, trials, alpha / len(counts)) for count in counts)


def share_interval(count: int, trials: int, alpha: float) -> Interval:
    """Bound one share, at all times together but for `alpha`.

    Args:
        count: In how many of `trials` it was seen.

    Raises:
        ValueError: count is not in [0, trials], or alpha not in (0, 1).
    """
    needed = _needed(alpha)
    scale = 10.0**DECIMALS
    low = math.floor(_lower(count, trials, needed) * scale) / scale
    high = math.ceil((1.0 - _lower(trials - count, trials, needed)) * scale) / scale
    return Interval(max(0.0, low), min(1.0, high))


def log_evidence(count: int, trials: int, share: float) -> float:
    """Measure how much speaks against a share: the natural logarithm of the martingale; 0 without trials.

    Args:
        count: In how many of `trials` it was seen.
        share: The share in question, in [0, 1].

    Raises:
        ValueError: count is not in [0, trials].
    """
    other = trials - count
    if count < 0 or other < 0:
        raise ValueError(f"{count} of {trials} trials is no count")
    if (count and share <= 0.0) or (other and share >= 1.0):
        return math.inf
    likelihood = (count * math.log(share) if count else 0.0) + (other * math.log1p(-share) if other else 0.0)
    return math.lgamma(count + 1) + math.lgamma(other + 1) - math.lgamma(trials + 2) - likelihood


def _lower(count: int, trials: int, needed: float) -> float:
    """Find where, below the share that was seen, as much speaks against a share as is needed."""
    if log_evidence(count, trials, 0.0) < needed:
        return 0.0
    outside, inside = 0.0, count / trials
    for _ in range(_HALVINGS):
        middle = (outside + inside) / 2.0
        if log_evidence(count, trials, middle) >= needed:
            outside = middle
        else:
            inside = middle
    return outside


def _needed(alpha: float) -> float:
    if not 0.0 < alpha < 1.0:
        raise ValueError(f"an alpha of {alpha} is no rate of error: it lies between 0 and 1")
    return -math.log(alpha)
