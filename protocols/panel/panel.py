"""A panel as a case: reviewers who commit blind, then review; lints; a synthesis that is recomputed (spec 2 to 8).

**Blind by construction.** A Phase 1 obligation shows its mind neither the content nor what other reviewers, notes or
memory might say of it (`may_see`, K12); the content is named by reference, and only a Phase 2 obligation names it. That
obligation opens when the LINT of that reviewer's Phase 1 stands in the log.

**The forbidden operations of section 8 are impossible.** The decision is computed from scores, quantifiers and
severities alone (`synthesis.synthesize`, which takes no prose), `recompute` does so again by another way, and a
SYNTHESIS that says anything else is refused; there is no place for a substitute score: fewer reviewers than the
contract binds end the panel.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from moot.protocols.kernel.case import CaseState, CaseType, Decision, evolve
from moot.protocols.kernel.context import RuleContext
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.frozen import thaw
from moot.protocols.kernel.message import Message
from moot.protocols.kernel.obligation import Obligation
from moot.protocols.kernel.table import illegal
from moot.protocols.panel import audit
from moot.protocols.panel.contract import (
    ROLES,
    ContractError,
    as_json,
    baseline_sha256,
    contract_from,
    ineligibility,
)
from moot.protocols.panel.duties import commit
from moot.protocols.panel.messages import (
    Lint,
    PanelAborted,
    PanelDecided,
    PanelOpened,
    Phase1,
    Phase2,
    Synthesis,
)
from moot.protocols.panel.state import ABORTED, DECIDED, OPEN, UNUSABLE, PanelState, Reviewer
from moot.protocols.panel.steps import (
    abort,
    committed,
    contract_of,
    linted,
    reviewed,
    synthesized,
    when_all_done,
    with_reviewer,
)
from moot.protocols.panel.synthesis import (
    matrix_of,
    synthesize,
)

KIND: Final = "panel"


def open_panel(env: Envelope, context: RuleContext, parent: CaseState | None) -> PanelState:
    """Open a panel: check the contract, then let every reviewer commit, none waiting for another (spec 2, 6)."""
    body = env.body
    assert isinstance(body, PanelOpened)
    state = PanelState(
        case_id=body.panel_id,
        kind=KIND,
        phase=OPEN,
        parent=parent.case_id if parent is not None else None,
        opened_seq=env.seq,
        anchor_at=env.sent_at,
        title=body.title,
        field=body.field,
        word_count=body.word_count,
        content_ref=body.content_ref,
        majority=body.majority,
        on_none_fired=body.on_none_fired,
    )
    try:
        contract = contract_from(thaw(body.contract))
    except ContractError as error:
        return abort(state, env, audit.contract_invalid(str(error)), str(error))
    state = evolve(state, contract=contract, baseline=baseline_sha256(contract))
    if (why := ineligibility(contract)) is not None:
        return abort(state, env, audit.contract_ineligible(why), why)
    reviewers = tuple([Reviewer(role) for role in ROLES[contract.mode]])
    state = evolve(state, reviewers=reviewers)
    return evolve(state, owed=tuple([commit(state, one, env) for one in reviewers]))


def step(state: PanelState, env: Envelope, context: RuleContext) -> PanelState:
    """Apply an output of a reviewer or the synthesizer, or what the Orchestrator says of one.

    Raises:
        Violation: Nobody waits for it.
    """
    body = env.body
    if not any(o.seat == env.author and body.type in o.expects for o in state.owed):
        raise illegal(state, env, "2")
    if isinstance(body, Phase1):
        return committed(state, env, body)
    if isinstance(body, Phase2):
        return reviewed(state, env, body)
    if isinstance(body, Synthesis):
        return synthesized(state, env, body)
    if isinstance(body, Lint):
        return linted(state, env, body)
    assert isinstance(body, PanelDecided | PanelAborted)
    return evolve(state, owed=(), outcome=state.phase)


def otherwise(state: PanelState, obligation: Obligation, context: RuleContext) -> Decision:
    """Say what the referee rules when an output is missed."""
    return Decision("void", "timeout", "6" if obligation.expects[0] != "SYNTHESIS" else "8")


def rule(
    state: PanelState, decision: Decision, env: Envelope, context: RuleContext, obligation: Obligation | None
) -> PanelState:
    """Apply a ruling: a silent reviewer is unusable, a silent synthesizer ends the panel; or a human STOP."""
    if state.phase in (DECIDED, ABORTED):
        return state
    if decision.outcome == "stop":
        return abort(state, env, "[PANEL-STOPPED]", "an admin stopped it")
    assert obligation is not None
    owed = tuple([o for o in state.owed if o.id != obligation.id])
    if obligation.expects[0] == "SYNTHESIS":
        return abort(state, env, audit.SYNTHESIS_MISMATCH, "the Synthesizer was silent (timeout)")
    role = obligation.seat
    phase = obligation.expects[0].lower()
    tag = audit.timed_out(role, contract_of(state).contract_id, phase)
    one = replace(state.reviewer(role), stage=UNUSABLE, verdict=None)
    state = evolve(state, reviewers=with_reviewer(state, one), owed=owed, tags=(*state.tags, tag))
    return when_all_done(state, env)


def discharge(state: PanelState, obligation: Obligation, context: RuleContext) -> Message:
    """Make what the Orchestrator owes: a lint, the decision, or the abort."""
    if obligation.expects[0] == "LINT":
        role = obligation.step.split("-")[1]
        verdict = state.reviewer(role).verdict
        assert verdict is not None
        return Lint(
            panel_id=state.case_id,
            role=role,
            phase=verdict.phase,  # type: ignore[arg-type]
            attempt=verdict.attempt,
            is_passed=not verdict.findings,
            findings=verdict.findings,
            tag=verdict.tag,
        )
    if state.phase == ABORTED:
        return PanelAborted(panel_id=state.case_id, tag=state.verdict, why=state.why, tags=state.tags)
    contract = contract_of(state)
    found = synthesize(
        contract,
        matrix_of(contract, state.scores),
        majority=state.majority,
        on_none_fired=state.on_none_fired,
    )
    return PanelDecided(
        panel_id=state.case_id,
        decision=state.verdict,
        fired_conditions=found.fired_conditions,
        matrix=found.matrix,
        arithmetic=tuple([one.arithmetic for one in found.conditions]),
        tags=state.tags,
        baseline_sha256=state.baseline,
    )


def brief(state: PanelState, obligation: Obligation, context: RuleContext) -> dict[str, Any]:
    """Tell a reviewer the contract and the metadata, in Phase 2 its own commitment too; never the content (spec 2).

    `said` counts the outputs that the seat has given already of the kind that it owes.
    """
    contract = contract_of(state)
    told_all: dict[str, Any] = {
        "subject": state.title,
        "contract": as_json(contract),
        "title": state.title,
        "field": state.field,
        "word_count": state.word_count,
    }
    if obligation.expects[0] == "SYNTHESIS":
        scores = {role: dict(row) for role, row in state.scores.items()}
        return {
            **told_all,
            "scores": scores,
            "majority": state.majority,
            "on_none_fired": state.on_none_fired,
            "diagnostics": state.diagnostics,
            "attempt": state.attempt,
            "said": state.attempt - 1,
        }
    one = state.reviewer(obligation.seat)
    told_all |= {"role": one.role, "cycle": one.cycle, "attempt": one.attempt, "gaps": one.gaps}
    if obligation.expects[0] == "PHASE2":
        return {**told_all, "said": one.cycle - 1, "phase1_output": one.commitment}
    return {**told_all, "said": one.commitments}


PANEL: Final = CaseType(
    kind=KIND,
    openers=("PANEL_OPENED",),
    open=open_panel,
    step=step,
    otherwise=otherwise,
    rule=rule,
    discharge=discharge,
    parent_of=lambda body: body.parent_id or None,  # type: ignore[attr-defined]
    brief=brief,
)
