"""Figures over cases: they hit what is true as often as they say."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from moot.statistics.calibration import brier, reliability
from moot.statistics.clusters import Estimate, difference, estimate, mean, ratio
from moot.statistics.detection import Found, f1, false_alarms, precision, recall
from moot.statistics.permutation import Floats
from moot.statistics.shares import Interval
from moot.statistics.votes import effective_votes
from moot.statistics.wilson import wilson_interval
from tests.soak import coverage

PAGE = Path(__file__).parents[3] / "docs" / "design" / "evidence.md"


@pytest.mark.parametrize("name", ["mean paired difference, 3 repetitions", "F1", "effective votes of five"])
def test_an_interval_holds_the_truth_as_often_as_it_says(name: str) -> None:
    assert coverage.LEAST <= coverage.coverage(name, runs=400, resamples=300) <= coverage.MOST


def test_the_page_holds_what_was_measured_of_all_figures_and_no_promise_was_broken() -> None:
    results = json.loads(coverage.RESULTS.read_text(encoding="utf-8"))
    assert set(results["coverage"]) == set(coverage.KNOWN)
    assert coverage.findings(results) == []
    told = "\n".join(coverage.table(results))
    assert f"<!-- tests/soak/coverage.json -->\n{told}\n" in PAGE.read_text(encoding="utf-8")
    results["coverage"]["F1"] = 0.9
    assert coverage.findings(results) == ["F1: 0.900 of the intervals hold the truth"]


@pytest.mark.parametrize("name", sorted(set(coverage.KNOWN) - {"how often a confidence comes true"}))
def test_a_figure_of_very_many_cases_is_the_true_one(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coverage, "CASES", 60_000)
    truth, draw = coverage.KNOWN[name]
    low, high = draw(np.random.default_rng(9), 10)
    assert (low + high) / 2 == pytest.approx(truth, rel=0.05, abs=0.002)


def test_what_was_found_is_held_against_what_was_there() -> None:
    # Two documents with errors, one reviewed without any finding, and two clean ones.
    found = Found(np.array([2.0, 0, 0, 0]), np.array([1.0, 0, 3, 0]), np.array([1.0, 2, 0, 0]))
    chance = np.random.default_rng(1)
    figures = [estimate(make(found), ratio, chance).value for make in (precision, recall, f1, false_alarms)]
    assert figures == pytest.approx([2 / 6, 2 / 5, 4 / 11, 3 / 2])


def test_a_difference_of_figures_is_that_of_the_second_arm_less_the_first() -> None:
    table = np.array([[1.0, 2.0, 3.0, 4.0], [0.0, 2.0, 1.0, 1.0]])
    assert estimate(table, difference(ratio), np.random.default_rng(1)).value == pytest.approx(4 / 5 - 1 / 4)


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


@pytest.mark.parametrize("cases", [999, 1_200, 100_000])
def test_very_many_cases_are_drawn_in_groups_and_bounded_as_well(cases: int) -> None:
    chance = np.random.default_rng(6)
    units = 1.0 + chance.random((cases, 1))
    table = np.concatenate([units * (0.4 + chance.normal(size=(cases, 1))), units], axis=1)
    value, (low, high), counted = estimate(table, ratio, chance, resamples=2_000)
    assert counted == cases
    assert value == pytest.approx(table[:, 0].sum() / table[:, 1].sum())
    spread = (table[:, 0] - value * table[:, 1]).std() / table[:, 1].mean() / math.sqrt(cases)
    assert (high - low) / 2 == pytest.approx(1.96 * spread, rel=0.1)
    assert (high + low) / 2 == pytest.approx(value, abs=0.2 * spread)


def test_an_estimate_says_where_there_is_none() -> None:
    chance = np.random.default_rng(5)
    assert estimate(np.full((9, 1), 0.5), mean, chance) == Estimate(0.5, (0.5, 0.5), 9)  # type: ignore[arg-type]
    alone = estimate(np.array([[0.5]]), mean, chance)
    assert (alone.value, math.isnan(alone.interval.low), alone.cases) == (0.5, True, 1)
    assert math.isnan(estimate(np.zeros((4, 2)), ratio, chance).value)
    with pytest.raises(ValueError, match="no case"):
        estimate(np.zeros((0, 1)), mean, chance)


@pytest.mark.parametrize("cases", [8, 1_200])
def test_shares_that_all_cases_give_alike_are_bounded_by_their_number(cases: int) -> None:
    none, every = np.tile([0.0, 3.0], (cases, 1)), np.tile([3.0, 3.0], (cases, 1))
    room = wilson_interval(0, cases, 0.05).high
    assert room == pytest.approx(1.96**2 / (cases + 1.96**2), rel=1e-4)

    def bounds(*arms: Floats, low: float = 0.0) -> Interval:
        figure = ratio if len(arms) == 1 else difference(ratio)
        table, chance = np.concatenate(arms, axis=1), np.random.default_rng(1)
        return estimate(table, figure, chance, resamples=50, within=Interval(low, 1.0)).interval

    assert bounds(none) == pytest.approx((0.0, room))
    assert bounds(every) == pytest.approx((1.0 - room, 1.0))
    assert bounds(none, every, low=-1.0) == pytest.approx((1.0 - 2 * room, 1.0))
    # Right in the same cases: the difference is 0 in each of them, though they differ.
    half = none.copy()
    half[::2] = every[::2]
    assert bounds(half, half, low=-1.0) == pytest.approx((-room, room))
    # Half of the cases do not have the figure, and say nothing about it.
    halved = half.copy()
    halved[1::2] = 0.0
    assert bounds(halved) == pytest.approx((1.0 - wilson_interval(0, cases // 2, 0.05).high, 1.0))
    assert estimate(none, ratio, np.random.default_rng(1)).interval == (0.0, 0.0), "it has no bounds"


@pytest.mark.parametrize(("correlation", "votes"), [(0.0, 5.0), (0.25, 2.5), (0.6, 25 / 17), (1.0, 1.0)])
def test_votes_are_worth_what_their_errors_leave(correlation: float, votes: float) -> None:
    chance = np.random.default_rng(6)
    # Each voter repeats the common error or makes its own: two of them do so with the correlation that is asked for.
    common = chance.random((50_000, 1)) < 0.3
    own = chance.random((50_000, 5)) < 0.3
    repeats = chance.random((50_000, 5)) < math.sqrt(correlation)
    found = effective_votes(np.where(repeats, common, own), chance, resamples=10)
    assert found.value == pytest.approx(votes, rel=0.03)


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
