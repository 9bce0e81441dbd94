"""The calendar: which cycle is due when, what waits and what is skipped (K16, R-D16, R-D17, R-D21)."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final, NamedTuple

from apscheduler.triggers.cron import CronTrigger

from moot.protocols.kernel.context import Deed, Fold, RuleContext
from moot.protocols.kernel.docket import Docket, Effects
from moot.protocols.kernel.envelope import OFFICER, Draft, Envelope
from moot.protocols.kernel.errors import OfficerFault
from moot.protocols.kernel.message import Message
from moot.protocols.kernel.officers import ClockSet, ConfigChanged, SocietyStarted, ends_outage
from moot.protocols.kernel.people import Stop
from moot.protocols.kernel.seats import TIMEKEEPER
from moot.protocols.kernel.times import parse_instant, rfc3339
from moot.protocols.research.messages import CycleDeferred, CycleSkipped, CycleTrigger

REMEMBERED: Final = 1024
"""For so many seqs a duty may be under way that the log has overtaken."""

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

FIRST: Final[Mapping[str, timedelta]] = {"daily": timedelta(days=1), "architecture": timedelta(days=7)}
"""How far the first window of a schedule reaches back (R-D17)."""


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
        self._spec = dict(spec)
        self._cron = CronTrigger.from_crontab(spec["cron"], timezone=UTC) if "cron" in spec else None
        self._at = sorted(parse_instant(text) for text in spec.get("at", ()))
        self._day: date | None = None
        self._of_day: list[datetime] = []
        self._of_later: tuple[date | None, list[datetime]] = (None, [])
        self._times: list[timedelta] = []

    def __getnewargs__(self) -> tuple[dict[str, Any]]:
        """Return what it is made from: what it remembers besides follows from that."""
        return (self._spec,)

    def first(self, at: datetime, *, after: bool) -> datetime | None:
        """Return the first instant at `at` or later; strictly later when `after`."""
        find = bisect_right if after else bisect_left
        found = self._at[find(self._at, at) :][:1]
        if self._cron is not None:
            if at.date() != self._day:
                self._day, self._of_day = at.date(), self._fires_on(at)
            fires = self._of_day[find(self._of_day, at) :][:1]
            if not fires:
                if self._of_later[0] != self._day:
                    self._of_later = (self._day, self._fires_from(_midnight(at) + timedelta(days=1)))
                fires = self._of_later[1]
            found += fires
        return min(found, default=None)

    def _fires_on(self, at: datetime) -> list[datetime]:
        """Return the instants of a day: a cron expression fires at the same times on every day it fires on."""
        midnight = _midnight(at)
        following = self._fires_from(midnight)
        if not following or following[0].date() != at.date():
            return []
        if not self._times:
            while following and following[0].date() == at.date():
                self._times.append(following[0] - midnight)
                following = self._fires_from(following[0] + timedelta(minutes=1))
        return [midnight + time for time in self._times]

    def _fires_from(self, at: datetime) -> list[datetime]:
        fire = self._cron.get_next_fire_time(None, at) if self._cron is not None else None
        return [fire.astimezone(UTC)] if fire is not None else []


DAILY: Final = Schedule({"cron": "0 22 * * *"})
"""Where the reports' days end when nothing is scheduled."""


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
        last: The latest that was: its cycle ran or was skipped.
    """

    name = "calendar"
    types = frozenset(
        {"SOCIETY_STARTED", "CLOCK_SET", "CONFIG_CHANGED", "CYCLE_TRIGGER", "CYCLE_SKIPPED", "CYCLE_DEFERRED"}
    )
    deeds = Deed.ENDED | Deed.PERSON

    def __init__(self) -> None:
        """Start without schedules; the first SOCIETY_STARTED brings them."""
        self.next: dict[str, datetime | None] = {}
        self.last: dict[str, datetime] = {}
        self._schedules: dict[str, Schedule] = {}
        self._specs: dict[str, Any] = {}
        self._deferred: set[tuple[str, datetime]] = set()
        self._up_since: datetime | None = None
        self._was_busy: tuple[int, str] | None = None
        self._stopped_seq = 0

    def apply(self, env: Envelope, fx: Effects, docket: Docket) -> None:
        """Take in one envelope.

        Raises:
            OfficerFault: SOCIETY_STARTED or CONFIG_CHANGED carry schedules that are none.
        """
        body = env.body
        for ended in fx.ended:
            if ended.kind in BUSY:
                self._was_busy = (env.seq, ended.kind)
        if fx.superseded or fx.violation is not None:
            return
        if type(body) is CycleTrigger:
            self._handled(body.mode, body.nominal_at)
        elif type(body) is CycleSkipped:
            self._handled(body.schedule, body.nominal_at)
        elif type(body) is CycleDeferred:
            self._deferred.add((body.schedule, body.nominal_at))
        elif type(body) is ClockSet:
            if ends_outage(body):
                self._up_since = env.sent_at
        elif type(body) is SocietyStarted:
            self._up_since = env.sent_at
            self._configure(env, docket.context)
        elif type(body) is ConfigChanged:
            self._configure(env, docket.context)
        elif type(body) is Stop:
            self._stopped_seq = env.seq

    def _configure(self, env: Envelope, context: RuleContext) -> None:
        """Take the schedules of the effective configuration; those that are as before go on where they were."""
        try:
            specs = dict(context.config.get("schedules", {}))
            schedules = {name: Schedule(specs[name]) for name in POLICIES if name in specs}
        except (ValueError, TypeError, AttributeError) as exc:
            raise OfficerFault(
                f"{env.body.type} carries schedules that are none: {exc}", seq=env.seq
            ) from exc
        for name in POLICIES:
            if name not in schedules:
                self.next[name] = None
            elif self.next.get(name) is None or specs[name] != self._specs.get(name):
                self.next[name] = schedules[name].first(env.sent_at, after=False)
        self._specs, self._schedules = specs, schedules

    def _handled(self, name: str, nominal: datetime) -> None:
        self._deferred.discard((name, nominal))
        self.last[name] = nominal
        schedule = self._schedules.get(name)
        self.next[name] = schedule.first(nominal, after=True) if schedule is not None else None

    def since(self, name: str, nominal: datetime) -> datetime:
        """Return where the window of a nominal instant begins: at the one before, for the first at `FIRST` (K16)."""
        last = self.last.get(name)
        return last if last is not None and last < nominal else nominal - FIRST[name]

    def after(self, name: str, at: datetime) -> datetime | None:
        """Return the next nominal instant of a schedule in force; None without one."""
        schedule = self._schedules.get(name)
        return schedule.first(at, after=True) if schedule is not None else None

    def oldest(self, at: datetime) -> datetime:
        """Return where the windows that are still to come begin at the latest, `at` where none reaches back (K16)."""
        return min((last for name, last in self.last.items() if self.next.get(name) is not None), default=at)

    def day_end(self, at: datetime) -> datetime:
        """Return when the reports' day ends that an instant belongs to: at the next daily instant (R-D17)."""
        schedule = self._schedules.get("daily", DAILY)
        return schedule.first(at, after=False) or DAILY.first(at, after=False) or at

    def alarm(self, docket: Docket) -> datetime | None:
        """Return the next nominal instant that needs something said, None while all wait."""
        busy = _busy(docket.context)
        instants = []
        for name, nominal in self.next.items():
            if nominal is None or (busy and POLICIES[name].waits and (name, nominal) in self._deferred):
                continue
            instants.append(nominal)
        return min(instants, default=None)

    def ring(self, now: datetime, docket: Docket) -> Iterator[Draft]:
        """Return the Timekeeper's most urgent duty at `now`, if any."""
        for name in POLICIES:
            duty = self._duty(name, now, docket)
            if duty is not None:
                yield duty
                return

    def owed(self, env: Envelope, docket: Docket) -> Draft | None:
        """Return what is to be said about the slot that this message is about."""
        body = env.body
        name = body.mode if type(body) is CycleTrigger else getattr(body, "schedule", "")
        duty = self._duty(name, env.sent_at, docket) if name in POLICIES else None
        return duty if duty is not None and duty.identity() == env.id else None

    def _duty(self, name: str, now: datetime, docket: Docket) -> Draft | None:
        nominal = self.next.get(name)
        if nominal is None or nominal > now:
            return None
        body = self._say(name, nominal, now, docket.context)
        if body is None:
            return None
        return Draft(
            channel="#a-arena",
            author=TIMEKEEPER,
            actor=OFFICER,
            body=body,
            key=_deferral(name, nominal) if type(body) is CycleDeferred else _slot(name, nominal),
        )

    def _say(
        self, name: str, nominal: datetime, now: datetime, context: RuleContext, *, heeds_stop: bool = True
    ) -> Message | None:
        """Decide what to say about a slot whose time has come; None while it waits."""
        policy = POLICIES[name]
        if heeds_stop and "A" in context.stopped:
            return _skipped(policy, nominal, "stopped")
        was_down = self._up_since is not None and nominal < self._up_since
        later = self._schedules[name].first(nominal, after=True)
        is_stale = later is not None and later <= now
        if policy.waits and is_stale:
            return _skipped(policy, nominal, "outage" if was_down else "a later one is due")
        if not policy.waits and (was_down or is_stale):
            return _skipped(policy, nominal, "outage" if was_down else "missed")
        busy = _busy(context) or self._goes_first(name, now)
        if busy and not policy.waits:
            return _skipped(policy, nominal, _runs(busy))
        if busy:
            if (name, nominal) in self._deferred:
                return None
            return CycleDeferred(schedule=policy.mode, nominal_at=nominal, reason=_runs(busy))  # type: ignore[arg-type]
        return CycleTrigger(
            trigger=policy.trigger,  # type: ignore[arg-type]
            mode=policy.mode,  # type: ignore[arg-type]
            nominal_at=nominal,
            context=context.fold_named("research").context(),
        )

    def _goes_first(self, name: str, now: datetime) -> str:
        """Name the schedule that goes before this one at this instant and that nothing may run beside."""
        first = self.next.get("architecture")
        return "architecture" if name != "architecture" and first is not None and first <= now else ""

    def was_owed(self, env: Envelope, docket: Docket) -> bool:
        """Say whether a deferral was due a moment ago: the cycle it waits for ended while it was written."""
        body = env.body
        return (
            type(body) is CycleDeferred
            and env.id == _deferral(body.schedule, body.nominal_at)
            and (
                self._ran(body.reason, docket.context) or self._is_just_now(self._stopped_seq, docket.context)
            )
        )

    def same(self, expected: Message, given: Message, context: RuleContext) -> bool:
        """Compare a duty with what was posted, allowing for what changed while it was under way.

        A cycle ended, a report moved the context, or a person stopped System A a moment ago. A cycle that
        opens all the same after a STOP is stopped at once (K21).
        """
        if self._resembles(expected, given, context):
            return True
        if type(expected) is not CycleSkipped or not self._is_just_now(self._stopped_seq, context):
            return False
        assert context.at is not None
        before = self._say(expected.schedule, expected.nominal_at, context.at, context, heeds_stop=False)
        return before is not None and (before == given or self._resembles(before, given, context))

    def _resembles(self, expected: Message, given: Message, context: RuleContext) -> bool:
        if type(given) is CycleTrigger and type(expected) is CycleTrigger:
            return (
                (expected.trigger, expected.mode) == (given.trigger, given.mode)
                and expected.nominal_at == given.nominal_at
                and context.fold_named("research").was_context(given.context)
            )
        if type(given) is CycleSkipped and isinstance(expected, CycleTrigger | CycleSkipped):
            slot = expected.mode if isinstance(expected, CycleTrigger) else expected.schedule
            is_slot = (slot, expected.nominal_at) == (given.schedule, given.nominal_at)
            return is_slot and self._ran(given.reason, context)
        if type(given) is CycleDeferred and type(expected) is CycleDeferred:
            is_slot = (expected.schedule, expected.nominal_at) == (given.schedule, given.nominal_at)
            return is_slot and self._ran(given.reason, context)
        return False

    def _ran(self, reason: str, context: RuleContext) -> bool:
        """Say whether a reason names the cycle that runs, or the one that ended a moment ago."""
        if not reason:
            return False
        before = self._was_busy
        is_fresh = before is not None and self._is_just_now(before[0], context)
        return reason == _runs(_busy(context)) or (
            before is not None and is_fresh and reason == _runs(before[1])
        )

    def _is_just_now(self, seq: int, context: RuleContext) -> bool:
        return seq > 0 and context.seq - seq <= REMEMBERED


def _busy(context: RuleContext) -> str:
    return next((kind for kind in BUSY if context.running.get(kind)), "")


def _runs(kind: str) -> str:
    return f"{kind} runs"


def _slot(name: str, nominal: datetime) -> str:
    return f"{name}/{rfc3339(nominal)}"


def _deferral(name: str, nominal: datetime) -> str:
    return f"{_slot(name, nominal)}/deferred"


def _skipped(policy: Policy, nominal: datetime, reason: str) -> CycleSkipped:
    return CycleSkipped(schedule=policy.mode, nominal_at=nominal, reason=reason)  # type: ignore[arg-type]
