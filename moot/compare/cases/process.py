"""The process behind simulated markets, and what a strategy earns on it in the long run.

Stocks follow the process of the society's own simulated ones (`bots/tools/simulated_prices.py`): a share of a market
with calm and stormy spells, and noise of a character. What a strategy earns on it has no formula, for positions are
capped, costs are paid, and entries depend on paths. So it is measured: over two centuries of the same process which
nobody is shown, with costs, as every backtest is.

The centuries are the same for all cases, so their chance is in part common to all: the standard error of a true Sharpe
ratio, about 0.07, does not average out over cases. It is one of the truth, and no arm has an advantage by it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from itertools import count as counting
from typing import Final, NamedTuple, get_args

import numpy as np

from moot.bots.tools.bars import Floats
from moot.bots.tools.returns import forget, run
from moot.bots.tools.seeding import generator
from moot.bots.tools.signals import WARM_UP_BARS
from moot.bots.tools.simulated_prices import (
    SYNTHETIC_FROM,
    Character,
    Stock,
    simulated_bars,
    simulated_market,
)
from moot.bots.tools.splits import Span
from moot.bots.tools.statistics import SESSIONS_A_YEAR, published, sharpe
from moot.bots.tools.strategies import StrategySpec
from moot.bots.tools.universe import Universe

YEARS: Final = 200
BLOCKS: Final = 100
"""Stretches of two years, far longer than any spell or lookback, so that they count as independent."""

NOISE: Final = 0.008
"""Standard deviation of a stock's own daily return in calm times, as a fraction."""

BETAS: Final = (0.2, 0.6, 1.0)
"""How much of the market's return a stock takes on."""

STRENGTHS: Final = (0.5, 1.0, 1.5)
"""Of drifts and pulls, in units of the usual one."""

STOCKS: Final[Mapping[str, Stock]] = {
    f"{character}-{strength}-{beta}": Stock("", "", beta, NOISE, character, 50.0, strength)
    for character in get_args(Character)
    for strength in (STRENGTHS if character != "plain" else (1.0,))
    for beta in BETAS
}
"""What stocks there are, by the names that truths have for them; symbols say nothing of it."""

_RUNS_KEPT: Final = 16
"""So many runs over the centuries, and what they rest on, stay in memory: about 5 MB each."""

_runs = counting(1)


class TrueSharpe(NamedTuple):
    """What a strategy earns in the long run.

    Attributes:
        value: Its yearly Sharpe ratio, net of costs.
        error: The standard error of that.
    """

    value: float
    error: float


def true_sharpe(spec: StrategySpec, stocks: Mapping[str, str]) -> TrueSharpe:
    """Return what a strategy earns in the long run.

    Args:
        spec: A legal strategy.
        stocks: What each symbol that it may trade is, a key of `STOCKS`, no two alike.

    Raises:
        KeyError: It trades a symbol that is not named, or what it is does not exist.
    """
    kinds = tuple(stocks[symbol] for symbol in spec.symbols)
    return _measured(StrategySpec(spec.archetype, spec.params, kinds))


@lru_cache(maxsize=8192)
def _measured(spec: StrategySpec) -> TrueSharpe:
    centuries = _centuries()
    first, last = centuries.calendar[WARM_UP_BARS].item(), centuries.calendar[-1].item()
    if next(_runs) % _RUNS_KEPT == 0:
        forget()
    returns = run(spec, centuries, Span(first, last)).returns
    value = sharpe(returns)
    return TrueSharpe(published(value), published(_error(returns)) if value else 0.0)


def _error(returns: Floats) -> float:
    """Return the standard error of a yearly Sharpe ratio, by how much each stretch moves it (the delta method)."""
    off = (returns - returns.mean()) / returns.std()
    moves = off - returns.mean() / returns.std() / 2.0 * (off**2 - 1.0)
    means = np.array([part.mean() for part in np.array_split(moves, BLOCKS)])
    return float(means.std(ddof=1)) / math.sqrt(BLOCKS) * math.sqrt(SESSIONS_A_YEAR)


@lru_cache(maxsize=1)
def _centuries() -> Universe:
    """Simulate all stocks on one market; prices begin high enough that their rounding means nothing."""
    count = YEARS * SESSIONS_A_YEAR + WARM_UP_BARS
    dates = np.busday_offset(SYNTHETIC_FROM, np.arange(count), roll="forward")
    market = simulated_market(count, generator("centuries", "market"))
    return Universe.of(
        (
            simulated_bars(
                replace(stock, symbol=name, price=1e6), dates, market, generator("centuries", name)
            )
            for name, stock in STOCKS.items()
        ),
        f"{YEARS} years of every stock",
    )
