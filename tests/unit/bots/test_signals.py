import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moot.bots.tools.bars import Bars
from moot.bots.tools.signals import WARM_UP_BARS, _exposure, _series, _trend, _volatility, positions
from moot.bots.tools.strategies import ARCHETYPES, PARAM_SPACE, StrategySpec, draw

DAYS = 700


def bars_of(close, high=None, low=None, open_=None):
    close = np.asarray(close, dtype=float)
    dates = np.datetime64("2010-01-01", "D") + np.arange(len(close))
    high = close * 1.001 if high is None else high
    low = close * 0.999 if low is None else low
    return Bars("A", dates, close if open_ is None else open_, high, low, close, close, "file")


def walk(seed, days=DAYS, sigma=0.012):
    rng = np.random.default_rng(seed)
    close = 100.0 * np.cumprod(1.0 + sigma * rng.standard_normal(days))
    reach = 1.0 + 0.01 * rng.random((2, days))
    return bars_of(close, close * reach[0], close / reach[1])


def spec(archetype, **params):
    return StrategySpec(archetype, {"allow_short": 0, "target_vol": 0.4} | params, ("A",))


@st.composite
def specs(draw_from):
    archetype = draw_from(st.sampled_from(ARCHETYPES))
    return draw(archetype, np.random.default_rng(draw_from(st.integers(0, 2**32))), ("A",))


def altered(bars, after, how, seed):
    """Change every bar after an index: shuffled, replaced by other prices, or cut off."""
    rng = np.random.default_rng(seed)
    count = len(bars) - after - 1
    if how == "cut":
        return bars.between(0, after + 1)
    if how == "shuffled":
        order = np.concatenate((np.arange(after + 1), after + 1 + rng.permutation(count)))
        return Bars("A", bars.dates, *(column[order] for column in bars.columns()), "file")
    factor = np.concatenate((np.ones(after + 1), np.exp(rng.standard_normal(count))))
    return Bars("A", bars.dates, *(column * factor for column in bars.columns()), "file")


@pytest.mark.parametrize("how", ["shuffled", "replaced", "cut"])
@pytest.mark.parametrize("archetype", ARCHETYPES)
@settings(max_examples=40)
@given(st.integers(0, 2**32), st.integers(0, DAYS - 2))
def test_no_change_of_the_future_changes_a_past_decision(archetype, how, seed, after):
    chosen = draw(archetype, np.random.default_rng(seed), ("A",))
    bars = walk(seed % 11)
    before = positions(chosen, bars)[: after + 1]
    again = positions(chosen, altered(bars, after, how, seed))[: after + 1]
    assert before.tobytes() == again.tobytes()


@pytest.mark.parametrize("archetype", ARCHETYPES)
def test_a_change_of_the_past_does_change_decisions(archetype):
    # Without this the test above could pass because nothing ever depends on anything.
    for seed in range(5):
        chosen = draw(archetype, np.random.default_rng(seed), ("A",))
        bars = walk(seed)
        if not np.array_equal(positions(chosen, bars), positions(chosen, altered(bars, 100, "replaced", 1))):
            return
    pytest.fail("no decision depends on prices")


@settings(max_examples=60)
@given(specs(), st.integers(0, 100), st.integers(0, DAYS))
def test_positions_are_tenths_within_minus_one_and_one(chosen, seed, days):
    found = positions(chosen, walk(seed, days))
    assert found.shape == (days,)
    assert np.abs(found).max(initial=0.0) <= 1.0
    assert np.allclose(found * 10, np.round(found * 10))
    if not chosen.params["allow_short"]:
        assert found.min(initial=0.0) >= 0.0


@settings(max_examples=40)
@given(specs(), st.sampled_from([1, 2, 5, 400]), st.sampled_from([1e-9, 1.0, 1e12]))
def test_a_flat_series_of_any_length_is_never_traded(chosen, days, price):
    flat = np.full(days, price)
    assert not positions(chosen, bars_of(flat, flat, flat)).any()


def test_means_that_differ_by_rounding_alone_are_equal():
    flat = np.full(400, 1e-9)
    assert not positions(spec("momentum", fast=26, slow=250, allow_short=1), bars_of(flat, flat, flat)).any()


def test_momentum_follows_the_averages():
    rise_and_fall = np.concatenate((100 * 1.01 ** np.arange(200), 100 * 1.01**200 * 0.99 ** np.arange(200)))
    found = positions(spec("momentum", fast=5, slow=20, allow_short=1), bars_of(rise_and_fall))
    assert not found[:20].any()
    assert (found[30:200] > 0).all()
    assert (found[230:] < 0).all()


def test_mean_reversion_buys_the_fall_and_sells_at_the_mean():
    close = 100.0 + np.tile([0.0, 1.0], 100)
    close[150] = 80.0
    found = positions(spec("mean_reversion", window=20, entry=2.0, exit=0.5), bars_of(close))
    assert found[150] > 0
    assert not found[151:].any()
    assert not found[:150].any()


def test_breakout_enters_above_the_channel_and_leaves_below_the_shorter_one():
    close = np.concatenate((np.tile([100.0, 101.0], 50), [110.0] * 10, [104.0], [103.0] * 10))
    found = positions(spec("breakout", channel=20, exit_channel=5), bars_of(close))
    assert not found[:100].any()
    assert (found[100:110] > 0).all()
    assert not found[110:].any()


def test_multi_factor_weighs_momentum_against_reversal():
    rise = bars_of(100 * np.cumprod(1.002 + 0.002 * np.random.default_rng(1).standard_normal(400)))
    days = {
        "momentum_days": 100,
        "reversal_days": 10,
        "volatility_days": 20,
        "threshold": 0.2,
        "allow_short": 1,
    }
    weights = {"momentum_weight": 1.0, "reversal_weight": 0.0, "volatility_weight": 0.0}
    follows = positions(spec("multi_factor", **days, **weights), rise)
    weights = {"momentum_weight": 0.1, "reversal_weight": 1.0, "volatility_weight": 0.0}
    opposes = positions(spec("multi_factor", **days, **weights), rise)
    assert follows[150:].mean() > 0.5
    assert opposes[150:].mean() < -0.1


def test_exposure_shrinks_as_volatility_grows():
    calm, wild = (
        positions(spec("momentum", fast=2, slow=60, target_vol=0.1), walk(1, sigma=s)) for s in (0.003, 0.03)
    )
    assert calm[calm > 0].min() == 1.0
    assert 0.1 <= wild[wild > 0].mean() <= 0.3


def test_the_warm_up_is_longer_than_every_lookback():
    longest = max(
        legal.high
        for space in PARAM_SPACE.values()
        for name, legal in space.items()
        if legal.is_whole and name != "allow_short"
    )
    assert longest + 20 < WARM_UP_BARS


@given(specs(), st.integers(0, 3), st.integers(0, 3))
@settings(max_examples=60)
def test_what_is_computed_once_is_what_is_computed_anew(one, seed, start):
    bars = walk(seed).between(start, DAYS)
    first = positions(one, bars)
    assert np.array_equal(positions(one, bars), first)
    _series.cache_clear()
    assert np.array_equal(positions(one, walk(seed).between(start, DAYS)), first)


def test_series_that_strategies_share_cannot_be_changed():
    bars = walk(1)
    for make, how in ((_exposure, 0.2), (_volatility, 20), (_trend, 30)):
        series = _series(bars, make, how)
        assert _series(bars, make, how) is series
        with pytest.raises(ValueError, match="read-only"):
            series[0] = 0.0
