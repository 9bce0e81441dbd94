"""Risk of what the desk holds, and of what a strategy would add (R-B7). Access: read-only.

All figures are of the daily bars that exist, rounded to six digits.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np

from moot.bots.tools.bars import Floats
from moot.bots.tools.risk import evidence_returns
from moot.bots.tools.statistics import correlation, max_drawdown, published, tail_loss
from moot.bots.tools.strategies import StrategySpec, validate
from moot.bots.tools.universe import Universe

VAR_DAYS: Final = 250
"""Daily returns of historical simulation; a year of sessions, as regulators ask for."""

VAR_TAIL: Final = 5.0
"""Per cent of the days that are worse than the value at risk."""

CORRELATION_DAYS: Final = 30
KEPT: Final = 64


def var95(weights: Mapping[str, float], universe: Universe) -> float:
    """Measure the one-day value at risk at 95 % by historical simulation.

    What is held now is held through each of the last 250 days; the loss that 5 % of them exceed is the figure.

    Args:
        weights: Signed value of what is held by symbol, as a fraction of the equity.
        universe: What exists at the society's instant.

    Returns:
        A positive fraction of the equity; 0 without positions or history, and when the tail gains.
    """
    held = tuple(sorted(symbol for symbol, weight in weights.items() if weight and symbol in universe.bars))
    moves = daily_moves(universe, held, VAR_DAYS)
    if not moves.size:
        return 0.0
    # Sums, not a matrix product: BLAS kernels differ between machines in the last bits.
    results = (moves * np.array([weights[symbol] for symbol in held])).sum(axis=1)
    return published(max(-float(np.percentile(results, VAR_TAIL)), 0.0))


def mean_correlation(symbols: Iterable[str], universe: Universe) -> float:
    """Measure the mean pairwise correlation of daily returns over the last 30 days.

    Args:
        symbols: What is held; names that have no prices are left out.
        universe: What exists at the society's instant.

    Returns:
        A number in [-1, 1]; 0 for fewer than two symbols.
    """
    return _mean_correlation(universe, tuple(sorted({s for s in symbols if s in universe.bars})))


@lru_cache(maxsize=KEPT)
def _mean_correlation(universe: Universe, held: tuple[str, ...]) -> float:
    moves = daily_moves(universe, held, CORRELATION_DAYS)
    pairs = [correlation(moves[:, one], moves[:, other]) for one in range(len(held)) for other in range(one)]
    return published(sum(pairs) / len(pairs)) if pairs else 0.0


def concentration(weights: Mapping[str, float]) -> float:
    """Measure how much stands on how few: the largest share of the absolute weights, in [0, 1]; 0 without any."""
    total = sum(abs(weight) for weight in weights.values())
    return published(max(abs(weight) for weight in weights.values()) / total) if total else 0.0


@lru_cache(maxsize=KEPT)
def daily_moves(universe: Universe, symbols: tuple[str, ...], days: int) -> Floats:
    """Return the last daily returns of some symbols.

    Args:
        universe: What exists at the society's instant.
        symbols: Names that it has.
        days: How many days at most.

    Returns:
        Fractions, shape (days there are, symbols), oldest first; 0 on a day on which a symbol has no bar.
    """
    calendar = universe.calendar[-days:]
    moves = np.zeros((len(calendar), len(symbols)))
    for at, symbol in enumerate(symbols):
        bars = universe.bars[symbol]
        recent = bars.between(len(bars) - days - 1, len(bars))
        changes = recent.close[1:] / recent.close[:-1] - 1.0
        dates = recent.dates[1:]
        rows = np.searchsorted(calendar, dates)
        known = (rows < len(calendar)) & (dates >= calendar[0]) if len(calendar) else np.zeros(0, dtype=bool)
        moves[rows[known], at] = changes[known]
    moves.flags.writeable = False
    return moves


@dataclass(frozen=True, slots=True)
class Profile:
    """What a strategy is like on train and validation, which is all that a seat may argue on (R-D15).

    Attributes:
        max_drawdown: Deepest fall from a peak, a positive fraction.
        tail_loss: Mean loss of the worst 5 % of days (CVaR), a positive fraction.
        correlation: Its highest correlation with a strategy that is traded; 0 when none is.
        with_strategy: Which strategy that is, "" for none.
        concentration: Largest share of its capital in one symbol.
    """

    max_drawdown: float
    tail_loss: float
    correlation: float
    with_strategy: str
    concentration: float


def profile(spec: StrategySpec, universe: Universe, traded: Mapping[str, StrategySpec]) -> Profile:
    """Measure what a strategy would add to the desk.

    Args:
        spec: The strategy.
        universe: What exists at the society's instant.
        traded: What is traded already, by id.

    Returns:
        Its figures.

    Raises:
        StrategyError: It is not legal or names a symbol that the universe lacks.
        TooFewBarsError: Fewer than three sessions exist.
    """
    for one in (spec, *traded.values()):
        validate(one, universe.bars)
    own = evidence_returns(spec, universe)
    shared = {
        strategy_id: correlation(own, evidence_returns(other, universe))
        for strategy_id, other in sorted(traded.items())
    }
    closest = max(shared, key=lambda name: shared[name], default="")
    return Profile(
        published(max_drawdown(own)),
        published(tail_loss(own)),
        published(shared.get(closest, 0.0)),
        closest,
        concentration(dict.fromkeys(spec.symbols, 1.0)),
    )
