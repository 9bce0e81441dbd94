"""Liveness: what a society has come to a day after the last fault, each kind of case within its own bound."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import takewhile
from typing import Final

from moot.chaos.judge import Finding
from moot.laws.law import Message
from moot.laws.positions import Position, Positions
from moot.protocols.escalation.case import EscalationState
from moot.protocols.kernel.case import CaseState
from moot.protocols.kernel.docket import Docket, Effects
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.machine import Machine, rows
from moot.protocols.research.calendar import BUSY, POLICIES, schedule_of
from moot.protocols.research.messages import CycleDeferred, CycleSkipped, CycleTrigger
from moot.protocols.trading import halt, hours
from moot.protocols.trading.desk_calendar import SYSTEM, is_enabled
from moot.protocols.trading.messages import TradingDay
from moot.protocols.trading.session_state import LATE_FILL
from moot.protocols.trading.trade_state import TradeState

QUIET: Final = timedelta(hours=24)
"""So long a society must have had no fault before it is asked what has become of all."""
LATEST: Final = timedelta(minutes=10)
"""By so much an officer may be late with a ruling, or with a cycle that is due."""
ROUNDS: Final = 5
"""What a table lets come again comes so often at most: the rounds of an Arena run, the pages of an escalation."""


class Bounds:
    """How long a case of each kind may take, by the deadlines that its table gave to such cases in this world.

    Attributes:
        waited: Until when a case waited for another that has ended, by its id.
    """

    def __init__(self) -> None:
        """Begin before the first message."""
        self._longest: dict[str, dict[str, timedelta]] = defaultdict(dict)
        self.waited: dict[str, datetime] = {}

    def take(self, env: Envelope, fx: Effects, docket: Docket) -> None:
        """Note what a message opened; `docket` is as it left it."""
        for due in fx.opened:
            state = docket.cases.get(due.case_id)
            if state is not None:
                longest, lasts = self._longest[state.kind], due.void_at - env.sent_at
                longest[due.rule] = max(longest.get(due.rule, lasts), lasts)
        for ended in fx.ended:
            about = ended.subject if isinstance(ended, EscalationState) else ended.parent
            if about in docket.cases:
                self.waited[about] = env.sent_at
            self.waited.pop(ended.case_id, None)

    def of(self, machine: Machine) -> timedelta:
        """Return the time that all steps of a kind have, each as often as it may come."""
        again, found = _again(machine), LATEST
        for step, longest in self._longest[machine.kind].items():
            found += longest * (ROUNDS if step in again else 1)
        return found


def _again(machine: Machine) -> set[str]:
    """Return the steps of a machine that may come more than once in a case, by its table."""
    leads: dict[str, set[str]] = {phase: set() for phase in machine.phases}
    for row in rows(machine):
        for phase in (row.phase,) if row.phase else machine.phases:
            leads[phase].update(row.move.to)
    unowed = (
        *machine.facts.items(),
        *machine.children.items(),
        *((((p,), m)) for p, m in machine.dry.items()),
    )
    stays = {key[0] for key, move in unowed if key[0] in move.to}
    stays.update(phase for move in machine.rulings.values() for phase in move.to)
    found = set()
    for name, step in machine.steps.items():
        moves = [*step.moves.values(), *([step.missed.move] if step.missed is not None else [])]
        if step.phase in stays or any(step.phase in move.to for move in moves) or _returns(leads, step.phase):
            found.add(name)
    return found


def _returns(leads: Mapping[str, set[str]], phase: str) -> bool:
    """Say whether a phase can be left and come again."""
    seen, left = set[str](), leads[phase] - {phase}
    while left:
        seen |= left
        left = {to for one in left for to in leads.get(one, ())} - seen
    return phase in seen


def unended(
    docket: Docket, log: Sequence[Envelope], bounds: Bounds, calm_at: datetime, now: datetime
) -> Iterator[Finding]:
    """Yield what should have ended, or begun, by now.

    Args:
        docket: The society's, as its log left it.
        log: All of it.
        bounds: Of its cases.
        calm_at: Since when nothing has gone wrong.
        now: The society's time.
    """
    if now - calm_at < QUIET:
        return
    found = (
        *_overdue(docket, now),
        *_stuck(docket),
        *_endless(docket, log, bounds, calm_at, now),
        *_unopened(docket, log, calm_at, now - LATEST),
        *_opened_while_halted(docket, log),
    )
    yield from (Finding("liveness", docket.seq, says) for says in found)


def _overdue(docket: Docket, now: datetime) -> Iterator[str]:
    """Yield what is owed and was to be ruled on."""
    for due in docket.open.values():
        if due.is_ruled_on and (void_at := docket.deadlines.void_at(due)) + LATEST < now:
            yield f"{due.id} was to be ruled on at {void_at}, it is {now}"


def _stuck(docket: Docket) -> Iterator[str]:
    """Yield the open cases that nothing moves on: nobody owes what has a deadline, and nothing else is waited for."""
    for state in docket.cases.values():
        is_moved = any(due.is_ruled_on for due in state.owed) or state.case_id in docket.waiting
        if not is_moved and state.kind != halt.KIND and not _waits(docket, state):
            yield f"the {state.kind} {state.case_id} is {state.phase}, and nobody owes anything in it"


def _waits(docket: Docket, state: CaseState) -> bool:
    """Say whether a case waits for another: one in it, or an escalation about it."""
    return any(
        one.parent == state.case_id or (isinstance(one, EscalationState) and one.subject == state.case_id)
        for one in docket.cases.values()
    )


def _endless(
    docket: Docket, log: Sequence[Envelope], bounds: Bounds, calm_at: datetime, now: datetime
) -> Iterator[str]:
    """Yield the cases that are open for longer than their kind may take.

    A halt stands until somebody resumes (R-B5). What waits for another case is as old as that one lets it be.
    """
    for state in docket.cases.values():
        since = max(calm_at, bounds.waited.get(state.case_id, log[state.opened_seq - 1].sent_at))
        bound = bounds.of(docket.rules.types[state.kind])
        if now - since > bound and state.kind != halt.KIND and not _waits(docket, state):
            yield (
                f"the {state.kind} {state.case_id} is open since {since} in calm, its steps have {bound} in all"
            )


def _unopened(docket: Docket, log: Sequence[Envelope], calm_at: datetime, until: datetime) -> Iterator[str]:
    """Yield the slots of the schedules, and the day of the desk, that came and of which nothing was said (K16)."""
    said: set[tuple[str, datetime]] = set()
    deferred: set[tuple[str, datetime]] = set()
    since = calm_at
    for env in takewhile(lambda env: env.sent_at >= calm_at, reversed(log)):
        body = env.body
        if isinstance(body, CycleTrigger):
            said.add((body.mode, body.nominal_at))
        elif isinstance(body, CycleSkipped):
            said.add((body.schedule, body.nominal_at))
        elif isinstance(body, CycleDeferred):
            deferred.add((body.schedule, body.nominal_at))
        elif isinstance(body, TradingDay):
            said.add((SYSTEM, body.nominal_at))
        elif body.type in docket.rules.lifecycle:
            since = max(since, env.sent_at)
    context = docket.context
    if any(state.kind in BUSY for state in docket.cases.values()):
        said |= deferred
    for name, spec in context.config.get("schedules", {}).items():
        if name in POLICIES:
            schedule = schedule_of(spec)
            slot = schedule.first(since, after=True)
            while slot is not None and slot < until:
                if (name, slot) not in said:
                    yield f"the {name} cycle of {slot} was neither opened nor skipped"
                slot = schedule.first(slot, after=True)
    if is_enabled(context) and SYSTEM not in context.stopped:
        day = hours.desk_day_at(until).begins_at
        if day > since and (SYSTEM, day) not in said:
            yield f"the desk's day of {day} was not opened"


def _opened_while_halted(docket: Docket, log: Sequence[Envelope]) -> Iterator[str]:
    """Yield what late fills opened on a desk that is halted, and nobody undid, or was asked to (R-B5, K11)."""
    context = docket.context
    book = context.fold_named("book")
    if not book.halted:
        return
    is_asked = any("flatten" in due.rule for due in docket.open.values())
    waits = LATE_FILL in context.fold_named("desk_policies").waiting and not context.running.get("session")
    messages = (json.loads(env.line) for env in log)
    for position, seq in left_open(messages, book.halted).items():
        is_traded = any(
            isinstance(one, TradeState) and (one.strategy_id, one.symbol) == position
            for one in docket.cases.values()
        )
        if not (is_asked or waits or is_traded):
            strategy, symbol = position
            yield f"seq {seq} opened {symbol} of {strategy} after the halt of seq {book.halted}: it stands"


def left_open(messages: Iterable[Message], halted: int) -> dict[Position, int]:
    """Return which positions fills after a halt made larger than it found them, and nobody tried to undo.

    Whoever gives an order that makes the position smaller, says why it gives none, or is ruled silent about it, has
    tried: a broker may fill nothing, and after three orders the trade is over (K11). A fill of no order that stands in
    the log is booked, and nobody knows whose it would be to undo.

    Args:
        messages: The log's.
        halted: The halt's seq.

    Returns:
        By position, the seq of the last such fill.
    """
    positions, before = Positions(), dict[Position, int]()
    late: dict[Position, int] = {}
    placed: set[str] = set()
    for message in messages:
        body, kind, seq = message["body"], message["body"]["type"], message["seq"]
        if seq < halted:
            before = positions.held
        elif before is positions.held:
            before = dict(before)
        if kind == "SIGNAL":
            positions.signalled(message)
        elif kind == "ORDER":
            if not positions.grows(message):
                late.pop(positions.position(message), None)
            positions.ordered(message)
            placed.add(body["client_order_id"])
        elif kind == "EXECUTION":
            held = dict(positions.held)
            positions.executed(message)
            for position, n in positions.held.items():
                is_larger = abs(n) > abs(held.get(position, 0))
                if seq > halted and is_larger and body["client_order_id"] in placed:
                    late[position] = seq
        elif kind == "NO_ORDER":
            whose = positions.strategies.get(message["case_id"])
            late = {position: at for position, at in late.items() if position[0] != whose}
        elif kind == "RULING" and "/flatten" in (body["obligation_id"] or ""):
            late = {}
    return {position: seq for position, seq in late.items() if _is_beyond(position, positions.held, before)}


def _is_beyond(position: Position, held: Mapping[Position, int], before: Mapping[Position, int]) -> bool:
    """Say whether a position is not what it was, nor a part of that."""
    was = before.get(position, 0)
    return not min(was, 0) <= held.get(position, 0) <= max(was, 0)
