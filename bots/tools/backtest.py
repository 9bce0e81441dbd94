"""A strategy over a span, with costs, measured and judged. Access: read-only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Final, Literal, TypedDict

import numpy as np

from moot.bots.tools.bars import Dates, Floats
from moot.bots.tools.returns import DEFAULT_COSTS, Costs, Run, run
from moot.bots.tools.splits import Span
from moot.bots.tools.statistics import LARGEST, annual_return, max_drawdown, published, sharpe
from moot.bots.tools.strategies import StrategySpec, validate
from moot.bots.tools.universe import Universe

CACHED_REPORTS: Final = 1024

PROFIT_FACTOR_CAP: Final = 100.0
"""Stands for "gains and no losses", whose quotient would be infinite."""


class Metrics(TypedDict):
    """Figures of a BACKTEST_RESULT, rounded to six digits; without any trade all are 0.

    A trade is one symbol's unbroken long or short position, from its opening to its closing or turning.

    Attributes:
        sharpe: Yearly, without a risk-free rate.
        max_drawdown: Deepest fall from a peak, as a positive fraction.
        win_rate: Closed trades with a net gain ÷ closed trades.
        total_trades: Closed trades.
        profit_factor: Sum of net gains ÷ sum of net losses of closed trades, at most 100.
        annual_return: Compound, as a fraction.
    """

    sharpe: float
    max_drawdown: float
    win_rate: float
    total_trades: int
    profit_factor: float
    annual_return: float


Reason = Literal["passed", "few_trades", "low_sharpe", "deep_drawdown"]


@dataclass(frozen=True, slots=True)
class Criterion:
    """One condition of the pass rule.

    Attributes:
        metric: Which figure.
        relation: Whether the bound is the least or the most that passes.
        bound: The last value that passes.
        reason: Code of the failure.
    """

    metric: Literal["sharpe", "max_drawdown", "total_trades"]
    relation: Literal["at_least", "at_most"]
    bound: float
    reason: Reason


PASS_RULE: Final = (
    Criterion("total_trades", "at_least", 20, "few_trades"),
    Criterion("max_drawdown", "at_most", 0.20, "deep_drawdown"),
    Criterion("sharpe", "at_least", 0.3, "low_sharpe"),
)
"""R-D15, in the order in which failures are named: with few trades the other figures mean little."""


@dataclass(frozen=True, slots=True, eq=False)
class BacktestReport:
    """What a strategy did over a span.

    Attributes:
        spec: The strategy.
        span: The sessions.
        metrics: The published figures.
        dates: Sessions, shape (days,).
        equity: Value of one unit of capital after each close, shape (days,).
        returns: Net daily returns as fractions, shape (days,).
        costs: What trading cost per unit of turnover.
        turnover_a_year: Bought and sold, in units of the capital.
        cost_a_year: Paid, as a fraction of the capital.
        exposure: Mean absolute position, in [0, 1].
        holding_days: Mean length of a trade in sessions, open ones included; 0 without trades.
    """

    spec: StrategySpec
    span: Span
    metrics: Metrics
    dates: Dates
    equity: Floats
    returns: Floats
    costs: Costs
    turnover_a_year: float
    cost_a_year: float
    exposure: float
    holding_days: float


def backtest(
    spec: StrategySpec, universe: Universe, span: Span, *, costs: Costs = DEFAULT_COSTS
) -> BacktestReport:
    """Measure a strategy over a span.

    It starts the span without a position; earlier bars warm its signals up, later ones are never read. Equal
    arguments give the same report, from a cache if it is there.

    Args:
        spec: The strategy.
        universe: What exists at the society's instant (``Universe.until``).
        span: Which sessions, usually one of ``splits(universe)``.
        costs: What trading costs.

    Returns:
        Figures, equity curve and daily returns.

    Raises:
        StrategyError: The strategy is not legal or names a symbol that the universe lacks.
    """
    validate(spec, universe.bars)
    return _cached(spec, universe, span, costs)


def judge(report: BacktestReport) -> tuple[bool, Reason]:
    """Hold a report against the pass rule.

    Args:
        report: Of the test span.

    Returns:
        Whether it passes, and ``passed`` or the code of the first criterion that fails.

    Source: Ruling R-D15.
    """
    figures: Mapping[str, float] = MappingProxyType({**report.metrics})  # type: ignore[dict-item]
    for criterion in PASS_RULE:
        value = figures[criterion.metric]
        kept = value >= criterion.bound if criterion.relation == "at_least" else value <= criterion.bound
        if not kept:
            return False, criterion.reason
    return True, "passed"


def measure(lived: Run) -> Metrics:
    """Compute the published figures of a run."""
    gains = float(lived.trades[lived.trades > 0.0].sum())
    losses = -float(lived.trades[lived.trades < 0.0].sum())
    closed = len(lived.trades)
    if gains == 0.0:
        factor = 0.0
    else:
        factor = min(gains / losses, PROFIT_FACTOR_CAP) if losses > 0.0 else PROFIT_FACTOR_CAP
    return Metrics(
        sharpe=published(sharpe(lived.returns)),
        max_drawdown=published(max_drawdown(lived.returns)),
        win_rate=published(np.count_nonzero(lived.trades > 0.0) / closed if closed else 0.0),
        total_trades=closed,
        profit_factor=published(factor),
        annual_return=published(annual_return(lived.returns)),
    )


# Equal specs, universes and spans mean equal content (see their __eq__), so a hit can never be another
# answer.
@lru_cache(maxsize=CACHED_REPORTS)
def _cached(spec: StrategySpec, universe: Universe, span: Span, costs: Costs) -> BacktestReport:
    lived = run(spec, universe, span, costs)
    years = max(len(lived.dates), 1) / 252
    with np.errstate(all="ignore"):  # an absurd price file may multiply beyond any float
        equity = np.minimum(np.nan_to_num(np.cumprod(1.0 + lived.returns), nan=0.0), LARGEST)
    equity.flags.writeable = False
    return BacktestReport(
        spec=spec,
        span=span,
        metrics=measure(lived),
        dates=lived.dates,
        equity=equity,
        returns=lived.returns,
        costs=costs,
        turnover_a_year=published(lived.turnover / years),
        cost_a_year=published(lived.cost / years),
        exposure=published(lived.exposure),
        holding_days=published(lived.held / lived.opened if lived.opened else 0.0),
    )
