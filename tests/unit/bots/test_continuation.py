from datetime import UTC, date, datetime, timedelta

import numpy as np
import pytest

from moot.bots.tools.bars import Bars
from moot.bots.tools.continuation import MEAN_BLOCK, sessions_after
from moot.bots.tools.prices import load_universe
from moot.bots.tools.universe import Universe

START = datetime(2026, 2, 23, 10, tzinfo=UTC)
LATER = START + timedelta(days=400)


@pytest.fixture(scope="module")
def sample():
    return load_universe("sample", start=START, seed=7)


def made(seed=1, symbols=2, days=500, first="2020-01-01"):
    rng = np.random.default_rng(seed)
    dates = np.datetime64(first, "D") + np.arange(days)
    found = []
    for n in range(symbols):
        close = np.round(100 * np.cumprod(1 + 0.01 * rng.standard_normal(days)), 4)
        open_ = np.round(close * (1 + 0.004 * rng.standard_normal(days)), 4)
        high = np.maximum(open_, close) * 1.003
        low = np.minimum(open_, close) * 0.997
        volume = np.arange(days) + 1000.0 * (n + 1)
        found.append(Bars(f"S{n}", dates, open_, high, low, close, volume, "file"))
    return Universe.of(found, "made")


def columns(universe, symbol, since):
    bars = universe.bars[symbol]
    return np.stack(bars.columns())[:, since:]


@pytest.mark.rule("R-M4")
def test_r_m4_bars_appear_on_every_session_of_the_exchange_and_on_no_other_day(sample):
    view = sample.until(datetime(2026, 7, 10, 22, tzinfo=UTC))
    days = [str(day) for day in view.calendar[view.sourced :]]
    assert days[:2] == ["2026-02-17", "2026-02-18"]
    assert days[-1] == "2026-07-10"
    # Good Friday, Memorial Day, Juneteenth, Independence Day observed.
    assert not {"2026-04-03", "2026-05-25", "2026-06-19", "2026-07-03"} & set(days)
    assert len(days) == 100


@pytest.mark.rule("R-M4")
def test_r_m4_extending_further_never_changes_earlier_bars():
    source, since = made(), 500
    far = source.continued(3).until(LATER)
    stepwise = source.continued(3)
    for days in range(0, 400, 7):
        view = stepwise.until(START + timedelta(days=days))
        count = len(view.calendar) - since
        assert np.array_equal(columns(view, "S1", since), columns(far, "S1", since)[:, :count])
    assert np.array_equal(view.calendar, far.calendar[: len(view.calendar)])


@pytest.mark.rule("R-M4")
def test_r_m4_the_same_source_and_seed_go_on_alike_and_another_seed_does_not():
    one, same, other = (made().continued(seed).until(LATER) for seed in (3, 3, 4))
    assert np.array_equal(columns(one, "S0", 500), columns(same, "S0", 500))
    assert not np.array_equal(columns(one, "S0", 500), columns(other, "S0", 500))
    assert one == same != other
    assert made(seed=2).continued(3).until(LATER) != one


@pytest.mark.rule("R-M4")
def test_r_m4_every_new_day_has_the_relations_of_one_day_of_the_source_for_all_symbols():
    source = made()
    view = source.continued(5).until(datetime(2021, 12, 1, tzinfo=UTC))
    volume = view.bars["S0"].volume[500:]
    days = (volume - 1000).astype(int)
    assert np.array_equal(view.bars["S1"].volume[500:] - 2000, days)
    for symbol in source.symbols:
        old, new = source.bars[symbol], view.bars[symbol]
        before = new.close[499:-1]
        assert np.allclose(new.open[500:] / before, old.open[days] / old.close[days - 1], atol=3e-6)
        for name in ("high", "low", "close"):
            there = getattr(old, name)[days] / old.open[days]
            assert np.allclose(getattr(new, name)[500:] / new.open[500:], there, atol=3e-6)


@pytest.mark.rule("R-M4")
def test_r_m4_days_come_in_blocks_of_ten_sessions_in_the_mean():
    source = made()
    view = source.continued(1).until(datetime(2040, 1, 1, tzinfo=UTC))
    days = (view.bars["S0"].volume[500:] - 1000).astype(int)
    jumps = np.count_nonzero((np.diff(days) != 1) & (np.diff(days) != 1 - 499))
    assert MEAN_BLOCK == 10
    assert len(days) / jumps == pytest.approx(10, rel=0.15)


