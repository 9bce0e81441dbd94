"""The docket: all open cases and obligations as one fold over the log (K5, K9, K10).

`fold` takes envelopes in seq order and never emits. What must follow from them (a VIOLATION, a RULING, an
ESCALATION, the next CYCLE_TRIGGER) is a *duty* of an officer with a derived id: `due(now)` lists the duties
of that instant, so any number of processes may fold and one message results.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from moot.protocols.kernel import duties
from moot.protocols.kernel.case import CaseState, Decision, Ended, shifted
from moot.protocols.kernel.closed import ClosedObligations
from moot.protocols.kernel.context import Deed, Fold, RuleContext
from moot.protocols.kernel.deadlines import Deadlines
from moot.protocols.kernel.effects import Effects
from moot.protocols.kernel.envelope import Draft, Envelope
from moot.protocols.kernel.errors import Consequential, Late, LocalProtocolError, OfficerFault, Violation
from moot.protocols.kernel.obligation import Obligation
from moot.protocols.kernel.seats import OFFICERS, PEOPLE, Seat
from moot.protocols.kernel.steps import RuleInput
from moot.protocols.kernel.supervision import fold_officer
from moot.protocols.kernel.upcast import Opaque

if TYPE_CHECKING:
    from moot.protocols.kernel.machine import Machine
    from moot.protocols.kernel.rules import Rules

__all__ = ["MAX_CASE_ID", "MAX_HOPS", "Docket", "Effects"]

MAX_HOPS: Final = 64
"""Longest chain of bots causing each other; a debate with every extra takes 16 (K21)."""

MAX_CASE_ID: Final = 150
"""Longest case id, in characters: ids of obligations and duties are made of it."""

MAX_KINDS: Final = 256
"""A log may hold any number of unknown types; who hears them is remembered for so many."""

# As plain integers: an IntFlag makes an object for every "or".
_ENDED, _RULED, _BROKE, _PERSON, _AWAITED, _HELD = (int(deed) for deed in Deed)


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
        arose: When each of them arose.
        deadlines: When what is open falls due.
        closed: What was closed lately.
        context: The society-wide folds that rules may read.
    """

    def __init__(self, rules: Rules) -> None:
        """Start before the first envelope.

        Args:
            rules: Kinds of case, message table and folds, assembled by `moot.protocols.rulebook`.
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
        self.arose: dict[str, datetime] = {}
        self.deadlines = Deadlines(self.open)
        self.closed = ClosedObligations()
        self._foreign: set[str] = set()
        self.context = RuleContext(rules.new_folds())
        self.context.cases = self.cases
        self._subscribers: tuple[dict[str, tuple[Fold, ...]], ...] = tuple({} for _ in range(2 * _HELD))

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
        context = self.context
        self.seq = context.seq = env.seq
        self.at = context.at = env.sent_at
        fx = Effects()
        author = env.author
        if context.protocols and self.is_foreign(env):
            return fx
        try:
            if author in OFFICERS:
                fold_officer(self, env, fx, before)
            else:
                self._seat(env, fx)
        except Violation as violation:
            self._violated(env, violation, fx)
        deeds = _ENDED if fx.ended else 0
        if fx.decision is not None:
            deeds |= _RULED
        if fx.violation is not None:
            deeds |= _BROKE
        if author in PEOPLE:
            deeds |= _PERSON
        if context.awaited and fx.settled is not None and fx.settled.seat in context.awaited:
            deeds |= _AWAITED
        if context.stopped:
            deeds |= _HELD
        fx.deeds = deeds
        subscribers = self._subscribers[deeds]
        kind = env.body.type
        folds = subscribers.get(kind)
        if folds is None:
            folds = context.subscribers(kind, deeds)
            if len(subscribers) < MAX_KINDS:
                subscribers[kind] = folds
        for fold in folds:
            duties = fold.apply(env, fx, self)
            if duties:
                for draft in duties:
                    self.demand(draft)
        return fx

    @property
    def lacking(self) -> frozenset[str]:
        """Return the protocols that the society spoke by its log, and these rules do not know."""
        return self.context.protocols - self.rules.added

    def is_unspoken(self, duty: Draft) -> bool:
        """Say whether a duty is of a protocol that the society does not speak since its last start.

        Nobody posts it then; it is due again when the society speaks the protocol again.
        """
        brought = self.rules.brought
        if not brought:
            return False
        state = self.cases.get(duty.case_id) if duty.case_id is not None else None
        names = {brought.get(duty.body.type), brought.get(state.kind) if state is not None else None}
        return not names <= {None, *self.context.spoken}

    def is_foreign(self, env: Envelope) -> bool:
        """Say whether a message is of a protocol that these rules do not know: it folds as nothing (K4).

        It is of a channel or a seat that they do not know, or an officer's about such a seat or its case.
        """
        if not self.lacking:
            return False
        matrix = self.rules.matrix
        about = getattr(env.body, "seat", None) if env.author in OFFICERS else None
        is_foreign = (
            type(env.body) is Opaque
            or env.author not in matrix.seats
            or env.channel not in matrix.channels
            or (about is not None and about not in matrix.seats)
            or (env.case_id in self._foreign and env.case_id not in self.cases)
        )
        if is_foreign and env.case_id is not None:
            self._foreign.add(env.case_id)
        return is_foreign

    def _seat(self, env: Envelope, fx: Effects) -> None:
        """Apply a message of a bot or a person."""
        author = env.author
        context = self.context
        if env.tenure != (context.tenures.get(author, 0) if context.tenures else 0) and author not in PEOPLE:
            raise Violation(
                "K14", f"{author} was taken or released since; this is an answer of an older tenure"
            )
        if env.hops > MAX_HOPS:
            raise Violation(
                "K21", f"{env.hops} messages caused each other, {MAX_HOPS} is the limit", field="hops"
            )
        body = env.body
        kind = body.type
        rules = self.rules
        case_id = env.case_id
        state = self.cases.get(case_id) if case_id is not None else None
        answers = env.obligation_id
        if kind in rules.caseless and (state is None or kind in rules.asides):
            check = rules.caseless[kind]
            if check is not None:
                check(env, context)
            if answers is not None:
                raise Violation("K1", f"a {kind} answers nothing here", field="obligation_id")
            return
        owed = None
        if answers is not None:
            owed = self.open.get(answers)
            if owed is None and self._is_late(env):
                raise self._late(env)
        if state is None:
            opener = rules.openers.get(kind)
            if opener is not None:
                self.open_case(opener, env, fx, owed)
                return
            if type(body) is Opaque:
                return
            raise self._no_case(env)
        if self.waiting and case_id in self.waiting:
            raise Violation("K10", f"{case_id} waits for the referee's ruling")
        if type(body) is Opaque:
            return
        new = rules.types[state.kind].step(state, env, context)
        if answers is not None:
            _check_answer(env, owed, state.case_id)
        self.install(state, new, env, fx)

    def _no_case(self, env: Envelope) -> Violation:
        ended = self.ended.get(env.case_id or "")
        if ended is None:
            return Violation("K9", f"there is no open case {env.case_id}", field="case_id")
        after_end = self.rules.types[ended.kind].after_end
        if after_end is not None:
            return after_end(ended, env)
        return Violation("K23", f"{ended.case_id} has ended ({ended.outcome}); nothing changes it")

    # ---------------------------------------------------------------- cases

    def open_case(
        self, opener: Machine, env: Envelope, fx: Effects, answers: Obligation | None = None
    ) -> None:
        """Open a case, in its parent when it names one.

        Args:
            opener: The machine of its kind.
            env: The opener.
            fx: What the message changes.
            answers: The open obligation that the opener says it answers.

        Raises:
            Violation: It may not open, or not now.
        """
        types = self.rules.types
        parent_id = opener.parent_of(env.body) if opener.parent_of is not None else None
        parent = None
        if parent_id is not None:
            parent = self.cases.get(parent_id)
            if parent is None:
                raise Violation("K9", f"there is no open case {parent_id} for it to belong to")
            if parent_id in self.waiting:
                raise Violation("K10", f"{parent_id} waits for the referee's ruling")
        state = opener.open(RuleInput(self.context, env, parent=parent))
        case_id = state.case_id
        if case_id in self.cases or case_id in self.ended:
            raise Violation("K9", f"case {case_id} exists already")
        if not 0 < len(case_id) <= MAX_CASE_ID:
            raise Violation("K9", f"a case id has 1 to {MAX_CASE_ID} characters, not {len(case_id)}")
        new: CaseState | None = None
        if parent is not None:
            new = types[parent.kind].step(parent, env, self.context)
        if env.obligation_id is not None and env.author not in OFFICERS:
            _check_answer(env, answers, parent_id)
        if parent is not None and new is not None:
            self.install(parent, new, env, fx)
        self.cases[case_id] = state
        running = self.context.running
        running[state.kind] = running.get(state.kind, 0) + 1
        fx.started = (*fx.started, state)
        for obligation in state.owed:
            self.open[obligation.id] = obligation
            self.deadlines.add(obligation)
        fx.opened = (*fx.opened, *state.owed)
        if state.outcome is not None:
            self._end(state, env, fx)

    def install(self, old: CaseState, new: CaseState, env: Envelope, fx: Effects) -> None:
        """Replace a case's state, and open and close what it owes.

        An obligation that stays keeps its id; one whose other fields changed stays open as changed.
        """
        if new is old:
            return
        owed, kept = old.owed, new.owed
        if owed is not kept:
            for obligation in owed:
                for other in kept:
                    if other is obligation or other.id == obligation.id:
                        break
                else:
                    self._drop(obligation, env, fx)
            is_open = self.open
            for obligation in kept:
                present = is_open.get(obligation.id)
                if present is obligation:
                    continue
                is_open[obligation.id] = obligation
                self.deadlines.add(obligation)
                if present is None:
                    fx.opened = (*fx.opened, obligation)
        if new.outcome is None:
            self.cases[new.case_id] = new
        else:
            self._end(new, env, fx)

    def _drop(self, obligation: Obligation, env: Envelope, fx: Effects) -> None:
        """Close an obligation; it is settled when this message is an answer to it."""
        obligation_id = obligation.id
        if self.open.pop(obligation_id, None) is None:
            return
        fx.closed = (*fx.closed, obligation)
        self.closed.close(obligation, env.sent_at)
        if self.attempts:
            self.attempts.pop(obligation_id, None)
        pinged = self.deadlines.pinged
        if pinged:
            pinged.pop(obligation_id, None)
        answers = env.obligation_id
        is_meant = answers == obligation_id or (answers is None and env.author not in OFFICERS)
        if is_meant and obligation.seat == env.author and env.body.type in obligation.expects:
            fx.settled = obligation

    def _end(self, state: CaseState, env: Envelope, fx: Effects) -> None:
        case_id = state.case_id
        del self.cases[case_id]
        if self.waiting:
            self.waiting.pop(case_id, None)
        self.context.running[state.kind] -= 1
        self.ended[case_id] = Ended(case_id, state.kind, state.outcome or "", state.opened_seq, env.seq)
        fx.ended = (*fx.ended, state)
        parent = self.cases.get(state.parent) if state.parent is not None else None
        if parent is not None:
            after = self.rules.types[parent.kind].child_ended(parent, state, env, self.context)
            self.install(parent, after, env, fx)

    def shift(self, gap: timedelta) -> None:
        """Move all open due times by an outage (K6)."""
        for case_id, state in self.cases.items():
            moved = shifted(state, gap)
            self.cases[case_id] = moved
            for obligation in moved.owed:
                if obligation.id in self.open:
                    self.open[obligation.id] = obligation
        self.deadlines.shift(gap)

    # ---------------------------------------------------------------- violations

    def _violated(self, env: Envelope, violation: Violation, fx: Effects) -> None:
        """Note a violation: the referee owes a VIOLATION beside it, and a RULING where the table says so (K10)."""
        if env.author in OFFICERS:
            raise OfficerFault(str(violation), seq=env.seq)
        case_id = env.case_id
        obligation = self.open.get(env.obligation_id) if env.obligation_id is not None else None
        is_consequential = isinstance(violation, Consequential)
        if not is_consequential and obligation is None and self._is_late(env):
            violation = self._late(env)
        fx.violation = violation
        if obligation is not None and obligation.seat == env.author:
            self.attempts[obligation.id] = self.attempts.get(obligation.id, 0) + 1
            fx.retried = obligation
        self.demand(duties.violation_of(env, violation))
        if isinstance(violation, Consequential) and case_id is not None:
            decision = Decision(*violation.decision)
            self.waiting[case_id] = decision
            for owed in self.cases[case_id].owed:
                if owed.seat not in OFFICERS:
                    self._drop(owed, env, fx)
            fx.retried = fx.settled = None
            self.demand(duties.ruling_of(env, decision, case_id))

    def _is_late(self, env: Envelope) -> bool:
        case_id = env.case_id
        opener = self.rules.openers.get(env.body.type)
        if opener is not None and opener.parent_of is not None:
            case_id = opener.parent_of(env.body)
        return self.closed.is_late(case_id, env.author, env.body.type, env.obligation_id)

    def _late(self, env: Envelope) -> Late:
        return Late("K5", f"late: {env.author} was ruled silent before this {env.body.type} came")

    # ---------------------------------------------------------------- duties

    def demand(self, draft: Draft) -> None:
        """Note an immediate duty of an officer."""
        assert self.at is not None
        key = draft.identity()
        self.pending[key] = (self.seq, draft)
        self.arose[key] = self.at

    def revoke(self, key: str) -> bool:
        """Take an immediate duty back; returns whether it was still to be done."""
        self.arose.pop(key, None)
        return self.pending.pop(key, None) is not None

    def due(self, now: datetime) -> Iterator[Draft]:
        """List what the officers owe at this instant, most urgent first.

        Yields the immediate duties in the order in which they arose, then pings, rulings and other
        obligations of officers whose time has come, then what the folds' alarms ask for. Publishing a
        duty twice is harmless: its id is derived (K9).
        """
        return duties.due(self, now)

    def overdue(self, before: datetime) -> Iterator[str]:
        """Say what the officers should have done before this instant and did not; for `verify`."""
        return duties.overdue(self, before)

    def next_instant(self) -> datetime | None:
        """Return the next instant at which something may fall due; None when nothing will."""
        if self.pending:
            return self.at
        instants = [fold.alarm(self) for fold in self.context.ringing]
        instants.append(self.deadlines.next_instant())
        return min((instant for instant in instants if instant is not None), default=None)

    # ---------------------------------------------------------------- questions

    def never_was(self, case_id: str | None) -> bool:
        """Say whether an id is none of a case, open or ended; None is no id."""
        return case_id is not None and case_id not in self.cases and case_id not in self.ended

    def owed_by(self, seat: Seat) -> list[Obligation]:
        """Return what a seat owes, oldest first."""
        return [o for o in self.open.values() if o.seat == seat]


def _check_answer(env: Envelope, owed: Obligation | None, case_id: str | None) -> None:
    """Check that a legal move answers what it says it answers, for its id derives from that (K1).

    Raises:
        Violation: It names what is not open, or is somebody else's, or wants something else.
    """
    if (
        owed is None
        or owed.seat != env.author
        or env.body.type not in owed.expects
        or owed.case_id != case_id
    ):
        raise Violation("K1", f"{env.obligation_id} is not what this answers", field="obligation_id")
