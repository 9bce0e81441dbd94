"""Markets with a known process: prices, and a strategy that somebody found in them or just thought of."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Final

import numpy as np

from moot.bots.tools.backtest import backtest
from moot.bots.tools.seeding import generator
from moot.bots.tools.simulated_prices import SYNTHETIC_FROM, simulated_bars, simulated_market
from moot.bots.tools.splits import splits
from moot.bots.tools.strategies import ARCHETYPES, StrategySpec, draw
from moot.bots.tools.universe import Universe
from moot.compare.cases.case import MARKET, Case, Generated
from moot.compare.cases.process import STOCKS, true_sharpe
from moot.protocols.kernel.frozen import Json

SYMBOLS: Final = ("SIM-ONE", "SIM-TWO")
"""What there is to trade in each case; which kinds of stock they are differs, and is not shown."""

SESSIONS: Final = 1512
"""Six years of prices: splits leave 3.6 to fit, 1.2 to validate and 1.2 to test."""

SEARCHED: Final = (1, 4, 16)
"""Among how many strategies the one of a case looked best on the train split: chance is what much of that is."""


@dataclass(frozen=True, slots=True)
class Markets(Generated):
    """Hypotheses of System A's form, each on a market of its own.

    Truth: `sharpe`, the true Sharpe ratio of the strategy that is shown, its standard `error`, `stocks`, what the
    symbols are, by which `process.true_sharpe` computes that of any other, and among how many it was `searched`.
    """

    name: ClassVar[str] = "markets"

    def __getitem__(self, place: int) -> Case:
        n = range(1, self.count + 1)[place]
        rng = generator(self.name, self.seed, n)
        kinds = [str(one) for one in rng.choice(list(STOCKS), size=len(SYMBOLS), replace=False)]
        stocks = dict(zip(SYMBOLS, kinds, strict=True))
        universe = _universe(stocks, rng)
        searched = SEARCHED[int(rng.integers(len(SEARCHED)))]
        spec = _found(universe, searched, rng)
        truth = true_sharpe(spec, stocks)
        return Case(
            id=f"market-{self.seed}-{n:05d}",
            kind=MARKET,
            shown={"strategy": _part(spec), "bars": _columns(universe)},
            truth={"sharpe": truth.value, "error": truth.error, "stocks": stocks, "searched": searched},
        )


def _universe(stocks: dict[str, str], rng: np.random.Generator) -> Universe:
    dates = np.busday_offset(SYNTHETIC_FROM, np.arange(SESSIONS), roll="forward")
    market = simulated_market(SESSIONS, rng)
    bars = [
        simulated_bars(replace(STOCKS[kind], symbol=symbol), dates, market, rng)
        for symbol, kind in stocks.items()
    ]
    return Universe.of(bars, "a simulated market")


def _found(universe: Universe, searched: int, rng: np.random.Generator) -> StrategySpec:
    """Draw strategies of one archetype, and take the one that did best on the train split."""
    archetype = ARCHETYPES[int(rng.integers(len(ARCHETYPES)))]
    drawn = [draw(archetype, rng, universe.symbols) for _ in range(searched)]
    if searched == 1:
        return drawn[0]
    train = splits(universe).train
    return max(drawn, key=lambda spec: backtest(spec, universe, train).metrics["sharpe"])


def _part(spec: StrategySpec) -> dict[str, Json]:
    return {"archetype": spec.archetype, "params": dict(spec.params), "symbols": spec.symbols}


def _columns(universe: Universe) -> dict[str, Json]:
    return {
        symbol: {
            "dates": tuple(str(day) for day in bars.dates),
            **{
                name: tuple(getattr(bars, name).tolist())
                for name in ("open", "high", "low", "close", "volume")
            },
        }
        for symbol, bars in universe.bars.items()
    }
