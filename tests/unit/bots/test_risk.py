from datetime import UTC, datetime

import numpy as np
import pytest

from moot.bots.tools import risk
from moot.bots.tools.backtest import backtest
from moot.bots.tools.bars import Bars
from moot.bots.tools.errors import StrategyError, TooFewBarsError
from moot.bots.tools.prices import load_universe
from moot.bots.tools.risk import assess, regime
from moot.bots.tools.splits import splits
from moot.bots.tools.strategies import ARCHETYPES, StrategySpec, draw, mutate
from moot.bots.tools.universe import Universe

START = datetime(2026, 2, 23, tzinfo=UTC)
SAMPLE = load_universe("sample", start=START, seed=7)
NAMES = {
    "tail_risk",
    "overfitting",
    "execution_risk",
    "correlation_risk",
    "signal_decay",
    "crowding_risk",
    "event_window_risk",
}


def some_specs(count, universe=SAMPLE):
    return [draw(ARCHETYPES[n % 4], np.random.default_rng(n), universe.symbols) for n in range(count)]


def changed(universe, change, label="file"):
    """Make the universe anew with every symbol's bars put through a function of (dates, columns)."""
    made = []
    for bars in universe.bars.values():
        dates, columns = change(bars.dates, bars.columns())
        made.append(Bars(bars.symbol, dates, *columns, label))
    return Universe.of(made, "")


def steady(daily, days=400):
    close = 100 * np.cumprod(1 + np.asarray(daily, dtype=float) * np.ones(days))
    dates = np.datetime64("2010-01-01", "D") + np.arange(days)
    return Universe.of([Bars("A", dates, close, close, close, close, close, "file")], "")


def test_a_report_has_the_seven_scores_of_the_message_each_between_zero_and_one():
    for spec in some_specs(12):
        report = assess(spec, SAMPLE, some_specs(3))
        assert set(report.scores) == NAMES
        assert all(0.0 <= score <= 1.0 and score == round(score, 6) for score in report.scores.values())
        assert 0.0 <= report.alpha_strength <= 1.0


def test_figures_are_those_of_the_first_two_splits():
    spec = some_specs(1)[0]
    parts, report = splits(SAMPLE), assess(spec, SAMPLE)
    assert report.train_metrics == backtest(spec, SAMPLE, parts.train).metrics
    assert report.validation_metrics == backtest(spec, SAMPLE, parts.validation).metrics


def test_no_price_of_the_test_split_changes_an_assessment():
    edge = np.datetime64(splits(SAMPLE).test.first, "D")
    rng = np.random.default_rng(1)

    def other_test(dates, columns):
        factor = np.where(dates >= edge, np.exp(0.3 * rng.standard_normal(len(dates))), 1.0)
        return dates, [column * factor for column in columns]

    one = changed(SAMPLE, lambda dates, columns: (dates, columns))
    other = changed(SAMPLE, other_test)
    assert one.sha256 != other.sha256
    approved = some_specs(3)
    for spec in some_specs(8):
        assert assess(spec, one, approved) == assess(spec, other, approved)
        assert (
            backtest(spec, one, splits(one).test).metrics != backtest(spec, other, splits(one).test).metrics
        )


def test_permuted_prices_change_the_results():
    def permuted(dates, columns):
        order = np.random.default_rng(1).permutation(len(dates))
        return dates, [column[order] for column in columns]

    other = changed(SAMPLE, permuted)
    for spec in some_specs(8):
        one, two = assess(spec, SAMPLE), assess(spec, other)
        assert one.scores != two.scores
        assert one.alpha_strength != two.alpha_strength
        assert one.train_metrics != two.train_metrics


