"""15-minute bars, and how many of them a session has. Access: read-only."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final, NamedTuple

from moot.protocols.trading.hours import Session

QUARTER: Final = timedelta(minutes=15)
MINUTE: Final = timedelta(minutes=1)


class Quarter(NamedTuple):
    """A 15-minute bar: its start, prices in the file's currency, shares traded."""

    starts_at: datetime
    open: float
    high: float
    low: float
    close: float
    volume: float


def quarters_of(session: Session) -> int:
    """Count the bars of a session: 26, fewer on a half day."""
    return (session.closes_at - session.opens_at) // QUARTER
