"""What a bot holds instead of docket and stores: a port to its host (K12)."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from moot.bots.minds.mind import View
from moot.channels.bus import Receipt
from moot.protocols.kernel.envelope import Draft
from moot.protocols.kernel.message import Message
from moot.protocols.kernel.obligation import Obligation
from moot.protocols.kernel.seats import Seat


class Clock(Protocol):
    """Society time, as `moot.clock` gives it."""

    def now(self) -> datetime:
        """Return the society's instant."""
        ...

    async def sleep_until(self, instant: datetime) -> None:
        """Sleep until the society reaches an instant."""
        ...


class Port(Protocol):
    """A seat's door to the society."""

    async def view(self, seat: Seat, obligation: Obligation) -> View | None:
        """Return what the seat's mind is shown for an obligation; None once it is closed."""
        ...

    async def publish(self, draft: Draft) -> Receipt:
        """Publish a draft.

        Raises:
            Refused: Schema, seat or channel are wrong; the refusal is in the audit.
        """
        ...

    def answer_draft(self, view: View, body: Message) -> Draft | None:
        """Make the draft of an answer: channel, case, attempt, tenure, hops; None once it is closed."""
        ...
