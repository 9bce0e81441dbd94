"""What the buses share whose log can be read in a file: subscribers, pages, ids, and how they end."""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractContextManager, AsyncExitStack
from pathlib import Path
from typing import Final

import aiosqlite

from moot.channels.bus import Bus, Decode, Head, Subscription
from moot.channels.errors import BusClosed
from moot.channels.log.batching import MAX_ROWS
from moot.channels.log.feed import Feed, Reader
from moot.channels.log.file import BUSY_S, disk_errors
from moot.channels.log.pages import PAGE, envelopes
from moot.channels.log.reader import Row, between, by_ids
from moot.channels.log.sequencer import Entry
from moot.protocols.kernel.envelope import Envelope

WINDOW: Final = 2048
"""Envelopes that are kept in memory at least, for subscribers that are not far behind; twice as many at most."""
IDS: Final = 8192
"""Ids that the sequencer remembers at least, twice as many at most; older ones are found in the file."""


class FiledBus(Bus):
    """A bus over a `log.sqlite`, which holds what memory no longer does.

    Subscribers that keep up are served from memory, others read pages of the file.

    Exits (K25): a task owns what is open. It closes it on `close`, on a fault and when the loop's end cancels
    it, so that no thread keeps the interpreter alive. Subclasses start it by `_start` when they are ready.
    """

    _owner: asyncio.Task[None]

    def __init__(
        self,
        path: Path,
        head: Head,
        *,
        reading: aiosqlite.Connection,
        decode: Decode,
        hold: Callable[[], AbstractContextManager[object]],
        exits: AsyncExitStack,
    ) -> None:
        """Take what is open, which `exits` closes."""
        self._path = path
        self._reading = reading
        self._decode = decode
        self._hold = hold
        self._exits = exits
        self._feed = Feed(head.seq, window=WINDOW, page=self._page)

    @property
    @abstractmethod
    def fault(self) -> Exception | None:
        """Return what stopped the bus before its time: a fold that failed, another host, a changed log."""

    def subscribe(self, cursor: int = 0) -> Subscription:
        return Reader(self._feed, cursor)

    async def read(self, first: int = 1, last: int | None = None) -> AsyncIterator[Envelope]:
        end = self.head.seq if last is None else min(last, self.head.seq)
        seq = max(first, 1)
        while seq <= end:
            place = seq - self._feed.base - 1
            page = self._feed.items[place : place + PAGE] if place >= 0 else await self._page(seq)
            for envelope in page[: end - seq + 1]:
                yield envelope
            seq += len(page)

    async def seq_of(self, envelope_id: str) -> int | None:
        if self._is_closed:
            raise BusClosed("the bus is closed")
        await self._filed(self.head.seq)
        with disk_errors(self._path), self._hold():
            rows = list(await self._reading.execute_fetchall(*by_ids([envelope_id])))
        return int(rows[0][1]) if rows and rows[0][1] <= self.head.seq else None

    @property
    def _is_closed(self) -> bool:
        return self._owner.done() or self._feed.closed

    @abstractmethod
    async def _work(self) -> None:
        """Do what the bus does until it ends."""

    async def _filed(self, seq: int) -> None:
        """Wait until the file holds the log up to a seq."""
        return

    def _start(self) -> None:
        self._owner = asyncio.create_task(self._own(), name="bus")

    async def _own(self) -> None:
        """Work, then close everything, however that ended."""
        try:
            await self._work()
        finally:
            self._feed.close()
            await self._exits.aclose()

    def _stopped(self, fault: Exception) -> None:
        if self.on_fault is not None:
            self.on_fault(fault)

    def _deliver(self, entry: Entry) -> None:
        self._feed.append(entry.envelope)
        if self.on_append is not None:
            self.on_append(entry.envelope)

    async def _page(self, first: int) -> Sequence[Envelope]:
        """Read a page from the file, from `first` on, up to the durable head."""
        last = min(first + PAGE - 1, self.head.seq)
        if self._is_closed:
            raise BusClosed("the bus is closed")
        await self._filed(last)
        with disk_errors(self._path), self._hold():
            rows = await self._reading.execute_fetchall(*between(first - 1, last))
        return envelopes([Row._make(row) for row in rows], first, self._decode)


def connect_to(path: Path) -> aiosqlite.Connection:
    """Return a connection to a log that is there, to be opened."""
    uri = f"{path.absolute().as_uri()}?mode=rw"
    return aiosqlite.connect(uri, uri=True, isolation_level=None, timeout=BUSY_S, cached_statements=MAX_ROWS)


async def reading_of(path: Path, exits: AsyncExitStack) -> aiosqlite.Connection:
    """Open a connection that only reads; `exits` closes it.

    Raises:
        sqlite3.Error: The file cannot be read.
    """
    reading = await exits.enter_async_context(connect_to(path))
    await reading.execute_fetchall("PRAGMA query_only=ON")
    return reading
