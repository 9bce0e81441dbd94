"""Shares and modes that may be looked at at any time: as worked out by hand, and honest on fair coins."""

import math
from itertools import product

import pytest
from scipy.stats import beta, binom

from moot.statistics.mode import certified_mode
from moot.statistics.shares import log_evidence, share_interval, share_intervals
from moot.statistics.wilson import difference_interval, wilson_interval


def test_evidence_is_the_ratio_of_two_likelihoods() -> None:
    # A uniform share gives each row of 4 trials with 3 hits a likelihood of 1/20, a share of 1/2 one of 1/16.
    assert math.exp(log_evidence(3, 4, 0.5)) == pytest.approx(16 / 20)
    assert log_evidence(0, 0, 0.3) == pytest.approx(0.0)
    assert log_evidence(1, 4, 0.0) == math.inf
    assert log_evidence(0, 4, 1.0) == math.inf


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.93, 1.0])
def test_evidence_is_one_on_average_whatever_the_share(share: float) -> None:
    possible = [count for count in range(13) if binom.pmf(count, 12, share)]
    total = sum(binom.pmf(count, 12, share) * math.exp(log_evidence(count, 12, share)) for count in possible)
    # What a share of 0 or 1 cannot give counts nothing here, so the rest stays below 1.
    assert total <= 1.0 + 1e-9
    assert total == pytest.approx(1.0) or share in (0.0, 1.0)


@pytest.mark.parametrize(("count", "trials"), [(0, 1), (3, 10), (10, 10), (480, 1_000), (99_999, 100_000)])
def test_an_interval_ends_where_the_evidence_suffices(count: int, trials: int) -> None:
    low, high = share_interval(count, trials, 0.05)
    assert 0.0 <= low <= count / trials <= high <= 1.0
    for bound, inward in ((low, 2e-6), (high, -2e-6)):
        if bound not in (0.0, 1.0):
            # The ratio of prior to posterior density, by another library.
            assert -beta.logpdf(bound, count + 1, trials - count + 1) >= math.log(20) - 1e-9
            assert -beta.logpdf(bound + inward, count + 1, trials - count + 1) < math.log(20)


def test_an_interval_says_nothing_without_trials_and_narrows_with_them() -> None:
    assert share_interval(0, 0, 0.05) == (0.0, 1.0)
    widths = [high - low for low, high in (share_interval(n // 2, n, 0.05) for n in (10, 100, 1_000, 10_000))]
    assert widths == sorted(widths, reverse=True)
    assert widths[-1] < 0.05


def test_intervals_of_many_outcomes_share_the_error() -> None:
    assert share_intervals([3, 7, 0], 0.06) == (
        share_interval(3, 10, 0.02),
        share_interval(7, 10, 0.02),
        share_interval(0, 10, 0.02),
    )


@pytest.mark.parametrize("alpha", [0.0, 1.0, -1.0, math.nan])
def test_an_alpha_that_is_no_rate_is_refused(alpha: float) -> None:
    with pytest.raises(ValueError, match="alpha"):
        share_interval(1, 2, alpha)
    with pytest.raises(ValueError, match="alpha"):
        certified_mode([1, 2], alpha)


def test_a_count_above_the_trials_is_refused() -> None:
    with pytest.raises(ValueError, match="3 of 2"):
        share_interval(3, 2, 0.05)


def test_a_unanimous_outcome_is_the_mode_as_soon_as_chance_is_ruled_out() -> None:
    # Against one of two others never seen: 2^n / (n + 1) must reach 2 / 0.05 = 40, which it first does at n = 9.
    assert certified_mode([8, 0, 0], 0.05) is None
    assert certified_mode([9, 0, 0], 0.05) == 0
    assert certified_mode([0, 0, 9], 0.05) == 2


def test_a_mode_must_beat_every_other_outcome() -> None:
    assert certified_mode([60, 20, 20], 0.05) == 0
    assert certified_mode([60, 45, 0], 0.05) is None
    assert certified_mode([50, 50, 0], 0.05) is None
    assert certified_mode([0, 0], 0.05) is None


def test_more_outcomes_need_more_evidence() -> None:
    assert certified_mode([8, 0], 0.05) == 0
    assert certified_mode([8, 0, 0], 0.05) is None


def test_one_outcome_alone_is_no_question() -> None:
    with pytest.raises(ValueError, match="2 are needed"):
        certified_mode([5], 0.05)


@pytest.mark.parametrize("outcomes", [2, 3])
def test_of_all_equally_likely_rows_no_more_than_alpha_name_a_mode(outcomes: int) -> None:
    # Every row of 12 (or 8) trials, looked at after each: shared first places are named with a chance of at most alpha.
    length, alpha = (12, 0.3) if outcomes == 2 else (8, 0.5)
    wrong = sum(
        any(
            certified_mode([row[:n].count(one) for one in range(outcomes)], alpha) is not None
            for n in range(1, length + 1)
        )
        for row in product(range(outcomes), repeat=length)
    )
    assert 0 < wrong <= alpha * outcomes**length


def test_a_share_of_a_fixed_number_of_trials_is_wilsons() -> None:
    # Wilson's interval for 81 of 263 at 95 % (Newcombe, 1998, table I): 0.2553 to 0.3662.
    assert wilson_interval(81, 263, 0.05) == pytest.approx((0.2553, 0.3662), abs=5e-5)
    assert wilson_interval(0, 20, 0.05) == pytest.approx((0.0, 0.1611), abs=5e-5)
    assert wilson_interval(0, 0, 0.05) == (0.0, 1.0)


def test_a_difference_of_shares_is_newcombes() -> None:
    # 56 of 70 against 48 of 80 (Newcombe, 1998, table II, method 10): 0.0524 to 0.3339.
    assert difference_interval(48, 80, 56, 70, 0.05) == pytest.approx((0.0524, 0.3339), abs=5e-5)
    assert difference_interval(56, 70, 48, 80, 0.05) == pytest.approx((-0.3339, -0.0524), abs=5e-5)
