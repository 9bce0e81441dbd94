"""What may stand between a society and its parts: nothing, or a rehearsal of faults (`moot.chaos`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from moot.bots.desk.broker import Broker
from moot.bots.desk.market import Market
from moot.bots.minds.mind import Mind
from moot.bots.models.in_use import ModelInUse
from moot.bots.models.transport import Transport
from moot.bots.notebook.client import Notebook
from moot.channels.bus import Bus, Receipt
from moot.clock import Clock
from moot.memory.bodies import Bodies
from moot.model_start import ModelSeats
from moot.protocols.kernel.envelope import Draft
from moot.protocols.kernel.seats import Seat

if TYPE_CHECKING:
    from moot.host import Host

Rehearsed = tuple[Mapping[str, ModelInUse], Callable[[Bodies], Transport]]
"""Models as if they had been found out, and what makes the transport that answers for them."""


class Posting(Protocol):
    """Takes in what people post, as `moot.door.Door` does."""

    async def publish(self, draft: Draft) -> Receipt:
        """Publish a draft; for the inbox."""
        ...

    async def publish_json(self, draft: Mapping[str, Any], key: str) -> Mapping[str, Any]:
        """Publish a draft given as plain data; for the gateway."""
        ...


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

    def notebook(self, notebook: Notebook | None) -> Notebook | None:
        """Return the notebook that a run of the Arena asks; None where there is none."""
        return notebook

    def door(self, door: Posting, clock: Clock) -> Posting:
        """Return what takes in what people post."""
        return door

    def calls(self, transport: Transport, models: Mapping[str, ModelInUse], bodies: Bodies) -> Transport:
        """Return what carries out calls of models."""
        return transport

    async def beside(self, host: Host, cut_off: Callable[[bool], None]) -> None:
        """Live beside the society until cancelled, when it is served to people.

        Args:
            host: The society's.
            cut_off: Cuts the gateway off, or lets it in again.
        """

    def models(self, seats: ModelSeats) -> Rehearsed | None:
        """Return what stands in for models, so that none is looked for; None: they are called."""
        return None
