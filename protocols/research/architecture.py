"""The weekly cycle: the architecture debate, then thresholds, meta-reflection and report (spec 2.2, 2.3, 3).

Between the two the Evolver opens a run of the Arena for each approved change, which refines its implementation notes.
The cycle does not wait for those runs, and knows of them no more than the opener's type and task. Where the society's
configuration wants it, each approved change is put before a panel first (`architecture_panels`); for those it waits.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from moot.protocols.kernel.case import CaseState, CaseType, Decision, evolve
from moot.protocols.kernel.context import RuleContext
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.errors import Violation
from moot.protocols.kernel.message import Message
from moot.protocols.kernel.obligation import NO_GRACE, Obligation
from moot.protocols.kernel.officers import Ruling
from moot.protocols.kernel.seats import REFEREE
from moot.protocols.kernel.table import check_figures, illegal
from moot.protocols.kernel.times import iso_week
from moot.protocols.opinion import OFF, OPENER, say_in
from moot.protocols.research.architecture_panels import PANELLING, SILENT, Asked, Owed, Panels, is_limit, late
from moot.protocols.research.architecture_table import (
    ADJUSTING,
    ARENA,
    CRITIQUING_1,
    DEBATED,
    DUTIES,
    ENDED,
    KIND,
    MISSED,
    NEXT,
    PROPOSING,
    REFINING,
    REFLECTING,
    REPORTING,
    REVIEWING,
)
from moot.protocols.research.debate_table import CYCLE_BUDGET
from moot.protocols.research.messages import (
    ArchitectureCritique,
    ArchitectureProposal,
    ArchitectureRebuttal,
    ArchitectureVerdict,
    CycleTrigger,
    ThresholdsAdjusted,
)
from moot.protocols.research.scope import names_a_parameter


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


def open_architecture(env: Envelope, body: CycleTrigger, context: RuleContext) -> ArchitectureState:
    """Open the weekly cycle of a nominal instant."""
    case_id = body.cycle_id
    return ArchitectureState(
        case_id=case_id,
        kind=KIND,
        phase=PROPOSING,
        opened_seq=env.seq,
        anchor_at=env.sent_at,
        period=iso_week(body.nominal_at),
        since=context.fold_named("calendar").since(KIND, body.nominal_at),
        until=body.nominal_at,
        owed=(
            DUTIES[PROPOSING].owed(case_id, env),
            Obligation(
                f"{case_id}/budget/{REFEREE}",
                case_id,
                REFEREE,
                ("RULING",),
                ARENA,
                env.sent_at,
                env.sent_at + CYCLE_BUDGET,
                NO_GRACE,
            ),
        ),
    )


def _enter(state: ArchitectureState, phase: str, env: Envelope, **changes: Any) -> ArchitectureState:
    if phase == ENDED:
        return evolve(state, phase=phase, owed=(), outcome="reported", **changes)
    if phase == REFINING:
        return _refine(state, env, **changes)
    owed = DUTIES[phase].owed(state.case_id, env)
    budget = (state.owed[-1],) if phase in DEBATED else ()
    return evolve(state, phase=phase, owed=(owed, *budget), **changes)


def _convene(state: ArchitectureState, say: str, env: Envelope) -> ArchitectureState:
    """Put every approved change before a panel, all at once."""
    panels = Panels(state.case_id, say, tuple(Asked(change_id) for change_id, _, _ in state.approved))
    return evolve(state, phase=PANELLING, panels=panels, owed=panels.convene(env))


def _panelled(state: ArchitectureState, found: tuple[Panels, Owed], env: Envelope) -> ArchitectureState:
    """Go on with the other panels; when none is awaited, refine what passed."""
    panels, owed = found
    if owed:
        return evolve(state, panels=panels, owed=owed)
    approved = tuple(change for change in state.approved if panels.passes(change[0]))
    return _refine(evolve(state, panels=panels), env, approved=approved)


def child_ended(
    state: ArchitectureState, child: CaseState, env: Envelope, context: RuleContext
) -> ArchitectureState:
    """Take in how a panel ended; the runs of the Arena change nothing here."""
    if state.phase != PANELLING or state.panels is None:
        return state
    found = state.panels.ended(child, state.owed)
    return state if found[0] is state.panels else _panelled(state, found, env)


def _refine(state: ArchitectureState, env: Envelope, **changes: Any) -> ArchitectureState:
    """Owe one run for each approved change, all at once; go on where there is none."""
    duty = DUTIES[REFINING]
    owed = tuple(
        Obligation(
            _refining(state, change_id),
            state.case_id,
            duty.seat,
            duty.expects,
            duty.channel,
            env.sent_at,
            env.sent_at + duty.within,
            duty.grace,
        )
        for change_id, _, _ in changes["approved"]
    )
    if not owed:
        return _enter(state, NEXT[REFINING], env, **changes)
    return evolve(state, phase=REFINING, owed=owed, **changes)


def _refining(state: ArchitectureState, change_id: str) -> str:
    duty = DUTIES[REFINING]
    return f"{state.case_id}/{duty.step}-{change_id}/{duty.seat}"


def _opened_run(state: ArchitectureState, env: Envelope) -> ArchitectureState:
    """Take the opener of a run: it is about an approved change that has none yet.

    Raises:
        Violation: It is not, or answers for another change, or is not the Evolver's.
    """
    if env.author != DUTIES[REFINING].seat:
        raise Violation("3.2", "the Evolver opens the runs of the weekly cycle", field="parent_id")
    change_id = env.body.task.get("task_id")  # type: ignore[attr-defined]
    if change_id not in [approved for approved, _, _ in state.approved]:
        raise Violation("3.2", f"{change_id} is no approved change", field="task.task_id")
    obligation_id = _refining(state, change_id)
    if obligation_id not in [owed.id for owed in state.owed]:
        raise Violation("3.2", f"{change_id} has its run already", field="task.task_id")
    if env.obligation_id not in (None, obligation_id):
        raise Violation("3.2", f"what this answers is not about {change_id}", field="task.task_id")
    return _without(state, obligation_id, env)


def _without(state: ArchitectureState, obligation_id: str, env: Envelope) -> ArchitectureState:
    """Go on when nothing is left to be refined."""
    left = tuple(owed for owed in state.owed if owed.id != obligation_id)
    return evolve(state, owed=left) if left else _enter(state, NEXT[REFINING], env)


def step(state: ArchitectureState, env: Envelope, context: RuleContext) -> ArchitectureState:
    """Apply a message of a seat.

    Raises:
        Violation: The phase does not allow it, its content breaks R-D16, or a figure differs from the log.
    """
    body = env.body
    if state.phase == PANELLING and state.panels is not None and body.type == OPENER:
        return _panelled(state, state.panels.opened(env, state.owed), env)
    duty = DUTIES.get(state.phase)
    if duty is None or body.type not in duty.expects:
        raise illegal(state, env, "3.1")
    if state.phase == REFINING:
        return _opened_run(state, env)
    if getattr(body, "period", state.period) != state.period:
        raise Violation("3.2", f"this is week {state.period}", field="period")
    to = NEXT[state.phase]
    if isinstance(body, ArchitectureProposal):
        return _enter(state, to, env, changes=_check_proposals(body))
    if isinstance(body, ArchitectureCritique):
        if body.round != (1 if state.phase == CRITIQUING_1 else 2):
            raise Violation("3.1", f"this is the critique of {state.phase}", field="round")
        _known(state, [c.change_id for c in body.critiques], "critiques")
        return _enter(state, to, env, is_critiqued=True)
    if isinstance(body, ArchitectureRebuttal):
        _known(state, [r.change_id for r in body.responses], "responses")
        return _enter(state, to, env, conceded=tuple(r.change_id for r in body.responses if r.concede))
    if isinstance(body, ArchitectureVerdict):
        improvements = _check_verdict(state, body)
        approved = _for_the_arena(body, context)
        say = say_in(context, "architecture")
        if approved and say != OFF:
            return _convene(evolve(state, improvements=improvements, approved=approved), say, env)
        return _enter(state, to, env, improvements=improvements, approved=approved)
    check_figures(body, figures(state, context), "R-D17")
    if isinstance(body, ThresholdsAdjusted):
        return _enter(state, to, env)
    if state.phase == REVIEWING:
        return _enter(state, to, env, adjusted_by=body.factor)  # type: ignore[attr-defined]
    return _enter(state, to, env)


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
    if body.proposals_evaluated != len(state.changes):
        raise Violation("3.2", f"{len(state.changes)} were proposed", field="proposals_evaluated")
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


def _for_the_arena(body: ArchitectureVerdict, context: RuleContext) -> tuple[tuple[str, str, str], ...]:
    """List the approved changes, where the society's configuration says that the Arena's seats are filled."""
    arena = context.config.get("arena") or {}
    if arena.get("enabled") is not True:
        return ()
    return tuple((c.change_id, c.description, c.implementation_notes) for c in body.approved_changes)


def notebook(context: RuleContext) -> dict[str, Any] | None:
    """Name the notebook that the society configures, as a run takes it; None when it configures none."""
    arena = context.config.get("arena") or {}
    if not any(arena.get(kind) for kind in ("notebook", "mcp", "mcp_url")):
        return None
    return {"notebook_id": "society", "profile": "auto", "tools": ["notebook_describe", "notebook_query"]}


def figures(state: ArchitectureState, context: RuleContext) -> dict[str, Any]:
    """Return the fields of this phase's message that the log fixes (R-D14, spec 2.2, 2.3)."""
    ledger = context.fold_named("research")
    if state.phase == REVIEWING:
        return dict(ledger.threshold_review(state.since, state.until))
    if state.phase == ADJUSTING:
        before = dict(ledger.thresholds)
        return {"before": before, "after": ledger.adjusted(before, state.adjusted_by)}
    if state.phase == REFLECTING:
        return dict(ledger.meta(state.since, state.until))
    if state.phase == REPORTING:
        counts = ledger.counts(state.since, state.until)
        return {
            "week": state.period,
            "total_cycles": counts.cycles,
            "strategies_approved": counts.approved,
            "best_strategy_sharpe": ledger.best_sharpe(state.since, state.until),
            "architecture_improvements": state.improvements,
        }
    return {}


