"""What a debate makes owed: its budget, what the judge is asked for, the figures that answers are held to."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from moot.protocols.kernel.case import CaseState
from moot.protocols.kernel.figures import Exactly, Figures
from moot.protocols.kernel.message import Message
from moot.protocols.kernel.officers import Ruling
from moot.protocols.kernel.steps import RuleInput
from moot.protocols.kernel.times import minutes
from moot.protocols.research.debate import DebateState, elapsed
from moot.protocols.research.debate_table import CYCLE_BUDGET, REVISION_WITHIN
from moot.protocols.research.judging import may_extend


def budget_left(state: DebateState, given: RuleInput) -> timedelta:
    """Return what is left of the cycle's 2.5 h (spec 1.2, R-D1)."""
    return CYCLE_BUDGET - elapsed(state, given)


def budget_spent(state: CaseState, _given: RuleInput) -> Message:
    """Make the ruling that the cycle's budget asks for (R-D1)."""
    return Ruling(
        obligation_id=None,
        case_id=state.case_id,
        outcome="REJECT",
        reason="cycle_budget",
        rule="R-D1",
        of_seq=None,
    )


def asked_of_the_judge(state: DebateState, given: RuleInput) -> tuple[str, ...]:
    """Ask for an extension only where R-D5 leaves room for one."""
    is_open = may_extend(state.extended, state.ended_by, elapsed(state, given))
    return ("VERDICT", "EXTEND_DEBATE") if is_open else ("VERDICT",)


def verdict_name(state: DebateState, _subject: Any) -> str:
    """Name the verdict after an extension anew: an id never repeats within a case."""
    return "verdict-3" if state.extended else "verdict"


def again(step: str) -> Callable[[DebateState, Any], str]:
    """Name a step that an OVERRIDE opens a second time after its seq: an id never repeats within a case."""

    def name(_state: DebateState, seq: Any) -> str:
        return step if seq is None else f"{step}-{seq}"

    return name


def round_is(value: int | str) -> Callable[[DebateState, RuleInput], Figures]:
    """Hold an answer to its round (spec 1.4)."""
    fixed: Figures = {"round": Exactly(value, f"this is round {value}")}

    def figures(_state: DebateState, _given: RuleInput) -> Figures:
        return fixed

    return figures


def revision_deadline(_state: DebateState, _given: RuleInput) -> Figures:
    """A request names the deadline that is in force (R-F8)."""
    limit = REVISION_WITHIN // minutes(1)
    return {"deadline_min": Exactly(limit, f"a revision has {limit} minutes")}


def candidates_only(_state: DebateState, _given: RuleInput) -> Figures:
    """System A moves strategies to candidates only (R-B11)."""
    return {"to": Exactly("candidates", "System A moves strategies to candidates only")}
