"""The conditions of System A that escalate (spec 5.1, R-D11, R-E1)."""

from __future__ import annotations

from collections.abc import Iterable, Set
from datetime import datetime, timedelta
from typing import Final

from moot.protocols.escalation.watch import Condition, Source
from moot.protocols.kernel.context import Deed
from moot.protocols.kernel.docket import Docket, Effects
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.figures import SECOND_AUDIT
from moot.protocols.kernel.officers import ClockSet, SocietyStarted
from moot.protocols.kernel.people import Stop
from moot.protocols.kernel.seats import Seat
from moot.protocols.kernel.tenure import is_ruled
from moot.protocols.research.debate import KIND as DEBATE_KIND
from moot.protocols.research.debate import DebateState
from moot.protocols.research.messages import BacktestResult, MetaReflection, ReviseRequest
from moot.protocols.research.seats import SYSTEM_A

SYSTEM: Final = "A"
TIMEOUTS: Final = 3
REVISIONS: Final = 3
WITHOUT_APPROVE: Final = timedelta(hours=24)
APPROVE_RATE: Final = 0.2
EVIDENCE: Final = 10
"""An escalation names at most so many messages."""

NOTHING: Final[tuple[Condition, ...]] = ()


class ConsecutiveTimeouts(Source):
    """Three timeouts in a row from one seat; whatever that seat gives to what it owes ends the row."""

    deeds = Deed.RULED | Deed.BROKE | Deed.AWAITED

    def __init__(self, code: str = "timeouts", seats: Set[Seat] = SYSTEM_A) -> None:
        """Start with nobody silent.

        Args:
            code: Its row in the trigger table.
            seats: The seats of the system that it watches.
        """
        self._code = code
        self._seats = seats
        self._rows: dict[Seat, tuple[int, tuple[int, ...]]] = {}

    def changes(self, env: Envelope, fx: Effects, docket: Docket) -> Iterable[Condition]:
        """Count rulings for silence, forget them at an answer, be it one that was ruled on."""
        voided, settled = fx.voided, fx.settled
        if voided is not None:
            return self._silent(voided.seat, env, docket) if voided.seat in self._seats else NOTHING
        if self._rows:
            if settled is not None:
                return self._spoke(settled.seat)
            if is_ruled(fx):
                return self._spoke(env.author)
        return NOTHING

    def _silent(self, seat: Seat, env: Envelope, docket: Docket) -> Iterable[Condition]:
        n, seqs = self._rows.get(seat, (0, ()))
        n, seqs = n + 1, (*seqs, env.seq)[-TIMEOUTS:]
        self._rows[seat] = (n, seqs)
        docket.context.awaited.add(seat)
        if n < TIMEOUTS:
            return NOTHING
        context = f"{n} deadlines in a row passed without a word from {seat}"
        return (Condition(self._code, seat, True, context, seqs),)

    def _spoke(self, seat: Seat) -> Iterable[Condition]:
        n, _ = self._rows.pop(seat, (0, ()))
        return (Condition(self._code, seat, False),) if n >= TIMEOUTS else NOTHING


class Deadlocks(Source):
    """The third REVISE_REQUEST of a lineage (R-D11)."""

    types = frozenset({"REVISE_REQUEST"})
    ends = frozenset({DEBATE_KIND})

    def __init__(self) -> None:
        """Start with no lineage revised."""
        self._requests: dict[str, tuple[int, tuple[int, ...]]] = {}

    def changes(self, env: Envelope, fx: Effects, docket: Docket) -> Iterable[Condition]:
        """Count the requests in effect by lineage; an approved backtest of the lineage ends it."""
        if type(env.body) is ReviseRequest and fx.violation is None:
            state = docket.cases.get(env.case_id or "")
            return self._requested(state.lineage_id, env) if isinstance(state, DebateState) else NOTHING
        for ended in fx.ended:
            if isinstance(ended, DebateState) and ended.passed and ended.lineage_id in self._requests:
                n, _ = self._requests.pop(ended.lineage_id)
                if n >= REVISIONS:
                    return (Condition("deadlocked", ended.lineage_id, False),)
        return NOTHING

    def _requested(self, lineage: str, env: Envelope) -> Iterable[Condition]:
        n, seqs = self._requests.get(lineage, (0, ()))
        n, seqs = n + 1, (*seqs, env.seq)[-EVIDENCE:]
        self._requests[lineage] = (n, seqs)
        if n < REVISIONS:
            return NOTHING
        context = f"{n} revisions of lineage {lineage} were asked for, none settled it"
        return (Condition("deadlocked", lineage, True, context, seqs),)


