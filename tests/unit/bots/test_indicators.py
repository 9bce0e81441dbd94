import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.bots.tools.indicators import (
    held_state,
    lagged,
    ratio,
    rolling_max,
    rolling_mean,
    rolling_min,
    rolling_std,
)

ROLLING = {
    rolling_mean: np.mean,
    rolling_std: np.std,
    rolling_max: np.max,
    rolling_min: np.min,
}
SERIES = st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=80).map(np.array)


@pytest.mark.parametrize("rolling", ROLLING)
@given(SERIES, st.integers(1, 90))
def test_a_rolling_figure_is_that_of_the_last_elements(rolling, series, window):
    found = rolling(series, window)
    assert len(found) == len(series)
    for t in range(len(series)):
        if t < window - 1:
            assert np.isnan(found[t])
        else:
            direct = ROLLING[rolling](series[t - window + 1 : t + 1])
            assert found[t] == pytest.approx(direct, abs=1e-4)


@pytest.mark.parametrize("rolling", ROLLING)
@given(SERIES, st.integers(1, 30), st.integers(0, 40))
def test_a_rolling_figure_does_not_depend_on_where_the_series_begins(rolling, series, window, cut):
    whole, part = rolling(series, window), rolling(series[cut:], window)
    full = slice(window - 1, None)
    assert part[full].tolist() == whole[cut:][full].tolist()


@given(st.floats(1e-9, 1e12), st.integers(1, 40))
def test_a_flat_series_has_no_spread(price, window):
    assert not rolling_std(np.full(50, np.log(price)), window)[window - 1 :].any()


def test_lagging_shows_elements_later():
    assert lagged(np.array([1.0, 2.0, 3.0]), 1).tolist()[1:] == [1.0, 2.0]
    assert np.isnan(lagged(np.array([1.0, 2.0]), 5)).all()


def test_a_ratio_with_nothing_below_is_what_was_asked_for():
    top, below = np.array([1.0, 1.0, np.nan, 1.0]), np.array([2.0, 0.0, 1.0, np.nan])
    found = ratio(top, below, otherwise=7.0)
    assert found[:2].tolist() == [0.5, 7.0]
    assert np.isnan(found[2:]).all()


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=40))
def test_a_state_is_held_from_entry_to_exit(events):
    enter, leave = (np.array(column) for column in zip(*events, strict=True))
    state, expected = False, []
    for on, off in events:
        state = False if off else (True if on else state)
        expected.append(state)
    assert held_state(enter, leave).tolist() == expected
