"""Tables: versions of records by seq, so that an older view never shows a later version (K13).

Read from any thread while the society's loop writes: readers work on copies that CPython makes in one step.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator
from datetime import datetime
from operator import attrgetter
from typing import Any, Final, Generic, cast

from moot.memory.records import Record
from moot.memory.shelves import SHELVES, WORKING, WORKING_KEPT, Put, R, Shelf

_seq: Final = attrgetter("seq")
_at_time: Final = attrgetter("at")
_DIGITS: Final = re.compile(r"(\d+)")


class Table(ABC, Generic[R]):
    """The records of one shelf."""

    @abstractmethod
    def put(self, record: R) -> None:
        """Add a version; seqs never run backwards, the same seq replaces."""

    @abstractmethod
    def latest(self, key: str) -> R | None:
        """Return the newest version of a record, None when there is none."""

    @abstractmethod
    def get(self, key: str, as_of: int) -> R | None:
        """Return the version of a record at some seq, None when there was none."""

    @abstractmethod
    def all(self, as_of: int) -> list[R]:
        """Return every record as it was at some seq: in the natural order of their keys, or of seq."""

    @abstractmethod
    def versions(self) -> Iterator[R]:
        """Yield every version that is kept."""

    def prune(self, below: int) -> int:
        """Let go of versions that no view at or above `below` shows.

        Returns:
            How many went.
        """
        return 0


class Journal(Table[R]):
    """Records that are written once; in seq order."""

    def __init__(self) -> None:
        """Start empty."""
        self._by_key: dict[str, R] = {}
        self._in_order: list[R] = []

    def put(self, record: R) -> None:
        if record.key not in self._by_key:
            self._by_key[record.key] = record
            self._in_order.append(record)

    def latest(self, key: str) -> R | None:
        return self._by_key.get(key)

    def get(self, key: str, as_of: int) -> R | None:
        record = self._by_key.get(key)
        return record if record is not None and record.seq <= as_of else None

    def all(self, as_of: int) -> list[R]:
        return self._in_order[: bisect_right(self._in_order, as_of, key=_seq)]

    def window(self, since: datetime | None, until: datetime | None, as_of: int) -> list[R]:
        """Return the records written in (since, until]; the log's time never runs backwards, so they are a stretch.

        Args:
            since: None leaves this side open (K16).
            until: Likewise.
            as_of: The seq at which they are read.
        """
        records = self._in_order
        first = bisect_right(records, since, key=_at_time) if since is not None else 0
        end = bisect_right(records, as_of, key=_seq)
        if until is not None:
            end = min(end, bisect_right(records, until, key=_at_time))
        return records[first:end]

    def versions(self) -> Iterator[R]:
        yield from self._in_order


class Versions(Table[R]):
    """Records whose every version is kept until it is pruned."""

    def __init__(self) -> None:
        """Start empty."""
        self._by_key: dict[str, tuple[R, ...]] = {}
        self._keys: list[str] = []
        self._written: list[R] = []

    def put(self, record: R) -> None:
        before = self._by_key.get(record.key, ())
        known = before[:-1] if before and before[-1].seq == record.seq else before
        self._by_key[record.key] = (*known, record)
        if not before:
            insort(self._keys, record.key, key=natural)
        self._written.append(record)

    def latest(self, key: str) -> R | None:
        known = self._by_key.get(key)
        return known[-1] if known else None

    def get(self, key: str, as_of: int) -> R | None:
        return _at(self._by_key.get(key, ()), as_of)

    def all(self, as_of: int) -> list[R]:
        return self._shown(self._keys[:], as_of)

    def since(self, key: str, as_of: int) -> list[R]:
        """Return the records from a key on in natural order, as they were at some seq."""
        return self._shown(self._keys[bisect_left(self._keys, natural(key), key=natural) :], as_of)

    def newest(self, as_of: int) -> Iterator[R]:
        """Yield the records as they were at some seq, the one written last first."""
        seen: set[str] = set()
        written = self._written
        for n in reversed(range(bisect_right(written, as_of, key=_seq))):
            record = written[n]
            if record.key not in seen:
                seen.add(record.key)
                yield record

    def _shown(self, keys: list[str], as_of: int) -> list[R]:
        found = (_at(self._by_key[key], as_of) for key in keys)
        return [record for record in found if record is not None]

    def versions(self) -> Iterator[R]:
        for known in self._by_key.values():
            yield from known

    def prune(self, below: int) -> int:
        gone = 0
        for key, known in self._by_key.items():
            shown = bisect_right(known, below, key=_seq) - 1
            if shown > 0:
                self._by_key[key] = known[shown:]
                gone += shown
        if gone:
            self._written = sorted(self.versions(), key=_seq)
        return gone


class Working(Table[R]):
    """The newest version of the newest records; the oldest are forgotten."""

    def __init__(self, kept: int = WORKING_KEPT) -> None:
        """Start empty."""
        self._kept = kept
        self._by_key: dict[str, R] = {}

    @property
    def oldest_seq(self) -> int:
        """Return the seq of the oldest record kept, 0 when there is none."""
        return next(iter(self._by_key.values())).seq if self._by_key else 0

    def put(self, record: R) -> None:
        # Taken out first, so that the dict stays in the order of seqs and the first is the oldest.
        self._by_key.pop(record.key, None)
        self._by_key[record.key] = record
        if len(self._by_key) > self._kept:
            del self._by_key[next(iter(self._by_key))]

    def latest(self, key: str) -> R | None:
        return self._by_key.get(key)

    def get(self, key: str, as_of: int) -> R | None:
        record = self._by_key.get(key)
        return record if record is not None and record.seq <= as_of else None

    def all(self, as_of: int) -> list[R]:
        return [record for record in list(self._by_key.values()) if record.seq <= as_of]

    def versions(self) -> Iterator[R]:
        yield from self._by_key.values()


class Tables:
    """One table for each shelf; what the fold and the views read.

    Attributes:
        low_water: The oldest seq that every table still knows.
        working: The tables that only the fold reads.
    """

    def __init__(self, *, working_kept: int = WORKING_KEPT) -> None:
        """Start empty."""
        self.low_water = 0
        self._tables: dict[Shelf[Any], Table[Any]] = {
            shelf: Journal[Record]() if shelf.keeping == "journal" else Versions[Record]()
            for shelf in SHELVES
        }
        self.working: dict[Shelf[Any], Working[Any]] = {shelf: Working(working_kept) for shelf in WORKING}
        self._tables.update(self.working)

    def __getitem__(self, shelf: Shelf[R]) -> Table[R]:
        return self._tables[shelf]

    def journal(self, shelf: Shelf[R]) -> Journal[R]:
        """Return the table of a shelf whose records are written once."""
        return cast("Journal[R]", self._tables[shelf])

    def versions(self, shelf: Shelf[R]) -> Versions[R]:
        """Return the table of a shelf whose records have versions."""
        return cast("Versions[R]", self._tables[shelf])

    def latest(self, shelf: Shelf[R], key: str) -> R | None:
        """Return the newest version of a record: the fold's context."""
        return self[shelf].latest(key)

    def put(self, put: Put) -> None:
        """Write one record."""
        self._tables[put.shelf].put(put.record)

    def prune(self, below: int) -> int:
        """Prune every shelf, see `Table.prune`; below the low-water mark nothing is left to do."""
        if below <= self.low_water:
            return 0
        self.low_water = below
        return sum(table.prune(below) for table in self._tables.values())


def natural(key: str) -> tuple[tuple[str, int], ...]:
    """Sort `prin_2` before `prin_10`."""
    parts = [*_DIGITS.split(key), ""]
    return tuple((parts[n], int(parts[n + 1] or 0)) for n in range(0, len(parts) - 1, 2))


def _at(known: tuple[R, ...], as_of: int) -> R | None:
    """Return the version that was newest at some seq."""
    if known and known[-1].seq <= as_of:
        return known[-1]
    shown = bisect_right(known, as_of, key=_seq) - 1
    return known[shown] if shown >= 0 else None
