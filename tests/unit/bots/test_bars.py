import numpy as np
import pytest

from moot.bots.tools.bars import Bars


def bars(days=10, symbol="AAA"):
    dates = np.datetime64("2020-01-01", "D") + np.arange(days)
    close = np.arange(1.0, days + 1.0)
    return Bars(symbol, dates, close, close + 1, close - 0.5, close, close * 0, "file")


def test_columns_are_read_only_and_the_callers_own_array_stays_writeable():
    close = np.array([1.0, 2.0])
    made = Bars(
        "A", np.array(["2020-01-01", "2020-01-02"], "M8[D]"), close, close, close, close, close, "file"
    )
    with pytest.raises(ValueError, match="read-only"):
        made.close[0] = 5.0
    close[0] = 1.0


def test_a_slice_shares_memory_and_keeps_symbol_and_label():
    whole = bars()
    part = whole.between(2, 5)
    assert np.shares_memory(part.close, whole.close)
    assert part.close.tolist() == [3.0, 4.0, 5.0]
    assert (part.symbol, part.label, len(part)) == ("AAA", "file", 3)


def test_slicing_everything_gives_the_same_object():
    whole = bars()
    assert whole.between(0, 10) is whole
    assert whole.between(-3, 99) is whole


def test_moving_changes_dates_alone():
    moved = bars().moved(-14)
    assert str(moved.dates[0]) == "2019-12-18"
    assert moved.close.tolist() == bars().close.tolist()


@pytest.mark.parametrize("dates", [["2020-01-02", "2020-01-01"], ["2020-01-01", "2020-01-01"]])
def test_dates_that_do_not_increase_are_refused(dates):
    one = np.ones(2)
    with pytest.raises(ValueError, match="strictly increasing"):
        Bars("A", np.array(dates, "M8[D]"), one, one, one, one, one, "file")


def test_columns_of_unequal_length_are_refused():
    one = np.ones(2)
    with pytest.raises(ValueError, match="column volume has shape"):
        Bars("A", np.array(["2020-01-01", "2020-01-02"], "M8[D]"), one, one, one, one, np.ones(3), "file")


def test_whoever_asks_for_the_same_slice_gets_the_same_bars():
    whole = bars()
    assert whole.between(1, 3) is whole.between(1, 3)
    assert whole.between(-1, 2) is whole.between(0, 2)
    assert whole.between(1, 3) is not bars().between(1, 3)
    assert len(whole.between(1, 2)) == 1
