"""Escalations that cases of other protocols raise: asked when a case enters a phase, answered by a ruling (R-G16).

A machine says in `asks` which of its phases ask, and what the answer does. The watch escalates the condition and
withdraws it when the case leaves the phase; `CaseAnswers` hands the answer, or the default that silence takes, back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from moot.protocols.escalation.case import EscalationState
from moot.protocols.escalation.watch import Condition, Source, escalation_of
from moot.protocols.kernel.case import Decision
from moot.protocols.kernel.context import Deed, Fold
from moot.protocols.kernel.docket import Docket, Effects
from moot.protocols.kernel.duties import case_ruling_of
from moot.protocols.kernel.envelope import Draft, Envelope
from moot.protocols.kernel.machine import Machine
from moot.protocols.kernel.protocol import Protocol, type_of
from moot.protocols.kernel.steps import ANSWERED, EXPIRED

ANSWERS: Final = frozenset({ANSWERED, EXPIRED})
"""Ends of an escalation that are an answer to its case; a withdrawn one is none."""


class CaseQuestions(Source):
    """Conditions of cases that stand in a phase that asks people.

    Attributes:
        asked: Phase in which each case asks, by its id.
    """

    deeds = Deed.RULED

    def __init__(self, protocols: Iterable[Protocol]) -> None:
        """Watch the cases of protocols whose machines ask."""
        asking = [one for one in protocols if any(machine.asks for machine in one.cases)]
        machines = [machine for one in asking for machine in one.cases]
        self.kinds = frozenset(machine.kind for machine in machines if machine.asks)
        self.types = frozenset(name for one in asking for name in one.types).union(*map(_moved_by, machines))
        self.ends = self.kinds.union(kind for machine in machines for _, kind in machine.children)
        self.asked: dict[str, str] = {}

    def changes(self, env: Envelope, fx: Effects, docket: Docket) -> Iterator[Condition]:
        """Yield the questions that a message makes cases ask, or ask no longer."""
        touched = (
            env.case_id,
            *(state.case_id for state in fx.started),
            *(state.case_id for state in fx.ended),
            *(state.parent for state in fx.ended),
        )
        for case_id in dict.fromkeys(one for one in touched if one is not None):
            yield from self._look(case_id, env, fx, docket)

    def _look(self, case_id: str, env: Envelope, fx: Effects, docket: Docket) -> Iterator[Condition]:
        state = docket.cases.get(case_id)
        machine = docket.rules.types[state.kind] if state is not None else None
        asks = machine.asks.get(state.phase) if machine is not None and state is not None else None
        before = self.asked.get(case_id)
        is_answered = fx.decision is not None and fx.decision.reason in ANSWERS and env.case_id == case_id
        if before is not None and (state is None or state.phase != before or is_answered):
            del self.asked[case_id]
            kind = state.kind if state is not None else next(s.kind for s in fx.ended if s.case_id == case_id)
            code = docket.rules.types[kind].asks[before].trigger
            yield Condition(code, case_id, holds=False)
            before = None
        if state is None or asks is None or before is not None or case_id in docket.waiting:
            return
        self.asked[case_id] = state.phase
        evidence = tuple(dict.fromkeys((state.opened_seq, env.seq)))
        try:
            condition = Condition(asks.trigger, case_id, True, asks.context(state), evidence)
            escalation_of(condition, docket.rules.triggers[asks.trigger])
        except Exception as exc:
            docket.fault_case(case_id, exc, env, fx)
            return
        yield condition


class CaseAnswers(Fold):
    """Rulings that hand the end of an escalation back to the case that asked."""

    name = "case_answers"
    types = frozenset({"ESCALATION_RESOLVED"})

    def apply(self, env: Envelope, fx: Effects, docket: Docket) -> Sequence[Draft] | None:
        """Return the RULING on the case whose question this message ended, if it still asks."""
        for ended in fx.ended:
            if not isinstance(ended, EscalationState) or ended.outcome not in ANSWERS:
                continue
            state = docket.cases.get(ended.subject)
            asks = docket.rules.types[state.kind].asks.get(state.phase) if state is not None else None
            if state is not None and asks is not None and asks.trigger == ended.code:
                decision = Decision(ended.effect, ended.outcome, docket.rules.triggers[ended.code].source)
                return [case_ruling_of(env, decision, state.case_id, asks.channel)]
        return None


def _moved_by(machine: Machine) -> frozenset[str]:
    """Return the types that may move a case of a machine."""
    steps = (kind for step in machine.steps.values() for kind in step.expects)
    facts = (type_of(kind) for _, kind in machine.facts if "type" in kind.model_fields)
    return frozenset((*steps, *facts, *machine.openers, "OVERRIDE"))
