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

from datetime import timedelta
from typing import Any, Final

from moot.protocols.kernel.case import evolve
from moot.protocols.kernel.frozen import thaw
from moot.protocols.kernel.machine import Machine, Start
from moot.protocols.kernel.message import Message
from moot.protocols.kernel.obligation import NO_GRACE, Visibility
from moot.protocols.kernel.seats import ORCHESTRATOR
from moot.protocols.kernel.steps import ENDED, STOP, Missed, Move, Rule, RuleInput, Step
from moot.protocols.kernel.times import minutes
from moot.protocols.panel import audit, steps
from moot.protocols.panel.contract import (
    ROLES,
    ContractError,
    as_json,
    baseline_sha256,
    contract_from,
    ineligibility,
)
from moot.protocols.panel.messages import (
    Lint,
    PanelAborted,
    PanelDecided,
    PanelOpened,
    Phase1,
    Phase2,
    Synthesis,
)
from moot.protocols.panel.rights import PLACE
from moot.protocols.panel.seats import PANEL as SEATED
from moot.protocols.panel.seats import SYNTHESIZER
from moot.protocols.panel.state import (
    ABORTED,
    COMMITTING,
    DECIDED,
    OPEN,
    REVIEWING,
    SYNTHESIZING,
    PanelState,
    Reviewer,
)

KIND: Final = "panel"

PHASE1_WITHIN, PHASE2_WITHIN, SYNTHESIS_WITHIN = minutes(30), minutes(60), minutes(10)
GRACE: Final = minutes(10)
"""Time for each output; the spec names none."""

NOTHING: Final[frozenset[str]] = frozenset()
"""All that a reviewer is shown of the log; what it needs of that stands in its brief. Any message may quote the
content: a note, an OVERRIDE, the title of another panel, and, after a restart, the reviewer's own outputs."""
CONCLUSIONS: Final = frozenset({"PHASE2", "SYNTHESIS"})
"""All that the Synthesizer is shown of the log."""


