"""The figures of one strategy on train and validation: all that a debate may argue from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import Final

from moot.bots.tools.backtest import Metrics, backtest
from moot.bots.tools.bars import Floats
from moot.bots.tools.returns import run
from moot.bots.tools.risk import RiskReport, assess
from moot.bots.tools.scores import correlation_risk, halves
from moot.bots.tools.seeding import generator
from moot.bots.tools.splits import splits
from moot.bots.tools.statistics import published, sharpe, tail_loss
from moot.bots.tools.strategies import StrategySpec, mutate
from moot.bots.tools.universe import Universe
from moot.protocols.research.debate_table import PASS_TRADES

CACHED_FILES: Final = 32
NEIGHBOURS: Final = 9

LUCK: Final = 0.2
"""Share of its Sharpe ratio that a strategy loses among its relatives by luck alone: it was chosen, they were not."""

FRAGILE: Final = 0.3
"""Share from which on the Critic passes nothing without a condition: a red line."""

EVIDENCE_TO_TEST: Final = 4
"""Train and validation are four times as long as the test (R-D15)."""

SPARE: Final = 1.2
"""So many times the trades that the pass rule asks for are enough, luck allowed for."""


class Pool:
    """Approved strategies in one universe, with what they earned day by day.

    Attributes:
        specs: The strategies by id, all legal in that universe.
    """

    def __init__(self, specs: Mapping[str, StrategySpec], universe: Universe) -> None:
        """Take strategies; their returns are computed when first asked for."""
        self.specs = specs
        self.key = tuple(specs.items())
        self._universe = universe

    @cached_property
    def returns(self) -> tuple[tuple[str, Floats], ...]:
        """Return daily returns on the evidence by id, each of shape (days,)."""
        span = splits(self._universe).evidence if self.specs else None
        return tuple(
            (name, backtest(spec, self._universe, span).returns)
            for name, spec in self.specs.items()
            if span is not None
        )

    def __eq__(self, other: object) -> bool:
        """Compare by strategies and universe, so that a pool can key a cache."""
        if not isinstance(other, Pool):
            return NotImplemented
        return self.key == other.key and self._universe == other._universe

    def __hash__(self) -> int:
        """Hash as compared."""
        return hash((self.key, self._universe))


@dataclass(frozen=True, slots=True, eq=False)
class CaseFile:
    """What the seats know of a strategy. Everything rests on the first two splits (R-D15).

    Attributes:
        spec: The strategy.
        report: Its scores, figures and strength.
        cvar: Mean loss of the worst 5 % of days, as a fraction of the capital.
        turnover: Bought and sold in a year, in units of the capital.
        cost: Paid in a year, as a fraction of the capital.
        net: Earned in a year after costs, as a fraction of the capital.
        halves: Yearly Sharpe of the first and of the second half of the validation.
        prompt: Yearly Sharpe on train and validation together.
        late: The same when every decision is executed a session later.
        market_sharpe: Yearly Sharpe of holding its symbols over the validation.
        holding_days: Mean length of a trade in train.
        partner: Id of the approved strategy that it resembles most, "" without any.
        shared: Share of its symbols that the partner trades too.
    """

    spec: StrategySpec
    report: RiskReport
    cvar: float
    turnover: float
    cost: float
    net: float
    halves: tuple[float, float]
    prompt: float
    late: float
    market_sharpe: float
    holding_days: float
    partner: str
    shared: float

    @property
    def scores(self) -> Mapping[str, float]:
        """Return the seven scores."""
        return self.report.scores

    @property
    def train(self) -> Metrics:
        """Return the figures of the first split."""
        return self.report.train_metrics

    @property
    def validation(self) -> Metrics:
        """Return the figures of the second split."""
        return self.report.validation_metrics

    @property
    def trades(self) -> int:
        """Count the closed trades of both splits."""
        return self.train["total_trades"] + self.validation["total_trades"]

    @property
    def reach(self) -> float:
        """Return how far its trades reach for the test: 1 when a quarter of them would be enough to pass."""
        return min(self.trades / (PASS_TRADES * EVIDENCE_TO_TEST * SPARE), 1.0)

    @property
    def drawdown(self) -> float:
        """Return the deeper of both drawdowns."""
        return max(self.train["max_drawdown"], self.validation["max_drawdown"])


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """How the strategy's closest relatives fare on the validation.

    Attributes:
        count: Relatives tried.
        positive: Those with a positive Sharpe ratio.
        median_sharpe: Their median one.
        own_sharpe: That of the strategy itself.
    """

    count: int
    positive: int
    median_sharpe: float
    own_sharpe: float

    @property
    def share(self) -> float:
        """Return the share of relatives that earned something."""
        return self.positive / self.count

    @property
    def sensitivity(self) -> float:
        """Return the share of its Sharpe ratio that is lost among the relatives, in [0, 1]; 1 for one that loses."""
        if self.own_sharpe <= 0.0:
            return 1.0
        return published(min(max(1.0 - self.median_sharpe / self.own_sharpe, 0.0), 1.0))

    @property
    def firmness(self) -> float:
        """Return what the check says, in [-1, 1]: 1 when nothing is lost, 0 at `LUCK`, -1 from twice that on."""
        return published(max(1.0 - self.sensitivity / LUCK, -1.0))


def open_file(spec: StrategySpec, universe: Universe, pool: Pool) -> CaseFile:
    """Put together what can be known of a strategy.

    Equal arguments give the same file, from a cache if it is there.

    Args:
        spec: The strategy.
        universe: What exists at the society's instant.
        pool: Approved strategies.

    Raises:
        StrategyError: The strategy is not legal or names a symbol that the universe lacks.
        TooFewBarsError: Fewer than three sessions exist.
    """
    return _file(spec, universe, pool)


@lru_cache(maxsize=CACHED_FILES)
def _file(spec: StrategySpec, universe: Universe, pool: Pool) -> CaseFile:
    report, partner = measure(spec, universe, pool)
    parts = splits(universe)
    evidence = backtest(spec, universe, parts.evidence)
    validation = backtest(spec, universe, parts.validation)
    late = run(spec, universe, parts.evidence, lag=1)
    shared = 0.0
    if partner:
        shared = len(set(spec.symbols) & set(pool.specs[partner].symbols)) / len(spec.symbols)
    first, second = halves(validation.returns)
    years = max(len(evidence.dates), 1) / 252
    return CaseFile(
        spec=spec,
        report=report,
        cvar=published(tail_loss(evidence.returns)),
        turnover=evidence.turnover_a_year,
        cost=evidence.cost_a_year,
        net=published(float(evidence.returns.sum()) / years),
        halves=(published(first), published(second)),
        prompt=published(sharpe(evidence.returns)),
        late=published(sharpe(late.returns)),
        market_sharpe=published(sharpe(run(spec, universe, parts.validation).buy_and_hold)),
        holding_days=backtest(spec, universe, parts.train).holding_days,
        partner=partner,
        shared=published(shared),
    )


def measure(spec: StrategySpec, universe: Universe, pool: Pool) -> tuple[RiskReport, str]:
    """Assess a strategy, correlation with the pool included: `risk.assess` at a fraction of its cost.

    Returns:
        The report, and the id of the approved strategy that it resembles most, "" without any.

    Raises:
        StrategyError: The strategy is not legal or names a symbol that the universe lacks.
        TooFewBarsError: Fewer than three sessions exist.
    """
    report = assess(spec, universe)
    if not pool.specs:
        return report, ""
    alike, partner = likeness(spec, universe, pool)
    return replace(report, scores=MappingProxyType({**report.scores, "correlation_risk": alike})), partner


def likeness(spec: StrategySpec, universe: Universe, pool: Pool) -> tuple[float, str]:
    """Measure how much of a strategy the pool owns already.

    Returns:
        The correlation score and the id of the strategy that it comes from; 0 and "" for an empty pool.
    """
    span = splits(universe).evidence
    own = backtest(spec, universe, span).returns
    alike = [(correlation_risk(own, (theirs,)), name) for name, theirs in pool.returns]
    return max(alike, key=lambda pair: pair[0], default=(0.0, ""))


@lru_cache(maxsize=CACHED_FILES)
def neighbourhood(spec: StrategySpec, universe: Universe, seed: int | None = None) -> Neighbourhood:
    """Try a strategy's closest relatives on the validation: a fluke stands alone, a real effect does not.

    The relatives depend on the strategy alone, so every seat that asks sees the same ones; whoever looks alone has
    relatives of its own, by its seed.
    """
    own = () if seed is None else (seed,)
    rng = generator("neighbours", repr((spec.archetype, sorted(spec.params.items()), spec.symbols)), *own)
    span = splits(universe).validation
    relatives = [mutate(spec, rng) for _ in range(NEIGHBOURS)]
    found = sorted(backtest(one, universe, span).metrics["sharpe"] for one in relatives)
    sharpe_of_it = backtest(spec, universe, span).metrics["sharpe"]
    return Neighbourhood(NEIGHBOURS, sum(one > 0.0 for one in found), found[NEIGHBOURS // 2], sharpe_of_it)
