"""Figures over cases: they hit what is true as often as they say."""

import math

import numpy as np
import pytest

from moot.statistics.calibration import brier, reliability
from moot.statistics.clusters import Estimate, estimate, mean, ratio
from moot.statistics.votes import effective_votes


def _covers(one: Estimate, truth: float) -> bool:
    return one.interval.low <= truth <= one.interval.high


def _coverage(hits: list[bool]) -> float:
    return sum(hits) / len(hits)


def test_a_mean_difference_is_covered_as_often_as_it_says() -> None:
    chance = np.random.default_rng(1)
    hits = []
    for _ in range(1_000):
        # What the cases have in common goes out of a paired difference; what repetitions share does not.
        table = 0.3 + chance.normal(size=(80, 1)) + chance.normal(size=(80, 3)).mean(axis=1, keepdims=True)
        hits.append(_covers(estimate(table, mean, chance, resamples=500), 0.3))
    assert 0.93 <= _coverage(hits) <= 0.97


def test_a_ratio_of_totals_is_covered_as_often_as_it_says() -> None:
    chance = np.random.default_rng(2)
    hits = []
    for _ in range(1_000):
        found = chance.poisson(4.0, size=120).astype(np.float64)
        right = chance.binomial(found.astype(np.intp), 0.7).astype(np.float64)
        hits.append(_covers(estimate(np.stack([right, found], axis=1), ratio, chance, resamples=500), 0.7))
    assert 0.93 <= _coverage(hits) <= 0.97


def test_repetitions_are_no_further_cases() -> None:
    chance = np.random.default_rng(3)
    cases = chance.normal(size=(40, 1))
    once = estimate(cases, mean, np.random.default_rng(4))
    often = estimate(
        np.repeat(cases, 25, axis=1).sum(axis=1, keepdims=True) / 25, mean, np.random.default_rng(4)
    )
    assert often.interval == pytest.approx(once.interval)
    as_if_apart = estimate(np.repeat(cases, 25, axis=0), mean, np.random.default_rng(4))
    assert as_if_apart.interval.high - as_if_apart.interval.low < 0.3 * (
        once.interval.high - once.interval.low
    )


def test_an_estimate_says_where_there_is_none() -> None:
    chance = np.random.default_rng(5)
    assert estimate(np.full((9, 1), 0.5), mean, chance) == Estimate(0.5, (0.5, 0.5), 9)  # type: ignore[arg-type]
    alone = estimate(np.array([[0.5]]), mean, chance)
    assert (alone.value, math.isnan(alone.interval.low), alone.cases) == (0.5, True, 1)
    assert math.isnan(estimate(np.zeros((4, 2)), ratio, chance).value)
    with pytest.raises(ValueError, match="no case"):
        estimate(np.zeros((0, 1)), mean, chance)


@pytest.mark.parametrize(("correlation", "votes"), [(0.0, 5.0), (0.25, 2.5), (0.6, 25 / 17), (1.0, 1.0)])
def test_votes_are_worth_what_their_errors_leave(correlation: float, votes: float) -> None:
    chance = np.random.default_rng(6)
    # Each voter repeats the common error or makes its own: two of them do so with the correlation that is asked for.
    common = chance.random((50_000, 1)) < 0.3
    own = chance.random((50_000, 5)) < 0.3
    repeats = chance.random((50_000, 5)) < math.sqrt(correlation)
    found = effective_votes(np.where(repeats, common, own), chance, resamples=10)
    assert found.value == pytest.approx(votes, rel=0.03)


def test_effective_votes_are_covered_as_often_as_they_say() -> None:
    chance = np.random.default_rng(7)
    hits = []
    for _ in range(800):
        common, own = chance.random((150, 1)) < 0.3, chance.random((150, 5)) < 0.3
        errors = np.where(chance.random((150, 5)) < 0.5, common, own)
        hits.append(_covers(effective_votes(errors, chance, resamples=500), 2.5))
    assert 0.93 <= _coverage(hits) <= 0.97


def test_voters_who_never_err_leave_their_worth_unknown() -> None:
    chance = np.random.default_rng(8)
    assert math.isnan(effective_votes(np.zeros((10, 3), dtype=np.bool_), chance).value)
    assert effective_votes(np.array([[True], [False]]), chance).value == 1.0


def test_confidences_are_held_against_what_came_true() -> None:
    stated = np.array([0.05, 0.95, 0.95, 1.0, 0.5])
    came_true = np.array([False, True, False, True, True])
    assert brier(stated, came_true) == pytest.approx([0.0025, 0.0025, 0.9025, 0.0, 0.25])
    low, middle, high = reliability(stated, came_true)
    assert (low.came_true, low.statements) == (0.0, 1)
    assert (middle.stated, middle.came_true) == (0.5, 1.0)
    assert high.stated == pytest.approx(2.9 / 3)
    assert high.came_true == pytest.approx(2 / 3)
    assert high.interval.low < 2 / 3 < high.interval.high