def brief(state: ArchitectureState, obligation: Obligation, context: RuleContext) -> dict[str, Any]:
    """Tell the seat the period, the changes at hand and what the log counts."""
    return {
        "period": state.period,
        "changes": state.changes,
        "conceded": state.conceded,
        "is_critiqued": state.is_critiqued,
        "improvements": state.improvements,
        **_change(state, obligation, context),
        **figures(state, context),
    }


def _change(state: ArchitectureState, obligation: Obligation, context: RuleContext) -> dict[str, Any]:
    """Return the change that an obligation wants judged or refined, what a panel says of it, the notebook at hand."""
    panels = state.panels
    if state.phase == PANELLING and panels is not None:
        asked = panels.about(obligation.id)
        if asked is None:
            return {}
        change = next(one for one in state.approved if one[0] == asked.change_id)
        return {"change": change, "panel": panels.plain(asked.change_id)}
    if state.phase != REFINING:
        return {}
    change = next(one for one in state.approved if _refining(state, one[0]) == obligation.id)
    said = {"panel": panels.plain(change[0])} if panels is not None else {}
    return {"change": change, "notebook": notebook(context), **said}


def otherwise(state: ArchitectureState, obligation: Obligation, context: RuleContext) -> Decision:
    """Say what the referee rules when an obligation is missed."""
    if state.phase == PANELLING:
        return SILENT
    return MISSED[state.phase].decision


