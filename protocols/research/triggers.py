"""The conditions of System A that escalate (spec 5.1, R-D11, R-E1)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Final

from protocols.escalation.watch import Condition, Source
from protocols.kernel.docket import Docket, Effects
from protocols.kernel.envelope import Envelope
from protocols.kernel.seats import SYSTEM_A, Seat
from protocols.research.debate import DebateState
from protocols.research.messages import MetaReflection, ReviseRequest

TIMEOUTS: Final = 3
REVISIONS: Final = 3
WITHOUT_APPROVE: Final = timedelta(hours=24)
APPROVE_RATE: Final = 0.2


class ConsecutiveTimeouts(Source):
    """Three timeouts in a row from one seat; an answer of that seat ends it."""

    def __init__(self) -> None:
        """Start with nobody silent."""
        self._row: dict[Seat, list[int]] = {}

    def changes(self, env: Envelope, fx: Effects, docket: Docket) -> Iterator[Condition]:
        """Count rulings for silence, forget them at an answer."""
        if fx.voided is not None and fx.voided.seat in SYSTEM_A:
            seat = fx.voided.seat
            row = self._row.setdefault(seat, [])
            row.append(env.seq)
            del row[:-10]
            if len(row) >= TIMEOUTS:
                context = f"{len(row)} deadlines in a row passed without a word from {seat}"
                yield Condition("timeouts", seat.value, True, context, tuple(row[-TIMEOUTS:]))
        elif fx.settled is not None and (row := self._row.get(fx.settled.seat, [])):
            was_silent = len(row) >= TIMEOUTS
            row.clear()
            if was_silent:
                yield Condition("timeouts", fx.settled.seat.value, False)


class Deadlocks(Source):
    """The third REVISE_REQUEST of a lineage (R-D11)."""

    def __init__(self) -> None:
        """Start with no lineage revised."""
        self._requests: dict[str, tuple[int, ...]] = {}

    def changes(self, env: Envelope, fx: Effects, docket: Docket) -> Iterator[Condition]:
        """Count the requests in effect by lineage; an approved backtest of the lineage ends it."""
        if isinstance(env.body, ReviseRequest) and fx.violation is None and env.case_id in docket.cases:
            state = docket.cases[env.case_id]
            assert isinstance(state, DebateState)
            seqs = (*self._requests.get(state.lineage_id, ()), env.seq)
            self._requests[state.lineage_id] = seqs
            if len(seqs) >= REVISIONS:
                context = f"{len(seqs)} revisions of lineage {state.lineage_id} were asked for, none settled it"
                yield Condition("deadlocked", state.lineage_id, True, context, seqs[-10:])
        for ended in fx.ended:
            if isinstance(ended, DebateState) and ended.passed and ended.lineage_id in self._requests:
                seqs = self._requests.pop(ended.lineage_id)
                if len(seqs) >= REVISIONS:
                    yield Condition("deadlocked", ended.lineage_id, False)


class NoApprove(Source):
    """No successful APPROVE for 24 h of the society's up time, counted from its start (R-E1, K6)."""

    def __init__(self) -> None:
        """Start with no success."""
        self._since: datetime | None = None
        self._seq = 0
        self._outage = timedelta(0)

    def changes(self, env: Envelope, fx: Effects, docket: Docket) -> Iterator[Condition]:
        """Move the start of the wait at the society's start and at each passed backtest."""
        house = docket.house
        if self._since is None:
            if house.started_at is not None:
                self._since, self._seq = house.started_at, env.seq
            return
        if house.outage != self._outage:
            self._since += house.outage - self._outage
            self._outage = house.outage
        if any(isinstance(s, DebateState) and s.passed for s in fx.ended):
            overdue = env.sent_at >= self._since + WITHOUT_APPROVE
            self._since, self._seq = env.sent_at, env.seq
            if overdue or docket.house.fold_named("watch").is_open("no_approve", ""):
                yield Condition("no_approve", "", False)

    def alarm(self, docket: Docket) -> datetime | None:
        """Return when the 24 h are over."""
        return None if self._since is None else self._since + WITHOUT_APPROVE

    def timed(self, now: datetime, docket: Docket) -> Iterator[Condition]:
        """Return the condition once the 24 h are over."""
        if self._since is not None and now >= self._since + WITHOUT_APPROVE:
            context = f"the last successful APPROVE, or the start, was at {self._since:%Y-%m-%d %H:%M} UTC"
            yield Condition("no_approve", "", True, context, (self._seq,))


class ApproveRate(Source):
    """A weekly META_REFLECTION with less than 20 % approvals."""

    def changes(self, env: Envelope, fx: Effects, docket: Docket) -> Iterator[Condition]:
        """Judge each META_REFLECTION in effect; a week without debates says nothing."""
        body = env.body
        if not isinstance(body, MetaReflection) or fx.violation is not None or body.total_debates == 0:
            return
        rate = body.verdict_distribution.APPROVE / body.total_debates
        context = f"{body.verdict_distribution.APPROVE} of {body.total_debates} debates of {body.period} approved"
        yield Condition("approve_rate", "", rate < APPROVE_RATE, context, (env.seq,))


def sources() -> tuple[Source, ...]:
    """Return fresh sources of all conditions of System A."""
    return (ConsecutiveTimeouts(), Deadlocks(), NoApprove(), ApproveRate())
