"""What a study's results come to."""

from typing import Any

import pytest

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
    registered = _summary("correct at 3").differences
    assert [(one.score, one.is_primary) for one in registered] == [("correct at 3", True), ("correct", False)]
    assert registered[0].found.value == pytest.approx(0.4)
