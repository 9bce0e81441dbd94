from datetime import UTC, date, datetime, timedelta

import numpy as np
import pytest

from moot.bots.desk.market import Market
from moot.bots.desk.signals import Fault, target
from moot.bots.tools.prices import load_universe
from moot.bots.tools.signals import WARM_UP_BARS, positions
from moot.bots.tools.strategies import ARCHETYPES, StrategySpec, draw
from moot.protocols.trading.hours import session_on

DAY = date(2026, 3, 4)


@pytest.fixture(scope="module")
def universe():
    return load_universe("sample", start=datetime(2026, 2, 23, tzinfo=UTC), seed=7)


@pytest.mark.parametrize("archetype", ARCHETYPES)
def test_at_the_close_the_desk_wants_what_the_backtest_would_hold(universe, archetype):
    market, closes = Market(universe, 7), session_on(DAY).closes_at
    known = universe.until(datetime(2026, 3, 4, 22, tzinfo=UTC))
    rng = np.random.default_rng(5)
    for _ in range(10):
        spec = draw(archetype, rng, universe.symbols)
        for symbol in spec.symbols:
            bars = known.bars[symbol]
            tail = bars.between(len(bars) - WARM_UP_BARS, len(bars))
            assert target(spec, market, symbol, closes) == positions(spec, tail)[-1]


def test_within_the_day_the_last_price_counts_and_nothing_after_it(universe):
    spec = StrategySpec(
        "momentum", {"fast": 2, "slow": 10, "allow_short": 1, "target_vol": 0.4}, universe.symbols
    )
    blind = Market(universe.until(datetime(2026, 3, 4, 22, tzinfo=UTC)), 7)
    seeing = Market(universe, 7)
    opens, answers = session_on(DAY).opens_at, set()
    for n in range(26):
        at = opens + n * timedelta(minutes=15)
        wishes = tuple(target(spec, seeing, symbol, at) for symbol in spec.symbols)
        assert wishes == tuple(target(spec, blind, symbol, at) for symbol in spec.symbols)
        assert all(-1.0 <= wish <= 1.0 for wish in wishes)
        answers.add(wishes)
    assert len(answers) > 1


@pytest.mark.parametrize(
    ("spec", "error"),
    [
        (StrategySpec("astrology", {}, ("SP500",)), "StrategyError: archetype: 'astrology' is none of"),
        (StrategySpec("momentum", {"fast": 5}, ("SP500",)), "StrategyError: slow: is missing"),
        (
            StrategySpec("momentum", {"fast": 5, "slow": 20, "allow_short": 0, "target_vol": 0.2}, ("GONE",)),
            "StrategyError: symbols: 'GONE' is not in this universe",
        ),
    ],
)
def test_a_strategy_that_raises_is_a_fault_and_no_crash(universe, spec, error):
    found = target(spec, Market(universe, 7), spec.symbols[0], datetime(2026, 3, 4, 16, tzinfo=UTC))
    assert isinstance(found, Fault)
    assert found.error.startswith(error)
    assert "\n" not in found.error


def test_a_symbol_without_any_bar_yet_is_a_fault(universe):
    spec = StrategySpec("momentum", {"fast": 5, "slow": 20, "allow_short": 0, "target_vol": 0.2}, ("SP500",))
    early = target(spec, Market(universe, 7), "SP500", datetime(2000, 1, 3, 16, tzinfo=UTC))
    assert early == Fault("no price of SP500 is known")
