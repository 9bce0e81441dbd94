"""Which strategies the Explorer looks at, and which of them looks best to it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from moot.bots.minds.simulated.debate.casefile import Pool, likeness
from moot.bots.minds.simulated.debate.lessons import Trial
from moot.bots.minds.simulated.debate.weighing import OWNED
from moot.bots.minds.simulated.temper import Temper
from moot.bots.tools.backtest import Metrics, backtest
from moot.bots.tools.risk import assess
from moot.bots.tools.splits import splits
from moot.bots.tools.strategies import ARCHETYPES, StrategySpec, draw, mutate
from moot.bots.tools.universe import Universe

DEAR: float = 3.0
"""What an excess of 0.1 in a score costs in Sharpe, tenfold."""

FORBIDDING: float = 10.0
"""What it costs, in Sharpe, to cross a red line: more than any strategy shows."""

MOST_DRAWS: int = 60
"""So many draws at most, when repeats come up."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Where to search. Made from memory, direction and notes; drawing happens within it.

    Attributes:
        weights: How much each archetype is wanted; 0 leaves it alone.
        symbols: What may be traded.
        parents: Approved strategies to breed from, by id.
        again: A near miss to take up again, instead of all else.
        known: Strategies that were tried or approved already.
        watched: By archetype, scores that candidates pay for, since they failed by them before.
        limits: The tolerated score by criterion.
    """

    weights: Mapping[str, float]
    symbols: tuple[str, ...]
    parents: Mapping[str, StrategySpec] = field(default_factory=dict)
    again: Trial | None = None
    known: Collection[StrategySpec] = ()
    watched: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    limits: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """A strategy that was looked at.

    Attributes:
        spec: The strategy.
        train: Its figures over the first split.
        parent: Id of the approved strategy that it was bred from, "" for none.
        looks: How good it looks; train decides.
        is_owned: Whether it is closer to what is approved than is tolerated.
    """

    spec: StrategySpec
    train: Metrics
    parent: str
    looks: float
    is_owned: bool = False


def candidates(
    plan: Plan, universe: Universe, pool: Pool, rng: np.random.Generator, temper: Temper
) -> list[Candidate]:
    """Look at a handful of strategies.

    Args:
        plan: Where to search.
        universe: What exists.
        pool: Approved strategies.
        rng: What to draw; nothing else is left to chance.
        temper: The constants.

    Returns:
        At least one candidate, the best-looking first.
    """
    known = set(plan.known)
    found: list[Candidate] = []
    for n, (spec, parent) in enumerate(_drawn(plan, rng, temper)):
        # A repeat is better than nothing, in a universe so small that everything was tried.
        if spec in known and (n + 1 < MOST_DRAWS or found):
            if n + 1 >= MOST_DRAWS:
                break
            continue
        known.add(spec)
        found.append(_seen(spec, parent, plan, universe, pool, temper))
        if len(found) == temper.candidates or n + 1 >= MOST_DRAWS:
            break
    found.sort(key=lambda one: -one.looks)
    # Only the shortlist gets the second look, which is dearer.
    short = [_looked_into(one, plan, universe) for one in found[: temper.shortlist]]
    return sorted(short, key=lambda one: -one.looks) + found[temper.shortlist :]


def _seen(
    spec: StrategySpec, parent: str, plan: Plan, universe: Universe, pool: Pool, temper: Temper
) -> Candidate:
    """Judge a strategy by its train figures, as its author does.

    Few trades count for less, and being close to what is approved costs; beyond the Critic's red line it is only
    proposed when there is nothing else.
    """
    train = backtest(spec, universe, splits(universe).train).metrics
    shown = train["sharpe"] * min(train["total_trades"] / temper.full_trades, 1.0)
    alike = likeness(spec, universe, pool)[0]
    cost = max(alike - plan.limits.get("correlation_risk", 1.0), 0.0)
    refused = FORBIDDING if alike > OWNED else 0.0
    return Candidate(spec, train, parent, round(shown - DEAR * cost - refused, 9), cost > 0.0)


def _looked_into(one: Candidate, plan: Plan, universe: Universe) -> Candidate:
    """Let a candidate pay for the scores by which its archetype failed before, or that a note named.

    That much of train and validation the Explorer has learnt to look at.
    """
    watched = [name for name in plan.watched.get(one.spec.archetype, ()) if name != "correlation_risk"]
    if not watched:
        return one
    scores = assess(one.spec, universe).scores
    cost = sum(max(scores[name] - plan.limits.get(name, 1.0), 0.0) for name in watched)
    return replace(one, looks=round(one.looks - DEAR * cost, 9))


def _drawn(plan: Plan, rng: np.random.Generator, temper: Temper) -> Iterator[tuple[StrategySpec, str]]:
    if plan.again is not None and plan.again.spec is not None:
        while True:
            yield mutate(plan.again.spec, rng, plan.symbols), ""
    names = [name for name in ARCHETYPES if plan.weights.get(name, 0.0) > 0.0] or list(ARCHETYPES)
    shares = np.array([plan.weights.get(name, 0.0) or 1.0 for name in names])
    shares = shares / shares.sum()
    parents = [(key, one) for key, one in plan.parents.items() if one.archetype in names]
    while True:
        if parents and float(rng.random()) < temper.from_parents:
            parent, spec = parents[int(rng.integers(len(parents)))]
            yield mutate(spec, rng, plan.symbols), parent
        else:
            archetype = names[
                int(np.searchsorted(np.cumsum(shares), rng.random(), side="right").clip(0, len(names) - 1))
            ]
            yield draw(archetype, rng, plan.symbols), ""
