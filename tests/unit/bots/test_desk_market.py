from datetime import UTC, date, datetime, timedelta
from itertools import pairwise

import numpy as np
import pytest

from moot.bots.desk.bridge import bridge
from moot.bots.desk.market import TAILS_KEPT, Market
from moot.bots.tools.bars import Bars
from moot.bots.tools.prices import load_universe
from moot.bots.tools.universe import Universe
from moot.protocols.trading.hours import session_on

START = datetime(2026, 2, 23, tzinfo=UTC)
DAY = date(2026, 3, 4)
HALF_DAY = date(2026, 11, 27)
MINUTE = timedelta(minutes=1)


@pytest.fixture(scope="module")
def universe():
    return load_universe("sample", start=START, seed=7)


@pytest.fixture
def market(universe):
    return Market(universe, 7)


def daily(universe, symbol, day):
    bars = universe.until(datetime(day.year, day.month, day.day, 23, tzinfo=UTC)).bars[symbol]
    assert bars.dates[-1].item() == day
    return [round(float(column[-1]), 4) for column in bars.columns()]


def minutes(day):
    hours = session_on(day)
    count = (hours.closes_at - hours.opens_at) // MINUTE
    return [hours.opens_at + n * MINUTE for n in range(count + 1)]


@pytest.mark.rule("R-M3")
@pytest.mark.parametrize("day", [DAY, HALF_DAY])
def test_r_m3_the_bars_of_a_day_preserve_open_high_low_and_close_exactly(market, universe, day):
    for symbol in universe.symbols:
        open_, high, low, close, volume = daily(universe, symbol, day)
        bars = market.bars(symbol, day, minutes(day)[-1])
        assert len(bars) == (26 if day == DAY else 14)
        assert bars[0].open == open_
        assert bars[-1].close == close
        assert max(bar.high for bar in bars) == high
        assert min(bar.low for bar in bars) == low
        assert sum(bar.volume for bar in bars) == pytest.approx(volume)
        assert all(one.close == other.open for one, other in pairwise(bars))
        assert all(
            bar.low <= min(bar.open, bar.close) <= max(bar.open, bar.close) <= bar.high for bar in bars
        )


