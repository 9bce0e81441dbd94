"""Reading ahead: some lines at a time, and a look at the next one where it tells what is wrong with this one."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from moot.logs import Damaged, Line
from moot.verify.reading import Read, read

AT_ONCE: Final = 64
"""So many lines are read before the first of them is judged: that keeps the decoder warm, and the rules."""


def read_all(lines: Iterator[Line]) -> Iterator[Read]:
    """Read lines.

    Raises:
        Damaged: They cannot be read on; what came before was yielded.
    """
    batch: list[Read] = []
    try:
        for line in lines:
            batch.append(read(line))
            if len(batch) == AT_ONCE:
                yield from batch
                batch.clear()
    except Damaged:
        yield from batch
        raise
    yield from batch


class Ahead:
    """Lines in their order, with a look at the next one."""

    def __init__(self, lines: Iterator[Line]) -> None:
        """Start before the first."""
        self._lines = read_all(lines)
        self._next: list[Read] = []
        self._damage: Damaged | None = None

    def __iter__(self) -> Iterator[Read]:
        """Yield the lines."""
        while True:
            if self._next:
                yield self._next.pop(0)
                continue
            if self._damage is not None:
                raise self._damage
            found = next(self._lines, None)
            if found is None:
                return
            yield found

    def _peek(self) -> Read | None:
        if not self._next:
            try:
                found = next(self._lines, None)
            except Damaged as exc:
                self._damage = exc
                return None
            self._next += [found] if found is not None else []
        return self._next[0] if self._next else None

    def peek_seq(self) -> int:
        """Return the seq of the next line, 0 for none."""
        found = self._peek()
        return found.seq if found is not None else 0

    def peek_sent_at(self) -> datetime | None:
        """Return `sent_at` of the next line, None for none."""
        found = self._peek()
        return found.sent_at if found is not None else None

    def put_back(self, found: Read) -> None:
        """Put a line after the next one."""
        self._peek()
        self._next.insert(1, found)
