"""A judgement in one pass, without a debate: the same figures, the same weights and limits, and nobody who answers.

Whoever looks alone checks relatives of its own, so that independent passes over one strategy can differ.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from moot.bots.minds.simulated.debate.casefile import Pool, neighbourhood, open_file
from moot.bots.minds.simulated.debate.weighing import (
    alpha_argument,
    certainty,
    excesses,
    flaws_of,
    red_lines,
    risk_argument,
    stance,
)
from moot.bots.minds.simulated.temper import Temper
from moot.bots.tools.errors import ToolError
from moot.bots.tools.strategies import StrategySpec
from moot.bots.tools.universe import Universe
from moot.protocols.research.debate_table import LOW_CONFIDENCE
from moot.protocols.research.judging import is_tie
from moot.protocols.research.strictness import START_THRESHOLDS

UNTESTABLE = 0.95
"""Confidence in a REJECT of what cannot be computed, as the Evolver's."""


class Alone(NamedTuple):
    """A judgement.

    Attributes:
        verdict: What it comes to.
        confidence: In [0.5, 1), as a verdict's.
    """

    verdict: Literal["APPROVE", "REJECT"]
    confidence: float


def judge_alone(spec: StrategySpec, universe: Universe, seed: int, temper: Temper) -> Alone:
    """Judge a strategy.

    Args:
        spec: The strategy.
        universe: What exists.
        seed: Which relatives are tried.
        temper: The constants of behaviour.
    """
    try:
        file = open_file(spec, universe, Pool({}, universe))
    except ToolError:
        return Alone("REJECT", UNTESTABLE)
    ground = neighbourhood(spec, universe, seed)
    flaws = flaws_of(file)
    excess = excesses(file.scores, START_THRESHOLDS, {}, temper)
    found = stance(excess, len(flaws), temper, ground, red_lines(file, ground))
    alpha = alpha_argument(file.report.alpha_strength * file.reach, None, temper, ground)
    risk = risk_argument(found.burden, found.rating, temper)
    confidence = certainty(alpha, risk, temper)
    is_carried = alpha > risk and not is_tie(alpha, risk) and confidence >= LOW_CONFIDENCE and not flaws
    # Against a REJECT of its own the argument must be as clear as for the Evolver to overrule the Critic's.
    is_overruled = found.rating == "REJECT" and alpha - risk < temper.overrule
    return Alone("APPROVE" if is_carried and not is_overruled else "REJECT", confidence)
