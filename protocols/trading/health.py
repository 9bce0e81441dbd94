"""Health of both systems, derived from the log."""

from __future__ import annotations

from collections import deque
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Literal

from moot.protocols.kernel.case import CaseState
from moot.protocols.kernel.context import Deed, Fold
from moot.protocols.kernel.docket import Docket, Effects
from moot.protocols.kernel.envelope import OFFICER, Draft, Envelope
from moot.protocols.kernel.officers import ends_outage
from moot.protocols.kernel.seats import REFEREE, Seat
from moot.protocols.kernel.times import hours, minutes, rfc3339
from moot.protocols.research.rights import RIGHTS as RESEARCH_RIGHTS
from moot.protocols.research.seats import SYSTEM_A
from moot.protocols.trading.desk_calendar import is_enabled
from moot.protocols.trading.hours import day_in_new_york, new_york
from moot.protocols.trading.messages import Execution, HealthCheck, Order, TradingDay
from moot.protocols.trading.rights import RIGHTS as TRADING_RIGHTS
from moot.protocols.trading.seats import SYSTEM_B

Status = Literal["HEALTHY", "DEGRADED", "CRITICAL"]

IN_SESSION: Final = minutes(30)
"""From one HEALTH_CHECK of System B to the next while the exchange is open; System A's come no closer either."""
OTHERWISE: Final = 4
"""Hours between them at other times, from midnight in New York on."""

DAY: Final = hours(24)
ACTIVE: Final = hours(2)
IDLE: Final = hours(4)
"""A seat of System A that spoke within the first is healthy, within the second degraded, beyond it critical."""
SILENT: Final = 3
"""So many silences in a row of a seat of System B are critical, fewer degraded."""

WELL: Final = (0, False)
"""Silences in a row, and whether the last word broke a rule."""
OK, TIMEOUT, ERROR = "ok", "timeout", "error"
SEATS: Final = SYSTEM_A | SYSTEM_B
NEVER: Final = datetime.max.replace(tzinfo=UTC)
CYCLE, SESSION, STOPPED = "cycle", "session", "stopped"

SAID_BEFORE_THE_END: Final = frozenset(
    {"VERDICT", "BACKTEST_RESULT", "CAUSAL_RECORD", "REFLECTION", "MICRO_CYCLE_REPORT"}
)
"""What the Evolver says shortly before it ends the cycle, and with it; the end is heard anyway."""


