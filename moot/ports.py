"""What may stand between a society and its parts: nothing, or a rehearsal of faults (`moot.chaos`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from moot.bots.desk.broker import Broker
from moot.bots.desk.market import Market
from moot.bots.minds.mind import Mind
from moot.bots.models.in_use import ModelInUse
from moot.bots.models.transport import Transport
from moot.channels.bus import Bus
from moot.clock import Clock
from moot.memory.bodies import Bodies
from moot.model_start import ModelSeats
from moot.protocols.kernel.seats import Seat

Rehearsed = tuple[Mapping[str, ModelInUse], Callable[[Bodies], Transport]]
"""Models as if they had been found out, and what makes the transport that answers for them."""


class Ports:
    """Hands every part over as it is; who stands between overrides what it wants to hear or to break."""

    def bus(self, bus: Bus, clock: Clock) -> Bus:
        """Return the bus that the society publishes on."""
        return bus

    def mind(self, seat: Seat, mind: Mind, clock: Clock) -> Mind:
        """Return the mind that fills a seat."""
        return mind

    def market(self, market: Market) -> Market:
        """Return the market that the desk looks at and trades on."""
        return market

    def broker(self, broker: Broker) -> Broker:
        """Return the broker that fills the desk's orders."""
        return broker

    def models(self, seats: ModelSeats) -> Rehearsed | None:
        """Return what stands in for models, so that none is looked for; None: they are called."""
        return None
