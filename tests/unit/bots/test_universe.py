from datetime import UTC, date, datetime, timedelta, timezone

import numpy as np
import pytest

from moot.bots.tools.bars import Bars
from moot.bots.tools.universe import VIEWS_KEPT, Universe


def bars(symbol, first="2020-01-01", days=10, scale=1.0):
    dates = np.datetime64(first, "D") + np.arange(days)
    close = np.arange(1.0, days + 1.0) * scale
    return Bars(symbol, dates, close, close, close, close, close, "file")


def instant(day, hour, minute=0):
    return datetime(2020, 1, day, hour, minute, tzinfo=UTC)


def test_a_bar_exists_from_21_utc_of_its_day_on():
    universe = Universe.of([bars("A")], "")
    assert universe.until(instant(3, 20, 59)).last_date == date(2020, 1, 2)
    assert universe.until(instant(3, 21)).last_date == date(2020, 1, 3)


def test_an_instant_of_another_zone_is_the_same_instant():
    universe = Universe.of([bars("A")], "")
    new_york = timezone(timedelta(hours=-5))
    assert universe.until(datetime(2020, 1, 3, 16, 0, tzinfo=new_york)).last_date == date(2020, 1, 3)
    assert universe.until(datetime(2020, 1, 3, 15, 59, tzinfo=new_york)).last_date == date(2020, 1, 2)


def test_a_naive_instant_is_refused():
    with pytest.raises(ValueError, match="aware"):
        Universe.of([bars("A")], "").until(datetime(2020, 1, 3))


def test_the_view_cuts_every_symbol_and_copies_nothing():
    universe = Universe.of([bars("A"), bars("B", "2020-01-04", 10)], "two")
    view = universe.until(instant(5, 22))
    assert [len(view.bars[s]) for s in view.symbols] == [5, 2]
    assert np.shares_memory(view.bars["B"].close, universe.bars["B"].close)
    assert str(view.calendar[-1]) == "2020-01-05"
    assert (view.sha256, view.description, view.shift_weeks) == (universe.sha256, "two", 0)


def test_before_the_first_bar_all_symbols_are_there_without_bars():
    view = Universe.of([bars("A")], "").until(instant(1, 20))
    assert view.symbols == ("A",)
    assert len(view.bars["A"]) == 0
    assert view.last_date is None


def test_after_the_last_bar_the_view_is_the_universe_itself():
    universe = Universe.of([bars("A")], "")
    assert universe.until(instant(10, 21)) is universe


def test_the_calendar_is_the_sorted_union_of_all_dates():
    universe = Universe.of([bars("A", "2020-01-05", 3), bars("B", "2020-01-01", 3)], "")
    assert [str(d) for d in universe.calendar] == [f"2020-01-0{n}" for n in (1, 2, 3, 5, 6, 7)]


def test_the_hash_follows_the_content_and_not_the_order():
    one = Universe.of([bars("A"), bars("B", scale=2.0)], "x")
    other = Universe.of([bars("B", scale=2.0), bars("A")], "y")
    assert one.sha256 == other.sha256
    assert one.sha256 != Universe.of([bars("A"), bars("B", scale=2.0000001)], "x").sha256
    assert one.sha256 != Universe.of([bars("A"), bars("C", scale=2.0)], "x").sha256
    assert one.sha256 != Universe.of([bars("A"), bars("B", "2020-01-02", scale=2.0)], "x").sha256


def test_the_hash_is_the_same_in_every_process():
    assert Universe.of([bars("A")], "").sha256 == (
        "0142d96499c595a95e51706d89ae269afdcb791e0dcf607e2d35b43d43435d26"
    )


def test_shifting_keeps_weekdays_prices_and_hash():
    universe = Universe.of([bars("A")], "")
    moved = universe.shifted(3)
    assert moved.last_date == date(2020, 1, 31)
    assert moved.shift_weeks == 3
    assert moved.sha256 == universe.sha256
    assert moved.last_date.weekday() == universe.last_date.weekday()
    assert moved != universe
    assert universe.shifted(0) is universe


def test_universes_are_equal_when_the_same_bars_exist_in_them():
    universe = Universe.of([bars("A")], "")
    assert universe.until(instant(4, 21)) == universe.until(instant(5, 20))
    assert universe.until(instant(4, 21)) != universe.until(instant(5, 21))
    assert hash(universe.until(instant(4, 21))) == hash(universe.until(instant(5, 20)))
    assert universe != "universe"


def test_no_symbol_or_one_twice_is_refused():
    with pytest.raises(ValueError, match="at least one"):
        Universe.of([], "")
    with pytest.raises(ValueError, match="twice"):
        Universe.of([bars("A"), bars("A")], "")


def test_whoever_asks_on_one_day_is_shown_the_same_bars():
    universe = Universe.of([bars("A"), bars("B")], "")
    view = universe.until(instant(5, 22))
    assert universe.until(instant(6, 3)) is view
    assert universe.until(instant(6, 22)).last_date == date(2020, 1, 6)
    for day in range(1, 9):
        assert universe.until(instant(day, 22)).last_date == date(2020, 1, day)
        assert len(universe._views) <= VIEWS_KEPT
    assert universe.until(instant(5, 22)) == view


def test_views_of_one_universe_are_not_those_of_another_made_from_it():
    universe = Universe.of([bars("A")], "")
    for day in (5, 9):
        universe.until(instant(day, 22))
    assert len(universe.shifted(1).until(instant(9, 22)).calendar) == 2
    later = universe.shifted(1).until(datetime(2020, 1, 12, 22, tzinfo=UTC))
    assert later.last_date == date(2020, 1, 12)
    assert later.bars["A"].close.tolist() == universe.until(instant(5, 22)).bars["A"].close.tolist()
    assert universe.continued(3).until(datetime(2020, 2, 3, 22, tzinfo=UTC)).last_date > date(2020, 1, 10)
