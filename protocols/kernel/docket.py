"""The docket: all open cases and obligations as one fold over the log (K5, K9, K10).

`fold` takes envelopes in seq order and never emits. What must follow from them (a VIOLATION, a RULING, an
ESCALATION, the next CYCLE_TRIGGER) is a *duty* of an officer with a derived id: `due(now)` lists the duties
of that instant, so any number of processes may fold and one message results.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from moot.protocols.kernel import duties, rule_faults
from moot.protocols.kernel.case import CaseState, Decision, Ended, evolve, shifted
from moot.protocols.kernel.closed import ClosedObligations
from moot.protocols.kernel.context import Deed, Fold, RuleContext
from moot.protocols.kernel.deadlines import Deadlines
from moot.protocols.kernel.effects import Effects
from moot.protocols.kernel.envelope import Draft, Envelope
from moot.protocols.kernel.errors import Consequential, Late, LocalProtocolError, OfficerFault, Violation
from moot.protocols.kernel.figures import SECOND_AUDIT
from moot.protocols.kernel.guarded import GuardedFold
from moot.protocols.kernel.obligation import Obligation
from moot.protocols.kernel.rule_faults import FAULT, FAULTED, RuleFault
from moot.protocols.kernel.seats import OFFICERS, PEOPLE, Seat
from moot.protocols.kernel.steps import ENDED, RuleInput
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
        entries: By open case, how often each obligation id was opened there (R-G15).
        audited: Ids of the AUDITs on rule faults that stand in the log, of open cases and of folds (R-G14).
        muted: Ids of duties of foreign folds that stand in the log and are asked for all the same.
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
        self.entries: dict[str, dict[str, int]] = {}
        self.audited: set[str] = set()
        self.muted: set[str] = set()
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
        except (Violation, OfficerFault) as exc:
            if author not in OFFICERS and isinstance(exc, Violation):
                self._violated(env, exc, fx)
            elif self._is_added(env.case_id):
                # What the log holds of a case of a foreign protocol differs from what its rules derive now.
                self.fault_case(env.case_id or "", exc, env, fx)
            elif isinstance(exc, Violation):
                raise OfficerFault(str(exc), seq=env.seq) from exc
            else:
                raise
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
        subject = getattr(duty.body, "subject", None)
        about = self.cases.get(subject) if isinstance(subject, str) else None
        kinds = [one.kind for one in (state, about) if one is not None]
        names = {brought.get(duty.body.type), *map(brought.get, kinds)}
        return not names <= {None, *self.context.spoken}

    def is_foreign(self, env: Envelope) -> bool:
        """Say whether a message is of a protocol that these rules do not know: it folds as nothing (K4).

        It is of a channel or a seat that they do not know, or an officer's about such a seat or its case.
        """
        if not self.lacking:
            return False
        matrix = self.rules.matrix
        about = getattr(env.body, "seat", None) if env.author in OFFICERS else None
        subject, code = (getattr(env.body, name, None) for name in ("subject", "trigger_code"))
        is_foreign = (
            type(env.body) is Opaque
            or env.author not in matrix.seats
            or env.channel not in matrix.channels
            or (about is not None and about not in matrix.seats)
            or (env.case_id in self._foreign and env.case_id not in self.cases)
            # An escalation of such a case, or by a trigger of such a protocol.
            or (isinstance(subject, str) and subject in self._foreign)
            or (code is not None and code not in self.rules.triggers)
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
                try:
                    check(env, context)
                except Violation:
                    raise
                except Exception as exc:
                    self.fault_rule(kind, rules.brought.get(kind, ""), exc, f"message-{env.seq}")
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
        try:
            new = rules.types[state.kind].step(state, env, context)
        except Violation:
            raise
        except Exception as exc:
            self.fault_case(state.case_id, exc, env, fx)
            return
        if answers is not None:
            _check_answer(env, owed, state.case_id)
        self.install(state, new, env, fx)

    def _no_case(self, env: Envelope) -> Violation:
        ended = self.ended.get(env.case_id or "")
        if ended is None:
            return Violation("K9", f"there is no open case {env.case_id}", field="case_id")
        after_end = self.rules.types[ended.kind].after_end
        if after_end is not None:
            try:
                found = after_end(ended, env)
                if isinstance(found, Violation):
                    return found
            except Exception as exc:
                self.fault_rule(ended.kind, self.rules.brought.get(ended.kind, ""), exc, ended.case_id)
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
        try:
            parent_id = opener.parent_of(env.body) if opener.parent_of is not None else None
        except Exception as exc:
            self._fault_opening(opener, env, fx, exc)
            return
        parent = None
        if parent_id is not None:
            parent = self.cases.get(parent_id)
            if parent is None:
                raise Violation("K9", f"there is no open case {parent_id} for it to belong to")
            if parent_id in self.waiting:
                raise Violation("K10", f"{parent_id} waits for the referee's ruling")
        try:
            state = opener.open(RuleInput(self.context, env, parent=parent))
            _check_state(state, types)
        except Violation:
            raise
        except Exception as exc:
            self._fault_opening(opener, env, fx, exc)
            return
        case_id = state.case_id
        if case_id in self.cases or case_id in self.ended:
            raise Violation("K9", f"case {case_id} exists already")
        if not 0 < len(case_id) <= MAX_CASE_ID:
            raise Violation("K9", f"a case id has 1 to {MAX_CASE_ID} characters, not {len(case_id)}")
        new: CaseState | None = None
        if parent is not None:
            try:
                new = types[parent.kind].step(parent, env, self.context)
            except Violation:
                raise
            except Exception as exc:
                self.fault_case(parent.case_id, exc, env, fx)
                return
        if env.obligation_id is not None and env.author not in OFFICERS:
            _check_answer(env, answers, parent_id)
        if parent is not None and new is not None:
            self.install(parent, new, env, fx)
        if state.outcome is None and (renamed := self._entered(state)) is not None:
            state = evolve(state, owed=renamed)
        self._start(state, fx)
        for obligation in state.owed:
            self.open[obligation.id] = obligation
            self.deadlines.add(obligation)
        fx.opened = (*fx.opened, *state.owed)
        if state.outcome is not None:
            self._end(state, env, fx)

    def _start(self, state: CaseState, fx: Effects) -> None:
        self.cases[state.case_id] = state
        running = self.context.running
        running[state.kind] = running.get(state.kind, 0) + 1
        fx.started = (*fx.started, state)

    def _entered(self, state: CaseState) -> tuple[Obligation, ...] | None:
        """Count the obligations of a state that are new, and give those a new id whose id would repeat (R-G15).

        Returns:
            What is owed, where an id would repeat; None where none does.
        """
        is_open = self.open
        entries: dict[str, int] | None = None
        renamed: list[Obligation] | None = None
        for place, obligation in enumerate(state.owed):
            obligation_id = obligation.id
            if is_open.get(obligation_id) is obligation:
                continue
            if entries is None:
                entries = self.entries.get(state.case_id)
                if entries is None:
                    entries = self.entries[state.case_id] = {}
            if obligation_id not in entries:
                entries[obligation_id] = 1
                continue
            entries[obligation_id] += 1
            if self.context.version >= SECOND_AUDIT:
                renamed = list(state.owed) if renamed is None else renamed
                renamed[place] = _entry(obligation, entries)
        return None if renamed is None else tuple(renamed)

    def install(self, old: CaseState, new: CaseState, env: Envelope, fx: Effects) -> None:
        """Replace a case's state, and open and close what it owes.

        An obligation that stays keeps its id; one whose other fields changed stays open as changed.
        """
        if new is old:
            return
        owed, kept = old.owed, new.owed
        if owed is not kept:
            if kept and (renamed := self._entered(new)) is not None:
                kept = renamed
                new = evolve(new, owed=kept)
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
        if self.deadlines.notices:
            self.deadlines.notices.pop(obligation_id, None)
        answers = env.obligation_id
        is_meant = answers == obligation_id or (answers is None and env.author not in OFFICERS)
        if is_meant and obligation.seat == env.author and env.body.type in obligation.expects:
            fx.settled = obligation

    def _end(self, state: CaseState, env: Envelope, fx: Effects) -> None:
        case_id = state.case_id
        del self.cases[case_id]
        self.entries.pop(case_id, None)
        if self.audited:
            self.audited.discard(rule_faults.audit_key(case_id))
        if self.waiting:
            self.waiting.pop(case_id, None)
        self.context.running[state.kind] -= 1
        self.ended[case_id] = Ended(case_id, state.kind, state.outcome or "", state.opened_seq, env.seq)
        fx.ended = (*fx.ended, state)
        parent = self.cases.get(state.parent) if state.parent is not None else None
        if parent is not None:
            try:
                after = self.rules.types[parent.kind].child_ended(parent, state, env, self.context)
            except Violation:
                raise
            except Exception as exc:
                self.fault_case(parent.case_id, exc, env, fx)
                return
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
        case_id = env.case_id
        obligation = self.open.get(env.obligation_id) if env.obligation_id is not None else None
        is_consequential = isinstance(violation, Consequential)
        if not is_consequential and obligation is None and self._is_late(env):
            violation = self._late(env)
        try:
            found = duties.violation_of(env, violation)
            if is_consequential and case_id is not None:
                duties.ruling_of(env, Decision(*violation.decision), case_id)  # type: ignore[attr-defined]
        except Exception as exc:
            # What the rule says of the message cannot be said in a VIOLATION or a RULING.
            if case_id not in self.cases:
                self.fault_rule(
                    env.body.type, self.rules.brought.get(env.body.type, ""), exc, f"message-{env.seq}"
                )
            else:
                self.fault_case(case_id or "", exc, env, fx)
            return
        fx.violation = violation
        if obligation is not None and obligation.seat == env.author:
            self.attempts[obligation.id] = self.attempts.get(obligation.id, 0) + 1
            fx.retried = obligation
        self.demand(found)
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
            with suppress(Exception):
                case_id = opener.parent_of(env.body)
        return self.closed.is_late(case_id, env.author, env.body.type, env.obligation_id)

    def _late(self, env: Envelope) -> Late:
        if env.author in PEOPLE:
            why = f"late: the referee ruled on this before the {env.body.type} came; that stands"
            return Late("R-E4", why)
        return Late("K5", f"late: {env.author} was ruled silent before this {env.body.type} came")

    # ---------------------------------------------------------------- rule faults

    def is_added(self, env: Envelope) -> bool:
        """Return True for a message of a protocol that is not Moot's own, or in a case of one."""
        ended = self.ended.get(env.case_id or "")
        is_of_ended = ended is not None and ended.kind in self.rules.brought
        return env.body.type in self.rules.brought or is_of_ended or self._is_added(env.case_id)

    def _is_added(self, case_id: str | None) -> bool:
        """Return True for an open case of a protocol that is not Moot's own."""
        state = self.cases.get(case_id or "")
        return state is not None and state.kind in self.rules.brought

    def fault_case(self, case_id: str, error: Exception, env: Envelope, fx: Effects) -> None:
        """Keep an open case as it is until the referee ends it: a rule of it raised (R-G14)."""
        state = self.cases[case_id]
        step = ""
        for owed in state.owed:
            is_meant = env.obligation_id == owed.id or getattr(env.body, "obligation_id", None) == owed.id
            if is_meant or (not step and owed.seat == env.author and env.body.type in owed.expects):
                step = owed.rule
        fault = self._fault_of(state, error, step, env.seq)
        for owed in state.owed:
            self._drop(owed, env, fx)
        if case_id == env.case_id:
            fx.retried = fx.settled = None
        fx.fault = fault
        self.waiting[case_id] = FAULT
        channel = state.owed[0].channel if state.owed else env.channel
        self._demand_fault(fault, rule_faults.ruling_of(fault, channel, env))

    def accuse(self, obligation: Obligation, error: Exception) -> None:
        """Demand the end of a case of which a rule raised that was only asked, as for a brief (R-G14).

        The case goes on until the RULING stands in the log, so that whoever folds the log need not ask the same.
        """
        state = self.cases.get(obligation.case_id)
        if state is not None and rule_faults.ruling_key(state.case_id) not in self.pending:
            for draft in self.fault_duties(obligation, error):
                self.demand(draft)

    def fault_duties(self, obligation: Obligation, error: Exception) -> tuple[Draft, ...]:
        """Derive what ends the case of an obligation of which a rule raised that time asked."""
        state = self.cases[obligation.case_id]
        fault = self._fault_of(state, error, obligation.rule, self.seq)
        ruling = rule_faults.ruling_of(fault, obligation.channel, None)
        audit = rule_faults.audit_of(fault)
        return (ruling,) if audit.key in self.audited else (audit, ruling)

    def fault_rule(self, part: str, protocol: str, error: Exception, subject: str) -> None:
        """Demand the AUDIT of a rule fault outside all cases, once for each subject (R-G14)."""
        fault = RuleFault(protocol, part, "", "", self.seq, error)
        audit = rule_faults.audit_of(fault, subject)
        if audit.key not in self.audited and audit.key not in self.pending:
            rule_faults.notify(fault)
            self.demand(audit)

    def _fault_of(self, state: CaseState, error: Exception, step: str, seq: int) -> RuleFault:
        protocol = self.rules.brought.get(state.kind, "")
        fault = RuleFault(protocol, state.kind, state.case_id, step, seq, error)
        rule_faults.notify(fault)
        return fault

    def _demand_fault(self, fault: RuleFault, ruling: Draft) -> None:
        audit = rule_faults.audit_of(fault)
        if audit.key not in self.audited:
            self.demand(audit)
        self.demand(ruling)

    def _fault_opening(self, opener: Machine, env: Envelope, fx: Effects, error: Exception) -> None:
        """Open a case whose opener's rule raised, with nothing owed, so that the referee ends it (R-G14)."""
        body = env.body
        named = getattr(body, body.case_field, None) if body.case_field else env.case_id
        case_id = named if isinstance(named, str) and len(named) <= MAX_CASE_ID else ""
        is_free = bool(case_id) and case_id not in self.cases and case_id not in self.ended
        if not is_free or opener.kind not in self.rules.brought:
            protocol = self.rules.brought.get(opener.kind, "")
            self.fault_rule(opener.kind, protocol, error, f"message-{env.seq}")
            return
        phase = next(iter(opener.start.values())).phases[0]
        state = CaseState(
            case_id=case_id, kind=opener.kind, phase=phase, opened_seq=env.seq, anchor_at=env.sent_at
        )
        self._start(state, fx)
        self.fault_case(case_id, error, env, fx)

    def end_faulted(self, env: Envelope, case_id: str, fx: Effects) -> None:
        """Apply the RULING on a case of which a rule raised, whether or not it raised here (R-G14)."""
        fx.decision = FAULT
        self.revoke(env.id)
        state = self.cases.get(case_id)
        if state is None:
            fx.is_unproven = True
            before = self.ended.get(case_id)
            if before is not None:
                self.ended[case_id] = before._replace(outcome=FAULTED)
            return
        was_pending = self.waiting.get(case_id) == FAULT
        fx.is_unproven = not was_pending and not duties.fails(self, state)
        # Messages that waited for this ruling have no other consequence.
        for key in [k for k, (_, draft) in self.pending.items() if draft.case_id == case_id]:
            if not was_pending:
                self.revoke(key)
        self.install(state, _faulted(state), env, fx)

    # ---------------------------------------------------------------- duties

    def demand(self, draft: Draft) -> None:
        """Note an immediate duty of an officer."""
        assert self.at is not None
        key = draft.identity()
        self.pending[key] = (self.seq, draft)
        self.arose[key] = self.at

    def mute(self, draft: Draft) -> bool:
        """Drop a duty that is already in the log; return False for one of Moot's own protocols.

        A case that asks for it again and again is ended by the referee, a fold is heard no more on it (R-G14).
        """
        key = draft.identity()
        state = self.cases.get(draft.case_id or "")
        if state is not None and state.kind in self.rules.brought:
            error = LocalProtocolError(f"the {draft.body.type} stands in the log and is due all the same")
            owed = self.open.get(draft.obligation_id or "")
            if owed is not None and rule_faults.ruling_key(state.case_id) not in self.pending:
                self.accuse(owed, error)
                return True
        if any(isinstance(f, GuardedFold) and f.asks_for(key) for f in self.context.folds):
            self.muted.add(key)
            return True
        return False

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


