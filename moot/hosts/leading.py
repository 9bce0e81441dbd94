"""What a host has in hand when it begins to lead: the lease, the connection, and all that it has folded."""

from __future__ import annotations

from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from moot.channels.bus import Bus
from moot.channels.errors import ChannelError
from moot.channels.log.lease import Lease
from moot.channels.nats.bus import NatsBus
from moot.channels.nats.connection import PING_S, NatsConnection
from moot.channels.nats.lease import NatsLease
from moot.channels.nats.objects import Objects
from moot.channels.nats.stream import LIMITS_ADVICE
from moot.channels.nats.thread import NatsThread
from moot.clock import Clock
from moot.folding import Folding
from moot.hosts.travelling import TravellingBodies, TravellingEvidence
from moot.memory.bodies import Bodies
from moot.memory.evidence import Evidence
from moot.protocols.codec import decode_stored
from moot.protocols.kernel.rules import Gate


@dataclass(frozen=True, slots=True, kw_only=True)
class Leading:
    """The leader's side of a society on NATS.

    Attributes:
        name: What the host is called.
        nats: Its connection.
        lease: Its lease, which it has.
        folding: What it folded while it followed.
        objects: The bodies that every host can read.
    """

    name: str
    nats: NatsThread
    lease: NatsLease
    folding: Folding
    objects: Objects

    async def bus(
        self, directory: Path, gate: Gate, clock: Clock, lease: Lease | None, exits: AsyncExitStack
    ) -> Bus:
        """Open the bus, and lead.

        Raises:
            LeaseHeld: Another host has taken over meanwhile.
            CorruptLog: Stream and mirror differ.
            StorageError: No server answers, or the disk does not take the mirror.
        """
        # Society time that jumps leaves no server the time to answer.
        ping_s = PING_S if clock.kind == "real" else None
        connection = await NatsConnection.open(
            self.nats.address, name=self.name, ping_s=ping_s, hold=clock.hold
        )
        exits.push_async_callback(connection.close)
        bus = await NatsBus.open(connection, directory, decode=decode_stored, lease=lease)
        exits.push_async_callback(bus.close)
        await bus.lead(gate, clock.now, epoch=self.lease.epoch)
        return bus

    async def stream_limits(self, bus: Bus) -> str:
        """Return which limits of the stream lose messages and what to do, in one line; "" for none, or if unknown."""
        try:
            found = await bus.limits() if isinstance(bus, NatsBus) else ""
        except ChannelError:
            return ""
        return (
            f"the stream {self.nats.address.stream} loses messages: {found}: {LIMITS_ADVICE}" if found else ""
        )

    def evidence(self, here: Evidence) -> Evidence:
        """Return evidence that the next leader finds too."""
        return TravellingEvidence(here, self.objects)

    def bodies(self, here: Bodies) -> Bodies:
        """Return bodies that the next leader finds too."""
        return TravellingBodies(here, self.objects)

    def as_log(self) -> dict[str, Any]:
        """Return what SOCIETY_STARTED says of who leads from then on."""
        return {"host": self.name, "epoch": self.lease.epoch}
