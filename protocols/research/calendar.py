"""The calendar: which cycle is due when, what waits and what is skipped (K16, R-D16, R-D17, R-D21)."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final, NamedTuple

from apscheduler.triggers.cron import CronTrigger

from protocols.kernel.docket import Docket, Effects
from protocols.kernel.envelope import OFFICER, Draft, Envelope
from protocols.kernel.house import Fold, House, Turn
from protocols.kernel.message import Message
from protocols.kernel.officers import SocietyStarted
from protocols.kernel.seats import Seat
from protocols.kernel.times import parse_instant, rfc3339
from protocols.research.messages import CycleDeferred, CycleSkipped, CycleTrigger

BUSY: Final = ("cycle", "architecture")
"""Kinds of cases that no second cycle may run beside."""


class Policy(NamedTuple):
    """What a schedule does when its instant comes while a cycle runs, or came while the society was down."""

    mode: str
    waits: bool
    trigger: str


POLICIES: Final[Mapping[str, Policy]] = {
    "architecture": Policy("architecture", True, "EXPLORER_START"),
    "daily": Policy("daily", True, "EVOLVER_START"),
    "micro": Policy("micro", False, "EXPLORER_START"),
}
"""Waiting schedules defer and coalesce to the latest; the micro one skips, slot by slot (R-D21).