def _entry(obligation: Obligation, entries: dict[str, int]) -> Obligation:
    """Return an obligation whose id says how often it was entered: `…/review@2/security` (R-G15)."""
    head, _, seat = obligation.id.rpartition("/")
    count = entries[obligation.id]
    while (name := f"{head}@{count}/{seat}") in entries:
        count += 1
    entries[obligation.id] = count
    entries[name] = 1
    return replace(obligation, id=name)


def _check_state(state: CaseState, types: Mapping[str, Machine]) -> None:
    """Check what a rule opens a case with.

    Raises:
        LocalProtocolError: It is no state of a known kind of case.
    """
    if not isinstance(state, CaseState) or state.kind not in types or not isinstance(state.case_id, str):
        raise LocalProtocolError(f"a case opens with a state of a declared kind, not {type(state).__name__}")
    if not isinstance(state.anchor_at, datetime) or state.anchor_at.tzinfo is None:
        raise LocalProtocolError("a case counts from an instant with a time zone")


def _faulted(state: CaseState) -> CaseState:
    """Return the last state of a case of which a rule raised."""
    try:
        return evolve(state, phase=ENDED, owed=(), outcome=FAULTED)
    except Exception:
        return CaseState(
            case_id=state.case_id,
            kind=state.kind,
            phase=ENDED,
            parent=state.parent,
            opened_seq=state.opened_seq,
            anchor_at=state.anchor_at,
            outcome=FAULTED,
        )


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