def open_panel(given: RuleInput) -> PanelState:
    """Open a panel: check the contract, then let every reviewer commit, none waiting for another (spec 2, 6)."""
    env, body = given.message, given.body
    state = PanelState(
        case_id=body.panel_id,
        kind=KIND,
        phase=OPEN,
        parent=given.parent.case_id if given.parent is not None else None,
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
        return _refused(state, audit.contract_invalid(str(error)), str(error))
    state = evolve(state, contract=contract, baseline=baseline_sha256(contract))
    if (why := ineligibility(contract)) is not None:
        return _refused(state, audit.contract_ineligible(why), why)
    return evolve(state, reviewers=tuple([Reviewer(role) for role in ROLES[contract.mode]]))


def _refused(state: PanelState, tag: str, why: str) -> PanelState:
    return evolve(state, phase=ABORTED, **steps.without_decision(state, tag, why))


def _roles(state: PanelState) -> tuple[str, ...]:
    return tuple([one.role for one in state.reviewers])


def _nobody(_state: PanelState) -> tuple[str, ...]:
    """A Phase 2 follows the lint of a Phase 1, a lint an output."""
    return ()


def _sight(role: str, content_ref: str = "") -> Visibility:
    """Say what a reviewer is shown: its brief, and the content once it has committed (spec 2, K12)."""
    others = frozenset(seat for seat in SEATED if seat != role)
    return Visibility(hidden_authors=others, shown_types=NOTHING, has_memory=False, content_ref=content_ref)


def _lint(state: PanelState, given: RuleInput) -> Message:
    """Make the LINT of a reviewer's last output."""
    verdict = state.reviewer(given.subject).verdict
    assert verdict is not None
    return Lint(
        panel_id=state.case_id,
        role=given.subject,
        phase=verdict.phase,  # type: ignore[arg-type]
        attempt=verdict.attempt,
        is_passed=not verdict.findings,
        findings=verdict.findings,
        tag=verdict.tag,
    )


def _lint_name(state: PanelState, role: str) -> str:
    one = state.reviewer(role)
    assert one.verdict is not None
    return f"lint-{role}-{one.verdict.phase}-{one.cycle}-{one.verdict.attempt}"


def _decision(state: PanelState, _given: RuleInput) -> Message:
    """Make PANEL_DECIDED: the decision with all that it follows from (spec 8)."""
    found = steps.synthesized_from(state)
    return PanelDecided(
        panel_id=state.case_id,
        decision=state.verdict,
        fired_conditions=found.fired_conditions,
        matrix=found.matrix,
        arithmetic=tuple([one.arithmetic for one in found.conditions]),
        tags=state.tags,
        baseline_sha256=state.baseline,
    )


def _abort(state: PanelState, _given: RuleInput) -> Message:
    """Make PANEL_ABORTED."""
    return PanelAborted(panel_id=state.case_id, tag=state.verdict, why=state.why, tags=state.tags)


def _brief(state: PanelState) -> dict[str, Any]:
    """Tell the contract and the metadata; never the content (spec 2)."""
    return {
        "subject": state.title,
        "contract": as_json(steps.contract_of(state)),
        "title": state.title,
        "field": state.field,
        "word_count": state.word_count,
    }


def _reviewer_brief(state: PanelState, given: RuleInput) -> dict[str, Any]:
    """Tell a reviewer besides how far it is; `said` counts the outputs of this kind that it has given already."""
    one = state.reviewer(given.subject)
    so_far = {"role": one.role, "cycle": one.cycle, "attempt": one.attempt, "gaps": one.gaps}
    return {**_brief(state), **so_far, "said": one.commitments}


def _phase2_brief(state: PanelState, given: RuleInput) -> dict[str, Any]:
    """Tell a reviewer its own commitment too (spec 2)."""
    one = state.reviewer(given.subject)
    return {**_reviewer_brief(state, given), "said": one.cycle - 1, "phase1_output": one.commitment}


def _synthesis_brief(state: PanelState, _given: RuleInput) -> dict[str, Any]:
    """Tell the Synthesizer the scores, and what was wrong with its first synthesis (spec 8)."""
    return {
        **_brief(state),
        "scores": {role: dict(row) for role, row in state.scores.items()},
        "majority": state.majority,
        "on_none_fired": state.on_none_fired,
        "diagnostics": state.diagnostics,
        "attempt": state.attempt,
        "said": state.attempt - 1,
    }


def _orchestrator(phase: str, kind: type[Message], move: Move, discharge: Any, **more: Any) -> Step:
    """Let the Orchestrator say something at once."""
    return Step(
        phase=phase,
        seat=ORCHESTRATOR,
        channel=PLACE,
        moves={kind: move},
        missed=None,
        rule="2",
        within=NO_GRACE,
        grace=NO_GRACE,
        discharge=discharge,
        **more,
    )


def _reviewer(kind: type[Message], taken: Rule, within: timedelta, **more: Any) -> Step:
    """Let a reviewer, which is the subject, give an output."""
    return Step(
        phase=OPEN,
        seat=lambda role: role,
        channel=PLACE,
        moves={kind: Move((OPEN,), taken)},
        missed=Missed("6", "void", Move((OPEN,), steps.silent)),
        rule="2",
        within=within,
        grace=GRACE,
        **more,
    )


END: Final = Move((ENDED,), steps.told_end)

PANEL: Final = Machine(
    kind=KIND,
    system="",
    phases=(OPEN, SYNTHESIZING, DECIDED, ABORTED),
    rule="2",
    start={PanelOpened: Start(open_panel, (OPEN, ABORTED))},
    steps={
        COMMITTING: _reviewer(
            Phase1,
            steps.committed,
            PHASE1_WITHIN,
            subjects=_roles,
            name=lambda state, role: "phase1-{0.cycle}-{0.attempt}".format(state.reviewer(role)),
            may_see=lambda _state, given: _sight(given.subject),
            brief=_reviewer_brief,
        ),
        REVIEWING: _reviewer(
            Phase2,
            steps.reviewed,
            PHASE2_WITHIN,
            subjects=_nobody,
            name=lambda state, role: f"phase2-{state.reviewer(role).cycle}",
            may_see=lambda state, given: _sight(given.subject, state.content_ref),
            brief=_phase2_brief,
        ),
        "lint": _orchestrator(
            OPEN, Lint, Move((OPEN,), steps.linted), _lint, subjects=_nobody, name=_lint_name
        ),
        "synthesis": Step(
            phase=SYNTHESIZING,
            seat=SYNTHESIZER,
            channel=PLACE,
            moves={Synthesis: Move((SYNTHESIZING, DECIDED, ABORTED), steps.concluded)},
            missed=Missed("8", "void", Move((ABORTED,), steps.no_conclusion)),
            rule="8",
            within=SYNTHESIS_WITHIN,
            grace=GRACE,
            name=lambda state, _subject: f"synthesis-{state.attempt}",
            may_see=lambda _state, _given: Visibility(shown_types=CONCLUSIONS, has_memory=False),
            brief=_synthesis_brief,
        ),
        "decided": _orchestrator(DECIDED, PanelDecided, END, _decision),
        "aborted": _orchestrator(ABORTED, PanelAborted, END, _abort),
    },
    rulings={STOP: Move((ABORTED,), steps.stopped)},
    dry={OPEN: Move((SYNTHESIZING, ABORTED), steps.all_done)},
    parent_of=lambda body: body.parent_id or None,  # type: ignore[attr-defined]
)
"""A panel: its reviewers are the subjects of `phase1`, `phase2` and `lint`, and walk side by side."""
