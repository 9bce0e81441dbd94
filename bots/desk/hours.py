"""When the exchange is open on a day, in UTC (R-D18). Access: read-only."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from typing import NamedTuple

from bots.tools.continuation import EXCHANGE

QUARTER = timedelta(minutes=15)
MINUTE = timedelta(minutes=1)


class Hours(NamedTuple):
    """Open and close of a session, aware UTC."""

    opens_at: datetime
    closes_at: datetime

    @property
    def quarters(self) -> int:
        """Count its 15-minute bars: 26, fewer on a half day."""
        return (self.closes_at - self.opens_at) // QUARTER

    def quarter(self, instant: datetime) -> int:
        """Return which bar runs at an instant; the last one also at the close."""
        return min((instant - self.opens_at) // QUARTER, self.quarters - 1)


def hours_on(day: date) -> Hours | None:
    """Return the exchange's hours on a day, None when it stays closed."""
    return _hours_of(day.year).get(day)


@lru_cache(maxsize=32)
def _hours_of(year: int) -> Mapping[date, Hours]:
    import exchange_calendars

    with warnings.catch_warnings():
        # It speaks to pandas in ways that newer versions of that deprecate.
        warnings.simplefilter("ignore")
        calendar = exchange_calendars.get_calendar(EXCHANGE, start=f"{year}-01-01", end=f"{year}-12-31")
        schedule = zip(calendar.sessions, calendar.opens, calendar.closes, strict=True)
        return {session.date(): Hours(_utc(opens), _utc(closes)) for session, opens, closes in schedule}


def _utc(stamp: object) -> datetime:
    moment: datetime = stamp.to_pydatetime()  # type: ignore[attr-defined]
    return moment.astimezone(UTC)
