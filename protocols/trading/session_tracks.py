"""Tracks of a session: what its seats owe at set times, as a table (R-D18, facts 7)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

from moot.protocols.kernel.case import CaseState, Decision
from moot.protocols.kernel.obligation import NO_GRACE, Obligation
from moot.protocols.kernel.seats import Seat
from moot.protocols.kernel.times import hours, minutes
from moot.protocols.trading.hours import NEW_YORK, new_york
from moot.protocols.trading.seats import GUARDIAN, OPERATOR, TRADER

OPS, DESK, RISK, REPORTS = "#b-ops", "#b-desk", "#b-risk", "#b-report"

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


@dataclass(frozen=True, slots=True)
class Track:
    """What a seat owes at set times; the answer, or the ruling on its absence, opens the next.

    Attributes:
        name: Its name, with which the steps of its obligations begin.
        seat: Who owes.
        expects: The message.
        channel: Where.
        spans: When.
        within: Time until the referee pings, from the nominal instant on.
        grace: Time after that until it may be ruled skipped.
        rule: The rule that asks for it.
    """

    name: str
    seat: Seat
    expects: str
    channel: str
    spans: tuple[Span, ...]
    within: timedelta
    grace: timedelta
    rule: str = "R-D18"

    @property
    def missed(self) -> Decision:
        """Return what the referee rules on a tick that was missed."""
        return Decision("skip", "timeout", self.rule)

    def owed(self, state: Any, at: datetime, after: datetime | None = None) -> Obligation | None:
        """Make the obligation of the next nominal instant.

        Args:
            state: The session.
            at: Now; what passed before is not owed.
            after: Nominal instant of the last tick, None before the first.

        Returns:
            It, opened at its nominal instant; None when the session has no more.
        """
        since = at - SLACK if after is None else max(at - SLACK, after + TICK)
        instants = [found for span in self.spans if (found := span.first(state, since)) is not None]
        if not instants:
            return None
        nominal = min(instants)
        return Obligation(
            f"{state.case_id}/{self.name}-{_name(state, nominal)}/{self.seat}",
            state.case_id,
            self.seat,
            (self.expects,),
            self.channel,
            nominal,
            nominal + self.within,
            self.grace,
        )


def _name(state: Any, nominal: datetime) -> str:
    """Name an instant by New York's clock, with the day when it is not the session's."""
    local = nominal.astimezone(NEW_YORK)
    return f"{local:%H%M}" if local.date().isoformat() == state.date else f"{local:%Y%m%d-%H%M}"


def _track(
    name: str,
    seat: Seat,
    expects: str,
    channel: str,
    within: int,
    grace: int,
    *spans: Span,
    rule: str = "R-D18",
) -> Track:
    return Track(name, seat, expects, channel, spans, minutes(within), minutes(grace), rule)


def _every(step: timedelta, start: str, end: str, delay: timedelta = NO_GRACE) -> Span:
    return Span(start, delay, step, end)


def _in_session(step: timedelta) -> Span:
    return _every(step, "opens_at", "closes_at")


TRACKS: Final[Mapping[str, Track]] = {
    track.name: track
    for track in (
        _track("pre_market", OPERATOR, "PRE_MARKET_CHECK", OPS, 10, 5, Span("nominal_at")),
        _track("risk", GUARDIAN, "RISK_CHECK", RISK, 4, 1, _in_session(minutes(5)), rule="R-B7"),
        _track("desk", TRADER, "DESK_CHECK", DESK, 10, 4, _in_session(minutes(15))),
        _track(
            "poll",
            OPERATOR,
            "CHECK_NEW_STRATEGIES",
            OPS,
            10,
            4,
            _in_session(minutes(15)),
            _every(hours(4), "closes_at", "ends_at"),
            rule="4.1",
        ),
        _track(
            "summary",
            OPERATOR,
            "TRADING_SUMMARY",
            REPORTS,
            10,
            10,
            _every(hours(2), "opens_at", "closes_at", delay=hours(2)),
        ),
        _track("close", OPERATOR, "MARKET_CLOSE", OPS, 10, 5, Span("closes_at")),
        _track("report", OPERATOR, "DAILY_TRADING_REPORT", REPORTS, 20, 10, Span("closes_at", minutes(30))),
        _track(
            "overnight",
            GUARDIAN,
            "OVERNIGHT_RISK_CHECK",
            RISK,
            20,
            10,
            _every(hours(12), "closes_at", "ends_at", delay=hours(12)),
            rule="R-B7",
        ),
        _track("weekly", OPERATOR, "WEEKLY_TRADING_REPORT", REPORTS, 20, 10, Span("weekly_at")),
    )
}
"""What a session owes at set times, by name; the page on System B has the same table."""


def saturday_in(begins_at: datetime, ends_at: datetime) -> datetime | None:
    """Return the instant of the weekly report in a desk day, None when it holds none."""
    day = begins_at.astimezone(NEW_YORK).date()
    at = new_york(day + timedelta(days=(SATURDAY - day.weekday()) % 7), *WEEKLY_AT)
    return at if at < ends_at else None


def first_owed(state: CaseState, at: datetime) -> tuple[Obligation, ...]:
    """Return the first obligation of every track of a session that opens now."""
    found = (track.owed(state, at) for track in TRACKS.values())
    return tuple(obligation for obligation in found if obligation is not None)