class NoApprove(Source):
    """No successful APPROVE for 24 h of the society's up time, counted from its start (R-E1, K6).

    No time passes while a person has stopped System A (R-F12).
    """

    types = frozenset({"SOCIETY_STARTED", "CLOCK_SET", "BACKTEST_RESULT", "STOP"})

    def __init__(self) -> None:
        """Start with no success."""
        self._since: datetime | None = None
        self._seq = 0
        self._outage = timedelta(0)
        self._stopped_at_uptime: datetime | None = None

    def changes(self, env: Envelope, fx: Effects, docket: Docket) -> Iterable[Condition]:
        """Move the start of the wait at the society's start, by outages, and as each backtest passes (R-D15)."""
        context, body = docket.context, env.body
        if type(body) is SocietyStarted or type(body) is ClockSet:
            idle = context.outage - self._outage
            if self._stopped_at_uptime is not None and type(body) is SocietyStarted:
                idle += (env.sent_at - context.outage) - self._stopped_at_uptime
                self._stopped_at_uptime = None
            if self._since is None:
                self._since, self._seq = context.started_at, env.seq
            else:
                self._since += idle
            self._outage = context.outage
            return NOTHING
        if type(body) is Stop:
            is_counted = context.version >= SECOND_AUDIT and self._stopped_at_uptime is None
            if is_counted and SYSTEM in context.stopped:
                self._stopped_at_uptime = env.sent_at - context.outage
            return NOTHING
        if type(body) is BacktestResult and body.passed and fx.violation is None and self._since is not None:
            was_due = env.sent_at >= self._since + WITHOUT_APPROVE
            self._since, self._seq = env.sent_at, env.seq
            if self._stopped_at_uptime is not None:
                self._stopped_at_uptime = env.sent_at - context.outage
            return (Condition("no_approve", "", False, was_due=was_due),)
        return NOTHING

    def alarm(self, docket: Docket) -> datetime | None:
        """Return when the 24 h are over."""
        return None if self._since is None else self._since + WITHOUT_APPROVE

    def timed(self, now: datetime, docket: Docket) -> Iterable[Condition]:
        """Return the condition once the 24 h are over."""
        if self._since is None or now < self._since + WITHOUT_APPROVE:
            return NOTHING
        context = f"the last successful APPROVE, or the start, was at {self._since:%Y-%m-%d %H:%M} UTC"
        return (Condition("no_approve", "", True, context, (self._seq,)),)


class ApproveRate(Source):
    """A weekly META_REFLECTION of debates of which less than 20 % ended in approval, whatever came first (R-F3)."""

    types = frozenset({"META_REFLECTION"})

    def changes(self, env: Envelope, fx: Effects, docket: Docket) -> Iterable[Condition]:
        """Judge each META_REFLECTION in effect; a week without debates says nothing."""
        body = env.body
        if type(body) is not MetaReflection or fx.violation is not None or body.total_debates == 0:
            return NOTHING
        total = body.total_debates
        approved = round(body.explorer_win_rate * total)
        noun = "debate" if total == 1 and docket.context.version >= SECOND_AUDIT else "debates"
        context = f"{approved} of {total} {noun} of {body.period} ended in approval"
        return (Condition("approve_rate", "", approved / total < APPROVE_RATE, context, (env.seq,)),)


def sources() -> tuple[Source, ...]:
    """Return fresh sources of all conditions of System A."""
    return (ConsecutiveTimeouts(), Deadlocks(), NoApprove(), ApproveRate())
