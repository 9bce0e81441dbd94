"""How fast strategies are tested: two symbols over ten years of daily bars, warm-up included."""

import statistics
import time
from datetime import UTC, datetime

import numpy as np

from moot.bots.tools.backtest import backtest
from moot.bots.tools.prices import load_universe
from moot.bots.tools.splits import Span, splits
from moot.bots.tools.strategies import ARCHETYPES, draw

STRATEGIES = 200
ROUNDS = 5


def backtests_per_s() -> float:
    """Measure 200 backtests that no cache knows, 50 of each archetype; the median of five runs."""
    universe = load_universe("sample", start=datetime(2026, 2, 23, tzinfo=UTC), seed=7)
    parts = splits(universe)
    span = Span(parts.train.first, parts.test.last)
    rates = []
    for turn in range(ROUNDS):
        rng = np.random.default_rng(turn)
        names = [universe.symbols[i : i + 2] for i in range(0, 10, 2)]
        specs = [
            type(drawn)(drawn.archetype, drawn.params, names[number % 5])
            for number in range(STRATEGIES)
            for drawn in [draw(ARCHETYPES[number % len(ARCHETYPES)], rng, universe.symbols)]
        ]
        began = time.perf_counter()
        for spec in specs:
            backtest(spec, universe, span)
        rates.append(STRATEGIES / (time.perf_counter() - began))
    return statistics.median(rates)


if __name__ == "__main__":
    print(f"{backtests_per_s():,.0f} backtests per second")
