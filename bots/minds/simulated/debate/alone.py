"""A judgement in one pass, without a debate: the same figures, weights and limits, the same search for a change.

Whoever looks alone checks relatives and tries changes of its own, so that independent passes over one strategy differ.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from moot.bots.minds.simulated.debate.casefile import CaseFile, Neighbourhood, Pool, neighbourhood, open_file
from moot.bots.minds.simulated.debate.criteria import CRITERIA
from moot.bots.minds.simulated.debate.rebuttal import POINTS
from moot.bots.minds.simulated.debate.repair import repair
from moot.bots.minds.simulated.debate.weighing import (
    Stance,
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
from moot.bots.tools.seeding import generator
from moot.bots.tools.strategies import StrategySpec
from moot.bots.tools.universe import Universe
from moot.protocols.research.debate_table import CLEAR_SIGNAL, LOW_CONFIDENCE
from moot.protocols.research.judging import is_tie
from moot.protocols.research.strictness import START_THRESHOLDS

UNTESTABLE = 0.95
"""Confidence in a REJECT of what cannot be computed, as the Evolver's."""


class Alone(NamedTuple):
    """A judgement.

    Attributes:
        spec: The strategy that it is about, which may be a changed one.
        verdict: What it comes to.
        confidence: In [0.5, 1), as a verdict's.
    """

    spec: StrategySpec
    verdict: Literal["APPROVE", "REJECT"]
    confidence: float


def judge_alone(
    spec: StrategySpec, universe: Universe, seed: int, temper: Temper, *, changes: bool = True
) -> Alone:
    """Judge a strategy.

    Args:
        spec: The strategy.
        universe: What exists.
        seed: Which relatives, and which changes, are tried.
        temper: The constants of behaviour.
        changes: Whether it may be changed as the Explorer may change it in a rebuttal.
    """
    pool = Pool({}, universe)
    try:
        file = open_file(spec, universe, pool)
    except ToolError:
        return Alone(spec, "REJECT", UNTESTABLE)
    found = _stance(file, None, temper)
    # A clear signal ends a debate before anybody can change anything (R-D3), and so it does here.
    if changes and found.confidence <= CLEAR_SIGNAL:
        file = _changed(file, found, universe, pool, seed, temper)
    return _judged(file, universe, seed, temper)


def _stance(file: CaseFile, ground: Neighbourhood | None, temper: Temper) -> Stance:
    excess = excesses(file.scores, START_THRESHOLDS, {}, temper)
    return stance(excess, len(flaws_of(file)), temper, ground, red_lines(file, ground))


def _changed(
    file: CaseFile, found: Stance, universe: Universe, pool: Pool, seed: int, temper: Temper
) -> CaseFile:
    """Look for a change against what speaks most against a strategy; without one that gains, return its file."""
    issues = found.worst[:POINTS] or (max(CRITERIA, key=lambda name: found.excess[name]),)
    mended = repair(file, issues, universe, pool, generator("alone", seed), temper.repairs, temper)
    return (
        file
        if mended is None or mended.gain < temper.worth_changing
        else open_file(mended.spec, universe, pool)
    )


def _judged(file: CaseFile, universe: Universe, seed: int, temper: Temper) -> Alone:
    ground = neighbourhood(file.spec, universe, seed)
    found = _stance(file, ground, temper)
    flaws = flaws_of(file)
    alpha = alpha_argument(file.report.alpha_strength * file.reach, None, temper, ground)
    risk = risk_argument(found.burden, found.rating, temper)
    confidence = certainty(alpha, risk, temper)
    is_carried = alpha > risk and not is_tie(alpha, risk) and confidence >= LOW_CONFIDENCE and not flaws
    # Against a REJECT of its own the argument must be as clear as for the Evolver to overrule the Critic's.
    is_overruled = found.rating == "REJECT" and alpha - risk < temper.overrule
    return Alone(file.spec, "APPROVE" if is_carried and not is_overruled else "REJECT", confidence)
