"""Whether the means of two groups differ: by permutation, and by how much, by a bootstrap of their members."""

from __future__ import annotations

from typing import Final

import numpy as np

from moot.statistics.permutation import Floats, Groups, Tested, judged, shuffles
from moot.statistics.shares import Interval

_AT_ONCE: Final = 2_000_000
"""How many draws a bootstrap makes at once: it bounds the memory that takes."""


def compare_means(values: Floats, groups: Groups, permutations: int, chance: np.random.Generator) -> Tested:
    """Test whether the means of two groups are equal, were all else equal.

    Args:
        values: Of each member, shape (members,), the first group's before the second's.

    Returns:
        The statistic is how far the means lie apart, in the unit of the values.

    Raises:
        ValueError: A group is empty.
    """
    if not groups.first or not groups.second:
        raise ValueError("a group is empty")
    # About their middle, so that little is lost when large values are added up.
    centred = values - values.mean()
    total = centred.sum()
    found: list[Floats] = []
    for block in shuffles(groups, permutations, chance):
        first = centred @ block
        found.append(np.abs(first / groups.first - (total - first) / groups.second))
    return judged(np.concatenate(found))


def mean_difference_interval(
    values: Floats, groups: Groups, alpha: float, resamples: int, chance: np.random.Generator
) -> Interval:
    """Bound by how much the mean of the second group exceeds that of the first one, but for about `alpha`.

    Percentiles of means of resampled members; pairs are drawn as pairs.

    Args:
        values: Of each member, shape (members,), the first group's before the second's.

    Source: Efron, 1979; good for tens of members and more.
    """
    first, second = values[: groups.first], values[groups.first :]
    if groups.pairs is not None and len(groups.pairs) == groups.first == groups.second:
        means = _resampled(values[groups.pairs[:, 1]] - values[groups.pairs[:, 0]], resamples, chance)
    else:
        means = _resampled(second, resamples, chance) - _resampled(first, resamples, chance)
    low, high = np.quantile(means, (alpha / 2.0, 1.0 - alpha / 2.0))
    return Interval(float(low), float(high))


def _resampled(values: Floats, resamples: int, chance: np.random.Generator) -> Floats:
    rows = max(1, _AT_ONCE // len(values))
    return np.concatenate(
        [
            values[chance.integers(len(values), size=(min(rows, resamples - at), len(values)))].mean(axis=1)
            for at in range(0, resamples, rows)
        ]
    )
