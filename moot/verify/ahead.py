"""Reading ahead: some lines at a time, and a look at the next one where it tells what is wrong with this one."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from datetime import datetime
from typing import Final

from moot.logs import Damaged, Line
from moot.verify.prefetch import Prefetch
from moot.verify.reading import Read, read

AT_ONCE: Final = 64
"""So many lines are read before the first of them is judged: that keeps the decoder warm, and the rules."""
LEAD: Final = 16
"""So many batches are asked for before the first of them is read."""


def read_all(lines: Iterator[Line], prefetch: Prefetch | None = None) -> Iterator[Read]:
    """Read lines.

    Args:
        lines: The lines.
        prefetch: Looks at them ahead; what it does not know when their turn comes is not waited for.

    Raises:
        Damaged: They cannot be read on; what came before was yielded.
    """
    batches = _batches(lines)
    if prefetch is None:
        for batch in batches:
            yield from [read(line) for line in batch]
        return
    waiting: deque[tuple[list[Line], int]] = deque()
    damage: Damaged | None = None
    try:
        for batch in batches:
            waiting.append((batch, prefetch.ask(batch)))
            if len(waiting) > LEAD:
                yield from _read(*waiting.popleft(), prefetch)
    except Damaged as exc:
        damage = exc
    while waiting:
        yield from _read(*waiting.popleft(), prefetch)
    if damage is not None:
        raise damage


def _read(batch: list[Line], number: int, prefetch: Prefetch) -> list[Read]:
    """Read lines with what is known of them by now."""
    is_clean, follows = prefetch.told(number)
    found = []
    for line in batch:
        one = read(line, is_clean=is_clean, follows=follows)
        follows = bytes.fromhex(one.hash) if is_clean else b""
        found.append(one)
    return found


def _batches(lines: Iterator[Line]) -> Iterator[list[Line]]:
    """Yield lines some at a time.

    Raises:
        Damaged: They cannot be read on; what came before was yielded.
    """
    batch: list[Line] = []
    try:
        for line in lines:
            batch.append(line)
            if len(batch) == AT_ONCE:
                yield batch
                batch = []
    except Damaged:
        if batch:
            yield batch
        raise
    if batch:
        yield batch


class Ahead:
    """Lines in their order, with a look at the next one."""

    def __init__(self, lines: Iterator[Line], prefetch: Prefetch | None = None) -> None:
        """Start before the first; `prefetch` as for `read_all`."""
        self._lines = read_all(lines, prefetch)
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
