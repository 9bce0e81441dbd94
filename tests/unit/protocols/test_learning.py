"""Patterns, principles and strictness: the arithmetic of spec 2.1 and 2.2 (R-D13, R-D14)."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.protocols.research.learning import (
    START_THRESHOLDS,
    count_attempts,
    find_patterns,
    matching,
    pattern_of,
    principle_from,
    review,
    threshold_review,
    wilson_lower_bound,
)
from moot.protocols.research.messages import CausalEntry, Principle, RiskScores, ThresholdReview
from moot.protocols.research.strictness import adjust, clip

NOON = datetime(2026, 2, 23, 22, tzinfo=UTC)
DAY = timedelta(days=1)


def lesson(n: int, **fields: Any) -> CausalEntry:
    defaults: dict[str, Any] = {
        "at": NOON,
        "kind": "failure",
        "hypothesis_id": f"hyp_{n}",
        "lineage_id": None,
        "seat": None,
        "archetype": "momentum",
        "failure_code": "overfitting",
        "regime": "calm_up",
        "summary": "",
        "metrics": {},
    }
    return CausalEntry(record_id=f"ref_{n:03d}", **{**defaults, **fields})


def known(**fields: Any) -> Principle:
    defaults: dict[str, Any] = {
        "principle_id": "prin_001",
        "statement": "Momentum is no friend of calm",
        "evidence_count": 3,
        "confidence": 0.4,
        "source_reflections": ("ref_901", "ref_902", "ref_903"),
        "created": NOON - DAY,
        "last_validated": NOON - DAY,
        "change": "created",
        "archetype": "momentum",
        "failure_code": "overfitting",
        "regime": "calm_up",
    }
    return Principle(**{**defaults, **fields})


# ------------------------------------------------------------------ Wilson


@pytest.mark.parametrize(
    ("hits", "trials", "expected"),
    [
        # By hand, z² = 3.841459: all n of n give n / (n + z²); none of n give 0.
        (3, 3, 3 / 6.841459),
        (10, 10, 10 / 13.841459),
        (0, 7, 0.0),
        # p = 1/2, n = 10: centre 0.692073 / 1.384146, spread 1.959964 × √(0.025 + 0.009604) / 1.384146.
        (5, 10, 0.5 - 1.959964 * 0.186020 / 1.384146),
        # Textbook: 8 of 10 gives (0.490, 0.943).
        (8, 10, 0.490162),
        (1, 10, 0.017876),
        (0, 0, 0.0),
    ],
)
def test_wilson_lower_bound_agrees_with_hand_computed_values(hits: int, trials: int, expected: float) -> None:
    assert wilson_lower_bound(hits, trials) == pytest.approx(expected, abs=2e-6)


@pytest.mark.parametrize(("hits", "trials"), [(4, 3), (-1, 3), (0, -1)])
def test_wilson_refuses_what_is_no_share(hits: int, trials: int) -> None:
    with pytest.raises(ValueError, match="hits"):
        wilson_lower_bound(hits, trials)


@given(st.integers(0, 400), st.integers(1, 400))
def test_wilson_lies_below_the_share_and_rises_with_hits(hits: int, more: int) -> None:
    trials = hits + more
    assert 0 <= wilson_lower_bound(hits, trials) <= hits / trials
    assert wilson_lower_bound(hits, trials) < wilson_lower_bound(hits + 1, trials) <= 1


# ---------------------------------------------------------------- patterns


def test_two_similar_failures_are_no_pattern_and_three_are() -> None:
    two = [lesson(1), lesson(2)]
    assert find_patterns(two) == ()
    (pattern,) = find_patterns([*two, lesson(3)])
    assert pattern[:3] == ("momentum", "overfitting", "calm_up")
    assert pattern.sources == ("ref_001", "ref_002", "ref_003")


@pytest.mark.parametrize(
    "other",
    [
        {"archetype": "breakout"},
        {"failure_code": "tail_risk"},
        {"regime": "volatile_down"},
        {"kind": "success"},
        {"kind": "timeout"},
        {"kind": "observation"},
        {"archetype": None},
        {"failure_code": None},
        {"regime": None},
    ],
)
def test_a_third_failure_that_differs_makes_no_pattern(other: dict[str, Any]) -> None:
    assert find_patterns([lesson(1), lesson(2), lesson(3, **other)]) == ()


def test_the_same_hypothesis_told_three_times_is_one_failure() -> None:
    assert find_patterns([lesson(n, hypothesis_id="hyp_1") for n in range(1, 4)]) == ()
    pattern = pattern_of(
        [lesson(1, hypothesis_id="h"), lesson(2, hypothesis_id="h")], "momentum", "overfitting", "calm_up"
    )
    assert pattern.sources == ("ref_001",)
    assert pattern.attempts == 1


def test_records_without_a_hypothesis_count_one_by_one() -> None:
    (pattern,) = find_patterns([lesson(n, hypothesis_id=None) for n in range(1, 4)])
    assert len(pattern.failures) == pattern.attempts == 3


def test_confidence_weighs_failures_against_all_attempts_in_that_setting() -> None:
    failures = [lesson(n) for n in range(1, 4)]
    others = [
        lesson(4, kind="success", failure_code=None),
        lesson(5, failure_code="tail_risk"),
        lesson(6, kind="timeout"),
        lesson(7, kind="observation"),
        lesson(8, regime="volatile_up"),
        lesson(9, archetype="breakout"),
    ]
    (alone,) = find_patterns(failures)
    (pattern,) = find_patterns([*failures, *others])
    assert alone.attempts == 3
    assert pattern.attempts == 5, (
        "three failures, a success and another failure; not the timeout, not elsewhere"
    )
    assert pattern.confidence == wilson_lower_bound(3, 5) < alone.confidence
    (given_attempts,) = find_patterns(failures, {("momentum", "calm_up"): 12})
    assert given_attempts.confidence == wilson_lower_bound(3, 12)


def test_attempts_that_are_fewer_than_failures_are_refused() -> None:
    with pytest.raises(ValueError, match="3 failures of 2 attempts"):
        find_patterns([lesson(n) for n in range(1, 4)], {("momentum", "calm_up"): 2})


def test_the_window_excludes_its_start_and_includes_its_end() -> None:
    since, until = NOON - DAY, NOON
    tick = timedelta(microseconds=1)
    inside = [lesson(1, at=since + tick), lesson(2, at=NOON - DAY / 2), lesson(3, at=until)]
    (pattern,) = find_patterns(inside, since=since, until=until)
    assert len(pattern.failures) == 3
    assert find_patterns([*inside[1:], lesson(1, at=since)], since=since, until=until) == ()
    assert find_patterns([*inside[:2], lesson(3, at=until + tick)], since=since, until=until) == ()


def test_attempts_outside_the_window_do_not_dilute_its_confidence() -> None:
    records = [lesson(n) for n in range(1, 4)] + [lesson(4, kind="success", at=NOON - DAY)]
    (pattern,) = find_patterns(records, since=NOON - DAY, until=NOON)
    assert pattern.attempts == 3


def test_patterns_come_sorted_whatever_the_order_of_records() -> None:
    kinds = [(archetype, regime) for archetype in ("momentum", "breakout", "multi") for regime in "zab"]
    records = [
        lesson(10 * k + n, archetype=archetype, regime=regime)
        for k, (archetype, regime) in enumerate(kinds)
        for n in range(3)
    ]
    named = [pattern[:3] for pattern in find_patterns(records)]
    assert named == [(archetype, "overfitting", regime) for archetype, regime in sorted(kinds)]
    assert named == [pattern[:3] for pattern in find_patterns(records[::-1])]


def test_a_failure_with_two_codes_is_one_attempt() -> None:
    assert count_attempts([lesson(1), lesson(2, hypothesis_id="hyp_1", failure_code="tail_risk")]) == {
        ("momentum", "calm_up"): 1
    }


# -------------------------------------------------------------- principles


def test_a_new_pattern_creates_a_principle() -> None:
    (pattern,) = find_patterns([lesson(n) for n in range(1, 4)])
    finding = principle_from(pattern)
    assert finding.change == "created"
    assert (
        finding.statement == "Momentum strategies keep failing while the market is calm and up: overfitting"
    )
    assert (finding.evidence_count, finding.confidence) == (3, 0.438503)
    assert finding.sources == ("ref_001", "ref_002", "ref_003")


def test_a_known_pattern_updates_its_principle_and_keeps_the_words() -> None:
    (pattern,) = find_patterns([lesson(n) for n in range(1, 5)])
    principles = [known(principle_id="prin_000", regime="volatile_up"), known()]
    existing = matching(pattern, principles)
    assert existing is principles[1]
    finding = principle_from(pattern, existing, is_cumulative=False)
    assert finding.change == "updated"
    assert finding.statement == "Momentum is no friend of calm"
    assert finding.evidence_count == 4
    assert finding.confidence == wilson_lower_bound(4, 4)
    assert finding.sources == ("ref_001", "ref_002", "ref_003", "ref_004")


@pytest.mark.rule("R-G3")
def test_r_g3_an_update_adds_distinct_reflections_to_the_earlier_ones() -> None:
    (pattern,) = find_patterns([lesson(n) for n in range(2, 6)])
    earlier = known(source_reflections=("ref_000", "ref_002", "ref_003"), evidence_count=3)
    finding = principle_from(pattern, earlier)
    assert finding.sources == ("ref_000", "ref_002", "ref_003", "ref_004", "ref_005")
    assert finding.evidence_count == 5
    assert finding.confidence == wilson_lower_bound(4, 4)
    assert principle_from(pattern, earlier, is_cumulative=False).evidence_count == 4


def test_a_principle_about_something_else_is_not_updated() -> None:
    (pattern,) = find_patterns([lesson(n) for n in range(1, 4)])
    other = known(failure_code="tail_risk")
    assert matching(pattern, [other]) is None
    with pytest.raises(ValueError, match="not about"):
        principle_from(pattern, other)


# -------------------------------------------------------------- strictness


def test_there_is_a_starting_threshold_for_each_score_of_an_assessment() -> None:
    assert list(START_THRESHOLDS) == list(RiskScores.model_fields)
    assert all(clip(strictness) == strictness for strictness in START_THRESHOLDS.values())


@pytest.mark.rule("2.2", "R-F15")
@pytest.mark.parametrize(
    ("rejects", "wrongly", "approvals", "failed", "recommendation", "factor"),
    [
        (10, 3, 10, 4, "keep", 1.0),  # exactly 30 % and 40 %: strictly greater is asked
        (10, 4, 10, 4, "lower", 0.9),
        (1000, 301, 0, 0, "lower", 0.9),
        (10, 3, 10, 5, "raise", 1.1),
        (10, 4, 10, 5, "raise", 1.1),  # both: raising is the cautious one
        (0, 0, 0, 0, "keep", 1.0),
        (0, 0, 1, 1, "raise", 1.1),
    ],
)
def test_rates_above_30_and_40_percent_move_the_thresholds(
    rejects: int, wrongly: int, approvals: int, failed: int, recommendation: str, factor: float
) -> None:
    found = threshold_review(
        rejects=rejects, wrongly_rejected=wrongly, approvals=approvals, failed_backtests=failed
    )
    assert (found.recommendation, found.factor) == (recommendation, factor)


def test_a_review_is_a_threshold_review_without_its_period() -> None:
    fields = review(rejects=3, wrongly_rejected=1, approvals=7, failed_backtests=2)
    message = ThresholdReview(period="2026-W09", **fields)
    assert message.false_negative_rate == 0.333333
    assert message.false_positive_rate == 0.285714
    assert message.model_dump() == {"type": "THRESHOLD_REVIEW", "period": "2026-W09", **fields}


@pytest.mark.parametrize("wrong", [(1, 2, 0, 0), (0, 0, 1, 2), (1, -1, 0, 0)])
def test_a_part_that_exceeds_its_whole_is_refused(wrong: tuple[int, int, int, int]) -> None:
    rejects, wrongly, approvals, failed = wrong
    with pytest.raises(ValueError, match="of"):
        threshold_review(
            rejects=rejects, wrongly_rejected=wrongly, approvals=approvals, failed_backtests=failed
        )


def test_lowering_multiplies_by_nine_tenths_and_stops_at_the_bounds() -> None:
    before = {"tail_risk": 0.6, "overfitting": 0.21, "crowding_risk": 0.9}
    assert adjust(before, 0.9) == {"tail_risk": 0.54, "overfitting": 0.2, "crowding_risk": 0.81}
    assert adjust(before, 1.1) == {"tail_risk": 0.66, "overfitting": 0.231, "crowding_risk": 0.95}
    assert adjust(before, 1.0) == before


@given(st.dictionaries(st.text(), st.floats(0, 1)), st.lists(st.sampled_from([0.9, 1.0, 1.1]), max_size=60))
def test_no_sequence_of_reviews_leaves_the_bounds(thresholds: dict[str, float], factors: list[float]) -> None:
    for factor in factors:
        thresholds = adjust(thresholds, factor)
        assert all(0.2 <= strictness <= 0.95 for strictness in thresholds.values())


@pytest.mark.parametrize("factor", [0.0, -1.0, float("nan"), float("inf")])
def test_a_factor_that_is_none_is_refused(factor: float) -> None:
    with pytest.raises(ValueError, match="factor"):
        adjust({}, factor)
