"""What follows in System A from rulings and answers: reflections, audits (R-D10, spec 5.3)."""

from __future__ import annotations

from moot.protocols.escalation.case import EscalationState
from moot.protocols.kernel.case import Decision
from moot.protocols.kernel.context import Deed, Fold, RuleContext
from moot.protocols.kernel.docket import Docket, Effects
from moot.protocols.kernel.envelope import OFFICER, Draft, Envelope
from moot.protocols.kernel.errors import Violation
from moot.protocols.kernel.message import Message
from moot.protocols.kernel.obligation import Obligation
from moot.protocols.kernel.officers import Audit, Ruling
from moot.protocols.kernel.seats import REFEREE
from moot.protocols.research.debate import DebateState
from moot.protocols.research.messages import CausalEntry, Reflection
from moot.protocols.research.seats import SYSTEM_A


def check_record(env: Envelope, context: RuleContext) -> None:
    """Check a REFLECTION or CAUSAL_RECORD that no open case asked for: it may stand by itself.

    Raises:
        Violation: It names a case, which then is not open.
    """
    if env.case_id is not None:
        raise Violation("K23", f"{env.case_id} is not open; leave the case out to record it all the same")


class Policies(Fold):
    """Name the referee's duties after a ruling, and after an escalation's end."""

    name = "policies"
    types = frozenset({"ESCALATION_RESOLVED"})
    deeds = Deed.RULED

    def apply(self, env: Envelope, fx: Effects, docket: Docket) -> list[Draft] | None:
        """Take in one envelope."""
        if fx.decision is not None and fx.decision.outcome != "stop":
            return self._ruled(env, fx, docket)
        for ended in fx.ended:
            if isinstance(ended, EscalationState):
                return self._resolved(env, ended, docket)
        return None

    def _ruled(self, env: Envelope, fx: Effects, docket: Docket) -> list[Draft] | None:
        """Write a silence, and a ruled REJECT, to memory/reflections; a silence to #admin too (R-D10)."""
        decision = fx.decision
        assert decision is not None
        voided = fx.voided
        if voided is not None and voided.seat not in SYSTEM_A:
            return None
        case_id = env.case_id or ""
        state: object = docket.cases.get(case_id)
        if state is None:
            state = next((s for s in fx.ended if s.case_id == case_id), None)
        debate = state if isinstance(state, DebateState) else None
        if voided is None and debate is None:
            return None
        silent = voided.seat if voided is not None else None
        if voided is not None:
            summary = _silence(voided, decision)
        else:
            summary = f"ruled {decision.outcome}: {decision.reason.replace('_', ' ')}"
        entry = CausalEntry(
            at=env.sent_at,
            kind="timeout" if voided is not None else "failure",
            hypothesis_id=debate.case_id if debate is not None else None,
            lineage_id=debate.lineage_id if debate is not None else None,
            seat=silent if silent is not None else None,
            archetype=debate.strategy.archetype
            if debate is not None and debate.strategy is not None
            else None,
            failure_code=decision.reason,
            regime=debate.regime if debate is not None else None,
            summary=summary,
            metrics={},
        )
        duties = [_duty(env, Reflection(record=entry), "#a-report", f"reflection/{env.id}")]
        if voided is not None:
            duties.append(audit_of(env, voided, decision))
        return duties

    def _resolved(self, env: Envelope, ended: EscalationState, docket: Docket) -> list[Draft] | None:
        """Put the effect of an escalation's end into force."""
        context = docket.context
        if ended.effect == "diversify":
            context.fold_named("research").diversify()
        elif ended.effect == "retire_lineage":
            context.fold_named("research").retired.add(ended.subject)
            return [
                _duty(
                    env,
                    Ruling(
                        obligation_id=None,
                        case_id=state.case_id,
                        outcome="REJECT",
                        reason="deadlocked",
                        rule="R-D11",
                        of_seq=env.seq,
                    ),
                    "#a-arena",
                    f"ruling/{env.seq}/{state.case_id}",
                    state.case_id,
                )
                for state in docket.cases.values()
                if isinstance(state, DebateState) and state.lineage_id == ended.subject and not state.verdict
            ]
        return None


def _silence(voided: Obligation, decision: Decision) -> str:
    return f"{voided.seat} owed {' or '.join(voided.expects)} and was silent; {decision.outcome}"


def audit_of(env: Envelope, voided: Obligation, decision: Decision) -> Draft:
    """Derive the AUDIT of a seat's silence that a ruling voided (R-D10)."""
    audit = Audit.noting("timeout", _silence(voided, decision), seat=voided.seat, channel=voided.channel)
    return _duty(env, audit, "#admin", f"audit/{env.id}")


def _duty(env: Envelope, body: Message, channel: str, key: str, case_id: str | None = None) -> Draft:
    return Draft(
        channel=channel,
        author=REFEREE,
        actor=OFFICER,
        case_id=case_id or env.case_id,
        in_reply_to=env.id,
        key=key,
        body=body,
    )