@pytest.mark.rule("R-M3")
def test_r_m3_prices_at_all_instants_stay_within_the_day_and_its_bars(market, universe):
    _, high, low, close, _ = daily(universe, "SIM-ALFA", DAY)
    bars = market.bars("SIM-ALFA", DAY, minutes(DAY)[-1])
    for n, instant in enumerate(minutes(DAY)):
        price = market.price("SIM-ALFA", instant)
        bar = bars[min(n // 15, 25)]
        assert low <= bar.low <= price <= bar.high <= high
        assert price == round(price, 4)
    assert market.price("SIM-ALFA", minutes(DAY)[-1]) == close
    assert market.price("SIM-ALFA", minutes(DAY)[-1] + timedelta(hours=5)) == close


def test_outside_a_session_the_price_is_the_last_close(market, universe):
    before = daily(universe, "SP500", date(2026, 3, 3))[3]
    friday = daily(universe, "SP500", date(2026, 3, 6))[3]
    assert market.price("SP500", datetime(2026, 3, 4, 14, 29, 59, tzinfo=UTC)) == before
    assert market.price("SP500", datetime(2026, 3, 8, 15, tzinfo=UTC)) == friday
    assert market.price("NOBODY", datetime(2026, 3, 4, 15, tzinfo=UTC)) is None


def test_the_partial_day_is_what_the_prices_so_far_come_to(market):
    seen = []
    for n, instant in enumerate(minutes(DAY)):
        seen.append(market.price("NASDAQ", instant))
        so_far = market.partial_day("NASDAQ", instant)
        assert (so_far.open, so_far.high, so_far.low, so_far.last) == (
            seen[0],
            max(seen),
            min(seen),
            seen[-1],
        )
        traded = market.bars("NASDAQ", DAY, instant)
        assert len(traded) == min(n // 15, 26)
        assert so_far.volume == pytest.approx(sum(bar.volume for bar in traded))
    assert market.partial_day("NASDAQ", minutes(DAY)[0] - MINUTE) is None


def test_no_look_ahead_what_is_shown_does_not_depend_on_later_days(universe):
    """A market that knows nothing after the day shows the same."""
    known = universe.until(datetime(2026, 3, 4, 22, tzinfo=UTC))
    short, whole = Market(known, 7), Market(universe, 7)
    whole.price("SP500", datetime(2026, 5, 1, 15, tzinfo=UTC))
    for instant in minutes(DAY)[::37]:
        assert short.marks(universe.symbols, instant) == whole.marks(universe.symbols, instant)
        one, other = (market.tail("SIM-ECHO", instant, 50) for market in (short, whole))
        assert all(np.array_equal(a, b) for a, b in zip(one.columns(), other.columns(), strict=True))


def test_no_look_ahead_the_tail_ends_with_the_day_so_far_and_holds_no_later_price(market, universe):
    instant = minutes(DAY)[100]
    tail = market.tail("SP500", instant, 40)
    so_far = market.partial_day("SP500", instant)
    assert len(tail) == 40
    assert tail.dates[-1].item() == DAY
    assert (tail.open[-1], tail.high[-1], tail.low[-1], tail.close[-1], tail.volume[-1]) == so_far
    before = universe.until(datetime(2026, 3, 3, 22, tzinfo=UTC)).bars["SP500"]
    assert np.array_equal(tail.close[:-1], before.close[-39:])
    later = market.tail("SP500", minutes(DAY)[200], 40)
    assert tail.close[-1] == so_far.last != later.close[-1]


def test_before_the_open_the_tail_is_that_of_the_day_before(market, universe):
    tail = market.tail("SP500", datetime(2026, 3, 4, 14, tzinfo=UTC), 40)
    assert tail.dates[-1].item() == date(2026, 3, 3)
    assert len(tail) == 40


def test_equal_seeds_give_equal_days_in_any_order_and_other_seeds_others(universe):
    one, same, other = Market(universe, 7), Market(universe, 7), Market(universe, 8)
    for n in range(9, 0, -1):
        same.price("SP500", datetime(2026, 3, n, 16, tzinfo=UTC))
    at = datetime(2026, 3, 4, 16, tzinfo=UTC)
    assert one.marks(universe.symbols, at) == same.marks(universe.symbols, at)
    assert one.marks(universe.symbols, at) != other.marks(universe.symbols, at)


def test_a_symbol_is_open_in_the_session_only_and_not_on_a_day_without_a_bar(market):
    days = np.array(["2026-03-02", "2026-03-03", "2026-03-05"], "datetime64[D]")
    flat = np.array([10.0, 10.0, 10.0])
    lacking = Market(Universe.of([Bars("A", days, flat, flat, flat, flat, flat, "file")], ""), 1)
    at = datetime(2026, 3, 4, 16, tzinfo=UTC)
    assert not lacking.is_open("A", at)
    assert lacking.price("A", at) == 10.0
    assert lacking.partial_day("A", at) is None
    assert lacking.bars("A", DAY, at) == ()
    _, opens, closes, _ = session_on(DAY)
    answers = [market.is_open("SP500", i) for i in (opens - MINUTE, opens, closes - MINUTE, closes)]
    assert answers == [False, True, True, False]
    assert not market.is_open("SP500", datetime(2026, 3, 7, 16, tzinfo=UTC))
    assert market.liquidity("SP500", closes - MINUTE) > 0
    assert market.liquidity("SP500", opens - MINUTE) is None


def test_summer_time_and_half_days_come_from_the_exchange():
    assert session_on(date(2026, 3, 6)).opens_at == datetime(2026, 3, 6, 14, 30, tzinfo=UTC)
    assert session_on(date(2026, 3, 9)).opens_at == datetime(2026, 3, 9, 13, 30, tzinfo=UTC)
    assert session_on(HALF_DAY).closes_at == datetime(2026, 11, 27, 18, tzinfo=UTC)
    assert session_on(date(2026, 11, 26)) is None


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("steps", [3, 14, 390])
def test_a_bridge_keeps_all_four_prices_whatever_they_are(seed, steps):
    rng = np.random.default_rng(seed)
    open_, close = rng.choice([5.0, 5.0001, 5.2, 4.7], 2)
    high, low = (
        max(open_, close) + rng.choice([0.0, 0.0001, 1.0]),
        min(open_, close) - rng.choice([0.0, 0.0001, 1.0]),
    )
    path = bridge(open_, high, low, close, steps, rng)
    assert (path[0], path[-1]) == (open_, close)
    assert (path.max(), path.min()) == (round(high, 4), round(low, 4))
    assert np.array_equal(path, np.round(path, 4))


def test_all_strategies_of_a_round_look_at_the_same_bars(market, universe):
    symbol = universe.symbols[0]
    at = session_on(DAY).opens_at + 30 * MINUTE
    shown = market.tail(symbol, at, 300)
    assert market.tail(symbol, at, 300) is shown
    for other in (market.tail(symbol, at, 200), market.tail(symbol, at + MINUTE, 300)):
        assert other is not shown
    assert shown.close[-1] == market.price(symbol, at)
    for n in range(2 * TAILS_KEPT):
        later = at + n * MINUTE
        assert market.tail(symbol, later, 300).close[-1] == market.price(symbol, later)
        assert len(market._latest) <= TAILS_KEPT
