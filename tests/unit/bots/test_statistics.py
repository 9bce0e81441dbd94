import math

import empyrical
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from moot.bots.tools.statistics import annual_return, correlation, max_drawdown, published, sharpe, tail_loss

MEASURES = (sharpe, max_drawdown, annual_return, tail_loss)


def test_figures_are_those_of_the_textbook():
    returns = np.array([0.01, -0.02, 0.03, 0.0, -0.01] * 20)
    assert sharpe(returns) == pytest.approx(returns.mean() / returns.std(ddof=1) * math.sqrt(252))
    assert max_drawdown(np.array([0.1, -0.2, 0.05, -0.1, 0.5])) == pytest.approx(1 - 0.8 * 1.05 * 0.9)
    assert annual_return(np.full(504, 0.001)) == pytest.approx(1.001**252 - 1)
    assert tail_loss(np.array([-0.05, -0.03] + [0.01] * 38)) == pytest.approx(0.04)


@pytest.mark.parametrize(
    ("measure", "theirs", "sign"),
    [
        (sharpe, empyrical.sharpe_ratio, 1),
        (max_drawdown, empyrical.max_drawdown, -1),
        (annual_return, empyrical.annual_return, 1),
        (tail_loss, empyrical.conditional_value_at_risk, -1),
    ],
)
@given(st.lists(st.integers(-900, 900).map(lambda n: n / 1000), min_size=2, max_size=60).map(np.array))
def test_figures_are_those_of_an_independent_library(measure, theirs, sign, returns):
    assume(np.ptp(returns) > 0)  # theirs is infinite where nothing moves, ours 0
    expected = sign * theirs(returns)
    if measure is tail_loss:
        expected = max(expected, 0.0)
    if math.isnan(expected):
        expected = 0.0
    assert measure(returns) == pytest.approx(min(expected, 1e6), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("returns", [[], [0.0], [0.0] * 9], ids=["none", "one", "flat"])
def test_nothing_to_measure_measures_zero(measure, returns):
    assert measure(np.array(returns)) == 0.0


@pytest.mark.parametrize("measure", MEASURES)
@given(st.lists(st.floats(-1.0, 1e40), max_size=30).map(np.array))
def test_no_figure_is_ever_nan_or_infinite(measure, returns):
    assert math.isfinite(measure(returns))


def test_a_drawdown_is_a_fraction_even_at_ruin():
    assert max_drawdown(np.array([0.1, -1.0, 0.0])) == 1.0
    assert annual_return(np.array([0.1, -1.0, 0.0])) == -1.0


def test_correlation_is_that_of_pearson_and_zero_when_flat():
    rng = np.random.default_rng(1)
    one, other = rng.standard_normal((2, 200))
    assert correlation(one, one + other) == pytest.approx(np.corrcoef(one, one + other)[0, 1])
    assert correlation(one, -one) == pytest.approx(-1.0)
    assert correlation(one, np.ones(200)) == 0.0
    assert correlation(one[:2], one[:2]) == 0.0


def test_published_figures_have_six_digits_and_no_minus_zero():
    assert published(1 / 3) == 0.333333
    assert math.copysign(1.0, published(-1e-9)) == 1.0