def rule(
    state: ArchitectureState,
    decision: Decision,
    env: Envelope,
    context: RuleContext,
    obligation: Obligation | None,
) -> ArchitectureState:
    """Apply a ruling: a missed duty, the budget, a panel that takes too long, or a human STOP."""
    if decision.outcome == "stop":
        return evolve(state, phase=ENDED, owed=(), outcome="stopped")
    if decision.reason == "cycle_budget":
        return _enter(state, REVIEWING, env)
    if state.phase == PANELLING and state.panels is not None and obligation is not None:
        return _panelled(state, state.panels.missed(obligation, state.owed), env)
    if state.phase == REFINING and obligation is not None:
        return _without(state, obligation.id, env)
    return _enter(state, MISSED[state.phase].to, env)


def discharge(state: ArchitectureState, obligation: Obligation, context: RuleContext) -> Message:
    """Make the ruling that the budget asks for (R-D1), or the time of a panel."""
    if is_limit(obligation):
        return late(state.case_id)
    return Ruling(
        obligation_id=None,
        case_id=state.case_id,
        outcome="REJECT",
        reason="cycle_budget",
        rule="R-D1",
        of_seq=None,
    )


ARCHITECTURE: Final = CaseType(
    kind=KIND,
    openers=(),
    open=lambda env, context, parent: None,
    step=step,
    otherwise=otherwise,
    rule=rule,
    discharge=discharge,
    child_ended=child_ended,
    brief=brief,
    system="A",
)
