"""The bus on disk: aiosqlite, a write-ahead log, group commit (K17)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractContextManager, AsyncExitStack, nullcontext
from datetime import datetime
from pathlib import Path
from typing import Literal, ParamSpec, Self, TypeVar

import aiosqlite
import structlog

from moot.channels.bus import Admission, Decode, Head, Receipt
from moot.channels.errors import ChannelError
from moot.channels.log import filed
from moot.channels.log.file import End, disk_errors, open_log, pragmas
from moot.channels.log.filed import FiledBus, connect_to, reading_of
from moot.channels.log.head import write_head
from moot.channels.log.lease import Lease
from moot.channels.log.sequencer import Sequencer
from moot.channels.log.sqlite_table import SqliteTable
from moot.channels.log.writer import Writer
from moot.protocols.kernel.envelope import Draft
from moot.protocols.kernel.times import parse_instant

P = ParamSpec("P")
T = TypeVar("T")
Durability = Literal["power", "process"]

_log = structlog.get_logger(__name__)


class SqliteBus(FiledBus):
    """The log in one SQLite file, `log.sqlite` of a data directory (K24).

    Order and delivery: as `Bus` promises. Drafts are sequenced when they arrive and written together: a lone
    publisher pays one thread hop and one sync, sixty-four share two of each (K17).

    Durability: `power` syncs with every batch (synchronous=FULL); `process` leaves the sync to the
    checkpoints (NORMAL): a killed process loses nothing, a power cut may lose the last acknowledged batches.

    Cancellation: a cancelled publisher's draft is logged all the same.
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
        writing, reading = connections
        super().__init__(path, end.head, reading=reading, decode=decode, hold=hold, exits=exits)
        self._durability = durability
        self._noting = asyncio.Lock()
        self._writer = Writer(
            SqliteTable(writing, path=path, epoch=end.epoch, hold=hold),
            sequencer,
            deliver=self._deliver,
            wake=self._feed.wake,
            tell=self._stopped,
            note_head=self.note_head,
        )
        self._start()

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
                    lease = stack.enter_context(await in_thread(Lease.acquire, place.parent))
                end = await in_thread(open_log, place, epoch=lease.epoch)
                lease.raise_to(end.epoch)
                with disk_errors(place):
                    writing = await stack.enter_async_context(connect_to(place))
                    for pragma in pragmas(durability):
                        await writing.execute_fetchall(pragma)
                    reading = await reading_of(place, stack)
            last_sent_at = None if end.sent_at is None else parse_instant(end.sent_at)
            sequencer = Sequencer(admission, now, head=end.head, last_sent_at=last_sent_at, window=filed.IDS)
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
        return self._writer.fault

    async def publish(self, draft: Draft) -> Receipt:
        return await self._writer.publish(draft)

    async def look(self) -> None:
        if not self._is_closed:
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

    async def _work(self) -> None:
        await self._writer.run()
        if not isinstance(self.fault, ChannelError):
            await self.note_head()


async def in_thread(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run a function in a thread to its end: a cancelled opening keeps its lease until its last write."""
    working = asyncio.ensure_future(asyncio.to_thread(function, *args, **kwargs))
    try:
        return await asyncio.shield(working)
    except asyncio.CancelledError:
        await asyncio.wait([working])
        raise
