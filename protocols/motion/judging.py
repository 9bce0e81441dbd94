"""What a judgment and an extension may say (1.3, R-Q5, R-Q6; R-D5, R-D7, R-D8, R-D10, R-F9)."""

from __future__ import annotations

from moot.protocols.kernel.errors import Violation
from moot.protocols.kernel.steps import Effect, RuleInput
from moot.protocols.motion.grounds import LEAD, STRONG, SURE
from moot.protocols.motion.messages import ExtendMotion, Judgment
from moot.protocols.motion.state import MotionState
from moot.protocols.research.debate_table import EXTENSION_BAND, LOW_CONFIDENCE, TIE


def asked_of_the_judge(state: MotionState, _given: RuleInput) -> tuple[str, ...]:
    """Ask for an extension only where R-D5 leaves room for one."""
    return ("JUDGMENT", "EXTEND_MOTION") if state.may_extend else ("JUDGMENT",)


def extended(state: MotionState, given: RuleInput) -> Effect:
    """Open a third round, once, where both sides are strong (1.3, R-D4, R-D5)."""
    body: ExtendMotion = given.body
    if not state.may_extend:
        raise Violation("R-D5", "a third round follows two full ones, once")
    low, high = EXTENSION_BAND
    for bar in STRONG:
        if not bar.holds(body):
            raise Violation(bar.rule, f"both scores must lie between {low} and {high}", field=bar.path)
    return Effect({"is_extended": True})


def three_rounds(_state: MotionState, _given: RuleInput) -> Effect:
    """A motion is extended once (R-D5)."""
    raise Violation("R-D5", "a motion is extended once; three rounds are the cap")


def judged(state: MotionState, given: RuleInput) -> Effect:
    """A judgment that the table allows ends the motion (R-Q5, R-Q6)."""
    body: Judgment = given.body
    _check_standing(state, body)
    _check_option(state, body)
    if body.outcome == "UPHELD":
        _check_upheld(state, body)
    changes = {"verdict": body.outcome, "confidence": body.confidence, "standing": body.standing}
    return Effect(changes, outcome=body.outcome.lower())


def _check_standing(state: MotionState, body: Judgment) -> None:
    """Check which objections stand: those that nobody answered, and those that were conceded (R-Q5).

    Raises:
        Violation: One of them is left out, or a number is that of no objection, or comes twice.
    """
    named = set(body.standing)
    if unknown := sorted(named - set(state.numbers)):
        raise Violation("R-Q5", f"there is no objection {unknown[0]}", field="standing")
    if len(named) < len(body.standing):
        raise Violation("R-Q5", "an objection is named twice", field="standing")
    for numbers, why in ((state.unanswered, "nobody answered it"), (state.conceded, "it was conceded")):
        if left_out := sorted(set(numbers) - named):
            raise Violation("R-Q5", f"objection {left_out[0]} stands: {why}", field="standing")


def _check_option(state: MotionState, body: Judgment) -> None:
    """Check that the answer fits the outcome (R-Q6).

    Raises:
        Violation: It does not, or is none of the options.
    """
    option, claimed = body.option, state.option
    if option and option not in state.options:
        raise Violation("R-Q6", f"the options are {', '.join(state.options)}", field="option")
    if body.outcome == "UPHELD" and option != claimed:
        raise Violation("R-Q6", f"what is upheld is the claim, {claimed}", field="option")
    if body.outcome == "REJECTED" and option == claimed:
        raise Violation("R-Q6", f"{claimed} is what is rejected: name another option or none", field="option")
    if body.outcome == "UNDECIDED" and option:
        raise Violation("R-Q6", "what is undecided names no option", field="option")


def _check_upheld(state: MotionState, body: Judgment) -> None:
    """Check that nothing forbids to uphold the claim.

    Raises:
        Violation: Nobody examined it (R-D10), the Judge is not sure (R-D7), the arguments are too close or speak
            against it (R-D8), a fatal objection stands (R-F9).
    """
    if not state.is_examined:
        raise Violation("R-D10", "nothing is upheld that nobody examined", field="outcome")
    if not SURE.holds(body):
        raise Violation(SURE.rule, f"nothing is upheld below {LOW_CONFIDENCE}", field="confidence")
    if not LEAD.holds(body):
        why = f"nothing is upheld whose argument does not exceed the one against it by {TIE}"
        raise Violation(LEAD.rule, why, field="for_score")
    if fatal := [number for number in body.standing if state.raised[number - 1] == "fatal"]:
        raise Violation(
            "R-F9", f"nothing is upheld while the fatal objection {fatal[0]} stands", field="outcome"
        )
