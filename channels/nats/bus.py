"""The bus on NATS: the log is a stream, and this host's directory its mirror."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from contextlib import AsyncExitStack
from datetime import datetime
from pathlib import Path
from typing import Self

from moot.channels.bus import Admission, Decode, Head, Receipt
from moot.channels.errors import BusClosed, ChannelError, CorruptLog, EmptyLog, NotALog
from moot.channels.log import filed
from moot.channels.log.file import LOG_NAME, disk_errors
from moot.channels.log.filed import FiledBus, reading_of
from moot.channels.log.lease import Lease
from moot.channels.log.sequencer import Entry, Sequencer
from moot.channels.log.sqlite import in_thread
from moot.channels.log.writer import Writer
from moot.channels.nats.connection import NatsConnection
from moot.channels.nats.following import Differs, Following, check_end, first_difference
from moot.channels.nats.mirror import Mirror
from moot.channels.nats.publishing import Publishing
from moot.channels.nats.stream import NatsStream, StreamRow, limits_of
from moot.channels.nats.table import NatsTable
from moot.protocols.kernel.envelope import Draft
from moot.protocols.kernel.errors import Violation
from moot.protocols.kernel.times import parse_instant


class NatsBus(FiledBus):
    """The log in a stream of JetStream, with a mirror of it in this host's `log.sqlite`.

    Roles: `open` fills the mirror up to the stream's end. From `follow` on the bus takes what whoever leads
    publishes, folds it by `on_append` and hands it to subscribers. `lead` ends that: from then on this host
    publishes, with the epoch of its lease.

    Durability: an envelope is durable when the stream has acknowledged it. The mirror is written behind it.

    Fencing: each message names the seq before it, so the server refuses a second writer (K3). A stream that
    is shorter than the mirror, or says something else, ends the bus with a `CorruptLog` that names the first
    such seq.

    Servers that go away are waited for; a publisher waits as long, until `depose` ends that.
    """

    def __init__(
        self,
        stream: NatsStream,
        mirror: Mirror,
        *,
        head: Head,
        decode: Decode,
        reading: object,
        exits: AsyncExitStack,
    ) -> None:
        """Take what `open` prepared."""
        super().__init__(
            mirror.path,
            head,
            reading=reading,  # type: ignore[arg-type]
            decode=decode,
            hold=stream.connection.hold,
            exits=exits,
        )
        self._stream = stream
        self._mirror = mirror
        self._end = head
        text = mirror.last_text()
        self._last_sent_at = None if text is None else parse_instant(json.loads(text)["sent_at"])
        self._fault: Exception | None = None
        self._following: Following | None = None
        self._follower: asyncio.Task[None] | None = None
        self._table: NatsTable | None = None
        self._writer: Writer | None = None
        self._role: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._start()

    @classmethod
    async def open(
        cls,
        connection: NatsConnection,
        directory: Path,
        *,
        decode: Decode,
        lease: Lease | None = None,
        create: bool = True,
        replicas: int | None = None,
    ) -> Self:
        """Open or create a society's stream, and bring this host's mirror up to its end.

        Args:
            connection: To the servers; stays open when the bus is closed.
            directory: Where the mirror is.
            decode: Reads one stored line.
            lease: The lease on the directory; taken, and released at the end, when not given.
            create: Make the stream where it is missing, for which the mirror must be empty.
            replicas: On how many servers it is kept; None: on one where it is made.

        Raises:
            EmptyLog: There is no such stream.
            LeaseHeld: Another process hosts a society on the directory.
            CorruptLog: The stream or the mirror is not what was written, or the stream has lost messages.
            NotALog: The stream or the mirror is another society's, or a newer Moot's.
            NatsUnavailable: No server answers.
            StorageError: The disk does not let the mirror be written.
        """
        hold = connection.hold
        stream = NatsStream(connection)
        async with AsyncExitStack() as exits:
            with hold():
                mirror = await in_thread(_mirror, directory / LOG_NAME, lease)
                exits.push_async_callback(_closing, mirror, connection)
                try:
                    last = await stream.open(create=create and not mirror.head.seq, replicas=replicas)
                except EmptyLog:
                    if not mirror.head.seq:
                        raise
                    raise CorruptLog(
                        f"{stream.address} holds no society, and {directory} mirrors one up to seq {mirror.head.seq}: "
                        f"moot import {directory} {stream.address} puts it there again",
                        seq=1,
                    ) from None
                head = await _fill(stream, mirror, last)
                await in_thread(mirror.note_head)
                with disk_errors(mirror.path):
                    reading = await reading_of(mirror.path, exits)
            return cls(stream, mirror, head=head, decode=decode, reading=reading, exits=exits.pop_all())

    @property
    def head(self) -> Head:
        return self._end if self._writer is None else self._writer.head

    @property
    def last_sent_at(self) -> datetime | None:
        return self._last_sent_at if self._writer is None else self._writer.last_sent_at

    @property
    def fault(self) -> Exception | None:
        return self._fault if self._writer is None else self._writer.fault

    async def limits(self) -> str:
        """Return what in the stream's configuration discards or refuses messages, in one line; "" for nothing.

        Raises:
            NatsUnavailable: No server answers.
        """
        info = await self._stream.info()
        return "" if info is None else limits_of(info.config)

    @property
    def is_leading(self) -> bool:
        """Say whether this host publishes."""
        return self._writer is not None

    def follow(self) -> None:
        """Take from now on what whoever leads publishes; `on_append` is called for it."""
        if self._follower is not None or self._writer is not None:
            return
        self._following = Following(self._stream, self._end, self._take)
        self._follower = asyncio.create_task(self._follow(self._following), name="nats follower")

    async def lead(self, admission: Admission, now: Callable[[], datetime], *, epoch: int) -> None:
        """Take all that is published yet, and publish from now on.

        Args:
            admission: The rules; its counters stand where the log ends.
            now: The injected clock.
            epoch: The epoch of the lease, higher than that of every earlier leader.

        Raises:
            CorruptLog: The stream is not what it was.
            NatsUnavailable: No server answers.
            BusClosed: The bus is closed.
        """
        if self._is_closed:
            raise BusClosed("the bus is closed") from self._fault
        self.follow()
        with self._hold():
            await self._caught_up(await self._stream.last_seq())
            await self._leave_following()
            await check_end(self._stream, self._end)
            await self._mirror.written(self._end.seq)
            publishing = await Publishing.open(self._stream.connection, epoch)
            self._exits.callback(publishing.close)
        self._table = NatsTable(self._stream, publishing, self._mirror, epoch)
        self._writer = Writer(
            self._table,
            Sequencer(admission, now, head=self._end, last_sent_at=self._last_sent_at, window=filed.IDS),
            deliver=self._deliver,
            wake=self._feed.wake,
            tell=self._stopped,
            note_head=_nothing,
        )
        self._role.set_result(None)

    async def publish(self, draft: Draft) -> Receipt:
        if self._writer is None:
            raise BusClosed("this host follows: another one leads") from self._fault
        return await self._writer.publish(draft)

    async def look(self) -> None:
        if self._writer is not None and not self._is_closed:
            await self._writer.look()

    def depose(self, fault: Exception) -> None:
        """End the bus at once: another host leads, or may. Publishers hear that the outcome is not known."""
        if self._table is not None and self._writer is not None:
            self._table.give_up()
            self._writer.end(fault)
        else:
            self._fail(fault)

    async def close(self) -> None:
        if self._writer is not None:
            self._writer.stop()
        elif not self._role.done():
            self._role.set_result(None)
        await asyncio.shield(self._owner)

    async def _work(self) -> None:
        await self._role
        await self._leave_following()
        if self._writer is not None:
            await self._writer.run()

    async def _follow(self, following: Following) -> None:
        try:
            await following.run()
        except Differs as fault:
            self._fail(await _named(self._stream, self._mirror, fault))
        except Exception as fault:
            self._fail(fault)

    async def _caught_up(self, seq: int) -> None:
        """Wait until the follower has taken a seq; raises what ended it before."""
        assert self._following is not None and self._follower is not None
        reached = asyncio.create_task(self._following.reached(seq))
        await asyncio.wait([reached, self._follower], return_when=asyncio.FIRST_COMPLETED)
        if not reached.done():
            reached.cancel()
            raise self._fault or BusClosed("the bus is closed")

    async def _leave_following(self) -> None:
        follower, self._follower = self._follower, None
        if follower is not None and self._following is not None:
            await self._following.end(follower)

    def _take(self, found: StreamRow) -> None:
        """Take a message that another host published (K13)."""
        row = found.row
        try:
            envelope = self._decode(row.text, row.hash.hex())
        except (Violation, ValueError, KeyError, TypeError) as exc:
            raise CorruptLog(f"no envelope: {exc}", seq=row.seq) from exc
        if envelope.seq != row.seq:
            raise CorruptLog(f"the text names seq {envelope.seq}", seq=row.seq)
        self._end, self._last_sent_at = Head(row.seq, row.hash), envelope.sent_at
        self._deliver(Entry(envelope, row.hash, found.digest, None))
        self._feed.wake()

    def _deliver(self, entry: Entry) -> None:
        self._mirror.write(entry)
        super()._deliver(entry)

    async def _filed(self, seq: int) -> None:
        with self._hold():
            await self._mirror.written(seq)

    def _fail(self, fault: Exception) -> None:
        """End a bus that follows."""
        if self._fault is None and not self._role.done():
            self._fault = fault
            self._role.set_result(None)
            self._stopped(fault)


async def _fill(stream: NatsStream, mirror: Mirror, last: int) -> Head:
    """Bring the mirror to the stream's end; return it."""
    head = mirror.head
    try:
        await check_end(stream, head)
    except Differs as fault:
        raise await _named(stream, mirror, fault) from None

    def take(found: StreamRow) -> None:
        row = found.row
        mirror.write_row((row.seq, json.loads(row.text)["id"], found.digest, row.text, row.hash))

    if last > head.seq:
        following = Following(stream, head, take)
        running = asyncio.create_task(following.run())
        reached = asyncio.create_task(following.reached(last))
        await asyncio.wait([running, reached], return_when=asyncio.FIRST_COMPLETED)
        reached.cancel()
        if running.done():
            await running
        await following.end(running)
        head = following.head
        await mirror.written(head.seq)
    return head


async def _named(stream: NatsStream, mirror: Mirror, fault: Differs) -> ChannelError:
    """Return the fault with the first seq at which stream and mirror differ."""
    await mirror.written(fault.seq)
    first = await first_difference(stream, fault.seq, mirror.hash_at)
    if first == 1:
        return NotALog(
            f"{mirror.path.parent} mirrors another society than {stream.address}: name another directory"
        )
    return Differs(stream, Head(), seq=first)


def _mirror(path: Path, lease: Lease | None) -> Mirror:
    return Mirror.open(path, lease=lease)


async def _closing(mirror: Mirror, connection: NatsConnection) -> None:
    with connection.hold():
        await in_thread(mirror.close)


async def _nothing() -> None:
    """The mirror writes its own file `head`."""
