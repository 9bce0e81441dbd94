"""Sessions judged from the raw messages: what is said once a day, ticks, alerts (R-D18, R-B4, R-B7)."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final, NamedTuple
from zoneinfo import ZoneInfo

from moot.protocols.trading import hours
from moot.verify.second_told import Doubt, Doubts, Told, step_of

NEW_YORK: Final = ZoneInfo("America/New_York")
MINUTE: Final = timedelta(minutes=1)
SATURDAY: Final = 5
KEPT: Final = 3
"""So many sessions are kept; an old one ends long before as many others have begun."""

LEVELS: Final = ("", "WARNING", "CRITICAL", "HALT")
LIMITS: Final[Mapping[str, tuple[float, float, float]]] = {
    "daily_pnl": (-0.03, -0.05, -0.08),
    "drawdown": (-0.10, -0.15, -0.20),
    "var95": (0.03, 0.05, 0.08),
    "largest_position": (0.08, 0.12, 0.15),
}
"""R-B7: from where on is WARNING, CRITICAL, HALT; reaching a number counts."""

ALERT_WITHIN: Final = timedelta(minutes=5)

ALLOWED: Final[Mapping[str, tuple[str, ...]]] = {
    "increasing": ("reduce_exposure",),
    "accelerating": ("reduce_exposure",),
    "stable": ("monitor", "hold"),
    "decreasing": ("monitor", "hold"),
}
"""R-B4: what may be decided on a WARNING by the Guardian's projection."""

TICKS: Final = frozenset({"RISK_CHECK", "DESK_CHECK", "CHECK_NEW_STRATEGIES", "OVERNIGHT_RISK_CHECK"})

Risk = tuple[str, ...]
"""What tells one risk from another: its metric, and the strategy of a drawdown."""


def level_of(metric: str, value: float) -> int:
    """Return how bad a value is: 0 within the limits, 1 WARNING, 2 CRITICAL, 3 HALT."""
    limits = LIMITS[metric]
    return sum(value <= limit if limits[0] < 0 else value >= limit for limit in limits)


class Owed(NamedTuple):
    """An alert that a check or a deliberation asks for."""

    risk: Risk
    level: int
    told: Told
    until: datetime


class Alert(NamedTuple):
    """An alert that is being dealt with."""

    session_id: str
    risk: Risk
    level: int


class Once:
    """What is said once in a session.

    Attributes:
        track: How the steps of its obligation begin.
        until: When it is missing, in up time.
        is_said: Whether it was said or ruled on, or is not owed.
    """

    __slots__ = ("is_said", "track", "until")

    def __init__(self, track: str, until: datetime, *, is_owed: bool) -> None:
        """Start unsaid."""
        self.track, self.until, self.is_said = track, until, not is_owed


class Session:
    """A desk day.

    Attributes:
        once: What is said once, by type.
        ticks: Nominal instant of the last check of each type.
        levels: Level of each risk at the last check.
        owed: Alerts that are owed, oldest first.
    """

    def __init__(self, told: Told) -> None:
        """Begin with what lies ahead."""
        body = told.body
        self.ticks: dict[str, datetime] = {}
        self.levels: dict[Risk, int] = {}
        self.owed: deque[Owed] = deque()
        self.once: dict[str, Once] = {}
        times = [
            ("PRE_MARKET_CHECK", "pre_market", body.nominal_at, 15),
            ("MARKET_CLOSE", "close", body.closes_at, 15),
            ("DAILY_TRADING_REPORT", "report", body.closes_at + 30 * MINUTE, 30),
        ]
        saturday = _saturday(body.nominal_at)
        if saturday < body.ends_at:
            times.append(("WEEKLY_TRADING_REPORT", "weekly", saturday, 30))
        down = told.env.sent_at - told.up
        for kind, track, at, within in times:
            # What was due before the day was opened is not owed; what outages come later moves what is (K6).
            is_owed = at >= told.env.sent_at - MINUTE
            self.once[kind] = Once(track, at - down + within * MINUTE, is_owed=is_owed)

    def end(self) -> None:
        """Ask for nothing more."""
        self.owed.clear()
        for once in self.once.values():
            once.is_said = True