@pytest.mark.rule("R-M4")
def test_r_m4_what_moves_together_goes_on_moving_together(sample):
    view = sample.until(datetime(2030, 1, 1, tzinfo=UTC))
    moves = [np.diff(np.log(view.bars[s].close[view.sourced :])) for s in ("SP500", "NASDAQ")]
    assert np.corrcoef(moves)[0, 1] > 0.7


@pytest.mark.rule("R-M4")
def test_r_m4_bars_are_legal_rounded_and_positive(sample):
    view = sample.until(datetime(2031, 1, 1, tzinfo=UTC))
    for bars in view.bars.values():
        new = bars.between(view.sourced, len(bars))
        prices = np.stack((new.open, new.high, new.low, new.close))
        assert (prices > 0).all()
        assert np.array_equal(prices, np.round(prices, 4))
        assert (new.high == prices.max(axis=0)).all()
        assert (new.low == prices.min(axis=0)).all()
        assert (new.volume >= 0).all()


@pytest.mark.rule("R-M4")
def test_r_m4_nothing_is_computed_before_it_is_asked_for(sample):
    universe = load_universe("synthetic", start=START, seed=1)
    assert universe.last_date < START.date()
    known = universe.until(START + timedelta(days=7))
    assert known.last_date == date(2026, 2, 27)
    assert len(universe.continuation._dates) <= 64


@pytest.mark.rule("R-M4")
def test_r_m4_with_a_start_inside_the_files_own_later_bars_come_first():
    universe = load_universe("sample", start=datetime(2018, 12, 28, 10, tzinfo=UTC), seed=7)
    assert universe.shift_weeks == 0
    views = [universe.until(datetime(2018, 12, 28, 22, tzinfo=UTC) + timedelta(days=n)) for n in range(9)]
    assert [str(v.last_date) for v in views][3:] == ["2018-12-31"] * 2 + [
        f"2019-01-0{n}" for n in (2, 3, 4, 4)
    ]
    assert [v.is_continued for v in views] == [False] * 5 + [True] * 4
    assert views[3].bars["SP500"].close[-1] == 2506.850098


def test_a_view_has_no_future_of_its_own(sample):
    view = sample.until(START)
    assert view.until(LATER) is view
    assert view.continuation is None


@pytest.mark.rule("R-M4")
def test_r_m4_the_continuation_is_named_in_the_description(sample):
    assert sample.description.endswith("after 2026-02-16 simulated continuation (seed 7)")


def test_a_symbol_that_lacks_the_shared_days_still_goes_on():
    dates = np.datetime64("2020-01-01", "D") + np.arange(10)
    flat = np.ones(10)
    early = Bars("A", dates, flat, flat, flat, flat, flat, "file")
    late = Bars("B", dates + np.timedelta64(20, "D"), flat, flat * 2, flat, flat * 2, flat, "file")
    view = Universe.of([early, late], "").continued(1).until(datetime(2020, 6, 1, tzinfo=UTC))
    assert len(view.bars["A"]) - 10 == len(view.bars["B"]) - 10 == len(view.calendar) - 20 > 50
    a_day = view.bars["B"].volume[10:] == 0
    assert a_day.any()
    assert not a_day.all()


def test_a_source_of_one_day_goes_on_flat():
    one = np.array([5.0])
    bars = Bars("A", np.array(["2020-01-02"], "datetime64[D]"), one, one, one, one, one, "file")
    view = Universe.of([bars], "").continued(1).until(datetime(2020, 2, 1, tzinfo=UTC))
    assert set(view.bars["A"].close) == {5.0}
    assert len(view.calendar) == 21


def test_a_universe_that_goes_on_is_not_shifted(sample):
    with pytest.raises(ValueError, match="shifted before"):
        sample.shifted(1)


def test_sessions_after_a_day_cross_the_year_and_end_with_the_calendar():
    found = sessions_after(np.datetime64("2026-12-23", "D"), 6)
    assert [str(day) for day in found] == [
        "2026-12-24", "2026-12-28", "2026-12-29", "2026-12-30", "2026-12-31", "2027-01-04",
    ]  # fmt: skip
    assert len(sessions_after(np.datetime64("2199-12-30", "D"), 9)) == 1
