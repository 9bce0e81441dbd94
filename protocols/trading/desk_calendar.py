"""The desk's calendar: which trading day is due when (R-D18, K16)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from moot.protocols.kernel.context import Fold, RuleContext
from moot.protocols.kernel.docket import Docket, Effects
from moot.protocols.kernel.envelope import OFFICER, Draft, Envelope
from moot.protocols.kernel.people import Stop
from moot.protocols.kernel.seats import TIMEKEEPER
from moot.protocols.kernel.times import rfc3339
from moot.protocols.trading import hours
from moot.protocols.trading.messages import TradingDay

OPS: Final = "#b-ops"
SYSTEM: Final = "B"

REMEMBERED: Final = 1024
"""For so many seqs a day may be under way that a STOP or a change of the configuration has overtaken."""


def is_enabled(context: RuleContext) -> bool:
    """Say whether the society has a desk, by its logged configuration; it has none when that does not say so."""
    desk = context.config.get("desk")
    return bool(desk and desk.get("enabled"))


def trading_day(session: hours.Session) -> TradingDay:
    """Return the TRADING_DAY of a session."""
    return TradingDay(
        session_id=f"session_{session.date:%Y%m%d}",
        date=session.date.isoformat(),
        nominal_at=session.begins_at,
        opens_at=session.opens_at,
        closes_at=session.closes_at,
        ends_at=hours.next_session(session.date).begins_at,
        is_early_close=session.is_early_close,
    )


class DeskCalendar(Fold):
    """Name the Timekeeper's duty to open each desk day.

    After an outage only the present day is opened, not those that were missed. A human STOP of System B holds it
    until the society starts again (K21).

    Attributes:
        opened: Nominal instant of the last day that was opened, None before the first.
        next: From this instant on there may be a day to open; None while there is no desk.
    """

    name = "desk_calendar"
    types = frozenset({"SOCIETY_STARTED", "CONFIG_CHANGED", "TRADING_DAY", "STOP"})

    def __init__(self) -> None:
        """Start without a desk; the first SOCIETY_STARTED says whether there is one."""
        self.opened: datetime | None = None
        self.next: datetime | None = None
        self._held_seq = 0

    def apply(self, env: Envelope, fx: Effects, docket: Docket) -> None:
        """Take in one envelope."""
        body = env.body
        if isinstance(body, TradingDay):
            # One that was overtaken opened nothing, but its id is taken: the day is over for good.
            self.opened, self.next = body.nominal_at, body.ends_at
        elif isinstance(body, Stop):
            if fx.violation is None:
                self._held_seq = env.seq
        elif not is_enabled(docket.context):
            if self.next is not None:
                self._held_seq = env.seq
            self.next = None
        elif self.next is None:
            self.next = self._first(env.sent_at)

    def _first(self, at: datetime) -> datetime:
        """Return the nominal instant of the present day, of the one after it when it was opened already."""
        session = hours.desk_day_at(at)
        if session.begins_at != self.opened:
            return session.begins_at
        return hours.next_session(session.date).begins_at

    def alarm(self, docket: Docket) -> datetime | None:
        """Return the nominal instant of the next day to open; None while none is."""
        return None if SYSTEM in docket.context.stopped else self.next

    def ring(self, now: datetime, docket: Docket) -> Iterator[Draft]:
        """Return the Timekeeper's TRADING_DAY of the desk day that holds `now`, if it is still to be said."""
        if self.next is not None and self.next <= now and SYSTEM not in docket.context.stopped:
            yield self._duty(now)

    def _duty(self, now: datetime) -> Draft:
        session = hours.desk_day_at(now)
        return Draft(
            channel=OPS,
            author=TIMEKEEPER,
            actor=OFFICER,
            body=trading_day(session),
            key=_key(session.begins_at),
        )

    def was_owed(self, env: Envelope, docket: Docket) -> bool:
        """Say whether a day was due a moment ago: a STOP, a configuration or the next day came in between."""
        body = env.body
        if not isinstance(body, TradingDay) or body.nominal_at > env.sent_at:
            return False
        session = hours.desk_day_at(body.nominal_at)
        is_its_day = env.id == _key(session.begins_at) and body == trading_day(session)
        is_new = self.opened is None or self.opened < body.nominal_at
        was_held = self._held_seq > 0 and docket.context.seq - self._held_seq <= REMEMBERED
        return is_its_day and is_new and (was_held or body.ends_at <= env.sent_at)


def _key(nominal: datetime) -> str:
    return f"desk/{rfc3339(nominal)}"
