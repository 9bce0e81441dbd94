from datetime import UTC, datetime

import empyrical
import numpy as np
import pytest

from moot.bots.desk.risk import concentration, daily_moves, mean_correlation, profile, var95
from moot.bots.tools.bars import Bars
from moot.bots.tools.prices import load_universe
from moot.bots.tools.splits import splits
from moot.bots.tools.strategies import StrategySpec
from moot.bots.tools.universe import Universe

NOW = datetime(2026, 3, 4, 16, tzinfo=UTC)
MOMENTUM = StrategySpec(
    "momentum", {"fast": 10, "slow": 60, "allow_short": 0, "target_vol": 0.2}, ("SP500", "NASDAQ")
)


@pytest.fixture(scope="module")
def universe():
    return load_universe("sample", start=datetime(2026, 2, 23, tzinfo=UTC), seed=7).until(NOW)


def returns(universe, symbol, days):
    close = universe.bars[symbol].close[-days - 1 :]
    return close[1:] / close[:-1] - 1


def test_var95_is_the_historical_simulation_of_what_is_held_over_250_days(universe):
    weights = {"SP500": 0.4, "SIM-ALFA": -0.2}
    portfolio = sum(w * returns(universe, s, 250) for s, w in weights.items())
    expected = -empyrical.value_at_risk(portfolio, cutoff=0.05)
    assert var95(weights, universe) == round(expected, 6)
    assert 0 < var95(weights, universe) < 0.02
    doubled = {symbol: 2 * weight for symbol, weight in weights.items()}
    assert var95(doubled, universe) == pytest.approx(2 * var95(weights, universe), abs=2e-6)


def test_a_hedge_lowers_var95_and_nothing_held_risks_nothing(universe):
    assert var95({"SP500": 0.4, "NASDAQ": -0.3}, universe) < var95({"SP500": 0.4}, universe)
    assert var95({}, universe) == 0.0
    assert var95({"SP500": 0.0, "UNKNOWN": 0.5}, universe) == 0.0


def test_the_mean_correlation_is_that_of_the_pairs_over_30_days(universe):
    names = ("NASDAQ", "SIM-ALFA", "SP500")
    table = np.corrcoef([returns(universe, name, 30) for name in names])
    expected = (table[0, 1] + table[0, 2] + table[1, 2]) / 3
    assert mean_correlation(names, universe) == round(expected, 6)
    assert mean_correlation(["SP500", "SP500"], universe) == 0.0
    assert mean_correlation([], universe) == 0.0


def test_a_day_without_a_bar_is_a_day_without_a_move():
    dates = np.array(["2026-03-02", "2026-03-03", "2026-03-04"], "datetime64[D]")
    one = np.array([10.0, 11.0, 12.1])
    gap = np.array([5.0, 6.0])
    bars = [Bars("A", dates, *[one] * 5, "file"), Bars("B", dates[[0, 2]], *[gap] * 5, "file")]
    moves = daily_moves(Universe.of(bars, ""), ("A", "B"), 2)
    assert np.allclose(moves, [[0.1, 0.0], [0.1, 0.2]])


def test_concentration_is_the_largest_share():
    assert concentration({"A": 0.3, "B": -0.1}) == 0.75
    assert concentration({}) == 0.0


def test_a_profile_names_the_closest_strategy_and_reads_no_test_split(universe):
    twin = StrategySpec("momentum", {**MOMENTUM.params, "fast": 11}, MOMENTUM.symbols)
    other = StrategySpec(
        "mean_reversion",
        {"window": 20, "entry": 1.5, "exit": 0.2, "allow_short": 0, "target_vol": 0.2},
        ("SIM-GOLF",),
    )
    found = profile(MOMENTUM, universe, {"other": other, "twin": twin})
    assert found.with_strategy == "twin"
    assert found.correlation > 0.9
    assert found.concentration == 0.5
    assert 0 < found.tail_loss < found.max_drawdown < 1
    alone = profile(MOMENTUM, universe, {})
    assert (alone.correlation, alone.with_strategy) == (0.0, "")
    last = splits(universe).validation.last
    cut = {
        symbol: int(np.searchsorted(bars.dates, np.datetime64(last), "right"))
        for symbol, bars in universe.bars.items()
    }
    assert min(len(universe.bars[symbol]) - cut[symbol] for symbol in cut) > 400
    changed = []
    for symbol, bars in universe.bars.items():
        columns = [np.concatenate((c[: cut[symbol]], c[cut[symbol] :] * 3)) for c in bars.columns()]
        changed.append(Bars(symbol, bars.dates, *columns, bars.label))
    assert profile(MOMENTUM, Universe.of(changed, ""), {}) == alone
