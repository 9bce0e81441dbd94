"""The bus on disk: aiosqlite, a write-ahead log, group commit (K17)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractContextManager, AsyncExitStack, nullcontext
from datetime import datetime
from pathlib import Path
from typing import Final, Literal, ParamSpec, Self, TypeVar

import aiosqlite
import structlog

from moot.channels.bus import Admission, Bus, Decode, Head, Receipt, Subscription
from moot.channels.errors import BusClosed, ChannelError, Refused
from moot.channels.log.batching import MAX_ROWS
from moot.channels.log.feed import Feed, Reader
from moot.channels.log.file import BUSY_S, End, disk_errors, open_log, pragmas
from moot.channels.log.head import write_head
from moot.channels.log.lease import Lease
from moot.channels.log.pages import PAGE, envelopes
from moot.channels.log.reader import Row, between, by_ids
from moot.channels.log.sequencer import Sequencer
from moot.channels.log.table import LogTable
from moot.channels.log.writer import Writer
from moot.protocols.kernel.envelope import Draft, Envelope
from moot.protocols.kernel.times import parse_instant

WINDOW: Final = 2048
"""Envelopes that are kept in memory at least, for subscribers that are not far behind; twice as many at most."""
IDS: Final = 8192
"""Ids that the sequencer remembers at least, twice as many at most; the constraint of the table finds older ones."""

P = ParamSpec("P")
T = TypeVar("T")
Durability = Literal["power", "process"]

_log = structlog.get_logger(__name__)


class SqliteBus(Bus):
    """The log in one SQLite file, `log.sqlite` of a data directory (K24).

    Order and delivery: as `Bus` promises. Drafts are sequenced when they arrive and written together: a lone
    publisher pays one thread hop and one sync, sixty-four share two of each (K17). Subscribers that keep up
    are served from memory, others read pages of the file through a connection of their own.

    Durability: `power` syncs with every batch (synchronous=FULL); `process` leaves the sync to the
    checkpoints (NORMAL): a killed process loses nothing, a power cut may lose the last acknowledged batches.

    Cancellation: a cancelled publisher's draft is logged all the same.

    Exits (K25): a task owns the connections. It closes them on `close`, on a fault and when the loop's end
    cancels it, so that no thread keeps the interpreter alive.
    """

    def __init__(
        self,
        path: Path,
        end: End,
        *,
        sequencer: Sequencer,
        connections: tuple[aiosqlite.Connection, aiosqlite.Connection],
        decode: Decode,
        durability: Durability,
        hold: Callable[[], AbstractContextManager[object]],
        exits: AsyncExitStack,
    ) -> None:
        """Take what `open` prepared."""
        writing, self._reading = connections
        self._path = path
        self._decode = decode
        self._durability = durability
        self._hold = hold
        self._exits = exits
        self._noting = asyncio.Lock()
        self._feed = Feed(end.head.seq, window=WINDOW, page=self._page)
        self._writer = Writer(
            LogTable(writing, path=path, epoch=end.epoch, hold=hold),
            sequencer,
            deliver=self._deliver,
            wake=self._feed.wake,
            tell=self._stopped,
            note_head=self.note_head,
        )
        self._owner = asyncio.create_task(self._own(), name="sqlite bus")

    @classmethod
    async def open(
        cls,
        path: Path | str,
        *,
        admission: Admission,
        now: Callable[[], datetime],
        decode: Decode,
        durability: Durability = "power",
        lease: Lease | None = None,
        hold: Callable[[], AbstractContextManager[object]] = nullcontext,
    ) -> Self:
        """Open or create a log, check its end and become its only writer.

        Args:
            path: The file; its directory is the data directory.
            admission: The rules; its counters stand where the log ends.
            now: The injected clock.
            decode: Reads one stored line.
            durability: What an acknowledged message survives.
            lease: The lease on the directory; taken, and released at the end, when not given.
            hold: Keeps virtual time still while a thread works (K2).

        Raises:
            LeaseHeld: Another process hosts a society there.
            CorruptLog: The log is not what was written.
            NotALog: It is another application's file, or a newer Moot's.
            StorageError: The disk does not let it be opened for writing.
        """
        place = Path(path)
        async with AsyncExitStack() as stack:
            with hold():
                if lease is None:
                    lease = stack.enter_context(await _in_thread(Lease.acquire, place.parent))
                end = await _in_thread(open_log, place, epoch=lease.epoch)
                lease.raise_to(end.epoch)
                with disk_errors(place):
                    writing = await stack.enter_async_context(_connect(place))
                    for pragma in pragmas(durability):
                        await writing.execute_fetchall(pragma)
                    reading = await stack.enter_async_context(_connect(place))
                    await reading.execute_fetchall("PRAGMA query_only=ON")
            last_sent_at = None if end.sent_at is None else parse_instant(end.sent_at)
            sequencer = Sequencer(admission, now, head=end.head, last_sent_at=last_sent_at, window=IDS)
            return cls(
                place,
                end,
                sequencer=sequencer,
                connections=(writing, reading),
                decode=decode,
                durability=durability,
                hold=hold,
                exits=stack.pop_all(),
            )

    @property
    def head(self) -> Head:
        return self._writer.head

    @property
    def last_sent_at(self) -> datetime | None:
        return self._writer.last_sent_at

    @property
    def fault(self) -> Exception | None:
        """Return what stopped the bus before its time: a fold that failed, another host, a changed file."""
        return self._writer.fault

    async def publish(self, draft: Draft) -> Receipt:
        try:
            future = self._writer.append(draft)
        except Refused:
            await asyncio.sleep(0)
            raise
        if future.done():
            await asyncio.sleep(0)
        return await future

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
        if self._owner.done() or self._feed.closed:
            raise BusClosed("the bus is closed")
        with disk_errors(self._path), self._hold():
            rows = list(await self._reading.execute_fetchall(*by_ids([envelope_id])))
        return int(rows[0][1]) if rows and rows[0][1] <= self.head.seq else None

    async def look(self) -> None:
        if not self._owner.done() and not self._feed.closed:
            await self._writer.look()

    async def note_head(self) -> None:
        """Write the file `head`; done after the first batch, every 64, at the end, and if somebody asks for it."""
        wal = None if self._durability == "power" else self._path.with_name(self._path.name + "-wal")
        try:
            async with self._noting:
                with self._hold():
                    await asyncio.to_thread(write_head, self._path.parent, self.head, first_sync=wal)
        except OSError as exc:
            _log.warning("head not written", path=str(self._path.parent), why=exc.strerror)

    async def close(self) -> None:
        self._writer.stop()
        await asyncio.shield(self._owner)

    async def _own(self) -> None:
        """Run the writer, then close everything, however it ended."""
        try:
            await self._writer.run()
            if not isinstance(self.fault, ChannelError):
                await self.note_head()
        finally:
            self._feed.close()
            await self._exits.aclose()

    def _stopped(self, fault: Exception) -> None:
        if self.on_fault is not None:
            self.on_fault(fault)

    def _deliver(self, envelope: Envelope) -> None:
        self._feed.append(envelope)
        if self.on_append is not None:
            self.on_append(envelope)

    async def _page(self, first: int) -> Sequence[Envelope]:
        """Read a page from the file, from `first` on, up to the durable head."""
        last = min(first + PAGE - 1, self.head.seq)
        if self._owner.done() or self._feed.closed:
            raise BusClosed("the bus is closed")
        with disk_errors(self._path), self._hold():
            rows = await self._reading.execute_fetchall(*between(first - 1, last))
        return envelopes([Row._make(row) for row in rows], first, self._decode)


async def _in_thread(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run a function in a thread to its end: a cancelled opening keeps its lease until its last write."""
    working = asyncio.ensure_future(asyncio.to_thread(function, *args, **kwargs))
    try:
        return await asyncio.shield(working)
    except asyncio.CancelledError:
        await asyncio.wait([working])
        raise


def _connect(path: Path) -> aiosqlite.Connection:
    uri = f"{path.absolute().as_uri()}?mode=rw"
    return aiosqlite.connect(uri, uri=True, isolation_level=None, timeout=BUSY_S, cached_statements=MAX_ROWS)
