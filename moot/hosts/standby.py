"""A host that follows: it keeps its mirror and all folds as far as the stream, until it leads (hot standby)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import Final

import structlog

from moot.channels.errors import CorruptLog
from moot.channels.guests.pump import InboxPump
from moot.channels.log.file import LOG_NAME
from moot.channels.log.lease import Lease
from moot.channels.log.sequencer import Entry
from moot.channels.log.write_behind import LogWriter
from moot.channels.nats.connection import NatsConnection
from moot.channels.nats.lease import NatsLease
from moot.channels.nats.objects import Objects
from moot.channels.nats.rows import last_seq, row_at, rows
from moot.channels.nats.thread import NatsThread
from moot.folding import Folding
from moot.hosts.forwarding import Forwarder
from moot.hosts.leading import Leading
from moot.hosts.presence import Presence
from moot.plan import Plan
from moot.protocols.codec import decode_body, decode_stored
from moot.protocols.kernel.envelope import GENESIS, link
from moot.protocols.kernel.errors import Violation
from moot.protocols.kernel.officers import SocietyStopped
from moot.protocols.kernel.rules import Gate
from moot.protocols.rulebook import rules
from moot.snapshot import collector_off
from moot.stored import hash_at
from moot.stores import catch_up, open_memory

LOOK_S: Final = 0.25
"""So often it is looked who leads, for people who watch."""

Stand = Callable[[], NatsLease]
"""Stands for the lease from now on."""

_log = structlog.get_logger(__name__)


class Standby:
    """One stretch of following.

    Attributes:
        seq: The last message that is folded.
    """

    def __init__(self, plan: Plan, lease: Lease, nats: NatsThread, name: str, stand: Stand) -> None:
        """Prepare; `follow` does the work.

        Args:
            plan: What society it is; it has a directory.
            lease: That of the directory.
            nats: The connection that leader and follower share.
            name: What the host is called.
            stand: Stands for the lease of the society, once this host has caught up.
        """
        self._plan = plan
        self._lease = lease
        self._nats = nats
        self._name = name
        self._stand = stand
        self.seq = 0
        self._hash = GENESIS
        self._moved = asyncio.Event()
        self._is_over = False

    async def follow(self, stop: asyncio.Event, tell: Callable[[str], None]) -> Leading | None:
        """Follow until this host leads, or is to end.

        Args:
            stop: Set when the host is told to end.
            tell: Told in one line who leads, and why it ends where nobody here asked for it.

        Returns:
            What it leads with; None: it ends.

        Raises:
            CorruptLog: The mirror holds what the stream does not, or the stream is not what was written.
            StorageError: The server does not answer.
        """
        directory = self._plan.directory
        assert directory is not None
        candidate: NatsLease | None = None
        leading: Leading | None = None
        try:
            async with AsyncExitStack() as exits:
                folding = await self._folded(directory, exits)
                connection = await NatsConnection.open(self._nats.address, name=self._name)
                exits.push_async_callback(connection.close)
                await check_mirror(connection, directory, self.seq)
                writer = LogWriter(directory / LOG_NAME, after=self.seq, lease=self._lease)
                exits.callback(writer.close)
                forwarder = Forwarder(self._nats)
                pump = InboxPump(directory / LOG_NAME, forwarder, decode_body)
                exits.push_async_callback(pump.close)
                exits.callback(forwarder.stop)
                exits.enter_context(Presence(self._nats, directory, self._name, lambda: self.seq))
                following = asyncio.create_task(self._fold(connection, folding, writer), name="follow")
                exits.push_async_callback(_ended, following)
                stopping = asyncio.create_task(stop.wait(), name="stop")
                exits.push_async_callback(_ended, stopping)
                if not await self._reached(await last_seq(connection), following, stopping):
                    return None
                # A stop that a person asked for before this host was started is over.
                self._is_over = False
                candidate = self._stand()
                if not await self._led(candidate, folding, following, stopping, tell):
                    return None
                # What the leader before said last.
                if not await self._reached(await last_seq(connection), following, stopping):
                    return None
                leading = Leading(
                    name=self._name,
                    nats=self._nats,
                    lease=candidate,
                    folding=folding,
                    objects=Objects(self._nats),
                )
            return leading
        finally:
            if candidate is not None and leading is None:
                await asyncio.to_thread(candidate.close)

    async def _folded(self, directory: Path, exits: AsyncExitStack) -> Folding:
        """Fold what the mirror holds."""
        rulebook = rules(self._plan.settings.viewers.viewers())
        with collector_off():
            store = await open_memory(directory, is_prompt=True)
            exits.push_async_callback(store.close)
            folding = Folding(rules=rulebook, gate=Gate(rulebook), store=store)
            catch_up(directory, folding)
        self.seq = folding.docket.seq
        if self.seq:
            self._hash = bytes.fromhex(hash_at(directory, self.seq) or "")
        return folding

    async def _fold(self, connection: NatsConnection, folding: Folding, writer: LogWriter) -> None:
        """Write and fold what comes, for ever."""
        async for page in rows(connection, self.seq):
            for row in page:
                if link(self._hash, row.text) != row.hash:
                    raise CorruptLog(f"{connection.address}: the hash does not fit the text", seq=row.seq)
                try:
                    envelope = decode_stored(row.text, row.hash.hex())
                except Violation as exc:
                    raise CorruptLog(f"{connection.address}: no envelope: {exc}", seq=row.seq) from exc
                writer.write(Entry(envelope, row.hash, row.digest, None))
                folding.catch_up([envelope])
                self.seq, self._hash = row.seq, row.hash
                self._is_over = bool(folding.stop_asked) and type(envelope.body) is SocietyStopped
            self._moved.set()
            await asyncio.sleep(0)

    async def _reached(self, seq: int, following: asyncio.Task[None], stopping: asyncio.Task[bool]) -> bool:
        """Wait until a seq is folded; return False when this host is told to end before."""
        while self.seq < seq:
            self._moved.clear()
            if not await _first(self._moved.wait(), following, stopping):
                return False
        return True

    async def _led(
        self,
        candidate: NatsLease,
        folding: Folding,
        following: asyncio.Task[None],
        stopping: asyncio.Task[bool],
        tell: Callable[[str], None],
    ) -> bool:
        """Wait for the lease; return False when this host is to end before."""
        told = ""
        while not candidate.gained.done():
            leader = candidate.leader
            if leader is not None and leader.name != told:
                told = leader.name
                tell(f"{told} leads, this host follows and stands at message {self.seq}; Ctrl-C ends it")
            if self._is_over:
                tell(f"a person stopped the society: {folding.stop_asked}")
                return False
            if not await _first(asyncio.sleep(LOOK_S), following, stopping):
                return False
        return not candidate.gained.cancelled()


async def check_mirror(connection: NatsConnection, directory: Path, seq: int) -> None:
    """Check that a stream holds all that a mirror does, which ends at a seq.

    Raises:
        CorruptLog: It has forgotten something, or holds something else; the first such seq is named.
        StorageError: The server does not answer.
    """
    last = await last_seq(connection)
    if last < seq:
        raise CorruptLog(
            f"{connection.address} ends at message {last}, but the mirror in {directory} knows {seq}: the servers have "
            f"forgotten what they had acknowledged",
            seq=last + 1,
        )
    if not seq or await _is_same(connection, directory, seq):
        return
    # The chain differs from some seq on.
    low, high = 1, seq
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if await _is_same(connection, directory, middle) else (low, middle)
    raise CorruptLog(
        f"{connection.address} holds another message than the mirror in {directory}: it is another society, or a later "
        f"history of the same one",
        seq=low,
    )


async def _is_same(connection: NatsConnection, directory: Path, seq: int) -> bool:
    row = await row_at(connection, seq)
    return row is not None and row.hash.hex() == hash_at(directory, seq)


async def _first(
    waited: Awaitable[object], following: asyncio.Task[None], stopping: asyncio.Task[bool]
) -> bool:
    """Wait for one of three; return whether it is not the stop, and raise what following ended with."""
    waiting = asyncio.ensure_future(waited)
    try:
        await asyncio.wait([waiting, following, stopping], return_when=asyncio.FIRST_COMPLETED)
        if following.done():
            following.result()
        return not stopping.done()
    finally:
        await _ended(waiting)


async def _ended(task: asyncio.Future[object] | asyncio.Task[None] | asyncio.Task[bool]) -> None:
    task.cancel()
    with suppress(asyncio.CancelledError, Exception):
        await task
