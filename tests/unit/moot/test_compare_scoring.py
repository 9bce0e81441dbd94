"""What an answer is worth, by the truth of its case."""

from dataclasses import replace
from typing import Any

import pytest

from moot.compare.cases.case import Case
from moot.compare.cases.documents import Documents
from moot.compare.cases.markets import Markets
from moot.compare.cases.process import true_sharpe
from moot.compare.scoring import GOOD, documents, exact, markets, number, questions


@pytest.fixture(scope="module")
def market() -> Case:
    return next(iter(Markets(1, 1)))


def _worth(case: Case, sharpe: float) -> Case:
    return replace(case, truth={**case.truth, "sharpe": sharpe})  # type: ignore[dict-item]


def test_an_approval_is_worth_what_the_strategy_truly_earns(market: Case) -> None:
    good, bad = _worth(market, GOOD + 0.5), _worth(market, GOOD - 0.4)
    assert markets(good, "APPROVE") == {
        **{"correct": (1.0, 1.0), "approved": (1.0, 1.0), "true_sharpe": (GOOD + 0.5, 1.0)},
        **{"precision": (1.0, 1.0), "recall": (1.0, 1.0), "regret": (0.0, 1.0)},
    }
    assert markets(good, "REJECT")["regret"] == pytest.approx((0.5, 1.0))
    assert markets(good, "REJECT")["true_sharpe"] == (0.0, 0.0)
    assert markets(good, "REJECT")["recall"] == (0.0, 1.0)
    assert markets(bad, "APPROVE")["regret"] == pytest.approx((0.4, 1.0))
    assert markets(bad, "APPROVE")["precision"] == (0.0, 1.0)
    assert markets(bad, "APPROVE")["recall"] == (0.0, 0.0)
    assert markets(bad, "REJECT")["correct"] == (1.0, 1.0)
    # Silence is no approval, and nobody decided.
    assert markets(bad, None)["correct"] == (0.0, 1.0)
    assert markets(bad, None)["approved"] == (0.0, 1.0)


def test_a_strategy_that_was_changed_is_judged_as_changed(market: Case) -> None:
    shown: Any = market.shown["strategy"]
    worse = next(iter(Markets(2, 1))).shown["strategy"]
    from moot.bots.tools.strategies import StrategySpec

    truth = true_sharpe(StrategySpec(**worse), market.truth["stocks"]).value  # type: ignore[arg-type, index, call-overload]
    found = markets(_worth(market, 2.0), {"verdict": "APPROVE", "strategy": worse})
    assert found["true_sharpe"] == (truth, 1.0)
    assert found["regret"] == pytest.approx((2.0 - truth, 1.0))
    assert markets(_worth(market, 2.0), {"verdict": "APPROVE", "strategy": shown})["regret"] == (0.0, 1.0)


def _found(*lines: tuple[int, int]) -> tuple[dict[str, Any], ...]:
    return tuple({"lines": one, "text": "here"} for one in lines)


def test_findings_are_held_against_where_errors_are() -> None:
    case = next(iter(Documents(1, 1)))
    kinds = ("wrong_sum", "same_party")
    truth = {
        "errors": tuple({"lines": (at, at), "kind": kind} for at, kind in zip((9, 20), kinds, strict=True))
    }
    case = replace(case, truth=truth)
    # One error found twice, one missed, one false alarm.
    found = documents(case, _found((9, 9), (8, 10), (30, 30)))
    assert found["precision"] == (1, 2)
    assert found["recall"] == (1, 2)
    assert found["f1"] == (2, 4)
    assert found["false_alarms"] == (0.0, 0.0)
    assert found["found wrong_sum"] == (1.0, 1.0)
    assert found["found same_party"] == (0.0, 1.0)
    # Who objects to all of it has found nothing.
    assert documents(case, _found((1, 60)))["recall"] == (0, 2)
    clean = replace(case, truth={"errors": ()})
    assert documents(clean, _found((9, 9), (12, 12)))["false_alarms"] == (2.0, 1.0)
    assert documents(clean, ())["correct"] == (1.0, 1.0)
    assert documents(clean, None)["correct"] == (0.0, 1.0)
    assert documents(case, ())["correct"] == (0.0, 1.0)


@pytest.mark.parametrize(
    ("truth", "answer", "is_right"),
    [
        ("Oslo", " oslo. ", True),
        ("Oslo", "Bergen", False),
        (("UK", "United Kingdom"), "united  kingdom", True),
        ("Oslo", None, False),
    ],
)
def test_a_text_matches_but_for_case_and_blanks(truth: Any, answer: Any, is_right: bool) -> None:
    assert exact(Case("q", "question", {}, truth), answer)["correct"] == (float(is_right), 1.0)


@pytest.mark.parametrize(
    ("truth", "answer", "is_right"),
    [
        (24, "24", True),
        (24, "First 10, then 24.", True),
        (24, "24, or perhaps 25", False),
        (1200, "1,200 screws", True),
        ({"value": 3.14, "tolerance": 0.01}, "3.149", True),
        ({"value": 3.14, "tolerance": 0.01}, "3.16", False),
        (-2, "it is -2", True),
        (24, "none", False),
        (24, None, False),
    ],
)
def test_a_number_is_right_within_its_tolerance(truth: Any, answer: Any, is_right: bool) -> None:
    assert number(Case("q", "question", {}, truth), answer)["correct"] == (float(is_right), 1.0)


def test_a_truth_that_is_no_number_is_refused() -> None:
    with pytest.raises(
        ValueError, match="the truth 'many' is no number: give a number, or value and tolerance"
    ):
        number(Case("q", "question", {}, "many"), "3")


def test_questions_are_counted_by_difficulty_too() -> None:
    case = Case("q", "question", {}, {"answer": "Ada", "sort": "logic", "difficulty": 3})
    assert questions(case, "Ada") == {"correct": (1.0, 1.0), "correct at 3": (1.0, 1.0)}
    assert questions(case, "Ben")["correct"] == (0.0, 1.0)
    assert questions(replace(case, truth={"answer": 7, "sort": "arithmetic", "difficulty": 1}), "7.") == {
        **{"correct": (1.0, 1.0), "correct at 1": (1.0, 1.0)}
    }
