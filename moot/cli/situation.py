"""A society as it stands after some message: open cases, who owes what, and how long they have."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from moot.cli.errors import Unusable
from moot.cli.place import runner, shown
from moot.cli.reading import Log, Watch, fold

if TYPE_CHECKING:
    from moot.desk import Market
    from moot.protocols.calls.books import Amount, Limit, Place
    from moot.protocols.kernel.docket import Docket, Effects
    from moot.protocols.kernel.envelope import Envelope
    from moot.protocols.kernel.obligation import Obligation
    from moot.protocols.trading.messages import TradingDay


@dataclass(slots=True)
class Situation:
    """A society as it stood after some message.

    Attributes:
        log: Its log.
        docket: Everything open.
        now: The instant that countdowns count from.
        pid: The process that runs it: 0 when that hides, None when nobody does.
        clock: Which clock the last start named.
        is_warm_up: Whether the last start was that of a warm-up.
        rehearsal: The share of occasions at which something has been made to go wrong since the last start; None: the
            society is no rehearsal.
        day: The desk day that was opened last; None before the first.
        halt: What opened the last halt of the desk; None before the first.
        queued: How many posts wait in the inbox; none at a past moment.
    """

    log: Log
    docket: Docket
    now: datetime | None
    pid: int | None = None
    clock: str = ""
    is_warm_up: bool = False
    rehearsal: float | None = None
    day: TradingDay | None = None
    halt: Envelope | None = None
    queued: int = 0

    @classmethod
    def of(cls, named: Path, until: int | None = None, watch: Watch | None = None) -> Situation:
        """Fold the log that a user names.

        Args:
            named: Directory or file.
            until: The last message that counts.
            watch: Called with every message, what it changed, and the docket after it.

        Raises:
            Unusable: There is no such log or message.
            CheckFailed: It breaks the rules.
        """
        from moot.clock.wall import utc_ns
        from moot.protocols.kernel.officers import SocietyStarted
        from moot.protocols.trading.messages import TradingDay

        log = Log(named)
        head = log.head
        if not head:
            raise Unusable(f"{shown(named)} holds no message: no society ever lived there")
        if until is not None and not 1 <= until <= head:
            raise Unusable(f"--until {until}: the log of {shown(named)} holds messages 1 to {head}")
        started: list[SocietyStarted] = []
        days: list[TradingDay] = []
        halts: list[Envelope] = []

        def take(env: Envelope, fx: Effects, docket: Docket) -> None:
            if isinstance(env.body, SocietyStarted):
                started.append(env.body)
            elif isinstance(env.body, TradingDay):
                days.append(env.body)
            elif fx.started and any(state.kind == "halt" and state.outcome is None for state in fx.started):
                halts.append(env)
            if watch is not None:
                watch(env, fx, docket)

        docket = fold(log, until, take)
        pid = runner(log.directory) if log.directory is not None and until is None else None
        clock = started[-1].clock if started else ""
        now = docket.at
        if pid is not None and clock == "real":
            now = datetime.fromtimestamp(utc_ns() / 1e9, UTC)
        elif pid is not None and clock == "accelerated" and now is not None and not docket.context.paused:
            now = _paced(log.path, docket, now)
        return cls(
            log=log,
            docket=docket,
            now=now,
            pid=pid,
            clock=clock,
            is_warm_up=bool(started and started[-1].warm_up),
            rehearsal=started[-1].rehearsal if started else None,
            day=days[-1] if days else None,
            halt=halts[-1] if halts else None,
            queued=_queued(log) if until is None else 0,
        )

    def owed(self) -> list[Obligation]:
        """Return what is owed: by bots and people first, then by officers; what is due first comes first."""
        from moot.protocols.kernel.seats import OFFICERS

        return sorted(self.docket.open.values(), key=lambda o: (o.seat in OFFICERS, o.due_at, o.id))

    def remaining(self, obligation: Obligation) -> timedelta:
        """Return the time that is left until it is due; negative when it is late."""
        return obligation.due_at - (self.now or obligation.opened_at)

    def obligation_json(self, o: Obligation) -> dict[str, Any]:
        """Return an obligation as plain data."""
        holder = self.docket.context.holders.get(o.seat)
        return {
            "id": o.id,
            "case_id": o.case_id,
            "seat": o.seat,
            "held_by": holder.user_id if holder is not None else None,
            "expects": list(o.expects),
            "channel": o.channel,
            "opened_at": _text(o.opened_at),
            "due_at": _text(o.due_at),
            "void_at": _text(self.docket.deadlines.void_at(o)),
            "remaining_s": round(self.remaining(o).total_seconds()),
            "attempt": self.docket.attempts.get(o.id, 0),
        }

    def as_json(self) -> dict[str, Any]:
        """Return cases and obligations as plain data."""
        return {
            "seq": self.docket.seq,
            "at": _text(self.docket.at),
            "now": _text(self.now),
            "cases": [
                {
                    "case_id": state.case_id,
                    "kind": state.kind,
                    "phase": str(state.phase),
                    "parent": state.parent,
                    "opened_seq": state.opened_seq,
                    "waits_for_ruling": state.case_id in self.docket.waiting,
                    "owed": [o.id for o in state.owed],
                }
                for state in self.docket.cases.values()
            ],
            "obligations": [self.obligation_json(o) for o in self.owed()],
        }

    def status_json(self) -> dict[str, Any]:
        """Return how the society stands as plain data."""
        context = self.docket.context
        return {
            "log": str(self.log.path),
            "running": self.pid is not None,
            "pid": self.pid or None,
            "clock": self.clock,
            "speed": context.speed,
            "paused": context.paused,
            "warm_up": self.is_warm_up,
            "rehearsal": self.rehearsal,
            "seed": context.seed,
            "rules_version": context.rules_version,
            "conservative": context.conservative_a,
            "stopped_systems": sorted(context.stopped),
            "models": {
                seat: mind
                for mind, seats in context.fold_named("minds").models(self.docket.seq).items()
                for seat in seats
            },
            "seats_taken": {seat: who.user_id for seat, who in sorted(context.holders.items())},
            "escalations_open": [c.case_id for c in self.docket.cases.values() if c.kind == "escalation"],
            "cases_ended": len(self.docket.ended),
            "queued": self.queued,
            "hosts": self.hosts_json(),
            "desk": self.desk_json(),
            "panels": self.panels_json(),
            "calls": self.calls_json(),
            **self.as_json(),
        }

    def hosts_json(self) -> dict[str, Any] | None:
        """Return who leads and how far every host is; None where no host of several runs, or at a past moment."""
        from moot.hosts.noted import hosts_of

        return (
            hosts_of(self.log.directory) if self.pid is not None and self.log.directory is not None else None
        )

    def market(self) -> Market:
        """Return whether the exchange is open, and until when."""
        from moot.desk import market

        return market(self.day, self.now)

    def desk_json(self) -> dict[str, Any]:
        """Return the exchange's hours, the desk's money, and the halt in force as plain data."""
        from moot.desk import money

        hours = self.market()
        return {
            "market": {"is_open": hours.is_open, "until": _text(hours.until)},
            **money(self.docket.context),
            "halted": self.halt_json(),
        }

    def panels_json(self) -> dict[str, Any] | None:
        """Return how panels ended, and the share that ended in [PANEL-SHRUNK]; None before the first."""
        from moot.protocols.panel.rounds import NAME, Rounds

        rounds: Rounds = self.docket.context.fold_named(NAME)
        if not rounds.ended:
            return None
        return {
            "ended": rounds.ended,
            "decided": rounds.decided,
            "shrunk": rounds.shrunk,
            "shrunk_rate": round(rounds.rate, 4),
            "is_alarming": rounds.is_alarming,
        }

    def calls_json(self) -> dict[str, Any]:
        """Return what is left for calls of models: how many are under way, the budgets, and which are spent."""
        context = self.docket.context
        spent = context.fold_named("exhaustion").spent_at(self.now).items() if self.now else ()
        return {
            "under_way": len(context.fold_named("ledger").open),
            "budgets": budgets_json(self.docket),
            "spent": [{"budget": name, "why": one.lack.line, "seats": one.does} for name, one in spent],
        }

    def halt_json(self) -> dict[str, Any] | None:
        """Return the halt in force: since when, by whom and why, in which phase; None without one."""
        halt_id = self.docket.context.fold_named("book").halt_id
        env = self.halt
        if not halt_id or env is None:
            return None
        body: Any = env.body
        return {
            "halt_id": halt_id,
            "seq": env.seq,
            "since": _text(env.sent_at),
            "by": env.actor.user_id or env.author,
            "why": body.reason if body.type == "HALT" else body.message,
            "reasons": [
                {"seq": one.seq, "by": one.by, "why": one.text}
                for one in getattr(self.docket.cases[halt_id], "reasons", ())
            ],
            "phase": str(self.docket.cases[halt_id].phase),
        }


def budgets_of(docket: Docket) -> list[tuple[Place, Limit, Amount, Amount]]:
    """Return the budgets that are limited, of the society, the day and the seats: limit, booked, under way."""
    if docket.at is None:
        return []
    room = docket.context.fold_named("ledger").room(docket.at)
    return [one for one in room if one[0].scope != "case" and any(most is not None for most in one[1])]


def budgets_json(docket: Docket) -> list[dict[str, Any]]:
    """Return them as plain data, money in millionths of a dollar."""
    return [
        {
            "scope": place.scope,
            "key": place.key,
            "limit": limit._asdict(),
            "booked": booked._asdict(),
            "under_way": held._asdict(),
        }
        for place, limit, booked, held in budgets_of(docket)
    ]


def _queued(log: Log) -> int:
    """Count the posts that wait in the inbox of a data directory."""
    if log.directory is None:
        return 0
    from moot.channels.guests.inbox import waiting

    return waiting(log.path)


def _paced(path: Path, docket: Docket, last: datetime) -> datetime:
    """Guess an accelerated society's time: what passed since its file was written, at its speed.

    It is never before the last message, nor after the next instant at which something would be said.
    """
    from moot.clock.wall import utc_ns

    wal = path.with_name(f"{path.name}-wal")
    written_ns = max((file.stat().st_mtime_ns for file in (path, wal) if file.exists()), default=utc_ns())
    passed_s = max(0, utc_ns() - written_ns) / 1e9 * docket.context.speed
    latest = docket.next_instant() or last
    return max(last, min(latest, last + timedelta(seconds=min(passed_s, 86_400.0))))


def _text(instant: datetime | None) -> str | None:
    from moot.protocols.kernel.times import rfc3339

    return None if instant is None else rfc3339(instant)
