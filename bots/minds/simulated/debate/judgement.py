"""How the Evolver comes to a verdict: both arguments weighed, then what the rules allow. It says nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from moot.bots.minds.simulated.debate.casefile import neighbourhood
from moot.bots.minds.simulated.debate.criteria import CRITERIA
from moot.bots.minds.simulated.debate.weighing import (
    alpha_argument,
    certainty,
    excesses,
    red_lines,
    relieved,
    risk_argument,
    stance,
)
from moot.bots.minds.simulated.turn import Turn
from moot.protocols.research.debate_table import CONSERVATIVE_CONFIDENCE, LOW_CONFIDENCE
from moot.protocols.research.judging import is_tie, may_revise

Decision = Literal["APPROVE", "REJECT", "REVISE"]


@dataclass(frozen=True, slots=True)
class Weighed:
    """Both arguments as the Evolver hears them.

    Attributes:
        alpha: Score of the argument for the strategy.
        risk: Score of the argument against it.
        confidence: Of a verdict on them.
        excess: Excess by criterion; empty when nothing could be weighed.
        answers: How well each answer holds; None without a rebuttal.
    """

    alpha: float
    risk: float
    confidence: float
    excess: dict[str, float]
    answers: dict[str, float] | None

    @property
    def margin(self) -> float:
        """Return by how much alpha exceeds risk."""
        return round(self.alpha - self.risk, 6)

    @property
    def worst(self) -> str:
        """Return the criterion that speaks against it most, "" when none does."""
        if not self.excess:
            return ""
        name = max(CRITERIA, key=lambda one: self.excess[one])
        return name if self.excess[name] > 0.0 else ""


def weigh(turn: Turn) -> Weighed:
    """Weigh the Critic's stated scores against what the strategy shows and what was answered."""
    file, assessment, temper = turn.file, turn.transcript.assessment, turn.temper
    if file is None:
        return Weighed(0.0, 1.0, 0.95, {}, None)
    answers = turn.strengths(file)
    ground = neighbourhood(file.spec, turn.universe) if turn.transcript.is_extended else None
    conceded = turn.transcript.is_conceded
    strength = file.report.alpha_strength * file.reach
    given = answers.values() if answers is not None else None
    alpha = alpha_argument(strength, given, temper, ground, conceded=conceded)
    if assessment is None:
        risk = risk_argument(temper.centre, None, temper)
        return Weighed(alpha, risk, certainty(alpha, risk, temper), {}, answers)
    said = assessment.scores.model_dump()
    attention = turn.attention(said, file.spec.archetype)
    excess = relieved(excesses(said, turn.thresholds, attention, temper), answers, temper)
    found = stance(excess, len(assessment.fatal_flaws), temper, ground, red_lines(file, ground))
    risk = risk_argument(found.burden, assessment.risk_rating, temper)
    return Weighed(alpha, risk, certainty(alpha, risk, temper), excess, answers)


def decide(turn: Turn, weighed: Weighed, *, may_ask: bool) -> tuple[Decision, tuple[str, ...]]:
    """Find the verdict that the arguments ask for and the rules allow (R-D6 to R-D10, R-B8, R-F9).

    Args:
        turn: The obligation.
        weighed: The arguments.
        may_ask: Whether a revision can be asked for at all.

    Returns:
        The verdict and the codes of what forced it, if anything did.
    """
    transcript, margin = turn.transcript, weighed.margin
    if turn.view.refused:
        return "REJECT", ("refused",)
    if turn.file is None:
        return "REJECT", ("untestable",)
    if transcript.is_conceded:
        return "REJECT", ("conceded",)
    assessment = transcript.assessment
    if assessment is None:
        return "REJECT", ("no_assessment",)
    if turn.view.is_conservative and weighed.confidence < CONSERVATIVE_CONFIDENCE:
        return "REJECT", ("conservative",)
    wanted: Decision = "APPROVE" if margin > 0.0 else "REJECT"
    codes: tuple[str, ...] = ()
    if is_tie(weighed.alpha, weighed.risk):
        wanted, codes = "REVISE", ("tie",)
    elif weighed.confidence < LOW_CONFIDENCE:
        wanted, codes = "REVISE", ("low_confidence",)
    elif _is_worth_a_revision(turn, margin, assessment.risk_rating):
        wanted = "REVISE"
    if wanted == "APPROVE" and assessment.fatal_flaws:
        wanted, codes = "REVISE", ("fatal_flaw",)
    if wanted == "REVISE" and not may_ask:
        return "REJECT", codes or ("second",)
    if wanted == "REVISE" and not may_revise(turn.elapsed):
        return "REJECT", (*codes, "budget")
    return wanted, codes


def _is_worth_a_revision(turn: Turn, margin: float, rating: str) -> bool:
    """Say whether arguments that lean one way meet something that could still turn them."""
    temper = turn.temper
    if margin > 0.0:
        return rating == "REJECT" and margin < temper.overrule
    return margin >= -temper.fixable and is_mendable(turn)


def is_mendable(turn: Turn) -> bool:
    """Say whether the Explorer has a change on offer that answers an objection and is not made yet."""
    rebuttal = turn.transcript.rebuttal
    return rebuttal is not None and bool(rebuttal.modifications) and rebuttal.strategy is None