def _saturday(begins_at: datetime) -> datetime:
    local = begins_at.astimezone(NEW_YORK)
    day = local.date() + timedelta(days=(SATURDAY - local.weekday()) % 7)
    return datetime(day.year, day.month, day.day, 10, tzinfo=NEW_YORK).astimezone(begins_at.tzinfo)


class Sessions:
    """Follows the desk's days."""

    def __init__(self) -> None:
        """Start before the first."""
        self._sessions: dict[str, Session] = {}
        self._alerts: dict[str, Alert] = {}
        self._trends: dict[str, str] = {}
        self._last: date | None = None
        self._ends_at: datetime | None = None
        self._is_enabled = False
        self._day_until: datetime | None = None
        self._down = timedelta(0)
        self._up_since = datetime.min.replace(tzinfo=UTC)

    # ------------------------------------------------------------ time

    def enable(self, config: Mapping[str, Any], up: datetime) -> None:
        """Take in whether there is a desk from an instant of up time on: the society starts, or is configured."""
        if "desk" in config:
            self._is_enabled = bool((config["desk"] or {}).get("enabled", self._is_enabled))
        self._day_until, self._up_since = None, up

    def stop(self, scope: str) -> None:
        """Take in a STOP: no day is opened until the society starts again."""
        if scope.lower() in ("b", "system b"):
            self._is_enabled = False

    def due(self, now: datetime, up: datetime, before: datetime) -> Doubts:
        """Name what should have been said by now.

        Args:
            now: When the message in hand was sent; `up`: the same in up time.
            before: Until when the officers have settled everything, in up time.
        """
        if self._ends_at is not None and now < self._ends_at:
            self._down = now - up
        elif self._is_enabled:
            if self._day_until is None:
                # The day may have ended while the society was down: it was up again by now at the latest (K6).
                ended = self._up_since if self._ends_at is None else min(self._ends_at - self._down, up)
                self._day_until = max(ended, self._up_since)
            if self._day_until < before:
                self._day_until = None
                self._ends_at = hours.next_session(hours.desk_day_at(now).date).begins_at
                yield Doubt("desk", "R-D18", "no TRADING_DAY opened the desk's day before this")
        for session_id, session in self._sessions.items():
            for kind, once in session.once.items():
                if not once.is_said and once.until < before:
                    once.is_said = True
                    yield Doubt("desk", "R-D18", f"{session_id} has no {kind}, and nobody ruled on that")
            while session.owed and session.owed[0].until < before:
                owed = session.owed.popleft()
                what = f"{' of '.join(owed.risk)} reached {LEVELS[owed.level]}"
                why = f"{what}, and no RISK_ALERT or ruling followed"
                yield Doubt("desk", "R-B7", why, owed.told.seq, owed.told.line)

    # ------------------------------------------------------------ days

    def opened(self, told: Told) -> Doubts:
        """Take in a TRADING_DAY."""
        body = told.body
        day = date.fromisoformat(body.date)
        if self._last is not None and day <= self._last:
            yield Doubt("desk", "R-D18", f"the day {body.date} was opened before")
            return
        session = hours.session_on(day)
        if session is None or (body.opens_at, body.closes_at) != (session.opens_at, session.closes_at):
            yield Doubt("desk", "R-D18", f"the exchange has no such session on {body.date}")
        self._last, self._ends_at, self._day_until = day, body.ends_at, None
        self._sessions[told.case_id] = Session(told)
        if len(self._sessions) > KEPT:
            del self._sessions[next(iter(self._sessions))]

    def said(self, told: Told) -> Doubts:
        """Take in what a session owes once, or at set times."""
        session, kind = self._sessions.get(told.case_id), told.body.type
        if session is None:
            return
        once = session.once.get(kind)
        if once is not None:
            if once.is_said:
                yield Doubt("desk", "R-D18", f"{told.case_id} has a {kind} already, or owes none")
            once.is_said = True
        if kind in TICKS:
            last, nominal = session.ticks.get(kind), told.body.nominal_at
            if last is not None and nominal <= last:
                yield Doubt(
                    "desk", "R-D18", f"the {kind} of {nominal:%H:%M} comes after that of {last:%H:%M}"
                )
            session.ticks[kind] = nominal

    # ------------------------------------------------------------ alerts

    def checked(self, told: Told, *, is_halted: bool) -> None:
        """Find the limits that a RISK_CHECK newly reaches."""
        session, body = self._sessions.get(told.case_id), told.body
        if session is None:
            return
        values: dict[Risk, float] = {
            ("daily_pnl",): body.daily_pnl_pct,
            ("var95",): body.var95,
            ("largest_position",): body.largest_position,
            **{("drawdown", name): value for name, value in body.drawdowns.items()},
        }
        levels = {risk: level for risk, value in values.items() if (level := level_of(risk[0], value))}
        for risk, level in sorted(levels.items()):
            if level > session.levels.get(risk, 0):
                self._owe(told, told.case_id, risk, level, is_halted=is_halted)
        session.levels = levels

    def _owe(self, told: Told, session_id: str, risk: Risk, level: int, *, is_halted: bool) -> None:
        """Ask for an alert, unless one of that level or worse is owed or dealt with."""
        session = self._sessions.get(session_id)
        if session is None or (level == 3 and is_halted):
            return
        known = [(owed.risk, owed.level) for owed in session.owed]
        known += [(a.risk, a.level) for a in self._alerts.values() if a.session_id == session_id]
        if not any(other == risk and its >= level for other, its in known):
            session.owed.append(Owed(risk, level, told, told.up + ALERT_WITHIN))

    def alerted(self, told: Told, *, is_halted: bool) -> None:
        """Take in a RISK_ALERT, before it halts the desk."""
        body = told.body
        if body.level not in LEVELS:
            return
        level = LEVELS.index(body.level)
        affected = tuple(body.affected_strategies) if body.metric == "drawdown" else ()
        risk = (body.metric, *affected)
        session = self._sessions.get(body.session_id)
        if session is not None:
            # A desk that was halted meanwhile cannot be halted again: its alert is a CRITICAL one.
            for owed in session.owed:
                if owed.risk == risk and (
                    owed.level == level or (is_halted and (owed.level, level) == (3, 2))
                ):
                    session.owed.remove(owed)
                    break
        if level < 3:
            self._alerts[told.case_id] = Alert(body.session_id, risk, level)

    def projected(self, told: Told) -> None:
        """Take in a RISK_PROJECTION."""
        if told.case_id in self._alerts:
            self._trends[told.case_id] = told.body.trend

    def decided(self, told: Told, *, is_halted: bool) -> Doubts:
        """Hold a RISK_DECISION against R-B4."""
        alert = self._alerts.get(told.case_id)
        if alert is None:
            yield Doubt("desk", "R-B4", f"nothing of {told.case_id} is to be decided")
            return
        trend = self._trends.get(told.case_id, "")
        allowed = ALLOWED.get(trend, ()) if alert.level == 1 else ("reduce_exposure",)
        if told.body.action not in allowed:
            what = trend or LEVELS[alert.level]
            yield Doubt("desk", "R-B4", f"{what} does not lead to {told.body.action}")
        if told.body.until is None:
            self._end(told, is_halted=is_halted)

    def assessed(self, told: Told) -> None:
        """Take in a FEASIBILITY: what grows and cannot be reduced is the admin's (R-F16)."""
        if not told.body.feasible and self._trends.get(told.case_id) in ("increasing", "accelerating"):
            self._alerts.pop(told.case_id, None)
            self._trends.pop(told.case_id, None)

    def _end(self, told: Told, *, is_halted: bool) -> None:
        """End an alert; an accelerating risk is raised again as CRITICAL."""
        alert = self._alerts.pop(told.case_id)
        trend = self._trends.pop(told.case_id, "")
        if trend == "accelerating" and alert.level == 1:
            self._owe(told, alert.session_id, alert.risk, 2, is_halted=is_halted)

    # ------------------------------------------------------------ rulings

    def ruled(self, told: Told, *, is_halted: bool) -> None:
        """Take in a RULING on a session or an alert."""
        is_stop = told.body.outcome == "stop"
        if told.case_id in self._alerts:
            if is_stop:
                del self._alerts[told.case_id]
                self._trends.pop(told.case_id, None)
            else:
                self._end(told, is_halted=is_halted)
        session = self._sessions.get(told.case_id)
        if session is None:
            return
        if is_stop:
            session.end()
            return
        step = step_of(told)
        if step.startswith("alert-") and session.owed:
            session.owed.popleft()
        for once in session.once.values():
            if step.startswith(f"{once.track}-"):
                once.is_said = True
