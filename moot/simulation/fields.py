"""What values in a scene file may be: durations, instants, seats."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Annotated

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict

from moot.protocols.kernel.seats import Seat
from moot.protocols.rulebook import rulebook
from moot.simulation.durations import FIRST, LAST, duration

Duration = Annotated[timedelta, BeforeValidator(duration)]
"""A duration as people write it, 1h30m."""


def _known(seat: Seat) -> Seat:
    if seat not in rulebook().seats:
        raise ValueError(f"there is no seat {seat!r}: choose one of {', '.join(sorted(rulebook().seats))}")
    return seat


KnownSeat = Annotated[Seat, AfterValidator(_known)]
"""A seat that the rulebook has."""


def _instant(value: object) -> object:
    found = value
    try:
        if isinstance(value, str):
            found = datetime.fromisoformat(value)
        if isinstance(found, datetime):
            found = found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError):
        found = None
    if not isinstance(found, datetime):
        raise ValueError(f"{str(value)[:40]} is no instant: write 2026-02-23T10:00:00Z")
    if not FIRST <= found < LAST:
        raise ValueError(f"a society lives from {FIRST:%Y} to {LAST.year - 1}, not in {found.year}")
    return found


Instant = Annotated[datetime, BeforeValidator(_instant)]
"""An instant of society time; naive means UTC."""


class Strict(BaseModel):
    """A mapping in a scene file: it has the keys that it may have and no others."""

    model_config = ConfigDict(extra="forbid", frozen=True)
