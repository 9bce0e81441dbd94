import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.bots.tools import scores

FIGURE = st.floats(-1e6, 1e6)
SERIES = st.lists(st.floats(-1.0, 1e6), min_size=0, max_size=40).map(np.array)


@given(FIGURE, FIGURE, FIGURE, FIGURE, SERIES, st.integers(0, 1000))
def test_every_score_lies_between_zero_and_one(a, b, c, d, series, trades):
    found = [
        scores.overfitting(a, b),
        scores.tail_risk(abs(a)),
        scores.execution_risk(abs(a), abs(b), c),
        scores.correlation_risk(series, [series, -series]),
        scores.signal_decay(a, b, c, d),
        scores.crowding_risk(series, series[::-1], -series),
        scores.event_window_risk(series, series[::-1]),
        scores.alpha_strength(a, b, trades),
    ]
    assert all(0.0 <= score <= 1.0 and score == round(score, 6) for score in found)


def test_a_squash_is_a_half_at_its_middle():
    assert scores.squash(2.0, scores.Scale(2.0, 0.5)) == 0.5
    assert scores.squash(2.5, scores.Scale(2.0, 0.5)) == pytest.approx(0.731059)


def test_a_larger_fall_from_train_to_validation_is_more_overfitting():
    assert (
        scores.overfitting(1.5, -0.5)
        > 0.9
        > 0.4
        > scores.overfitting(1.0, 1.0)
        > scores.overfitting(0.0, 1.0)
    )


def test_deeper_tails_are_riskier():
    assert scores.tail_risk(0.03) > 0.9 > 0.1 > scores.tail_risk(0.001)


def test_execution_risk_grows_with_turnover_and_with_the_share_of_costs():
    assert scores.execution_risk(0.0, 0.0, 0.0) == 0.0
    assert scores.execution_risk(40.0, 0.03, 0.1) > scores.execution_risk(4.0, 0.03, 0.1)
    assert scores.execution_risk(10.0, 0.03, 0.0) > scores.execution_risk(10.0, 0.03, 0.3)
    assert scores.execution_risk(100.0, 0.1, -0.2) == pytest.approx(1.0, abs=1e-6)


def test_correlation_takes_the_closest_approved_strategy_of_either_sign():
    rng = np.random.default_rng(1)
    one, other = rng.standard_normal((2, 500))
    assert scores.correlation_risk(one, []) == 0.0
    assert scores.correlation_risk(one, [other]) < 0.2
    assert scores.correlation_risk(one, [other, -one]) == 1.0


def test_decay_grows_when_the_signal_ages_or_a_day_of_delay_costs():
    still = scores.signal_decay(1.0, 1.0, 1.0, 1.0)
    assert scores.signal_decay(2.0, 0.0, 1.0, 1.0) > still
    assert scores.signal_decay(1.0, 1.0, 1.0, 0.5) > still


def test_crowding_takes_the_closer_of_two_common_strategies():
    rng = np.random.default_rng(1)
    one, other, third = rng.standard_normal((3, 500))
    assert scores.crowding_risk(one, one, other) == 1.0
    assert scores.crowding_risk(one, other, -one) == 1.0
    assert scores.crowding_risk(one, other, third) < 0.2


def test_event_risk_is_the_share_earned_on_the_wildest_days():
    market = np.array([0.01] * 95 + [0.2] * 5)
    earned = np.where(market > 0.1, 0.02, 0.0)
    assert scores.event_window_risk(earned, market) == 1.0
    assert scores.event_window_risk(np.where(market > 0.1, 0.0, 0.01), market) == 0.0
    assert scores.event_window_risk(np.full(100, 0.01), market) == 0.05
    assert scores.event_window_risk(np.zeros(100), market) == 0.0


def test_strength_needs_sharpe_in_both_splits_and_trades():
    assert scores.alpha_strength(1.0, 1.0, 100) > 0.8
    assert scores.alpha_strength(1.0, 1.0, 0) == scores.alpha_strength(-3.0, 3.0, 100)
    assert scores.alpha_strength(-1.0, -1.0, 100) < 0.05


def test_halves_are_measured_apart():
    series = np.concatenate((np.tile([0.02, -0.01], 20), np.tile([0.01, -0.02], 20)))
    first, second = scores.halves(series)
    assert first == pytest.approx(-second)
    assert first > 0
