"""The weekly cycle's rules: the architecture debate, then thresholds, meta-reflection and report (spec 2.2, 2.3, 3).

Between the two the Evolver opens a run of the Arena for each approved change, which refines its implementation notes.
The cycle does not wait for those runs. Where the society's configuration wants it, each approved change is put before a
panel first (`architecture_panels`); for those it waits. `architecture_table` says when each rule applies.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from moot.protocols.kernel.case import CaseState
from moot.protocols.kernel.context import RuleContext
from moot.protocols.kernel.errors import Violation
from moot.protocols.kernel.figures import Exactly, Figures, exactly
from moot.protocols.kernel.steps import Effect, RuleInput
from moot.protocols.kernel.times import iso_week
from moot.protocols.opinion import OFF, say_in
from moot.protocols.research.architecture_panels import Panels, convened
from moot.protocols.research.messages import ArchitectureProposal, ArchitectureVerdict
from moot.protocols.research.scope import names_a_parameter
from moot.protocols.research.seats import EVOLVER

KIND: Final = "architecture"

PROPOSING, CRITIQUING_1, REBUTTING, CRITIQUING_2 = "proposing", "critiquing_1", "rebutting", "critiquing_2"
JUDGING, PANELLING, REFINING = "judging", "panelling", "refining"
REVIEWING, ADJUSTING, REFLECTING, REPORTING = "reviewing", "adjusting", "reflecting", "reporting"


@dataclass(frozen=True, kw_only=True)
class ArchitectureState(CaseState):
    """State of a weekly cycle.

    Attributes:
        period: ISO week.
        since: Start of what it reviews, exclusive: the nominal instant before (K16).
        until: End of it, inclusive: its nominal instant.
        changes: Ids of the proposed changes, with their descriptions.
        conceded: Ids of the changes that their author withdrew.
        is_critiqued: Whether a critique stands.
        improvements: Descriptions of approved changes.
        approved: Ids, descriptions and implementation notes of the changes that the Arena is to refine.
        adjusted_by: The factor that the Critic must apply.
        panels: The panels that approved changes are put before, None where none is asked.
    """

    period: str
    since: datetime
    until: datetime
    changes: tuple[tuple[str, str], ...] = ()
    conceded: tuple[str, ...] = ()
    is_critiqued: bool = False
    improvements: tuple[str, ...] = ()
    approved: tuple[tuple[str, str, str], ...] = ()
    adjusted_by: float = 1.0
    panels: Panels | None = None


def open_architecture(given: RuleInput) -> ArchitectureState:
    """Open the weekly cycle of a nominal instant."""
    env, body = given.message, given.body
    return ArchitectureState(
        case_id=body.cycle_id,
        kind=KIND,
        phase=PROPOSING,
        opened_seq=env.seq,
        anchor_at=env.sent_at,
        period=iso_week(body.nominal_at),
        since=given.context.fold_named("calendar").since(KIND, body.nominal_at),
        until=body.nominal_at,
    )


# ---------------------------------------------------------------- the debate


def proposed(_state: ArchitectureState, given: RuleInput) -> Effect:
    """One to three changes of the system are proposed (R-D16)."""
    return Effect({"changes": _check_proposals(given.body)})


def critiqued(state: ArchitectureState, given: RuleInput) -> Effect:
    """A critique is of what was proposed (3.2)."""
    _known(state, [c.change_id for c in given.body.critiques], "critiques")
    return Effect({"is_critiqued": True})


def rebutted(state: ArchitectureState, given: RuleInput) -> Effect:
    """An author may withdraw what was critiqued (3.2, R-D16)."""
    responses = given.body.responses
    _known(state, [r.change_id for r in responses], "responses")
    return Effect({"conceded": tuple(r.change_id for r in responses if r.concede)})


def decided(state: ArchitectureState, given: RuleInput) -> Effect:
    """Every proposal is decided once; approved ones go to the Arena, or before panels first (3.2, R-D16)."""
    improvements = _check_verdict(state, given.body)
    approved = _for_the_arena(given.body, given.context)
    changes: dict[str, Any] = {"improvements": improvements, "approved": approved}
    say = say_in(given.context, "architecture")
    if approved and say != OFF:
        changes["panels"] = convened(say, (change_id for change_id, _, _ in approved))
        return Effect(changes, to=PANELLING)
    return Effect(changes)


def _check_proposals(body: ArchitectureProposal) -> tuple[tuple[str, str], ...]:
    if not 1 <= len(body.proposals) <= 3:
        raise Violation("R-D16", f"one to three proposals, not {len(body.proposals)}", field="proposals")
    for n, proposal in enumerate(body.proposals):
        if names_a_parameter(proposal.scope, proposal.description, proposal.expected_benefit):
            raise Violation(
                "R-D16",
                "the scope is the system, never a single strategy's parameter",
                field=f"proposals[{n}].scope",
            )
    if len({p.change_id for p in body.proposals}) < len(body.proposals):
        raise Violation("R-D16", "every proposal has an id of its own", field="proposals")
    return tuple((p.change_id, p.description) for p in body.proposals)


def _known(state: ArchitectureState, ids: list[str], field: str) -> None:
    known = {change_id for change_id, _ in state.changes}
    for n, change_id in enumerate(ids):
        if change_id not in known:
            raise Violation("3.2", f"{change_id} was not proposed", field=f"{field}[{n}].change_id")


def _check_verdict(state: ArchitectureState, body: ArchitectureVerdict) -> tuple[str, ...]:
    _known(state, [c.change_id for c in body.approved_changes], "approved_changes")
    named = [c.change_id for c in body.approved_changes] + list(body.deferred) + list(body.rejected)
    if len(named) != len(state.changes) or len(set(named)) != len(named):
        raise Violation("3.2", "every proposal is approved, deferred or rejected once", field="rejected")
    if body.approved_changes and not state.is_critiqued:
        raise Violation("R-D16", "nothing is approved without a critique", field="approved_changes")
    for n, change in enumerate(body.approved_changes):
        if change.change_id in state.conceded:
            why = f"{change.change_id} was withdrawn by its author"
            raise Violation("R-D16", why, field=f"approved_changes[{n}].change_id")
    return tuple(c.description for c in body.approved_changes)


# ---------------------------------------------------------------- runs of approved changes


def _for_the_arena(body: ArchitectureVerdict, context: RuleContext) -> tuple[tuple[str, str, str], ...]:
    """List the approved changes, where the society's configuration says that the Arena's seats are filled."""
    arena = context.config.get("arena") or {}
    if arena.get("enabled") is not True:
        return ()
    return tuple((c.change_id, c.description, c.implementation_notes) for c in body.approved_changes)


def changes_approved(state: ArchitectureState) -> tuple[str, ...]:
    """Return the changes that a run is owed for."""
    return tuple(change_id for change_id, _, _ in state.approved)


def is_its_run(change_id: str, body: Any) -> bool:
    """Say whether a task is about a change."""
    return bool(body.task.get("task_id") == change_id)


def run_opened(state: ArchitectureState, given: RuleInput) -> Effect:
    """A run is about the change that it answers for (3.2)."""
    if not is_its_run(given.subject, given.body):
        raise _no_run(state, given)
    return Effect()


def run_refused(state: ArchitectureState, given: RuleInput) -> Effect:
    """Each approved change has one run, which the Evolver opens (3.2)."""
    raise _no_run(state, given)


def _no_run(state: ArchitectureState, given: RuleInput) -> Violation:
    if given.message.author != EVOLVER:
        return Violation("3.2", "the Evolver opens the runs of the weekly cycle", field="parent_id")
    change_id = given.body.task.get("task_id")
    if change_id not in changes_approved(state):
        why = f"{change_id} is no approved change"
    elif change_id not in [owed.subject for owed in state.owed]:
        why = f"{change_id} has its run already"
    else:
        why = f"what this answers is not about {change_id}"
    return Violation("3.2", why, field="task.task_id")


def notebook(context: RuleContext) -> dict[str, Any] | None:
    """Name the notebook that the society configures, as a run takes it; None when it configures none."""
    arena = context.config.get("arena") or {}
    if not any(arena.get(kind) for kind in ("notebook", "mcp", "mcp_url")):
        return None
    return {"notebook_id": "society", "profile": "auto", "tools": ["notebook_describe", "notebook_query"]}


# ---------------------------------------------------------------- the weekly duties


def reviewed(_state: ArchitectureState, given: RuleInput) -> Effect:
    """The review fixes the factor that the Critic must apply (R-D14)."""
    return Effect({"adjusted_by": given.body.factor})


# ---------------------------------------------------------------- figures and briefs


def week(state: ArchitectureState, _given: RuleInput) -> Figures:
    """Every message is about this week (3.2)."""
    return {"period": Exactly(state.period, f"this is week {state.period}", "3.2")}


def critique_of(n: int) -> Callable[[ArchitectureState, RuleInput], Figures]:
    """Return the figures of the critique of a round (3.1)."""
    return lambda state, given: {**week(state, given), "round": Exactly(n, f"this is round {n}", "3.1")}


def verdict_figures(state: ArchitectureState, given: RuleInput) -> Figures:
    """The verdict counts what was proposed (3.2)."""
    n = len(state.changes)
    return {**week(state, given), "proposals_evaluated": Exactly(n, f"{n} were proposed", "3.2")}


def review_figures(state: ArchitectureState, given: RuleInput) -> Figures:
    """Return what the log fixes of THRESHOLD_REVIEW (R-D14)."""
    review = given.context.fold_named("research").threshold_review(state.since, state.until)
    return {**exactly(review), **week(state, given)}


def adjusting_figures(state: ArchitectureState, given: RuleInput) -> Figures:
    """The thresholds are adjusted by the factor of the review (R-D14)."""
    ledger = given.context.fold_named("research")
    before = dict(ledger.thresholds)
    after = ledger.adjusted(before, state.adjusted_by)
    return {**week(state, given), "before": Exactly(before), "after": Exactly(after)}


def reflection_figures(state: ArchitectureState, given: RuleInput) -> Figures:
    """Return what the log fixes of META_REFLECTION (2.2)."""
    meta = given.context.fold_named("research").meta(state.since, state.until)
    return {**exactly(meta), **week(state, given)}


def report_figures(state: ArchitectureState, given: RuleInput) -> Figures:
    """Return what the log fixes of WEEKLY_REPORT (2.3)."""
    ledger = given.context.fold_named("research")
    counts = ledger.counts(state.since, state.until)
    return {
        "week": Exactly(state.period),
        "total_cycles": Exactly(counts.cycles),
        "strategies_approved": Exactly(counts.approved),
        "best_strategy_sharpe": Exactly(ledger.best_sharpe(state.since, state.until)),
        "architecture_improvements": Exactly(state.improvements),
    }


def at_hand(state: ArchitectureState, _given: RuleInput) -> dict[str, Any]:
    """Tell the seat the week and what was said of the changes so far."""
    return {
        "period": state.period,
        "changes": state.changes,
        "conceded": state.conceded,
        "is_critiqued": state.is_critiqued,
        "improvements": state.improvements,
    }


def to_be_judged(state: ArchitectureState, given: RuleInput) -> dict[str, Any]:
    """Tell the Evolver which change a panel is to judge."""
    shown = {**at_hand(state, given), "change": _change(state, given.subject)}
    return {**shown, **_said(state, given.subject)}


def to_be_refined(state: ArchitectureState, given: RuleInput) -> dict[str, Any]:
    """Tell the Evolver which change is to be refined, what its panel says of it, and the notebook at hand."""
    shown = {**at_hand(state, given), "change": _change(state, given.subject)}
    return {**shown, "notebook": notebook(given.context), **_said(state, given.subject)}


def _change(state: ArchitectureState, change_id: str) -> tuple[str, str, str]:
    return next(one for one in state.approved if one[0] == change_id)


def _said(state: ArchitectureState, change_id: str) -> dict[str, Any]:
    return {} if state.panels is None else {"panel": state.panels.plain(change_id)}
