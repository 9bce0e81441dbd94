"""A host that follows: it keeps its mirror and all folds as far as the stream, until it leads (hot standby)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Final

from moot.channels.log.lease import Lease
from moot.channels.nats.bus import NatsBus
from moot.channels.nats.connection import NatsConnection
from moot.channels.nats.lease import NatsLease
from moot.channels.nats.objects import Objects
from moot.channels.nats.stream import NatsStream
from moot.channels.nats.thread import NatsThread
from moot.folding import Folding
from moot.hosts.copying import Copier
from moot.hosts.forwarding import ended, serve_beside
from moot.hosts.leading import Leading
from moot.hosts.presence import Presence
from moot.plan import Plan
from moot.protocols.codec import decode_stored
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.officers import SocietyStopped
from moot.protocols.kernel.rules import Gate
from moot.protocols.rulebook import rules
from moot.snapshot import collector_off
from moot.stores import catch_up, open_memory

LOOK_S: Final = 0.25
"""So often it is looked who leads, for people who watch."""

Stand = Callable[[], NatsLease]
"""Stands for the lease from now on."""


class Standby:
    """One stretch of following.

    Attributes:
        seq: The last message that is folded.
    """

    def __init__(
        self, plan: Plan, lease: Lease, nats: NatsThread, name: str, stand: Stand, *, create: bool = True
    ) -> None:
        """Prepare; `follow` does the work.

        Args:
            plan: What society it is; it has a directory.
            lease: That of the directory.
            nats: The connection that leader and follower share.
            name: What the host is called.
            stand: Stands for the lease of the society, once this host has caught up.
            create: Make the society's stream where there is none.
        """
        self._plan = plan
        self._lease = lease
        self._nats = nats
        self._name = name
        self._stand = stand
        self._create = create
        self.seq = 0
        self._moved = asyncio.Event()
        self._faulted: asyncio.Future[None] = asyncio.get_running_loop().create_future()
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
            EmptyLog: There is no society, and none shall be made.
            StorageError: The server does not answer.
        """
        directory = self._plan.directory
        assert directory is not None
        candidate: NatsLease | None = None
        leading: Leading | None = None
        try:
            async with AsyncExitStack() as exits:
                connection = await NatsConnection.open(self._nats.address, name=self._name)
                exits.push_async_callback(connection.close)
                bus = await NatsBus.open(
                    connection, directory, decode=decode_stored, lease=self._lease, create=self._create
                )
                exits.push_async_callback(bus.close)
                copier = Copier(self._nats, directory)
                exits.push_async_callback(asyncio.to_thread, copier.close)
                folding = await self._folded(directory, exits)
                bus.on_append, bus.on_fault = self._fold(folding), self._fail
                bus.follow()
                await serve_beside(exits, self._nats, directory, bus)
                exits.enter_context(Presence(self._nats, directory, self._name, lambda: self.seq))
                stopping = asyncio.create_task(stop.wait(), name="stop")
                exits.push_async_callback(ended, stopping)
                candidate = self._stand()
                if not await self._led(candidate, folding, stopping, tell):
                    return None
                # What the leader before said last.
                stream = NatsStream(connection)
                last = await stream.last_seq()
                if last:
                    candidate.raise_to((await stream.at(last)).epoch)
                while self.seq < last:
                    self._moved.clear()
                    if not await self._first(self._moved.wait(), stopping):
                        return None
                if self._stopped_by_a_person(folding, tell):
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
        return folding

    def _fold(self, folding: Folding) -> Callable[[Envelope], None]:
        def fold(envelope: Envelope) -> None:
            folding.catch_up([envelope])
            self.seq = envelope.seq
            self._is_over = bool(folding.stop_asked) and type(envelope.body) is SocietyStopped
            self._moved.set()

        return fold

    def _fail(self, fault: Exception) -> None:
        if not self._faulted.done():
            self._faulted.set_exception(fault)

    async def _led(
        self,
        candidate: NatsLease,
        folding: Folding,
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
            if self._stopped_by_a_person(folding, tell):
                return False
            if not await self._first(asyncio.sleep(LOOK_S), stopping):
                return False
        return not candidate.gained.cancelled()

    def _stopped_by_a_person(self, folding: Folding, tell: Callable[[str], None]) -> bool:
        if self._is_over:
            tell(f"a person stopped the society: {folding.stop_asked}")
        return self._is_over

    async def _first(self, waited: Coroutine[Any, Any, object], stopping: asyncio.Task[bool]) -> bool:
        """Wait for something, or the stop; return whether it is not the stop, and raise what ended the following."""
        waiting: asyncio.Future[Any] = asyncio.create_task(waited)
        try:
            await asyncio.wait([waiting, self._faulted, stopping], return_when=asyncio.FIRST_COMPLETED)
            if self._faulted.done():
                self._faulted.result()
            return not stopping.done()
        finally:
            await ended(waiting)
