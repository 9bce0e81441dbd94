"""Whether two groups differ, by shuffling who belongs to which.

If they do not differ, what was seen is one of many equally likely shuffles. It counts as one of them, so a p-value is
never 0, and at or below alpha with a chance of at most alpha.

Source: Fisher, 1935; Phipson and Smyth, 2010, "Permutation p-values should never be zero".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

BLOCK: Final = 64
"""How many shuffles are made at once: it bounds the memory that takes."""

_TOLERANCE: Final = 1e-9
"""Of the largest value: what differs by less, only differs by the order of adding up."""


class Groups(NamedTuple):
    """Two groups, the first one's members before the second one's.

    Attributes:
        first: How many are in the first one.
        second: How many in the second one.
        pairs: Those who may change places, by their place among all, shape (pairs, 2); the others stay where they
            are. None: everybody may take any place.
    """

    first: int
    second: int
    pairs: NDArray[np.intp] | None = None


class Tested(NamedTuple):
    """What a test found.

    Attributes:
        statistic: What was seen.
        by_chance: What shuffles gave on average.
        p_value: How large a part of all shuffles, what was seen among them, gave as much or more; in (0, 1].
    """

    statistic: float
    by_chance: float
    p_value: float


def matched(first: Sequence[int], second: Sequence[int]) -> Groups:
    """Pair members of the same id.

    Two groups whose members were drawn alike, one by one, are alike beyond chance; to shuffle them freely would
    take that for a sign that they do not differ. Pairs that change places keep it.

    Args:
        first: Their ids in the first group, each once.
        second: Their ids in the second group, each once.
    """
    place = {one: len(first) + at for at, one in enumerate(second)}
    pairs = [(at, place[one]) for at, one in enumerate(first) if one in place]
    return Groups(len(first), len(second), np.array(pairs, dtype=np.intp).reshape(-1, 2))


def shuffles(groups: Groups, permutations: int, chance: np.random.Generator) -> Iterator[NDArray[np.bool_]]:
    """Yield who is in the first group: as it was seen, then in each shuffle.

    Yields:
        Blocks of shape (members, at most BLOCK); the first column of the first one is what was seen.
    """
    members = groups.first + groups.second
    seen = np.arange(members) < groups.first
    left = permutations + 1
    is_first = True
    while left:
        columns = min(BLOCK, left)
        block = np.repeat(seen[np.newaxis], columns, axis=0)
        if groups.pairs is None:
            chance.permuted(block, axis=1, out=block)
        else:
            one, other = groups.pairs.T
            block[:, one] = chance.random((columns, len(one))) < 0.5
            block[:, other] = ~block[:, one]
        if is_first:
            block[0] = seen
            is_first = False
        yield np.ascontiguousarray(block.T)
        left -= columns


def judged(values: Floats) -> Tested:
    """Say how unusual what was seen is; more is more unusual.

    Args:
        values: The statistic as it was seen, then of each shuffle, shape (permutations + 1,).
    """
    slack = _TOLERANCE * float(np.abs(values).max())
    return Tested(
        statistic=float(values[0]),
        by_chance=float(values[1:].mean()) if len(values) > 1 else float(values[0]),
        p_value=float((values >= values[0] - slack).mean()),
    )


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """Adjust p-values so that the chance of any false alarm among them stays as stated, however they hang together.

    Source: Holm, 1979.
    """
    adjusted: dict[str, float] = {}
    highest = 0.0
    for rank, name in enumerate(sorted(p_values, key=p_values.__getitem__)):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[name]))
        adjusted[name] = highest
    return {name: adjusted[name] for name in p_values}
