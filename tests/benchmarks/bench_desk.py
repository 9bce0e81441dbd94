"""What a simulated day at the desk costs: prices, signals of ten strategies, risk, and the broker."""

import statistics
import time
from datetime import UTC, datetime, timedelta

import numpy as np

from moot.bots.desk.broker import Ticket, answer
from moot.bots.desk.market import Market
from moot.bots.desk.risk import mean_correlation, var95
from moot.bots.desk.signals import Fault, target
from moot.bots.tools.prices import load_universe
from moot.bots.tools.strategies import ARCHETYPES, draw
from moot.protocols.trading.hours import session_on

SEED = 7
DAYS = 5
TICK, ROUND = timedelta(minutes=5), timedelta(minutes=15)


def trading_day_s() -> float:
    """Measure 78 checks and 26 rounds of ten strategies in ten symbols; the median of five days."""
    universe = load_universe("sample", start=datetime(2026, 2, 23, tzinfo=UTC), seed=SEED)
    rng = np.random.default_rng(1)
    strategies = [draw(ARCHETYPES[n % len(ARCHETYPES)], rng, universe.symbols) for n in range(10)]
    market = Market(universe, SEED)
    market.price("SP500", datetime(2026, 3, 1, tzinfo=UTC))
    times = []
    for n in range(2, 2 + DAYS):
        began = time.perf_counter()
        _day(market, strategies, datetime(2026, 3, n, tzinfo=UTC))
        times.append(time.perf_counter() - began)
    return statistics.median(times)


def _day(market, strategies, midnight):
    session = session_on(midnight.date())
    known = market.universe.until(session.opens_at)
    weights = dict.fromkeys(market.symbols, 0.05)
    now, checks, rounds = session.opens_at, 0, 0
    while now < session.closes_at:
        if (now - session.opens_at) % ROUND == timedelta(0):
            _round(market, strategies, now)
            rounds += 1
        market.marks(market.symbols, now)
        var95(weights, known)
        mean_correlation(weights, known)
        now, checks = now + TICK, checks + 1
    assert (checks, rounds) == (78, 26)


def _round(market, strategies, now):
    for n, spec in enumerate(strategies):
        wishes = [target(spec, market, symbol, now) for symbol in spec.symbols]
        assert not any(isinstance(wish, Fault) for wish in wishes)
        if n == 0:
            order = Ticket(f"sig-{now:%H%M}", spec.symbols[0], "BUY", 100, now)
            assert answer(order, market, now + ROUND, SEED) is not None


if __name__ == "__main__":
    print(f"{trading_day_s():.3f} s a trading day")
