"""How near each answer comes to those before it.

Source: Arbiter spec, "Baseline convergence-aware stopping"; ruling R-S2.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from moot.arbiter.vectors import BLOCK, Floats, rounded, unit

MOST: Final = 4096
"""How many earlier answers are compared at once: it bounds the memory that takes."""

QUIET: Final = 2**18
"""Up to so many products BLAS stays on one thread; to wake others for short vectors costs more than it saves."""


class Nearness:
    """Keeps the answers of a run and says how near each new one comes to them."""

    def __init__(self) -> None:
        """Begin without answers."""
        self._units: Floats = np.empty((0, 0))
        self._count = 0

    def add(self, rows: NDArray[np.float32]) -> Floats:
        """Take answers in trial_id order, and say how near each comes to any before it.

        Args:
            rows: Their embeddings, shape (answers, dimensions), as many dimensions as all before.

        Returns:
            The highest cosine of each to those before it, also to earlier ones of `rows`, shape (answers,), in
            [0, 1]: negatives count as 0, and the first answer of all has 0.
        """
        self._reserve(len(rows), rows.shape[1])
        nearest = np.zeros(len(rows))
        for start in range(0, len(rows), BLOCK):
            block = unit(rows[start : start + BLOCK])
            found = nearest[start : start + len(block)]
            step = _step(block.size)
            for first in range(0, self._count, step):
                before = self._units[first : min(first + step, self._count)]
                np.maximum(found, (block @ before.T).max(axis=1), out=found)
            # Below the diagonal stand those of the block that came before; the zeros elsewhere change no maximum.
            np.maximum(found, np.tril(block @ block.T, -1).max(axis=1), out=found)
            self._units[self._count : self._count + len(block)] = block
            self._count += len(block)
        return rounded(nearest)

    def _reserve(self, more: int, dimensions: int) -> None:
        needed = self._count + more
        if needed > len(self._units):
            grown = np.empty((max(needed, 2 * len(self._units)), dimensions))
            if self._count:
                grown[: self._count] = self._units[: self._count]
            self._units = grown


def _step(size: int) -> int:
    """Say how many earlier answers to compare at once with a block of so many numbers."""
    few = QUIET // size
    return min(MOST, few) if few >= BLOCK else MOST
