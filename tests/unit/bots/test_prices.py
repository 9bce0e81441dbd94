from datetime import UTC, date, datetime, timedelta

import numpy as np
import pytest

from moot.bots.tools.errors import PriceFileError
from moot.bots.tools.prices import load_universe

START = datetime(2026, 2, 23, 10, tzinfo=UTC)


def write(path, first, days):
    dates = np.datetime64(first, "D") + np.arange(days)
    path.write_text("date,open,high,low,close,volume\n" + "".join(f"{day},1,1,1,1,1\n" for day in dates))
    return path


def test_sample_holds_two_real_indices_and_eight_simulated_stocks():
    universe = load_universe("sample", start=START, seed=7)
    labels = [bars.label for bars in universe.bars.values()]
    assert universe.symbols[:2] == ("SP500", "NASDAQ")
    assert labels == ["real"] * 2 + ["simulated"] * 8
    assert "simulated" in universe.description


def test_the_real_indices_are_the_published_ones():
    universe = load_universe("sample", start=datetime(2018, 12, 28, 22, tzinfo=UTC), seed=7)
    assert universe.shift_weeks == 0
    bars = universe.bars["SP500"]
    assert (str(bars.dates[0]), bars.close[0]) == ("1999-01-04", 1228.099976)
    assert (str(bars.dates[-1]), len(bars)) == ("2018-12-31", 5031)


def test_a_start_outside_moves_the_last_bar_to_just_before_it_by_whole_weeks():
    universe = load_universe("sample", start=START, seed=7)
    assert universe.last_date == date(2026, 2, 16)
    assert universe.shift_weeks == 372
    assert universe.last_date.weekday() == date(2018, 12, 31).weekday()
    assert not universe.is_continued


@pytest.mark.parametrize("days_later", range(1, 23))
def test_the_last_bar_is_the_latest_possible_strictly_before_the_start(tmp_path, days_later):
    path = write(tmp_path / "p.csv", "2020-01-01", 31)
    day = date(2020, 1, 31) + timedelta(days=days_later)
    universe = load_universe(path, start=datetime(day.year, day.month, day.day, tzinfo=UTC), seed=1)
    gap = (day - universe.last_date).days
    assert 1 <= gap <= 7
    assert universe.shift_weeks == (days_later - 1) // 7


def test_a_start_before_the_file_moves_it_back(tmp_path):
    path = write(tmp_path / "p.csv", "2020-01-01", 31)
    universe = load_universe(path, start=datetime(2019, 12, 31, tzinfo=UTC), seed=1)
    assert universe.shift_weeks == -5
    assert universe.last_date == date(2019, 12, 27)


def test_with_a_start_inside_nothing_moves_and_bars_appear_day_by_day(tmp_path):
    path = write(tmp_path / "p.csv", "2020-01-01", 31)
    start = datetime(2020, 1, 15, 10, tzinfo=UTC)
    universe = load_universe(path, start=start, seed=1)
    assert universe.shift_weeks == 0
    days = [universe.until(start + timedelta(days=n)).last_date.day for n in range(4)]
    assert days == [14, 15, 16, 17]


def test_a_start_on_the_last_day_of_the_file_is_inside(tmp_path):
    path = write(tmp_path / "p.csv", "2020-01-01", 31)
    assert load_universe(path, start=datetime(2020, 1, 31, 23, tzinfo=UTC), seed=1).shift_weeks == 0


def test_too_few_bars_at_the_start_are_refused_with_one_line(tmp_path):
    path = write(tmp_path / "p.csv", "2020-01-01", 31)
    with pytest.raises(PriceFileError, match=r"p\.csv: only 2 bars exist at the start 2020-01-03 10:00 UTC"):
        load_universe(path, start=datetime(2020, 1, 3, 10, tzinfo=UTC), seed=1)
    assert load_universe(path, start=datetime(2020, 1, 3, 21, tzinfo=UTC), seed=1)


def test_the_seed_moves_simulated_prices_and_leaves_the_real_ones():
    one, other = (load_universe("sample", start=START, seed=seed) for seed in (1, 2))
    assert one.sha256 != other.sha256
    assert np.array_equal(one.bars["SP500"].close, other.bars["SP500"].close)
    assert not np.array_equal(one.bars["SIM-ALFA"].close, other.bars["SIM-ALFA"].close)


def test_the_start_does_not_change_the_data():
    one = load_universe("synthetic", start=START, seed=1)
    other = load_universe("synthetic", start=START + timedelta(days=100), seed=1)
    assert one.sha256 == other.sha256
    assert one.shift_weeks != other.shift_weeks


def test_a_missing_file_is_a_price_file_error():
    with pytest.raises(PriceFileError, match="no such file"):
        load_universe("smaple", start=START, seed=1)


@pytest.mark.parametrize("start", [datetime(2026, 1, 1), datetime(1899, 1, 1, tzinfo=UTC)])
def test_a_naive_or_absurd_start_is_refused(start):
    with pytest.raises(ValueError, match="aware instant between 1900 and 2200"):
        load_universe("synthetic", start=start, seed=1)
