"""Whether two groups fall into categories differently: total variation distance, by permutation."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from moot.statistics.permutation import Floats, Groups, Tested, judged, shuffles


def compare_categories(
    codes: NDArray[np.intp], groups: Groups, permutations: int, chance: np.random.Generator
) -> Tested:
    """Test whether two groups fall into categories alike.

    Args:
        codes: The category of each member, from 0, shape (members,), the first group's before the second's.

    Returns:
        The statistic is the total variation distance in [0, 1]: how much of one group would have to change its
        category for both to be alike.

    Raises:
        ValueError: A group is empty.
    """
    if not groups.first or not groups.second:
        raise ValueError("a group is empty")
    one_hot = (codes[np.newaxis] == np.arange(codes.max() + 1)[:, np.newaxis]).astype(np.float64)
    totals = one_hot.sum(axis=1)[:, np.newaxis]
    found: list[Floats] = []
    for block in shuffles(groups, permutations, chance):
        first = one_hot @ block
        share, other = first / groups.first, (totals - first) / groups.second
        found.append(np.abs(share - other).sum(axis=0) / 2.0)
    return judged(np.concatenate(found))
