"""The docket: all open cases and obligations as one fold over the log (K5, K9, K10).

`fold` takes envelopes in seq order and never emits. What must follow from them (a VIOLATION, a RULING, an
ESCALATION, the next CYCLE_TRIGGER) is a *duty* of an officer with a derived id: `due(now)` lists the duties
of that instant, so any number of processes may fold and one message results.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Final

from protocols.kernel.case import CaseState, CaseType, Decision, Ended, shifted
from protocols.kernel.envelope import OFFICER, Draft, Envelope
from protocols.kernel.errors import Consequential, Late, LocalProtocolError, OfficerFault, Violation
from protocols.kernel.house import House
from protocols.kernel.message import Message
from protocols.kernel.obligation import Obligation
from protocols.kernel.officers import Ruling, TimeoutPing
from protocols.kernel.officers import Violation as ViolationMessage
from protocols.kernel.seats import OFFICERS, PEOPLE, Seat

if TYPE_CHECKING:
    from protocols.kernel.rules import Rules

MAX_HOPS: Final = 64
"""Longest chain of bots causing each other; a debate with every extra takes 16 (K21)."""

VOIDED_KEPT: Final = 10_000
"""Voided obligations remembered to tell a late answer from an illegal one."""


class Effects:
    """What one fold changed; the dispatcher wakes bots with it, the folds count with it.

    Attributes:
        opened: Obligations that are new.
        closed: Obligations that are gone: settled, voided or overtaken.
        settled: The obligation that this message answered, if any.
        voided: The obligation that this ruling voided, if any.
        retried: The obligation whose answer broke a rule; it is owed again with the next attempt.
        violation: The rule that this message broke.
        decision: The decision that this ruling put into effect.
        started: First states of cases that this message opened.
        ended: Last states of cases that this message ended.
        superseded: An officer's message that came too late to matter.
    """

    __slots__ = (
        "closed",
        "decision",
        "ended",
        "opened",
        "retried",
        "settled",
        "started",
        "superseded",
        "violation",
        "voided",
    )

    def __init__(self) -> None:
        """Start with nothing changed."""
        self.opened: list[Obligation] = []
        self.closed: list[Obligation] = []
        self.settled: Obligation | None = None
        self.voided: Obligation | None = None
        self.retried: Obligation | None = None
        self.violation: Violation | None = None
        self.decision: Decision | None = None
        self.started: list[CaseState] = []
        self.ended: list[CaseState] = []
        self.superseded = False


class Docket:
    """All open cases, obligations and officers' duties after some seq of the log.

    Attributes:
        seq: Seq of the last envelope folded, 0 at the start.
        at: Its `sent_at`, None at the start.
        cases: Open cases by id.
        ended: Ended cases by id (K18).
        open: Open obligations by id.
        attempts: Violations so far by obligation id, where there are any (K1).
        waiting: Cases that wait for a ruling, with what it must say (K10).
        pending: Immediate duties of officers by envelope id, with the seq that caused them.
        house: The society-wide folds that rules may read.
    """

    def __init__(self, rules: Rules) -> None:
        """Start before the first envelope.

        Args:
            rules: Case types, message table and folds, assembled by `protocols.rulebook`.
        """
        self.rules = rules
        self.seq = 0
        self.at: datetime | None = None
        self.cases: dict[str, CaseState] = {}
        self.ended: dict[str, Ended] = {}
        self.open: dict[str, Obligation] = {}
        self.attempts: dict[str, int] = {}
        self.waiting: dict[str, Decision] = {}
        self.pending: dict[str, tuple[int, Draft]] = {}
        self.house = House(rules.new_folds())
        self._pinged: set[str] = set()
        self._voided: dict[tuple[str, Seat], tuple[str, ...]] = {}
        self._heap: list[tuple[datetime, str, bool]] = []

    # ---------------------------------------------------------------- folding

    def fold(self, env: Envelope) -> Effects:
        """Apply the next envelope.

        Args:
            env: The envelope with seq `self.seq + 1`.

        Returns:
            What changed.

        Raises:
            OfficerFault: An officer's message differs from what the tables derive (K5).
            LocalProtocolError: The seq is not the next one.
        """
        if env.seq != self.seq + 1:
            raise LocalProtocolError(f"seq {env.seq} after {self.seq}: the log must be dense")
        before = self.at
        self.seq = env.seq
        self.at = env.sent_at
        house = self.house
        house.at = env.sent_at
        fx = Effects()
        try:
            if env.author in OFFICERS:
                self._officer(env, fx, before)
            else:
                self._seat(env, fx)
        except Violation as violation:
            self._violated(env, violation, fx)
        for fold in house.folds:
            sequels = fold.apply(env, fx, self)
            if sequels:
                for draft in sequels:
                    self.pending[draft.identity()] = (env.seq, draft)
        return fx

    def _seat(self, env: Envelope, fx: Effects) -> None:
        """Apply a message of a bot or a person."""
        house = self.house
        author = env.author
        if house.tenures and author not in PEOPLE and env.tenure != house.tenures.get(author, 0):
            raise Violation("K14", f"{author} was taken or released since; this is an answer of an older tenure")
        if env.hops > MAX_HOPS:
            raise Violation("K21", f"{env.hops} messages caused each other, {MAX_HOPS} is the limit", field="hops")
        kind = env.body.type
        opener = self.rules.openers.get(kind)
        if opener is not None and self._opens(opener, env):
            self._open_case(opener, env, fx)
            return
        case_id = env.case_id
        state = self.cases.get(case_id) if case_id is not None else None
        if state is None:
            if kind in self.rules.caseless:
                check = self.rules.caseless[kind]
                if check is not None:
                    check(env, house)
                return
            if case_id in self.ended:
                after_end = self.rules.types[self.ended[case_id].kind].after_end
                if after_end is not None:
                    raise after_end(self.ended[case_id], env)
                raise Violation("K23", f"{case_id} has ended ({self.ended[case_id].outcome}); nothing changes it")
            raise Violation("K9", f"there is no open case {case_id}", field="case_id")
        if case_id in self.waiting:
            raise Violation("K10", f"{case_id} waits for the referee's ruling")
        self._install(state, self.rules.types[state.kind].step(state, env, house), env, fx)

    def _opens(self, opener: CaseType, env: Envelope) -> bool:
        """Tell an opener from a message to an open case (an OVERRIDE may be either, K23)."""
        return env.body.type != "OVERRIDE" or env.case_id not in self.cases

    def _open_case(self, opener: CaseType, env: Envelope, fx: Effects) -> None:
        parent_id = opener.parent_of(env.body) if opener.parent_of is not None else None
        parent = None
        if parent_id is not None:
            parent = self.cases.get(parent_id)
            if parent is None:
                raise Violation("K9", f"there is no open case {parent_id} for it to belong to")
            if parent_id in self.waiting:
                raise Violation("K10", f"{parent_id} waits for the referee's ruling")
        state = opener.open(env, self.house, parent)
        if state.case_id in self.cases or state.case_id in self.ended:
            raise Violation("K9", f"case {state.case_id} exists already")
        if parent is not None:
            self._install(parent, self.rules.types[parent.kind].step(parent, env, self.house), env, fx)
        self._start(state, fx)

    def _start(self, state: CaseState, fx: Effects) -> None:
        self.cases[state.case_id] = state
        running = self.house.running
        running[state.kind] = running.get(state.kind, 0) + 1
        fx.started.append(state)
        for obligation in state.owed:
            self._owe(obligation, fx)

    def _owe(self, obligation: Obligation, fx: Effects) -> None:
        self.open[obligation.id] = obligation
        heappush(self._heap, (obligation.due_at, obligation.id, False))
        fx.opened.append(obligation)

    def _drop(self, obligation: Obligation, env: Envelope, fx: Effects) -> None:
        if self.open.pop(obligation.id, None) is None:
            return
        fx.closed.append(obligation)
        if self.attempts:
            self.attempts.pop(obligation.id, None)
        if self._pinged:
            self._pinged.discard(obligation.id)
        if obligation.seat is env.author and env.body.type in obligation.expects:
            fx.settled = obligation

    def _install(self, old: CaseState, new: CaseState, env: Envelope, fx: Effects) -> None:
        """Replace a case's state and open and close what it owes."""
        if new is old:
            return
        if new.owed is not old.owed:
            kept = new.owed
            for obligation in old.owed:
                if obligation not in kept:
                    self._drop(obligation, env, fx)
            is_open = self.open
            for obligation in kept:
                if obligation.id not in is_open:
                    self._owe(obligation, fx)
        if new.outcome is None:
            self.cases[new.case_id] = new
            return
        self._end(new, env, fx)

    def _end(self, state: CaseState, env: Envelope, fx: Effects) -> None:
        del self.cases[state.case_id]
        self.house.running[state.kind] -= 1
        self.ended[state.case_id] = Ended(
            state.case_id, state.kind, state.outcome or "", state.opened_seq, env.seq
        )
        fx.ended.append(state)
        parent = self.cases.get(state.parent) if state.parent is not None else None
        if parent is not None:
            child_ended = self.rules.types[parent.kind].child_ended
            if child_ended is not None:
                self._install(parent, child_ended(parent, state, env, self.house), env, fx)

    def _violated(self, env: Envelope, violation: Violation, fx: Effects) -> None:
        """Note a violation: the referee owes a VIOLATION beside it, and a RULING where the table says so (K10)."""
        if env.author in OFFICERS:
            raise OfficerFault(str(violation), seq=env.seq)
        case_id = env.case_id
        obligation = self.open.get(env.obligation_id) if env.obligation_id is not None else None
        if not isinstance(violation, Consequential) and obligation is None and self._is_late(env):
            rule = "R-E4" if env.author is Seat.ADMIN else "K5"
            violation = Late(rule, f"late: {env.author} was ruled silent before this {env.body.type} came")
        fx.violation = violation
        if obligation is not None and obligation.seat is env.author:
            self.attempts[obligation.id] = self.attempts.get(obligation.id, 0) + 1
            fx.retried = obligation
        if isinstance(violation, Consequential) and case_id is not None:
            decision = Decision(*violation.decision)
            self.waiting[case_id] = decision
            fx.retried = None
            for owed in self.cases[case_id].owed:
                if owed.seat not in OFFICERS:
                    self._drop(owed, env, fx)
            fx.settled = None
            ruling = Ruling(
                obligation_id=None,
                case_id=case_id,
                outcome=decision.outcome,  # type: ignore[arg-type]
                reason=decision.reason,
                rule=decision.rule,
                of_seq=env.seq,
            )
            self._duty(env, ruling, f"ruling/{env.seq}", channel=env.channel, case_id=case_id)
        message = ViolationMessage(
            of_seq=env.seq, seat=env.author.value, rule=violation.rule, field=violation.field, why=violation.why
        )
        self._duty(env, message, f"violation/{env.seq}", channel=env.channel, case_id=case_id, first=True)

    def _duty(
        self, env: Envelope, body: Message, key: str, *, channel: str, case_id: str | None, first: bool = False
    ) -> None:
        draft = Draft(
            channel=channel,
            author=Seat.REFEREE,
            body=body,
            actor=OFFICER,
            case_id=case_id,
            in_reply_to=env.id,
            key=key,
        )
        if first and self.pending:
            self.pending = {key: (env.seq, draft), **self.pending}
        else:
            self.pending[key] = (env.seq, draft)

    def _is_late(self, env: Envelope) -> bool:
        case_id = env.case_id
        opener = self.rules.openers.get(env.body.type)
        if opener is not None and opener.parent_of is not None:
            case_id = opener.parent_of(env.body)
        expects = self._voided.get((case_id or "", env.author))
        return expects is not None and env.body.type in expects

    # ---------------------------------------------------------------- officers

    def _officer(self, env: Envelope, fx: Effects, before: datetime | None) -> None:
        """Apply an officer's message after checking it against what the tables derive (K5)."""
        body = env.body
        kind = body.type
        if kind in self.rules.lifecycle:
            gap = self.house.lifecycle(env, before)
            if gap:
                self._shift(gap)
            return
        if kind == "TIMEOUT_PING":
            self._ping(env, body, fx)  # type: ignore[arg-type]
            return
        if isinstance(body, Ruling) and body.obligation_id is not None and env.obligation_id is None:
            self._void(env, body, fx)
            return
        expected = self._expected(env)
        if expected is None:
            if kind in self.rules.unowed:
                return
            if self._was_owed(env):
                fx.superseded = True
                return
            raise OfficerFault(f"{env.author} posted a {kind} that no table asks for", seq=env.seq)
        if expected.channel != env.channel or expected.author is not env.author:
            raise OfficerFault(f"the {kind} belongs in {expected.channel}, from {expected.author}", seq=env.seq)
        if expected.case_id is not None and expected.case_id != env.case_id:
            raise OfficerFault(f"the {kind} belongs to case {expected.case_id}", seq=env.seq)
        if not self.rules.same(expected.body, body, self.house):
            raise OfficerFault(f"the {kind} differs from what the tables derive", seq=env.seq)
        self.pending.pop(env.id, None)
        if isinstance(body, Ruling):
            self._rule(env, body, fx)
            return
        opener = self.rules.openers.get(kind)
        if opener is not None:
            self._open_case(opener, env, fx)
        elif env.case_id is not None and env.case_id in self.cases and kind not in self.rules.remarks:
            state = self.cases[env.case_id]
            self._install(state, self.rules.types[state.kind].step(state, env, self.house), env, fx)

    def _expected(self, env: Envelope) -> Draft | None:
        """Find the duty that an officer's message discharges."""
        found = self.pending.get(env.id)
        if found is not None:
            return found[1]
        if env.obligation_id is not None:
            obligation = self.open.get(env.obligation_id)
            if obligation is not None and obligation.seat is env.author:
                if env.sent_at < obligation.due_at:
                    raise OfficerFault(f"{env.body.type} before {obligation.due_at:%H:%M:%S}, when it is due", seq=env.seq)
                return self._discharge(obligation)
            return None
        for fold in self.house.folds:
            for draft in fold.ring(env.sent_at, self):
                if draft.identity() == env.id:
                    return draft
        return None

    def _was_owed(self, env: Envelope) -> bool:
        """Tell a duty that something else overtook from one that never was."""
        if env.obligation_id is not None:
            return env.case_id in self.ended or env.case_id in self.cases
        return any(fold.was_owed(env, self) for fold in self.house.folds)

    def _shift(self, gap: timedelta) -> None:
        """Move all open due times by an outage (K6)."""
        self.cases = {case_id: shifted(state, gap) for case_id, state in self.cases.items()}
        self.open = {
            o.id: o for state in self.cases.values() for o in state.owed if o.id in self.open
        }
        self._heap = []
        for obligation in self.open.values():
            heappush(self._heap, (obligation.due_at, obligation.id, False))

    def _ping(self, env: Envelope, body: TimeoutPing, fx: Effects) -> None:
        obligation = self.open.get(body.obligation_id)
        if obligation is None or env.sent_at < obligation.due_at:
            if obligation is None:
                fx.superseded = True
                return
            raise OfficerFault(f"TIMEOUT_PING before {body.obligation_id} is due", seq=env.seq)
        if not self.rules.same(self._ping_of(obligation).body, body, self.house):
            raise OfficerFault("the TIMEOUT_PING differs from the obligation", seq=env.seq)
        self._pinged.add(obligation.id)

    def _void(self, env: Envelope, body: Ruling, fx: Effects) -> None:
        """Apply a RULING that voids an obligation (K5)."""
        obligation = self.open.get(body.obligation_id or "")
        if obligation is None:
            fx.superseded = True
            return
        if env.sent_at < obligation.void_at:
            raise OfficerFault(f"RULING on {obligation.id} before its grace is over", seq=env.seq)
        state = self.cases[obligation.case_id]
        case_type = self.rules.types[state.kind]
        decision = case_type.otherwise(state, obligation, self.house)
        if (body.outcome, body.reason, body.rule) != tuple(decision):
            raise OfficerFault(f"RULING {body.outcome} ({body.reason}), the table says {decision}", seq=env.seq)
        voided = self._voided
        voided[(obligation.case_id, obligation.seat)] = (
            voided.pop((obligation.case_id, obligation.seat), ()) + obligation.expects
        )
        if len(voided) > VOIDED_KEPT:
            del voided[next(iter(voided))]
        fx.voided = obligation
        fx.decision = decision
        self._install(state, case_type.rule(state, decision, env, self.house, obligation), env, fx)

    def _rule(self, env: Envelope, body: Ruling, fx: Effects) -> None:
        """Apply a RULING on a case: the consequence of a violation, a budget, a human STOP."""
        state = self.cases.get(body.case_id or "")
        if state is None:
            fx.superseded = True
            return
        self.waiting.pop(state.case_id, None)
        decision = Decision(body.outcome, body.reason, body.rule)
        fx.decision = decision
        obligation = self.open.get(env.obligation_id) if env.obligation_id is not None else None
        new = self.rules.types[state.kind].rule(state, decision, env, self.house, obligation)
        self._install(state, new, env, fx)

    # ---------------------------------------------------------------- duties

    def due(self, now: datetime) -> Iterator[Draft]:
        """List what the officers owe at this instant, most urgent first.

        Yields the immediate duties in the order in which they arose, then pings, rulings and other
        obligations of officers whose time has come, then what the folds' alarms ask for. Publishing a
        duty twice is harmless: its id is derived (K9).
        """
        yield from [draft for _, draft in self.pending.values()]
        yield from list(self._ripe(now))
        for fold in self.house.folds:
            yield from fold.ring(now, self)

    def _ripe(self, now: datetime) -> Iterable[Draft]:
        heap = self._heap
        again = []
        drafts = []
        while heap and heap[0][0] <= now:
            when, obligation_id, is_void = heappop(heap)
            obligation = self.open.get(obligation_id)
            if obligation is None or when != (obligation.void_at if is_void else obligation.due_at):
                continue
            if obligation.seat in OFFICERS:
                again.append((when, obligation_id, is_void))
                drafts.append(self._discharge(obligation))
            elif obligation.seat in PEOPLE:
                continue
            elif is_void:
                again.append((when, obligation_id, True))
                drafts.append(self._void_of(obligation))
            else:
                if obligation_id not in self._pinged:
                    again.append((when, obligation_id, False))
                    drafts.append(self._ping_of(obligation))
                else:
                    heappush(heap, (obligation.void_at, obligation_id, True))
        for entry in again:
            heappush(heap, entry)
        return drafts

    def next_instant(self) -> datetime | None:
        """Return the next instant at which something may fall due; None when nothing will."""
        if self.pending:
            return self.at
        heap = self._heap
        while heap:
            when, obligation_id, is_void = heap[0]
            obligation = self.open.get(obligation_id)
            if (
                obligation is None
                or obligation.seat in PEOPLE
                or when != (obligation.void_at if is_void else obligation.due_at)
            ):
                heappop(heap)
                continue
            if not is_void and obligation_id in self._pinged:
                heappop(heap)
                heappush(heap, (obligation.void_at, obligation_id, True))
                continue
            break
        instants = [alarm for fold in self.house.folds if (alarm := fold.alarm(self)) is not None]
        if heap:
            instants.append(heap[0][0])
        return min(instants, default=None)

    def _discharge(self, obligation: Obligation) -> Draft:
        state = self.cases[obligation.case_id]
        discharge = self.rules.types[state.kind].discharge
        if discharge is None:
            raise LocalProtocolError(f"{state.kind} has no way to discharge {obligation.id}")
        return Draft(
            channel=obligation.channel,
            author=obligation.seat,
            body=discharge(state, obligation, self.house),
            actor=OFFICER,
            case_id=obligation.case_id,
            obligation_id=obligation.id,
        )

    def _ping_of(self, obligation: Obligation) -> Draft:
        waited = (obligation.due_at - obligation.opened_at).total_seconds() / 60
        return Draft(
            channel=obligation.channel,
            author=Seat.REFEREE,
            body=TimeoutPing(obligation_id=obligation.id, seat=obligation.seat.value, waited_min=round(waited, 6)),
            actor=OFFICER,
            case_id=obligation.case_id,
            key=f"ping/{obligation.id}",
        )

    def _void_of(self, obligation: Obligation) -> Draft:
        state = self.cases[obligation.case_id]
        decision = self.rules.types[state.kind].otherwise(state, obligation, self.house)
        return Draft(
            channel=obligation.channel,
            author=Seat.REFEREE,
            body=Ruling(
                obligation_id=obligation.id,
                case_id=None,
                outcome=decision.outcome,  # type: ignore[arg-type]
                reason=decision.reason,
                rule=decision.rule,
                of_seq=None,
            ),
            actor=OFFICER,
            case_id=obligation.case_id,
            key=f"ruling/{obligation.id}",
        )

    # ---------------------------------------------------------------- people

    def stop_rulings(self, env: Envelope, scope: str) -> Iterator[Draft]:
        """Derive the rulings that a human STOP asks for: one for each open case in its scope, children first (K21)."""
        system = scope.removeprefix("system ").upper() if scope.startswith("system ") else ""
        for case_id, state in reversed(self.cases.items()):
            if case_id == scope or (system and self.rules.types[state.kind].system == system):
                yield Draft(
                    channel=state.owed[0].channel if state.owed else env.channel,
                    author=Seat.REFEREE,
                    body=Ruling(
                        obligation_id=None,
                        case_id=case_id,
                        outcome="stop",
                        reason="human_stop",
                        rule="K21",
                        of_seq=env.seq,
                    ),
                    actor=OFFICER,
                    case_id=case_id,
                    in_reply_to=env.id,
                    key=f"ruling/{env.seq}/{case_id}",
                )

    def overdue(self, before: datetime) -> Iterator[str]:
        """Say what the officers should have done before this instant and did not; for `verify`."""
        for seq, draft in self.pending.values():
            yield f"seq {seq} asks {draft.author} for a {draft.body.type}, none came"
        for draft in self._ripe(before):
            yield f"{draft.author} owed a {draft.body.type} ({draft.identity()})"
        for fold in self.house.folds:
            for draft in fold.ring(before, self):
                yield f"{draft.author} owed a {draft.body.type} ({draft.identity()})"

    def owed_by(self, seat: Seat) -> list[Obligation]:
        """Return what a seat owes, oldest first."""
        return [o for o in self.open.values() if o.seat is seat]

    def system_of_case(self, case_id: str | None) -> str:
        """Name the system of an open case, "" when there is none."""
        state = self.cases.get(case_id or "")
        return self.rules.types[state.kind].system if state is not None else ""