class Health(Fold):
    """Name the Referee's HEALTH_CHECKs.

    System A's follows the end of each micro-cycle, of those that end within half an hour only the first; System B's
    the first message at or after its nominal instant, while a session is open. Both hang on a message, so that what
    they say is of one place in the log.
    """

    name = "health"
    types = frozenset(
        row.type for row in (*RESEARCH_RIGHTS, *TRADING_RIGHTS) if not SEATS.isdisjoint(row.seats)
    ).difference(SAID_BEFORE_THE_END) | {"SOCIETY_STARTED", "CLOCK_SET", "TRADING_DAY", "TIMEOUT_PING"}
    deeds = Deed.ENDED | Deed.RULED | Deed.BROKE

    def __init__(self) -> None:
        """Start with nobody heard."""
        self._said: dict[Seat, datetime] = {}
        self._troubled: dict[Seat, tuple[int, bool]] = {}
        self._up_since: datetime | None = None
        self._cycles: deque[tuple[datetime, datetime]] = deque()
        self._last_a: datetime | None = None
        self._day: TradingDay | None = None
        self._next = NEVER
        self._sessions = self._orders = self._trades = 0
        self._is_consistent = True

    # ---------------------------------------------------------------- folding

    def apply(self, env: Envelope, fx: Effects, docket: Docket) -> list[Draft] | None:
        """Take in one envelope."""
        at = env.sent_at
        if env.author in SYSTEM_A and fx.violation is None:
            # What most messages take: it costs a debate 2 % of its fold.
            self._said[env.author] = at
            if self._troubled:
                self._troubled.pop(env.author, None)
            if not fx.ended and at < self._next:
                return None
        else:
            self._hear(env, fx)
        duties = self._ended(env, fx, docket) if fx.ended else []
        return duties if at < self._next else [*duties, *self._of_b(env, docket)]

    def _hear(self, env: Envelope, fx: Effects) -> None:
        """Take in all but a legal message of System A."""
        author, voided = env.author, fx.voided
        if voided is not None:
            silences, _ = self._troubled.get(voided.seat, WELL)
            self._troubled[voided.seat] = (silences + 1, False)
        elif author in SEATS:
            self._said[author] = env.sent_at
            if fx.violation is not None:
                self._troubled[author] = (self._troubled.get(author, WELL)[0], True)
            else:
                self._troubled.pop(author, None)
        self._count(env, fx)

    def _ended(self, env: Envelope, fx: Effects, docket: Docket) -> list[Draft]:
        """Take in the cases that a message ended."""
        for ended in fx.ended:
            if ended.kind == CYCLE:
                return self._cycle_ended(env, ended)
            if ended.kind == SESSION and not docket.context.running.get(SESSION):
                self._next = NEVER
        return []

    def _cycle_ended(self, env: Envelope, ended: CaseState) -> list[Draft]:
        at = env.sent_at
        if ended.outcome != STOPPED:
            self._cycles.append((ended.anchor_at, at))
        if self._last_a is not None and at - self._last_a < IN_SESSION:
            return []
        self._last_a = at
        return [self._of_a(env)]

    def _count(self, env: Envelope, fx: Effects) -> None:
        """Count what System B does in a day."""
        body = env.body
        if isinstance(body, Execution):
            self._trades += body.qty_filled > 0
            self._is_consistent = self._is_consistent and fx.violation is None
        elif fx.violation is not None or fx.superseded:
            return
        elif isinstance(body, Order):
            self._orders += 1
        elif isinstance(body, TradingDay):
            self._sessions += 1
            self._orders = self._trades = 0
            self._is_consistent = True
            self._day = body
            if fx.started and not fx.ended:
                self._next = following(body, env.sent_at)
        elif ends_outage(body):
            self._up_since = env.sent_at

    def silences(self, seat: Seat) -> int:
        """Return how much a seat missed in a row; a message of it in effect ends the row."""
        return self._troubled.get(seat, WELL)[0]

    # ---------------------------------------------------------------- duties

    def _of_a(self, env: Envelope) -> Draft:
        at = env.sent_at
        while self._cycles and self._cycles[0][1] <= at - DAY:
            self._cycles.popleft()
        n = len(self._cycles)
        total = sum((ended - began for began, ended in self._cycles), timedelta())
        metrics = {
            "cycles_last_24h": n,
            "avg_cycle_duration_min": round(total / n / minutes(1), 6) if n else None,
        }
        idle = max(at - self._active_since(seat, at) for seat in SYSTEM_A)
        status: Status = "HEALTHY" if idle < ACTIVE else "DEGRADED" if idle <= IDLE else "CRITICAL"
        return self._duty(env, "A", at, status, metrics)

    def _active_since(self, seat: Seat, at: datetime) -> datetime:
        """Return when a seat last spoke; the time that the society was down is nobody's silence (K6)."""
        up_since = self._up_since or at
        return max(self._said.get(seat, up_since), up_since)

    def _of_b(self, env: Envelope, docket: Docket) -> list[Draft]:
        """Return the HEALTH_CHECK of the last nominal instant that has come."""
        assert self._day is not None
        nominal, after = self._next, following(self._day, self._next)
        while after <= env.sent_at:
            nominal, after = after, following(self._day, after)
        self._next = after
        if not is_enabled(docket.context):
            return []
        worst = max(map(self.silences, SYSTEM_B))
        is_well = worst == 0 and self._is_consistent
        status: Status = "CRITICAL" if worst >= SILENT else "HEALTHY" if is_well else "DEGRADED"
        metrics = {
            "sessions": self._sessions,
            "orders": self._orders,
            "trades": self._trades,
            "positions_consistent": self._is_consistent,
        }
        return [self._duty(env, "B", nominal, status, metrics)]

    def _duty(
        self,
        env: Envelope,
        system: Literal["A", "B"],
        nominal: datetime,
        status: Status,
        metrics: dict[str, Any],
    ) -> Draft:
        seats = SYSTEM_A if system == "A" else SYSTEM_B
        body = HealthCheck(
            system=system,
            timestamp=env.sent_at,
            status=status,
            agents={seat: self._agent(seat) for seat in sorted(seats)},
            metrics=metrics,
        )
        return Draft(
            channel="#admin",
            author=REFEREE,
            actor=OFFICER,
            in_reply_to=env.id,
            key=f"health/{system}/{rfc3339(nominal)}",
            body=body,
        )

    def _agent(self, seat: Seat) -> dict[str, str | None]:
        said = self._said.get(seat)
        silences, is_faulty = self._troubled.get(seat, WELL)
        status = ERROR if is_faulty else TIMEOUT if silences else OK
        return {"status": status, "last_active": rfc3339(said) if said is not None else None}


def following(day: TradingDay, at: datetime) -> datetime:
    """Return the next nominal instant of System B's HEALTH_CHECK after an instant of a desk day."""
    opens, closes = day.opens_at, day.closes_at
    if at < opens:
        return min(opens, _round_hour_after(at))
    in_session = opens + ((at - opens) // IN_SESSION + 1) * IN_SESSION
    if in_session < closes:
        return in_session
    return _round_hour_after(max(at, closes - timedelta.resolution))


def _round_hour_after(at: datetime) -> datetime:
    """Return the next of New York's midnight, 4, 8, 12, 16 and 20 o'clock."""
    day = day_in_new_york(at)
    instants = [new_york(day, hour, 0) for hour in range(0, 24, OTHERWISE)]
    return next((i for i in instants if i > at), new_york(day + timedelta(days=1), 0, 0))
