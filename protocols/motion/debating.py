"""What is said before a motion is judged: the claim, objections, replies (R-Q1 to R-Q4)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from moot.protocols.kernel.errors import Violation
from moot.protocols.kernel.figures import SECOND_AUDIT, Exactly, Figures, OneOf
from moot.protocols.kernel.obligation import EVERYTHING, Visibility
from moot.protocols.kernel.steps import Effect, Rule, RuleInput
from moot.protocols.motion.messages import ROUNDS
from moot.protocols.motion.state import KIND, YES_OR_NO, MotionState, Phase


def opened(given: RuleInput) -> MotionState:
    """Open the case of a question."""
    env, body = given.message, given.body
    if body.rounds != ROUNDS and given.context.version < SECOND_AUDIT:
        raise Violation("R-Q1", f"a motion of this log has {ROUNDS} rounds: leave rounds out", field="rounds")
    return MotionState(
        case_id=body.motion_id,
        kind=KIND,
        phase=Phase.CLAIMING,
        opened_seq=env.seq,
        anchor_at=env.sent_at,
        question=body.question,
        options=body.options or YES_OR_NO,
        context_ref=body.context_ref,
        limit=body.rounds,
    )


def claimed(_state: MotionState, given: RuleInput) -> Effect:
    """Take the claim, which the figures hold to the options (R-Q1)."""
    return Effect({"option": given.body.option})


def objected(otherwise: Phase) -> Rule:
    """Return the rule of objections: numbered on from those of earlier rounds; none lead elsewhere (R-Q3).

    Args:
        otherwise: Where no objections lead.
    """

    def effect(state: MotionState, given: RuleInput) -> Effect:
        found = given.body.objections
        first = state.numbers.stop
        numbers = [one.number for one in found]
        if numbers != list(range(first, first + len(found))):
            why = f"objections are numbered from {first} on, without gaps: not {', '.join(map(str, numbers))}"
            raise Violation("R-Q3", why, field="objections")
        raised = (*state.raised, *(one.severity for one in found))
        return Effect({"is_examined": True, "raised": raised}, "" if found else otherwise)

    return effect


def replied(state: MotionState, given: RuleInput) -> Effect:
    """Take replies: each answers or concedes an objection that nobody has replied to (R-Q4)."""
    answered, conceded = set(state.answered), set(state.conceded)
    for one in given.body.replies:
        if one.number not in state.numbers:
            raise Violation("R-Q4", f"there is no objection {one.number}", field="replies")
        if one.number in answered | conceded:
            raise Violation("R-Q4", f"objection {one.number} has its reply already", field="replies")
        if one.concede == bool(one.answer.strip()):
            raise Violation(
                "R-Q4", f"objection {one.number} is either answered or conceded, not both", field="replies"
            )
        (conceded if one.concede else answered).add(one.number)
    replies = {"answered": frozenset(answered), "conceded": frozenset(conceded)}
    changes = {**replies, "rounds": state.rounds + 1}
    return Effect(changes, _BY_LIMIT.get((state.phase, state.limit), ""))


_BY_LIMIT: Final[Mapping[tuple[str, int], Phase]] = {
    (Phase.REPLYING_1, 1): Phase.JUDGING,
    (Phase.REPLYING_2, 3): Phase.OBJECTING_3,
}
"""Phase after the replies, by phase and round limit, where the limit is not the usual one."""


# ---------------------------------------------------------------- what is asked for


def among_options(state: MotionState, _given: RuleInput) -> OneOf:
    """Hold the claim to the options (R-Q1)."""
    return OneOf(state.options, "the question")


def round_is(value: int) -> Any:
    """Hold an answer to its round (R-Q1)."""
    fixed: Figures = {"round": Exactly(value, f"this is round {value}")}

    def figures(_state: MotionState, _given: RuleInput) -> Figures:
        return fixed

    return figures


def sight(state: MotionState, _given: RuleInput) -> Visibility:
    """Show a seat the work that the question is about, where there is one (R-Q1)."""
    return Visibility(content_ref=state.context_ref) if state.context_ref else EVERYTHING


def brief(state: MotionState, _given: RuleInput) -> dict[str, Any]:
    """Tell what is asked and how far the debate is; the texts stand in the transcript."""
    return {
        "question": state.question,
        "options": state.options,
        "claimed": state.option,
        "raised": state.raised,
        "unanswered": state.unanswered,
        "conceded": tuple(sorted(state.conceded)),
        "next_number": state.numbers.stop,
        "is_examined": state.is_examined,
        "may_extend": state.may_extend,
    }
