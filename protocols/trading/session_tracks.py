"""Instants of a session: when its tracks are owed, and what their ticks are called (R-D18)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

from moot.protocols.kernel.obligation import NO_GRACE
from moot.protocols.kernel.times import minutes
from moot.protocols.trading.hours import NEW_YORK, new_york

SLACK: Final = minutes(1)
"""A tick that began less than this ago is still owed: what opens it may have come a moment late."""

TICK: Final = timedelta(microseconds=1)

SATURDAY: Final = 5
WEEKLY_AT: Final = (10, 0)
"""Hour and minute, New York time, of the weekly report."""


class Span(NamedTuple):
    """Nominal instants from an anchor of the session on.

    Attributes:
        start: The anchor, a field of the state.
        delay: From it to the first instant.
        every: From one instant to the next; None: there is only one.
        end: The anchor that all instants lie before.
    """

    start: str
    delay: timedelta = NO_GRACE
    every: timedelta | None = None
    end: str = "ends_at"

    def first(self, state: Any, at: datetime) -> datetime | None:
        """Return the first instant at `at` or later; None when there is none."""
        start: datetime | None = getattr(state, self.start)
        if start is None:
            return None
        start += self.delay
        if start < at:
            if self.every is None:
                return None
            start += -(-(at - start) // self.every) * self.every
        return start if start < getattr(state, self.end) else None


def at_instants(*spans: Span) -> Callable[[Any, datetime, datetime | None], datetime | None]:
    """Return when a track is owed next: (session, now, instant of the last tick) -> instant, None for no more.

    What passed before is not owed.
    """

    def next_at(state: Any, at: datetime, last: datetime | None) -> datetime | None:
        since = at - SLACK if last is None else max(at - SLACK, last + TICK)
        return min((found for span in spans if (found := span.first(state, since)) is not None), default=None)

    return next_at


def named(track: str) -> Callable[[Any, datetime], str]:
    """Return how a track's ticks are named: by New York's clock, with the day when it is not the session's."""

    def name(state: Any, nominal: datetime) -> str:
        local = nominal.astimezone(NEW_YORK)
        is_of_day = local.date().isoformat() == state.date
        return f"{track}-{local:%H%M}" if is_of_day else f"{track}-{local:%Y%m%d-%H%M}"

    return name


def every(step: timedelta, start: str, end: str, delay: timedelta = NO_GRACE) -> Span:
    """Return instants at equal distances."""
    return Span(start, delay, step, end)


def in_session(step: timedelta) -> Span:
    """Return instants at equal distances while the exchange is open."""
    return every(step, "opens_at", "closes_at")


def saturday_in(begins_at: datetime, ends_at: datetime) -> datetime | None:
    """Return the instant of the weekly report in a desk day, None when it holds none."""
    day = begins_at.astimezone(NEW_YORK).date()
    at = new_york(day + timedelta(days=(SATURDAY - day.weekday()) % 7), *WEEKLY_AT)
    return at if at < ends_at else None
