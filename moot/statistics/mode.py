"""Which outcome is the most frequent one, decided as soon as enough was seen and not before.

The outcome in the lead meets every other one by itself, on the trials that gave one of the two. Were both equally
frequent, each such trial would be the toss of a fair coin, and `shares.log_evidence` against 1/2 a martingale. It must
reach (outcomes - 1) / alpha against all others.

Why that errs with a chance of at most alpha, over all times and outcomes together: let m be a most frequent outcome.
Another one can be called the only mode, or m itself while it shares its place, only if the coin of m and some other
outcome is ever called unfair in favour of one that is not the more frequent one. There are outcomes - 1 such coins. A
fair one is called unfair, in either direction, with a chance of at most alpha / (outcomes - 1), by Ville's inequality;
one that favours m is called unfair in favour of the other even more rarely, for any row of tosses that does so still
does when fewer of them favour m.

Source: Ville, 1939; Jain et al., 2022, "PAC mode estimation using PPR martingale confidence sequences" (one against
one).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from moot.statistics.shares import log_evidence


def certified_mode(counts: Sequence[int], alpha: float) -> int | None:
    """Say which outcome is more frequent than every other one, or None while that is not settled.

    However often and whenever it is asked, it names one that is not with a chance of at most `alpha`; a shared first
    place counts as an error, too.

    Args:
        counts: How often each was seen, every possible outcome among them, also one never seen.

    Returns:
        Its place in `counts`.

    Raises:
        ValueError: There is only one outcome, a count is negative, or alpha is not in (0, 1).
    """
    if len(counts) < 2 or not 0.0 < alpha < 1.0:
        raise ValueError(f"{len(counts)} outcomes and an alpha of {alpha}: 2 are needed, and alpha in (0, 1)")
    lead = max(range(len(counts)), key=counts.__getitem__)
    needed = math.log((len(counts) - 1) / alpha)
    others = (count for place, count in enumerate(counts) if place != lead)
    is_ahead = all(log_evidence(one, one + counts[lead], 0.5) >= needed for one in others)
    return lead if is_ahead else None
