"""How answers are scored by the truth of their case: one function for each kind, and for questions of one's own."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from moot.bots.tools.backtest import PASS_RULE
from moot.bots.tools.strategies import StrategySpec
from moot.compare.cases.case import CORRECT, Case, Score
from moot.compare.cases.process import true_sharpe
from moot.protocols.kernel.frozen import Json

GOOD: Final = next(rule.bound for rule in PASS_RULE if rule.metric == "sharpe")
"""From which true Sharpe ratio on a strategy is worth approving: what the society's own backtests must show."""

WIDEST: Final = 3
"""Of how many lines a finding may speak at most: whoever objects to a whole document has found nothing."""

TOLERANCE: Final = 1e-9
"""By how much a number may be off where its case says nothing, as a fraction."""


def markets(case: Case, answer: Json) -> Mapping[str, Score]:
    """Score a decision on a strategy.

    An approval is worth the true Sharpe ratio of the strategy that was approved, which a debate may have changed. The
    oracle approves what is shown where that is worth it, and changes nothing: who improves on it has a regret below 0.
    Silence is no approval, and not correct.

    Returns:
        `correct`; `approved`, a share; `true_sharpe`, a mean over approvals; `precision` and `recall` of approvals;
        `regret`, in Sharpe ratio beyond the bound for each case.

    Raises:
        ValueError: The truth lacks what is needed, or the approved strategy cannot trade.
    """
    truth: Any = case.truth
    given: Any = answer
    shown = float(truth["sharpe"])
    is_worth_it = shown >= GOOD
    verdict = given["verdict"] if isinstance(given, Mapping) else given
    is_approved = verdict == "APPROVE"
    earned = 0.0
    if is_approved:
        earned = _earned(given, truth, case) if isinstance(given, Mapping) else shown
    is_right = earned >= GOOD if is_approved else verdict is not None and not is_worth_it
    gain = earned - GOOD if is_approved else 0.0
    return {
        CORRECT: (float(is_right), 1.0),
        "approved": (float(is_approved), 1.0),
        "true_sharpe": (earned, float(is_approved)),
        "precision": (float(is_approved and earned >= GOOD), float(is_approved)),
        "recall": (float(is_approved and is_worth_it), float(is_worth_it)),
        "regret": (max(shown - GOOD, 0.0) - gain, 1.0),
    }


def documents(case: Case, answer: Json) -> Mapping[str, Score]:
    """Score what was found in a document.

    A finding is right when its lines touch those of an error, and they are three at most. An error counts once however
    often it is found; a finding that touches none is a false alarm.

    Returns:
        `correct`: whether flawed and clean were told apart, by finding anything; `precision`, `recall` and `f1`;
        `false_alarms`, a mean over documents without errors; and `found KIND` for each kind of error in the document.

    Raises:
        ValueError: The truth lacks what is needed.
    """
    truth: Any = case.truth
    errors = truth["errors"]
    found: Any = answer or ()
    places = [_lines(one) for one in found]
    hit = [any(_touch(place, _lines(error)) for place in places) for error in errors]
    wrong = sum(not any(_touch(place, _lines(error)) for error in errors) for place in places)
    right, missed = sum(hit), len(hit) - sum(hit)
    return {
        CORRECT: (float(answer is not None and bool(places) == bool(errors)), 1.0),
        "precision": (right, right + wrong),
        "recall": (right, len(errors)),
        "f1": (2 * right, 2 * right + wrong + missed),
        "false_alarms": (float(wrong), 1.0) if not errors else (0.0, 0.0),
        **{f"found {error['kind']}": (float(was), 1.0) for error, was in zip(errors, hit, strict=True)},
    }


def exact(case: Case, answer: Json) -> Mapping[str, Score]:
    """Score a text: right when it is the truth, or one of them, but for case, blanks and a full stop."""
    truth: Any = case.truth
    allowed = truth if isinstance(truth, Sequence) and not isinstance(truth, str) else (truth,)
    return {CORRECT: (float(answer is not None and _plain(answer) in {_plain(one) for one in allowed}), 1.0)}


def number(case: Case, answer: Json) -> Mapping[str, Score]:
    """Score a number: the last one in the answer, within the tolerance of the truth.

    The truth is a number, or `value` with `tolerance`, absolute.

    Raises:
        ValueError: The truth is no number.
    """
    truth: Any = case.truth
    value = truth["value"] if isinstance(truth, Mapping) else truth
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"the truth {value!r:.60} is no number: give a number, or value and tolerance")
    tolerance = truth.get("tolerance", 0.0) if isinstance(truth, Mapping) else abs(value) * TOLERANCE
    given = re.findall(r"-?\d[\d,]*(?:\.\d+)?(?:[eE][-+]?\d+)?", str(answer)) if answer is not None else []
    is_right = bool(given) and abs(float(given[-1].replace(",", "")) - value) <= max(tolerance, 0.0)
    return {CORRECT: (float(is_right), 1.0)}


def questions(case: Case, answer: Json) -> Mapping[str, Score]:
    """Score an answer by what its truth is: a number, or a text; and once more by difficulty.

    Returns:
        `correct`, and the same as `correct at N` for the difficulty N.
    """
    truth: Any = case.truth
    by = number if isinstance(truth["answer"], int | float) else exact
    found = by(Case(case.id, case.kind, case.shown, truth["answer"]), answer)[CORRECT]
    return {CORRECT: found, f"{CORRECT} at {truth['difficulty']}": found}


def _earned(given: Mapping[str, Any], truth: Mapping[str, Any], case: Case) -> float:
    shown: Any = case.shown["strategy"]
    spec, own = (
        StrategySpec(one["archetype"], one["params"], tuple(one["symbols"]))
        for one in (given["strategy"], shown)
    )
    return float(truth["sharpe"]) if spec == own else true_sharpe(spec, truth["stocks"]).value


def _lines(one: Mapping[str, Any]) -> tuple[int, int]:
    first, last = one["lines"]
    return int(first), int(last)


def _touch(place: tuple[int, int], error: tuple[int, int]) -> bool:
    is_narrow = place[1] - place[0] < max(WIDEST, error[1] - error[0] + 1)
    return is_narrow and place[0] <= error[1] and error[0] <= place[1]


def _plain(text: object) -> str:
    return " ".join(str(text).split()).rstrip(".").casefold()
