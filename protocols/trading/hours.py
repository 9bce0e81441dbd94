"""Hours of the exchange in New York: sessions, early closes, desk days (R-D18).

Pure functions of days and instants. The calendar library is slow to import, so it is imported when the first of
them is asked, never with this module; a calendar is made a year at a time, and kept.
"""

from __future__ import annotations

import warnings
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

EXCHANGE: Final = "XNYS"
NEW_YORK: Final = ZoneInfo("America/New_York")

DAY_BEGINS: Final = (9, 15)
"""Hour and minute, New York time, at which a session's desk day begins."""

_ONE: Final = timedelta(days=1)


class Session(NamedTuple):
    """A session of the exchange: its day in New York, its open and close in UTC."""

    date: date
    opens_at: datetime
    closes_at: datetime
    is_early_close: bool

    @property
    def begins_at(self) -> datetime:
        """Return when its desk day begins, in UTC."""
        return new_york(self.date, *DAY_BEGINS)


@cache
def _year(year: int) -> dict[date, Session]:
    """Return the sessions of a year by their day."""
    with warnings.catch_warnings():
        # The library warns of what pandas will deprecate, which is no concern of whoever asks for hours.
        warnings.simplefilter("ignore")
        import exchange_calendars

        calendar = exchange_calendars.get_calendar(EXCHANGE, start=f"{year}-01-01", end=f"{year}-12-31")
    early = {label.date() for label in calendar.early_closes}
    return {
        label.date(): Session(label.date(), _utc(opens), _utc(closes), label.date() in early)
        for label, opens, closes in zip(calendar.sessions, calendar.opens, calendar.closes, strict=True)
    }


def _utc(instant: datetime) -> datetime:
    """Return a plain instant for the library's."""
    return datetime(
        instant.year, instant.month, instant.day, instant.hour, instant.minute, instant.second, tzinfo=UTC
    )


def new_york(day: date, hour: int, minute: int) -> datetime:
    """Return the instant, in UTC, at which clocks in New York show a time of a day."""
    return datetime.combine(day, time(hour, minute), NEW_YORK).astimezone(UTC)


def day_in_new_york(instant: datetime) -> date:
    """Return the day that calendars in New York show at an instant."""
    return instant.astimezone(NEW_YORK).date()


def session_on(day: date) -> Session | None:
    """Return the session of a day, None when the exchange is closed all day.

    Raises:
        ValueError: The exchange's calendar does not reach there.
    """
    return _year(day.year).get(day)


def next_session(after_day: date) -> Session:
    """Return the first session after a day.

    Raises:
        ValueError: The exchange's calendar does not reach there.
    """
    day = after_day + _ONE
    while (session := session_on(day)) is None:
        day += _ONE
    return session


def desk_day_at(instant: datetime) -> Session:
    """Return the session whose desk day holds an instant.

    A desk day runs from 09:15 New York time of a session until 09:15 of the next one, nights, weekends and holidays
    included.

    Raises:
        ValueError: The exchange's calendar does not reach there.
    """
    day = day_in_new_york(instant)
    while (session := session_on(day)) is None or instant < session.begins_at:
        day -= _ONE
    return session


def trading_at(instant: datetime) -> datetime:
    """Return the first instant from a given one on at which the exchange is open, in UTC.

    Raises:
        ValueError: The exchange's calendar does not reach there.
    """
    session = session_on(day_in_new_york(instant))
    if session is None or instant >= session.closes_at:
        session = next_session(day_in_new_york(instant))
    return max(instant, session.opens_at)


def trading_ends_at(instant: datetime) -> datetime:
    """Return the close of the session that is open at an instant, of the next one when none is, in UTC.

    Raises:
        ValueError: The exchange's calendar does not reach there.
    """
    session = session_on(day_in_new_york(trading_at(instant)))
    assert session is not None
    return session.closes_at
