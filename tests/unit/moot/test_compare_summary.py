"""What a study's results come to."""

import tracemalloc
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from moot.compare.columns import Column
from moot.compare.results import Result
from moot.compare.summary import Summary, summarise


def _result(case: str, arm: str, right: bool) -> Result:
    scores = {
        "correct": (float(right), 1.0),
        "correct at 3": (float(right and case < "c5"), float(case < "c5")),
    }
    return Result(
        **{
            "case": case,
            "case_sha256": "",
            "repetition": 1,
            "arm": arm,
            "seed": 1,
            "answer": "x",
            "confidence": None,
        },
        **{"calls": 2, "usd": 0.0, "votes": (), "votes_correct": (), "scores": scores, "log": "", "head": ""},
    )


def _summary(score: str) -> Summary:
    registration: dict[str, Any] = {
        **{
            "arms": {"one": {}, "other": {}},
            "repetitions": 1,
            "seed": 1,
            "study": "s",
            "question": "",
            "planned": 20,
        },
        "primary": {"arm": "other", "than": "one", "score": score},
    }
    right = {"one": {0, 1, 2}, "other": {0, 1, 2, 3, 4, 5, 8}}
    return summarise(
        registration, [_result(f"c{n}", arm, n in right[arm]) for n in range(10) for arm in right]
    )


def test_a_part_of_a_figure_is_shown_and_compared_only_where_it_was_registered() -> None:
    found = _summary("correct")
    assert [(one.arm, one.than, one.score) for one in found.differences] == [("other", "one", "correct")]
    assert found.differences[0].found.value == pytest.approx(0.7 - 0.3)
    assert [arm.scores["correct at 3"].value for arm in found.arms] == pytest.approx([3 / 5, 5 / 5])
    assert Summary.of_json(found.as_json()) == found, (
        "what is drawn from kept figures is the same to the last digit"
    )
    registered = _summary("correct at 3").differences
    assert [(one.score, one.is_primary) for one in registered] == [("correct at 3", True), ("correct", False)]
    assert registered[0].found.value == pytest.approx(0.4)


def test_the_order_of_results_moves_nothing_and_a_case_without_a_score_adds_nothing_to_it() -> None:
    column, other = Column(), Column()
    given = [_result(f"c{n}", "one", n % 2 == 0) for n in range(4)]
    given[0] = replace(given[0], scores={**given[0].scores, "rare": (2.0, 5.0)})
    for row, one in enumerate(given):
        column.take(one, row)
    for row in (3, 1, 0, 2):
        other.take(given[row], row)
    rows = np.arange(4)
    for found in (column, other):
        rare, right = found.table("rare", rows), found.table("correct", rows[1:])
        assert rare is not None and right is not None
        assert rare.tolist() == [[2, 5], [0, 0], [0, 0], [0, 0]]
        assert right.tolist() == [[0, 1], [1, 1], [0, 1]]
        assert found.calls(rows).tolist() == [2, 2, 2, 2]
        assert found.table("unheard of", rows) is None


def test_a_case_adds_some_numbers_to_what_is_held_and_not_what_was_answered() -> None:
    column = Column()
    long = replace(_result("c0", "one", right=True), answer="x" * 1_000_000)
    tracemalloc.start()
    try:
        for row in range(200):
            column.take(replace(long, answer=f"{row}{long.answer}"), row)
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held < 1_000_000


def test_none_of_eight_leaves_room_in_a_share_and_none_in_what_has_no_bounds() -> None:
    results = [
        replace(
            _result(f"c{n}", arm, right=False),
            scores={"correct": (0.0, 1.0), "regret": (0.0, 1.0)},
            confidence=0.5,
        )
        for n in range(8)
        for arm in ("one", "other")
    ]
    registration = {
        "arms": {"one": {}, "other": {}},
        "repetitions": 1,
        "seed": 1,
        "study": "s",
        "question": "",
    }
    found = summarise({**registration, "planned": 16}, results)
    for arm in found.arms:
        assert arm.scores["correct"].interval == pytest.approx((0.0, 0.3244), abs=1e-4)
        assert arm.brier is not None
        assert arm.brier.interval == pytest.approx((0.25 * (1 - 0.3244), 0.25 + 0.75 * 0.3244), abs=1e-4)
        assert arm.scores["regret"].interval == (0.0, 0.0)
    differing = {one.score: one.found.interval for one in found.differences}
    assert differing["correct"] == pytest.approx((-0.3244, 0.3244), abs=1e-4)
    assert differing["regret"] == (0.0, 0.0)
