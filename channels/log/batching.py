"""How many of the waiting drafts make the next batch (K17)."""

from __future__ import annotations

from typing import Final

MAX_ROWS: Final = 512
"""The most rows of one statement: five variables each, far below SQLite's limit of 32,766."""
HALVE_FROM: Final = 32
"""From so many drafts at once on, halves are worth their second sync."""


class Batching:
    """Whole batches, or halves that overlap.

    A batch is written while the loop is idle, unless there are two of them: then the loop serves the
    publishers of one half, and seals what they say next, while the disk has the other. That costs a second
    sync, so it pays where the disk is quick, and not where a sync takes longer than serving everybody. Both
    are measured, on the loop's own clock, so that an accelerated one makes no difference.
    """

    def __init__(self) -> None:
        self._width = 0
        self._sync_s = 0.0
        self._row_s = 0.0

    @property
    def is_halving(self) -> bool:
        """Say whether a second batch may go while one is on its way."""
        return self._sync_s <= self._row_s * self._width

    def size(self, waiting: int, outstanding: int, is_writing: bool) -> int:
        """Return how many of the waiting drafts go now; 0: it pays to wait until the batch comes back.

        Args:
            waiting: Drafts that are not on their way yet.
            outstanding: Those, and what is on its way.
            is_writing: Whether a batch is on its way.
        """
        self._width = max(outstanding, self._width - self._width // 16)
        half = (self._width + 1) // 2 if self.is_halving and self._width >= HALVE_FROM else waiting
        if is_writing and (waiting < half or not self.is_halving):
            return 0
        return min(waiting, half, MAX_ROWS)

    def wrote(self, took_s: float, rows: int) -> None:
        """Learn how long the disk had a batch; a row costs it about what it costs the loop, the rest is sync."""
        serving_s = rows * self._row_s
        self._sync_s = _learn(self._sync_s, max(0.0, took_s - serving_s), most=2 * self._sync_s + serving_s)

    def served(self, took_s: float, rows: int) -> None:
        """Learn how long the loop needed until so many publishers were back with the next draft."""
        row_s = took_s / rows
        self._row_s = _learn(self._row_s, row_s, most=2 * self._row_s or row_s)


def _learn(known: float, seen: float, *, most: float) -> float:
    """Move a quarter of the way to what was seen; a checkpoint or a pause in between counts for little."""
    return known + (min(seen, most) - known) / 4
