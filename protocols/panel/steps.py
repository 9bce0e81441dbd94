"""What follows from a panel's outputs: lints, the next phase, the synthesis and its recomputation (spec 4 to 8)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from moot.protocols.kernel.steps import Effect, Owe, RuleInput
from moot.protocols.panel import audit
from moot.protocols.panel.contract import Contract, baseline_sha256
from moot.protocols.panel.findings import LintFinding, cut, told
from moot.protocols.panel.grammar import one_line
from moot.protocols.panel.layer1 import inconsistencies
from moot.protocols.panel.lint_phase1 import lint_phase1
from moot.protocols.panel.lint_phase2 import MULTI_DISSENT, lint_phase2
from moot.protocols.panel.recompute import RecomputationError, disagreement, recompute
from moot.protocols.panel.reports import ReportError, parse_report
from moot.protocols.panel.state import (
    ABORTED,
    ATTEMPTS,
    COMMITTING,
    CYCLES,
    DECIDED,
    REVIEWING,
    SYNTHESIZING,
    UNUSABLE,
    USABLE,
    LintVerdict,
    PanelState,
    Reviewer,
)
from moot.protocols.panel.synthesis import (
    NONE_FIRED,
    Synthesis,
    SynthesisAborted,
    matrix_of,
    predicates,
    synthesize,
)
from moot.protocols.panel.synthesis_text import SynthesisError, parse_synthesis

RESTART: Final = "restart"


def committed(state: PanelState, given: RuleInput) -> Effect:
    """Lint a Phase 1; a first failure is retried with the gaps named, a second ends that reviewer (spec 4)."""
    one, text = state.reviewer(given.subject), given.body.text
    contract = contract_of(state)
    found = lint_phase1(text, contract, given.context.version)
    findings = tuple(told(found.findings))
    tag, following = audit.ACKNOWLEDGED, REVIEWING
    if findings:
        is_last = one.attempt == ATTEMPTS
        tag = audit.phase1_failed(one.role, contract.contract_id) if is_last else ""
        following = UNUSABLE if is_last else COMMITTING
    said = one.commitments + 1
    verdict = LintVerdict(1, said, findings, tag, following)
    kept = "" if findings else text
    return _await_lint(
        state, replace(one, commitments=said, commitment=kept, plan=found.plan, verdict=verdict)
    )


def reviewed(state: PanelState, given: RuleInput) -> Effect:
    """Lint a Phase 2; a dissent about several dimensions, and nothing else, is retried, from Phase 1, once (spec 5)."""
    one, text = state.reviewer(given.subject), given.body.text
    contract = contract_of(state)
    found = lint_phase2(text, contract, one.plan, given.context.version)
    report = found.reading
    check, noted = found.check, found.findings
    if report.role is not None and report.role != one.role:
        why = f"contract_role is {one_line(report.role, 60)}, and this is the seat of {one.role}"
        # As for a role that does not sit here at all: only a dissent that restarts counts before it.
        noted = (
            (*noted, LintFinding("role", 0, why))
            if found.may_restart
            else (LintFinding("role", 0, why), *noted)
        )
        check = noted[0].check
    findings = tuple(told(noted))
    if check is None and (why := _contradiction(text, contract)):
        check, findings = "layer1", (why,)
    tag, following = "", USABLE
    if check == MULTI_DISSENT:
        following = RESTART if one.cycle < CYCLES else UNUSABLE
        tag = "" if following == RESTART else audit.multi_dissent(one.role, contract.contract_id)
    elif check is not None:
        following, tag = UNUSABLE, audit.phase2_failed(one.role, contract.contract_id, check)
    kept = replace(
        one,
        verdict=LintVerdict(2, one.cycle, findings, tag, following),
        scores=dict(report.scores) if following == USABLE else {},
        dissent=tuple(report.dissent),
        decision=report.decision,
    )
    return _await_lint(state, kept)


def _contradiction(text: str, contract: Contract) -> str:
    """Say where a clean report contradicts itself, "" where it does not (layer 1)."""
    try:
        report = parse_report(text, contract)
        known = predicates(contract)
    except (ReportError, SynthesisAborted):
        # What cannot be read was found by the lint; a condition that cannot ends the synthesis.
        return ""
    found = next(inconsistencies(report, contract, known), None)
    if found is None:
        return ""
    what = f"{found.condition} fired: " if found.condition is not None else ""
    return f"{what}{found.declared} is declared, and {found.recomputed} follows from the rest of the report"


def _await_lint(state: PanelState, one: Reviewer) -> Effect:
    return Effect({"reviewers": with_reviewer(state, one)}, owe=(Owe("lint", one.role),))


def linted(state: PanelState, given: RuleInput) -> Effect:
    """Let a reviewer go where its lint leads."""
    one = state.reviewer(given.subject)
    verdict = one.verdict
    assert verdict is not None
    if verdict.next == RESTART:
        # What was found in a Phase 2 tells of the work: a Phase 1 hears nothing of it (spec 2, K12).
        one = Reviewer(one.role, cycle=one.cycle + 1, commitments=one.commitments)
    elif verdict.next == COMMITTING:
        one = replace(one, attempt=one.attempt + 1, gaps=verdict.findings, verdict=None)
    else:
        one = replace(one, stage=verdict.next, gaps=(), verdict=None)
    tags = (*state.tags, verdict.tag) if verdict.tag else state.tags
    return Effect(
        {"reviewers": with_reviewer(state, one), "tags": tags},
        owe=() if one.is_done else (Owe(one.stage, one.role),),
    )


def silent(state: PanelState, given: RuleInput) -> Effect:
    """A silent reviewer is unusable (spec 6)."""
    one = state.reviewer(given.subject)
    tag = audit.timed_out(one.role, contract_of(state).contract_id, one.stage)
    one = replace(one, stage=UNUSABLE, verdict=None)
    return Effect({"reviewers": with_reviewer(state, one), "tags": (*state.tags, tag)})


def all_done(state: PanelState, _given: RuleInput) -> Effect:
    """Go on once nothing more is to come: synthesize, or abort a panel that has shrunk (spec 6)."""
    contract = contract_of(state)
    usable = len(state.scores)
    if usable < contract.panel_size:
        why = f"{usable} of {contract.panel_size} reviewers are usable"
        return abort(state, audit.panel_shrunk(usable, contract.panel_size), why)
    try:
        found = synthesized_from(state)
    except SynthesisAborted as aborted:
        return abort(state, aborted.tag, aborted.why)
    if found.editorial_decision is None:
        return abort(state, NONE_FIRED, "no condition fired, and this panel does not decide then")
    return Effect({"tags": (*state.tags, *found.tags)}, SYNTHESIZING)


def synthesized_from(state: PanelState) -> Synthesis:
    """Return what follows from the scores (spec 8).

    Raises:
        SynthesisAborted: Nothing does.
    """
    contract = contract_of(state)
    return synthesize(
        contract,
        matrix_of(contract, state.scores),
        majority=state.majority,
        on_none_fired=state.on_none_fired,
    )


def concluded(state: PanelState, given: RuleInput) -> Effect:
    """Recompute a synthesis; one that differs is asked for once more, with what was wrong (spec 8)."""
    contract = contract_of(state)
    if baseline_sha256(contract) != state.baseline:
        why = "the contract's baseline fields changed while the panel sat"
        return abort(state, audit.contract_invalid(why), why)
    problem = _difference(state, given.body.text, given.context.version)
    if problem is None:
        decision = recompute(
            contract, state.scores, majority=state.majority, on_none_fired=state.on_none_fired
        ).decision
        return Effect({"verdict": decision or ""}, DECIDED)
    if state.attempt == ATTEMPTS:
        return abort(state, audit.SYNTHESIS_MISMATCH, problem)
    again = {"attempt": state.attempt + 1, "diagnostics": problem}
    return Effect(again, SYNTHESIZING, owe=(Owe("synthesis"),))


def no_conclusion(state: PanelState, _given: RuleInput) -> Effect:
    """A silent Synthesizer ends the panel (spec 8)."""
    return abort(state, audit.SYNTHESIS_MISMATCH, "the Synthesizer was silent (timeout)")


def stopped(state: PanelState, _given: RuleInput) -> Effect | None:
    """A human STOP aborts a panel; one that knows its end already is over."""
    return None if state.verdict else abort(state, "[PANEL-STOPPED]", "an admin stopped it")


def told_end(state: PanelState, _given: RuleInput) -> Effect:
    """The Orchestrator's word ends the panel."""
    return Effect(outcome=state.phase)


def _difference(state: PanelState, text: str, version: int) -> str | None:
    """Say how a synthesis differs from what the scores say; None when it does not."""
    contract = contract_of(state)
    try:
        said = parse_synthesis(text, contract, version)
        found = recompute(contract, state.scores, majority=state.majority, on_none_fired=state.on_none_fired)
    except (SynthesisError, RecomputationError) as error:
        return str(error)
    return disagreement(found, said.fired, said.decision)


def abort(state: PanelState, tag: str, why: str) -> Effect:
    """End without a decision; the tag says why (spec 11)."""
    return Effect(without_decision(state, tag, why), ABORTED)


def without_decision(state: PanelState, tag: str, why: str) -> dict[str, Any]:
    """Return what an end without a decision changes."""
    return {"verdict": tag, "why": cut(why), "tags": (*state.tags, tag)}


def with_reviewer(state: PanelState, one: Reviewer) -> tuple[Reviewer, ...]:
    """Return the reviewers with one of them changed."""
    return tuple([one if other.role == one.role else other for other in state.reviewers])


def contract_of(state: PanelState) -> Contract:
    """Return the contract of a panel that was not refused."""
    assert state.contract is not None
    return state.contract