def test_a_child_of_an_approved_strategy_is_closer_to_it_than_a_stranger():
    parent = StrategySpec(
        "momentum", {"fast": 10, "slow": 80, "allow_short": 1, "target_vol": 0.2}, ("SIM-ALFA",)
    )
    child = mutate(parent, np.random.default_rng(1))
    params = {"window": 10, "entry": 1.0, "exit": 0.0, "allow_short": 1, "target_vol": 0.2}
    stranger = StrategySpec("mean_reversion", params, ("SIM-GOLF",))

    def shared(spec):
        return assess(spec, SAMPLE, [parent]).scores["correlation_risk"]

    assert shared(parent) == 1.0
    assert shared(child) > 0.7 > 0.4 > shared(stranger)
    assert assess(child, SAMPLE).scores["correlation_risk"] == 0.0


def test_what_is_approved_changes_nothing_but_correlation():
    spec, *approved = some_specs(4)
    alone, together = assess(spec, SAMPLE), assess(spec, SAMPLE, approved)
    assert {**together.scores, "correlation_risk": 0.0} == alone.scores
    assert together.alpha_strength == alone.alpha_strength


def test_an_answer_from_the_cache_equals_a_fresh_one():
    spec, *approved = some_specs(4)
    first = assess(spec, SAMPLE, approved)
    cached = assess(spec, SAMPLE, approved)
    for cache in (risk._alone, risk.evidence_returns, risk._market_returns):
        cache.cache_clear()
    assert first == cached == assess(spec, SAMPLE, approved)


def test_later_bars_give_a_new_assessment():
    spec = some_specs(1)[0]
    year_ago = SAMPLE.until(datetime(2025, 2, 3, tzinfo=UTC))
    assert assess(spec, year_ago) != assess(spec, SAMPLE)


def test_scores_of_drawn_strategies_spread_over_the_scale():
    reports = [assess(spec, SAMPLE) for spec in some_specs(80)]
    for name in NAMES - {"correlation_risk"}:
        low, high = np.quantile([report.scores[name] for report in reports], [0.1, 0.9])
        assert high - low > 0.3, name
    low, high = np.quantile([report.alpha_strength for report in reports], [0.1, 0.9])
    assert high - low > 0.5


@pytest.mark.parametrize("days", [3, 4, 30])
def test_few_or_flat_bars_can_be_assessed(days):
    flat = steady(0.0, days)
    for spec in some_specs(4, flat):
        report = assess(spec, flat, [spec])
        assert all(0.0 <= score <= 1.0 for score in report.scores.values())
        assert report.train_metrics["total_trades"] == 0


def test_what_cannot_be_assessed_is_refused():
    spec = some_specs(1)[0]
    with pytest.raises(StrategyError):
        assess(spec, SAMPLE, [StrategySpec("momentum", spec.params, ("GOLD",))])
    tiny = steady(0.0, 2)
    with pytest.raises(TooFewBarsError):
        assess(some_specs(1, tiny)[0], tiny)


def calm_then(daily, wiggle):
    moves = np.concatenate((np.tile([0.004, -0.004], 170), np.tile([daily + wiggle, daily - wiggle], 30)))
    return steady(moves)


@pytest.mark.parametrize(
    ("daily", "wiggle", "label"),
    [
        (0.001, 0.001, "calm_up"),
        (-0.001, 0.001, "calm_down"),
        (0.001, 0.02, "volatile_up"),
        (-0.001, 0.02, "volatile_down"),
    ],
)
def test_the_regime_is_that_of_the_last_sixty_sessions(daily, wiggle, label):
    assert regime(calm_then(daily, wiggle)) == label


@pytest.mark.parametrize("days", [1, 2, 3, 100])
def test_a_flat_or_short_market_is_calm(days):
    assert regime(steady(0.0, days)) == "calm_up"


def test_a_market_without_bars_is_calm():
    assert regime(steady(0.0).until(datetime(2000, 1, 1, tzinfo=UTC))) == "calm_up"


def test_the_regime_changes_over_the_years():
    labels = {
        regime(SAMPLE.until(datetime(year, month, 1, tzinfo=UTC)))
        for year in range(2012, 2026)
        for month in (1, 7)
    }
    assert labels == {"calm_up", "calm_down", "volatile_up", "volatile_down"}
