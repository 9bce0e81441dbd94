"""Whether stated confidences come true.

Source: Brier, 1950; Murphy and Winkler, 1977, on reliability diagrams.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from moot.statistics.permutation import Floats
from moot.statistics.shares import Interval
from moot.statistics.wilson import wilson_interval

BINS: Final = 10


class Bin(NamedTuple):
    """Statements of about the same confidence.

    Attributes:
        stated: Their mean confidence.
        came_true: The share of them that came true.
        interval: Bounds of that share.
        statements: How many they are.
    """

    stated: float
    came_true: float
    interval: Interval
    statements: int


def brier(stated: Floats, came_true: NDArray[np.bool_]) -> Floats:
    """Return each statement's squared error, in [0, 1]: 0 for the truth, 0.25 for a confidence of a half.

    Args:
        stated: How sure each was, in [0, 1].
        came_true: Whether it was right to be.
    """
    squares: Floats = (stated - came_true) ** 2
    return squares


def reliability(stated: Floats, came_true: NDArray[np.bool_], alpha: float = 0.05) -> tuple[Bin, ...]:
    """Return, from low to high confidence, how often it came true; bins without a statement are left out."""
    places = np.minimum((stated * BINS).astype(np.intp), BINS - 1)
    found = []
    for place in np.unique(places):
        those = places == place
        count, right = int(those.sum()), int(came_true[those].sum())
        found.append(
            Bin(float(stated[those].mean()), right / count, wilson_interval(right, count, alpha), count)
        )
    return tuple(found)
