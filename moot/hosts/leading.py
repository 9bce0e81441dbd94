"""What a host has in hand when it begins to lead: the lease, the connection, and all that it has folded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from moot.channels.nats.lease import NatsLease
from moot.channels.nats.objects import Objects
from moot.channels.nats.thread import NatsThread
from moot.folding import Folding
from moot.hosts.travelling import TravellingBodies, TravellingEvidence
from moot.memory.bodies import Bodies
from moot.memory.evidence import Evidence


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

    def evidence(self, here: Evidence) -> Evidence:
        """Return evidence that the next leader finds too."""
        return TravellingEvidence(here, self.objects)

    def bodies(self, here: Bodies) -> Bodies:
        """Return bodies that the next leader finds too."""
        return TravellingBodies(here, self.objects)

    def as_log(self) -> dict[str, Any]:
        """Return what SOCIETY_STARTED says of who leads from then on."""
        return {"host": self.name, "epoch": self.lease.epoch}
