"""Tests by permutation equal what was enumerated by hand or computed by plain loops, and are the same for a seed."""

import math
from itertools import combinations, pairwise

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from moot.statistics.categories import compare_categories
from moot.statistics.energy import compare_clouds
from moot.statistics.means import compare_means, mean_difference_interval
from moot.statistics.permutation import Groups, holm, judged, matched, shuffles


def chance(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_the_first_shuffle_is_what_was_seen_and_each_keeps_the_sizes() -> None:
    blocks = list(shuffles(Groups(3, 5), 200, chance()))
    whole = np.concatenate(blocks, axis=1)
    assert whole.shape == (8, 201)
    assert whole[:, 0].tolist() == [True] * 3 + [False] * 5
    assert set(whole.sum(axis=0).tolist()) == {3}
    # Each of the 56 ways to choose 3 of 8 is as likely: none of 200 shuffles should be much more frequent.
    assert len({tuple(column) for column in whole.T.tolist()}) > 40


def test_matched_members_only_change_places_with_their_like() -> None:
    groups = matched([7, 3, 9], [3, 5, 9])
    assert groups.pairs is not None
    assert groups.pairs.tolist() == [[1, 3], [2, 5]]
    whole = np.concatenate(list(shuffles(groups, 100, chance())), axis=1)
    assert whole[0].all()
    assert not whole[4].any()
    assert (whole[1] != whole[3]).all()
    assert (whole[2] != whole[5]).all()
    assert 0 < whole[1].sum() < 101


def test_what_was_seen_counts_as_a_shuffle_so_that_no_p_value_is_zero() -> None:
    assert judged(np.array([5.0, 1.0, 2.0, 3.0])).p_value == 0.25
    assert judged(np.array([1.0, 1.0 - 1e-12, 0.5, 0.2])).p_value == 0.5
    assert judged(np.array([2.0, 1.0, 3.0])).by_chance == 2.0


def test_categories_are_judged_as_all_shuffles_would() -> None:
    codes = np.array([0, 0, 0, 1, 0, 1, 1, 1, 2])
    seen = 0.5 * (abs(3 / 4 - 1 / 5) + abs(1 / 4 - 3 / 5) + abs(0 - 1 / 5))

    def distance(first: tuple[int, ...]) -> float:
        other = [one for one in range(9) if one not in first]
        return 0.5 * sum(
            abs(sum(codes[list(first)] == code) / 4 - sum(codes[other] == code) / 5) for code in range(3)
        )

    every = [distance(first) for first in combinations(range(9), 4)]
    exact = sum(one >= seen - 1e-12 for one in every) / len(every)
    found = compare_categories(codes, Groups(4, 5), 20_000, chance())
    assert found.statistic == pytest.approx(seen)
    assert found.by_chance == pytest.approx(sum(every) / len(every), abs=0.01)
    assert found.p_value == pytest.approx(exact, abs=5 * math.sqrt(exact * (1 - exact) / 20_000))


def test_pairs_that_agree_leave_no_doubt_where_free_shuffles_see_nothing() -> None:
    # Each trial has its own level; the second run is a little above the first in every one of them.
    levels = np.repeat(np.arange(20) * 10.0, 1)
    values = np.concatenate([levels, levels + 1.0])
    free = compare_means(values, Groups(20, 20), 999, chance())
    pairs = compare_means(values, matched(range(20), range(20)), 999, chance())
    assert free.p_value > 0.9
    assert pairs.p_value == 0.001


def test_a_difference_of_means_has_its_interval() -> None:
    values = np.concatenate([chance(2).normal(3.0, 1.0, 400), chance(3).normal(5.0, 1.0, 400)])
    found = compare_means(values, Groups(400, 400), 999, chance())
    low, high = mean_difference_interval(values, Groups(400, 400), 0.05, 2_000, chance())
    assert found.p_value == 0.001
    assert low < found.statistic < high
    # The theory: 2 standard errors of the difference of two means of 400.
    assert high - low == pytest.approx(2 * 1.96 * math.sqrt(2 / 400), rel=0.15)


def test_an_interval_of_pairs_is_that_of_their_differences() -> None:
    values = np.concatenate([np.arange(50) * 9.0, np.arange(50) * 9.0 + 2.0])
    groups = matched(range(50), range(50))
    assert mean_difference_interval(values, groups, 0.05, 500, chance()) == (2.0, 2.0)


@pytest.mark.parametrize("sizes", [(5, 7), (600, 300)])
def test_energy_distance_equals_its_definition(sizes: tuple[int, int]) -> None:
    first = chance(4).normal(size=(sizes[0], 3))
    second = chance(5).normal(size=(sizes[1], 3)) + 0.7

    def mean(left: np.ndarray, right: np.ndarray, pairs: int) -> float:
        return math.fsum(math.dist(a, b) for a in left.tolist() for b in right.tolist()) / pairs

    n, m = sizes
    between = mean(first, second, n * m)
    within = mean(first, first, n * (n - 1)) + mean(second, second, m * (m - 1))
    found = compare_clouds(np.concatenate([first, second]), Groups(n, m), 99, chance())
    assert found.tested.statistic == pytest.approx((2 * between - within) / (2 * between))


def test_the_interval_of_an_energy_distance_is_the_jackknifes() -> None:
    points = np.concatenate([chance(6).normal(size=(12, 2)), chance(7).normal(size=(9, 2)) + 2.0])
    found = compare_clouds(points, Groups(12, 9), 9, chance())
    left_out = [
        compare_clouds(np.delete(points, at, axis=0), Groups(12 - (at < 12), 9 - (at >= 12)), 9, chance())
        for at in range(21)
    ]
    values = np.array([one.tested.statistic for one in left_out])
    variance = sum((len(part) - 1) * part.var() for part in (values[:12], values[12:]))
    seen = found.tested.statistic
    assert found.interval == pytest.approx(
        (seen - 1.96 * variance**0.5, seen + 1.96 * variance**0.5), abs=1e-3
    )


def test_clouds_of_one_centre_but_another_spread_are_told_apart() -> None:
    narrow = multivariate_normal.rvs(np.zeros(3), 1.0, 150, random_state=1)
    wide = multivariate_normal.rvs(np.zeros(3), 4.0, 150, random_state=2)
    found = compare_clouds(np.concatenate([narrow, wide]), Groups(150, 150), 199, chance())
    assert found.tested.p_value == 0.005
    assert found.interval.low > 0.0


def test_equal_points_are_no_distance_apart() -> None:
    points = np.repeat(chance(8).normal(size=(3, 5)), 40, axis=0)
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    order = np.concatenate([np.arange(0, 120, 2), np.arange(1, 120, 2)])
    found = compare_clouds(points[order], Groups(60, 60), 99, chance())
    assert found.tested.statistic <= 0.0
    assert found.tested.p_value > 0.9
    assert compare_clouds(np.ones((6, 2)), Groups(3, 3), 9, chance()).tested == (0.0, 0.0, 1.0)


def test_two_points_that_differ_are_entirely_apart() -> None:
    points = np.concatenate([np.zeros((20, 2)), np.ones((20, 2))])
    found = compare_clouds(points, Groups(20, 20), 199, chance())
    assert found.tested.statistic == 1.0
    assert found.interval == (1.0, 1.0)
    few = compare_clouds(np.array([[0.0], [1.0], [4.0], [5.0], [6.0]]), Groups(2, 3), 9, chance())
    assert few.interval == (-1.0, 1.0)


def test_a_seed_gives_the_same_figures() -> None:
    codes = chance(9).integers(3, size=90)
    once = compare_categories(codes, Groups(40, 50), 500, chance(3))
    assert once == compare_categories(codes, Groups(40, 50), 500, chance(3))
    assert once.by_chance != compare_categories(codes, Groups(40, 50), 500, chance(4)).by_chance


def test_an_empty_group_is_refused() -> None:
    for groups in (Groups(0, 3), Groups(3, 0)):
        with pytest.raises(ValueError, match="empty"):
            compare_categories(np.zeros(3, dtype=np.intp), groups, 9, chance())
        with pytest.raises(ValueError, match="empty"):
            compare_means(np.zeros(3), groups, 9, chance())
        with pytest.raises(ValueError, match="two points"):
            compare_clouds(np.zeros((3, 2)), groups, 9, chance())


def test_p_values_of_several_tests_are_adjusted_step_by_step() -> None:
    found = holm({"labels": 0.01, "status": 0.04, "cost": 0.03, "vectors": 0.5})
    assert found == pytest.approx({"labels": 0.04, "status": 0.09, "cost": 0.09, "vectors": 0.5})
    assert holm({"one": 0.2}) == {"one": 0.2}
    ordered = sorted(holm({"a": 0.9, "b": 0.6, "c": 0.7}).values())
    assert all(low <= high for low, high in pairwise(ordered))
    assert ordered[-1] == 1.0
