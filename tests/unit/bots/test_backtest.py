import json
import math
from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moot.bots.tools.backtest import PASS_RULE, backtest, judge, measure
from moot.bots.tools.bars import Bars
from moot.bots.tools.errors import StrategyError
from moot.bots.tools.prices import load_universe
from moot.bots.tools.returns import Costs, Run
from moot.bots.tools.splits import Span, splits
from moot.bots.tools.strategies import ARCHETYPES, StrategySpec, draw
from moot.bots.tools.universe import Universe

START = datetime(2026, 2, 23, tzinfo=UTC)
SAMPLE = load_universe("sample", start=START, seed=7)
PARTS = splits(SAMPLE)


def some_spec(archetype="momentum", seed=1, universe=SAMPLE):
    return draw(archetype, np.random.default_rng(seed), universe.symbols)


def universe_of(*closes):
    made = []
    for number, prices in enumerate(closes):
        close = np.asarray(prices, dtype=float)
        dates = np.datetime64("2010-01-01", "D") + np.arange(len(close))
        made.append(Bars("ABCDEF"[number], dates, close, close, close, close, close, "file"))
    return Universe.of(made, "")


def run_with(trades, returns=(0.01, -0.01)):
    days = np.array(returns, dtype=float)
    dates = np.datetime64("2010-01-01", "D") + np.arange(len(days))
    return Run(dates, days, days, np.array(trades, dtype=float), 1.0, 0.0, 0.5, 1, len(trades))


def test_a_win_is_a_closed_trade_with_a_net_gain():
    found = measure(run_with([0.03, -0.01, 0.0, 0.01]))
    assert (found["win_rate"], found["total_trades"], found["profit_factor"]) == (0.5, 4, 4.0)


def test_gains_without_losses_have_the_largest_profit_factor_and_no_trades_none():
    assert measure(run_with([0.03]))["profit_factor"] == 100.0
    assert measure(run_with([-0.03]))["profit_factor"] == 0.0
    assert measure(run_with([]))["profit_factor"] == 0.0


@pytest.mark.parametrize("archetype", ARCHETYPES)
def test_a_report_holds_together(archetype):
    report = backtest(some_spec(archetype), SAMPLE, PARTS.test)
    assert report.dates[0].item() == PARTS.test.first
    assert report.dates[-1].item() == PARTS.test.last
    assert report.equity.tolist() == pytest.approx(np.cumprod(1.0 + report.returns).tolist())
    years = len(report.returns) / 252
    assert report.metrics["annual_return"] == pytest.approx(report.equity[-1] ** (1 / years) - 1, abs=1e-6)
    peak = np.maximum.accumulate(np.maximum(report.equity, 1.0))
    assert report.metrics["max_drawdown"] == pytest.approx(1 - (report.equity / peak).min(), abs=1e-6)
    spread = report.returns.std(ddof=1)
    assert report.metrics["sharpe"] == pytest.approx(
        report.returns.mean() / spread * math.sqrt(252), abs=1e-6
    )


def test_published_figures_have_at_most_six_digits():
    for archetype in ARCHETYPES:
        for value in backtest(some_spec(archetype), SAMPLE, PARTS.train).metrics.values():
            assert value == round(value, 6)


def test_curves_are_read_only():
    report = backtest(some_spec(), SAMPLE, PARTS.test)
    with pytest.raises(ValueError, match="read-only"):
        report.equity[0] = 2.0
    with pytest.raises(ValueError, match="read-only"):
        report.returns[0] = 2.0


def test_costs_take_from_the_result():
    spec = some_spec("mean_reversion")
    free, usual, dear = (
        backtest(spec, SAMPLE, PARTS.train, costs=Costs(bps, 0.0)).metrics["annual_return"]
        for bps in (0, 5, 50)
    )
    assert free > usual > dear


def test_the_first_bar_of_a_span_trades_on_a_warmed_up_signal():
    rise = universe_of(100 * np.cumprod(1.001 + 0.001 * np.random.default_rng(1).standard_normal(600)))
    spec = StrategySpec("momentum", {"fast": 20, "slow": 200, "allow_short": 0, "target_vol": 0.4}, ("A",))
    report = backtest(spec, rise, Span(rise.calendar[300].item(), rise.calendar[-1].item()))
    assert report.exposure == 1.0