The order is the order in which they go when they fall together.
"""

DEFAULT_SCHEDULES: Final[Mapping[str, Any]] = {
    "micro": {"cron": "0 */2 * * *"},
    "daily": {"cron": "0 22 * * *"},
    "architecture": {"cron": "0 15 * * sat"},
}
"""In UTC (R-D16, R-D17, R-D21)."""


class Schedule:
    """One schedule as a pure function: the first instant at or after a given one."""

    def __init__(self, spec: Mapping[str, Any]) -> None:
        """Read `{"cron": "m h dom mon dow"}` and/or `{"at": [instants]}`.

        Raises:
            ValueError: It is neither, or the expression is wrong.
        """
        unknown = set(spec) - {"cron", "at"}
        if unknown or not spec:
            raise ValueError(f"a schedule has cron or at, not {', '.join(sorted(unknown)) or 'nothing'}")
        self._cron = CronTrigger.from_crontab(spec["cron"], timezone=UTC) if "cron" in spec else None
        self._at = sorted(parse_instant(text) for text in spec.get("at", ()))
        self._day: date | None = None
        self._of_day: list[datetime] = []

    def first(self, at: datetime, *, after: bool) -> datetime | None:
        """Return the first instant at `at` or later; strictly later when `after`."""
        find = bisect_right if after else bisect_left
        found = self._at[find(self._at, at) :][:1]
        if self._cron is not None:
            if at.date() != self._day:
                self._day, self._of_day = at.date(), self._fires_on(at)
            fires = self._of_day[find(self._of_day, at) :][:1]
            found += fires or self._fires_from(_midnight(at) + timedelta(days=1))
        return min(found, default=None)

    def _fires_on(self, at: datetime) -> list[datetime]:
        """Return the instants of a day; most questions are about the day of the last one."""
        instant, fires = _midnight(at), []
        while (following := self._fires_from(instant)) and following[0].date() == at.date():
            fires += following
            instant = following[0] + timedelta(minutes=1)
        return fires

    def _fires_from(self, at: datetime) -> list[datetime]:
        fire = self._cron.get_next_fire_time(None, at) if self._cron is not None else None
        return [fire.astimezone(UTC)] if fire is not None else []


def _midnight(at: datetime) -> datetime:
    return at.replace(hour=0, minute=0, second=0, microsecond=0)


_schedules: dict[str, Schedule] = {}


def schedule_of(spec: Mapping[str, Any]) -> Schedule:
    """Return the schedule of a specification, parsed once."""
    key = repr(sorted((name, tuple(v) if not isinstance(v, str) else v) for name, v in spec.items()))
    if key not in _schedules:
        _schedules[key] = Schedule(spec)
    return _schedules[key]


class Calendar(Fold):
    """Name the Timekeeper's duties: CYCLE_TRIGGER, CYCLE_DEFERRED, CYCLE_SKIPPED.

    Attributes:
        next: The next nominal instant that was not yet handled, by schedule.
    """

    name = "calendar"
    types = frozenset({"SOCIETY_STARTED", "CONFIG_CHANGED", "CYCLE_TRIGGER", "CYCLE_SKIPPED", "CYCLE_DEFERRED"})
    turns = Turn.ENDED

    def __init__(self) -> None:
        """Start without schedules; the first SOCIETY_STARTED brings them."""
        self.next: dict[str, datetime | None] = {}
        self._specs: dict[str, Any] = {}
        self._deferred: set[tuple[str, datetime]] = set()
        self._up_since: datetime | None = None
        self._was_busy: tuple[datetime, str] | None = None

    def apply(self, env: Envelope, fx: Effects, docket: Docket) -> None:
        """Take in one envelope."""
        body = env.body
        if fx.ended and any(state.kind in BUSY for state in fx.ended):
            self._was_busy = (env.sent_at, next(s.kind for s in fx.ended if s.kind in BUSY))
        if fx.superseded:
            return
        if type(body) is SocietyStarted:
            self._started(env, docket.house)
        elif type(body) is CycleTrigger:
            self._handled(body.mode, body.nominal_at)
        elif type(body) is CycleSkipped:
            self._handled(body.schedule, body.nominal_at)
        elif type(body) is CycleDeferred:
            self._deferred.add((body.schedule, body.nominal_at))

    def _started(self, env: Envelope, house: House) -> None:
        self._up_since = env.sent_at
        specs = dict(house.config.get("schedules", {}))
        for name in POLICIES:
            if name not in specs:
                self.next[name] = None
            elif self.next.get(name) is None or specs[name] != self._specs.get(name):
                self.next[name] = schedule_of(specs[name]).first(env.sent_at, after=False)
        self._specs = specs

    def _handled(self, name: str, nominal: datetime) -> None:
        self._deferred.discard((name, nominal))
        self.next[name] = schedule_of(self._specs[name]).first(nominal, after=True) if name in self._specs else None

    def alarm(self, docket: Docket) -> datetime | None:
        """Return the next nominal instant that needs something said, None while all wait."""
        house = docket.house
        busy = _busy(house)
        instants = []
        for name, nominal in self.next.items():
            if nominal is None or (busy and POLICIES[name].waits and (name, nominal) in self._deferred):
                continue
            instants.append(nominal)
        return min(instants, default=None)

    def ring(self, now: datetime, docket: Docket) -> Iterator[Draft]:
        """Return the Timekeeper's most urgent duty at `now`, if any."""
        for name in POLICIES:
            nominal = self.next.get(name)
            if nominal is None or nominal > now:
                continue
            body = self._say(name, nominal, now, docket)
            if body is not None:
                yield self._draft(name, nominal, body)
                return

    def _say(self, name: str, nominal: datetime, now: datetime, docket: Docket) -> Message | None:
        """Decide what to say about a slot whose time has come; None while it waits."""
        house = docket.house
        policy = POLICIES[name]
        if "A" in house.stopped:
            return CycleSkipped(schedule=policy.mode, nominal_at=nominal, reason="stopped")  # type: ignore[arg-type]
        was_down = self._up_since is not None and nominal < self._up_since
        later = schedule_of(self._specs[name]).first(nominal, after=True)
        is_stale = later is not None and later <= now
        if policy.waits and is_stale:
            reason = "outage" if was_down else "a later one is due"
            return CycleSkipped(schedule=policy.mode, nominal_at=nominal, reason=reason)  # type: ignore[arg-type]
        if not policy.waits and (was_down or is_stale):
            reason = "outage" if was_down else "missed"
            return CycleSkipped(schedule=policy.mode, nominal_at=nominal, reason=reason)  # type: ignore[arg-type]
        busy = self._busy_with(name, now, docket)
        if busy and policy.waits:
            if (name, nominal) in self._deferred:
                return None
            return CycleDeferred(schedule=policy.mode, nominal_at=nominal, reason=f"{busy} runs")  # type: ignore[arg-type]
        if busy:
            return CycleSkipped(schedule=policy.mode, nominal_at=nominal, reason=f"{busy} runs")  # type: ignore[arg-type]
        return CycleTrigger(
            trigger=policy.trigger,  # type: ignore[arg-type]
            mode=policy.mode,  # type: ignore[arg-type]
            nominal_at=nominal,
            context=house.fold_named("research").context(),
        )

    def _busy_with(self, name: str, now: datetime, docket: Docket) -> str:
        waiting = self.next.get("architecture")
        if name == "micro" and waiting is not None and waiting <= now:
            return "architecture"
        return _busy(docket.house)

    def _draft(self, name: str, nominal: datetime, body: Message) -> Draft:
        key = f"{name}/{rfc3339(nominal)}"
        return Draft(
            channel="#a-arena",
            author=Seat.TIMEKEEPER,
            actor=OFFICER,
            body=body,
            key=f"{key}/deferred" if type(body) is CycleDeferred else key,
        )

    def was_owed(self, env: Envelope, docket: Docket) -> bool:
        """Say whether a deferral was due a moment ago: the cycle it waits for ended while it was written."""
        body = env.body
        return (
            type(body) is CycleDeferred
            and self._was_busy is not None
            and self._was_busy[0] >= body.nominal_at
            and body.reason == f"{self._was_busy[1]} runs"
        )

    def same(self, expected: Message, given: Message, ledger: Any) -> bool:
        """Compare a duty with what was posted, allowing for what changed while it was under way."""
        if type(expected) is CycleTrigger and type(given) is CycleTrigger:
            known = ledger.was_context(given.context)
            return known and expected == given.model_copy(update={"cycle_id": "", "context": expected.context})
        if type(expected) is CycleTrigger and type(given) is CycleSkipped:
            return (
                self._was_busy is not None
                and self._was_busy[0] >= given.nominal_at
                and given.reason == f"{self._was_busy[1]} runs"
                and given.nominal_at == expected.nominal_at
            )
        return False


def _busy(house: House) -> str:
    return next((kind for kind in BUSY if house.running.get(kind)), "")
