"""Scores against strictness: how a burden, a rating, a confidence and argument scores come about. Pure."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from moot.bots.minds.simulated.debate.casefile import FRAGILE, CaseFile, Neighbourhood
from moot.bots.minds.simulated.debate.criteria import CRITERIA
from moot.bots.minds.simulated.temper import Temper
from moot.bots.tools.statistics import published
from moot.protocols.research.debate_table import CLEAR_SIGNAL, PASS_DRAWDOWN

Rating = Literal["PASS", "CONDITIONAL_PASS", "REJECT"]

SAME_TRADE = 0.95
"""Correlation from which on two strategies are one."""

IDLE = 0.55
"""Reach below which the pass rule is out of sight."""

LOSES = -0.2
"""Validation Sharpe below which a strategy simply does not carry over."""

LEAST_SHARPE = 0.3
"""Validation Sharpe below which the Critic rejects: a red line of its own, which the Evolver may overrule."""

OWNED = 0.7
"""Correlation with an approved strategy above which the Critic passes nothing without a condition: a red line."""


@dataclass(frozen=True, slots=True)
class Stance:
    """Where the Critic stands.

    Attributes:
        excess: Score minus tolerated score by criterion, answers taken into account; negative is fine.
        burden: Weighted mean of the worst excesses, flaws added.
        rating: What follows.
        confidence: In [0.5, 1): how far the burden lies from where the Critic would be of two minds.
    """

    excess: Mapping[str, float]
    burden: float
    rating: Rating
    confidence: float

    @property
    def worst(self) -> tuple[str, ...]:
        """Return the criteria that exceed what is tolerated, worst first."""
        over = [name for name in CRITERIA if self.excess[name] > 0.0]
        return tuple(sorted(over, key=lambda name: -self.excess[name]))


def tolerated(strictness: float, temper: Temper) -> float:
    """Return the highest score that a strictness lets pass: 0.95 - strictness ÷ 2.

    Strictness 0.6, where every criterion starts, tolerates 0.65; the bounds 0.2 and 0.95 tolerate 0.85 and
    0.475 (R-D14: lower is looser).
    """
    return published(temper.tolerance - temper.strictness_counts * strictness)


def excesses(
    scores: Mapping[str, float],
    thresholds: Mapping[str, float],
    attention: Mapping[str, float],
    temper: Temper,
) -> dict[str, float]:
    """Measure by how much each score exceeds what is tolerated.

    Args:
        scores: The seven scores.
        thresholds: Strictness by criterion.
        attention: What notes and principles take off a tolerance, by criterion.
        temper: The constants.
    """
    return {
        name: published(
            scores[name] - tolerated(thresholds.get(name, 0.6), temper) + attention.get(name, 0.0)
        )
        for name in CRITERIA
    }


def relieved(
    excess: Mapping[str, float], answers: Mapping[str, float] | None, temper: Temper
) -> dict[str, float]:
    """Take account of a rebuttal: a convincing answer shrinks an excess, a missing one lets it grow.

    Args:
        excess: As it was before.
        answers: How well the answer to each criterion that was addressed holds; None without a rebuttal.
        temper: The constants.
    """
    if answers is None:
        return dict(excess)
    out = {}
    for name, value in excess.items():
        factor = 1.0 - temper.relief * answers[name] if name in answers else temper.unanswered
        out[name] = published(value * factor) if value > 0.0 else value
    return out


def stance(
    excess: Mapping[str, float],
    flaws: int,
    temper: Temper,
    ground: Neighbourhood | None = None,
    red: Collection[str] = (),
) -> Stance:
    """Rate excesses, flaws and red lines.

    Args:
        excess: Signed, by criterion.
        flaws: Number of fatal flaws.
        temper: The constants.
        ground: A third round's neighbourhood check, if it was made.
        red: Codes of the red lines that are crossed, see `red_lines`.
    """
    worst = sorted(excess.values(), reverse=True)
    # One score far beyond its limit must not drown in six good ones, so the worst weighs most.
    burden = sum(share * one for share, one in zip(temper.worst, worst, strict=False)) + temper.flaw * flaws
    if ground is not None:
        burden -= temper.robust * ground.firmness
    if "owned" in red:
        burden += temper.owned
    burden = published(burden)
    distance = abs(burden - temper.centre)
    confidence = 0.5 + 0.49 * (1.0 - math.exp(-distance / temper.sureness))
    rating: Rating = "CONDITIONAL_PASS"
    if flaws or burden >= temper.reject_from or "thin" in red:
        rating = "REJECT"
    elif worst[0] <= 0.0 and not red:
        rating = "PASS"
    # A clear signal ends the debate (R-D3); one that points two ways is not clear.
    if (rating == "PASS") != (burden < temper.centre) or rating == "CONDITIONAL_PASS":
        confidence = min(confidence, CLEAR_SIGNAL)
    return Stance(dict(excess), burden, rating, published(confidence))


def red_lines(file: CaseFile, ground: Neighbourhood | None = None) -> tuple[str, ...]:
    """Name the codes of the red lines that a strategy crosses: thin is rejected, owned and sensitive need a condition.

    Args:
        file: Its figures.
        ground: A third round's neighbourhood check, if it was made.
    """
    found = []
    if file.validation["sharpe"] < LEAST_SHARPE:
        found.append("thin")
    if file.scores["correlation_risk"] > OWNED:
        found.append("owned")
    if ground is not None and ground.sensitivity > FRAGILE:
        found.append("sensitive")
    return tuple(found)


def flaws_of(file: CaseFile) -> tuple[str, ...]:
    """Name the codes of what no condition can mend: loses, drawdown, duplicate, idle."""
    found = []
    if file.validation["sharpe"] < LOSES:
        found.append("loses")
    if file.drawdown > PASS_DRAWDOWN:
        found.append("drawdown")
    if file.scores["correlation_risk"] > SAME_TRADE:
        found.append("duplicate")
    if file.reach < IDLE:
        found.append("idle")
    return tuple(found)


def alpha_argument(
    strength: float,
    answers: Iterable[float] | None,
    temper: Temper,
    ground: Neighbourhood | None = None,
    *,
    conceded: bool = False,
) -> float:
    """Score the argument for the strategy, in [0, 1] (R-D4).

    Args:
        strength: Measured strength of the evidence.
        answers: How well the answers given hold; None when nothing was answered.
        temper: The constants.
        ground: A third round's neighbourhood check, if it was made.
        conceded: Whether the Explorer gave up.
    """
    given = list(answers) if answers is not None else []
    raw = strength
    if given:
        raw = temper.alpha_share * strength + (1.0 - temper.alpha_share) * sum(given) / len(given)
    if ground is not None:
        raw += temper.robust * ground.firmness
    score = _logistic((raw - temper.alpha_even) / temper.alpha_width)
    return published(score / 2.0 if conceded else score)


def risk_argument(burden: float, rating: str | None, temper: Temper) -> float:
    """Score the argument against the strategy, in [0, 1] (R-D4).

    Args:
        burden: Of the last assessment, as the Evolver weighs it.
        rating: Its rating; None when there was no assessment.
        temper: The constants.
    """
    shift = {"PASS": -temper.rating_shift, "REJECT": temper.rating_shift}.get(rating or "", 0.0)
    score = _logistic((burden - temper.risk_even) / temper.risk_width)
    return published(min(max(score + shift, 0.0), 1.0))


def certainty(alpha: float, risk: float, temper: Temper) -> float:
    """Turn the margin between the arguments into a verdict's confidence, in [0.5, 1)."""
    return published(0.5 + 0.48 * (1.0 - math.exp(-abs(alpha - risk) / temper.certainty)))


def quality(rounds: int, points: int, responses: int, strengths: Sequence[float], silences: int) -> float:
    """Score a debate, in [0, 1]: rounds held, points answered and how well, deadlines missed.

    Args:
        rounds: Assessments given, revisions included.
        points: Points that the Critic made.
        responses: Answers given.
        strengths: How well those to the present text held.
        silences: Deadlines missed.
    """
    answered = min(responses / points, 1.0) if points else 1.0
    held = sum(strengths) / len(strengths) if strengths else 0.5 * answered
    value = 0.3 + 0.1 * min(rounds, 3) + 0.2 * answered + 0.2 * held - 0.15 * silences
    return published(min(max(value, 0.0), 1.0))


def _logistic(x: float) -> float:
    return 1.0 / (1.0 + math.exp(min(max(-x, -60.0), 60.0)))