@settings(max_examples=30)
@given(st.sampled_from(ARCHETYPES), st.integers(0, 2**32), st.integers(50, 598))
def test_no_change_of_the_future_changes_equity_before_it(archetype, seed, day):
    rng = np.random.default_rng(seed)
    closes = 100 * np.cumprod(1 + 0.012 * rng.standard_normal((2, 600)), axis=1)
    other = closes.copy()
    other[:, day + 1 :] *= np.exp(rng.standard_normal((2, 599 - day)))
    one, two = universe_of(*closes), universe_of(*other)
    spec = draw(archetype, rng, one.symbols)
    span = Span(one.calendar[20].item(), one.calendar[-1].item())
    before = slice(0, day + 1 - 20)
    assert (
        backtest(spec, one, span).equity[before].tobytes()
        == backtest(spec, two, span).equity[before].tobytes()
    )


@settings(max_examples=30)
@given(st.sampled_from(ARCHETYPES), st.integers(0, 2**32))
def test_what_is_not_known_yet_changes_no_report(archetype, seed):
    known = SAMPLE.until(datetime(2020, 5, 4, tzinfo=UTC))
    spec = draw(archetype, np.random.default_rng(seed), SAMPLE.symbols)
    span = splits(known).test
    assert backtest(spec, known, span).metrics == backtest(spec, SAMPLE, span).metrics


@pytest.mark.parametrize("archetype", ARCHETYPES)
@pytest.mark.parametrize("days", [1, 2, 3, 30])
def test_short_or_flat_prices_give_zeros(archetype, days):
    flat = universe_of(np.full(days, 5.0), np.full(days, 7.0))
    report = backtest(
        some_spec(archetype, universe=flat), flat, Span(flat.calendar[0].item(), flat.last_date)
    )
    assert set(report.metrics.values()) == {0}
    assert report.equity.tolist() == [1.0] * days
    assert (report.turnover_a_year, report.holding_days) == (0.0, 0.0)


@settings(max_examples=60)
@given(
    st.lists(st.floats(1e-9, 1e12), min_size=3, max_size=60),
    st.sampled_from(ARCHETYPES),
    st.integers(0, 2**32),
)
def test_absurd_prices_give_finite_figures(close, archetype, seed):
    universe = universe_of(np.repeat(close, 8))
    report = backtest(some_spec(archetype, seed, universe), universe, splits(universe).evidence)
    json.dumps(report.metrics, allow_nan=False)
    assert np.isfinite(report.equity).all()
    assert 0.0 <= report.metrics["max_drawdown"] <= 1.0


def test_an_illegal_strategy_or_unknown_symbol_is_refused():
    with pytest.raises(StrategyError, match="symbols: 'GOLD' is not in this universe"):
        backtest(StrategySpec("momentum", some_spec().params, ("GOLD",)), SAMPLE, PARTS.test)
    with pytest.raises(StrategyError, match="archetype"):
        backtest(StrategySpec("magic", {}, ("SP500",)), SAMPLE, PARTS.test)


@pytest.mark.parametrize(
    ("metrics", "verdict"),
    [
        ({"sharpe": 0.3, "max_drawdown": 0.2, "total_trades": 20}, (True, "passed")),
        ({"sharpe": 0.299999, "max_drawdown": 0.2, "total_trades": 20}, (False, "low_sharpe")),
        ({"sharpe": 0.3, "max_drawdown": 0.200001, "total_trades": 20}, (False, "deep_drawdown")),
        ({"sharpe": 0.3, "max_drawdown": 0.2, "total_trades": 19}, (False, "few_trades")),
        ({"sharpe": -1.0, "max_drawdown": 0.9, "total_trades": 0}, (False, "few_trades")),
    ],
)
def test_the_pass_rule_is_that_of_the_ruling(metrics, verdict):
    report = backtest(some_spec(), SAMPLE, PARTS.test)
    altered = type(report)(
        **{name: getattr(report, name) for name in report.__slots__ if name != "metrics"},
        metrics=report.metrics | metrics,
    )
    assert judge(altered) == verdict


def test_the_pass_rule_is_data_for_readers():
    bounds = {rule.metric: (rule.relation, rule.bound) for rule in PASS_RULE}
    assert bounds == {
        "sharpe": ("at_least", 0.3),
        "max_drawdown": ("at_most", 0.2),
        "total_trades": ("at_least", 20),
    }


def test_equal_arguments_share_one_report_and_other_prices_have_their_own():
    spec, again = some_spec(), some_spec()
    assert backtest(spec, SAMPLE, PARTS.test) is backtest(again, SAMPLE, PARTS.test)
    other = load_universe("sample", start=START, seed=8)
    spec = StrategySpec("momentum", spec.params, ("SIM-ALFA",))
    assert backtest(spec, SAMPLE, PARTS.test).metrics != backtest(spec, other, PARTS.test).metrics
