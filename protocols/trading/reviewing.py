"""What deliberations over a strategy share: who owes, who may answer, what the log knows (spec 4.1, 4.3, 6)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any, Final

from moot.protocols.kernel.case import CaseState
from moot.protocols.kernel.context import RuleContext
from moot.protocols.kernel.errors import Violation
from moot.protocols.kernel.figures import Exactly, Figures
from moot.protocols.kernel.message import Message
from moot.protocols.kernel.seats import Seat
from moot.protocols.kernel.steps import Missed, Move, Rule, RuleInput, Step, nothing, passes
from moot.protocols.kernel.times import minutes
from moot.protocols.research.messages import StrategyMoved
from moot.protocols.trading.briefing import desk_brief
from moot.protocols.trading.messages import DeployNotice
from moot.protocols.trading.seats import GUARDIAN, OPERATOR, TRADER

OPS, BRIDGE = "#b-ops", "#bridge"

Brief = Callable[[Any, RuleInput], dict[str, Any]]
"""(state, input) -> what a mind is shown."""
Fixes = Callable[[Any, RuleInput], Figures]
"""(state, input) -> what an answer is held to."""

LIMIT: Final = minutes(10)
"""Time for every step of a deliberation, and grace after it (R-B2, R-B4)."""

REVIEWERS: Final = (GUARDIAN, TRADER)
"""Who reviews what the Operator proposes, at once and in any order."""


def reviews(
    phase: str,
    kind: type[Message],
    rule: str,
    brief: Brief,
    taken: Rule,
    figures: Fixes = nothing,
) -> Step:
    """Return the step in which both review, each in its own form; a review that is missed is void (R-B2).

    Args:
        phase: In which they do, and which goes on until both reviews are in or missed.
        kind: The review's class.
        rule: The spec section that asks for it.
        brief: What a reviewer is shown.
        taken: What a review does.
        figures: What a review is held to besides its form.
    """
    return Step(
        phase=phase,
        seat=_itself,
        channel=OPS,
        moves={kind: Move((phase,), taken)},
        missed=Missed("R-B2", "void", Move((phase,), passes)),
        rule=rule,
        within=LIMIT,
        grace=LIMIT,
        subjects=lambda _state: REVIEWERS,
        figures=lambda state, given: {**_form(state, given), **figures(state, given)},
        brief=brief,
    )


def operators(
    phase: str,
    channel: str,
    moves: Mapping[type[Message], Move],
    missed: Missed,
    brief: Brief,
    figures: Fixes = nothing,
    limit: timedelta = LIMIT,
) -> Step:
    """Return a step of a deliberation that the Operator owes; who misses it breaks the rule that its figures break."""
    return Step(
        phase=phase,
        seat=OPERATOR,
        channel=channel,
        moves=moves,
        missed=missed,
        rule=missed.rule,
        within=limit,
        grace=limit,
        figures=figures,
        brief=brief,
    )


def move(
    phase: str, taken: Move, missed: Move, brief: Brief, figures: Fixes, limit: timedelta = LIMIT
) -> Step:
    """Return the step in which the Operator moves the strategy (R-D20)."""
    silence = Missed("R-D20", "void", missed)
    return operators(phase, BRIDGE, {StrategyMoved: taken}, silence, brief, figures, limit)


def notice(phase: str, told: Move, brief: Brief, figures: Fixes, limit: timedelta = LIMIT) -> Step:
    """Return the step in which the Operator tells what was decided; silence leads to the same (R-B12)."""
    return operators(phase, OPS, {DeployNotice: told}, Missed("R-B12", "void", told), brief, figures, limit)


def _itself(reviewer: Seat) -> Seat:
    return reviewer


def _form(_state: CaseState, given: RuleInput) -> Figures:
    """A reviewer fills its own form (4.1, 4.3)."""
    reviewer: Seat = given.subject
    return {"form": Exactly(reviewer, f"the {reviewer} fills the {reviewer}'s form")}


def check_alone(context: RuleContext, kind: str, strategy_id: str) -> None:
    """Check that no other case of this kind is about a strategy.

    Raises:
        Violation: One is open.
    """
    for state in context.cases.values():
        if state.kind == kind and getattr(state, "strategy_id", "") == strategy_id:
            raise Violation("K9", f"{state.case_id} is about {strategy_id} already", field="strategy_id")


def check_known(given: Mapping[str, float], known: Mapping[str, float], field: str, rule: str) -> None:
    """Check the figures that the log knows; what it does not know may be said besides.

    Raises:
        Violation: One differs.
    """
    for name, value in given.items():
        if name in known and known[name] != value:
            raise Violation(rule, f"the log says {known[name]}, the message {value}", field=f"{field}.{name}")


def shown(strategy_id: str, context: RuleContext) -> dict[str, Any]:
    """Return what every brief of System B shows: what it is about, and the desk."""
    return {"subject": strategy_id, "desk": desk_brief(context, strategy_id)}


def plain(review: Message | None) -> dict[str, Any] | None:
    """Return a review as JSON data, None when there is none."""
    return review.model_dump(mode="json") if review is not None else None
