"""The money of a whole study (moot/compare/purse.py)."""

from __future__ import annotations

import pytest

from moot.compare.purse import Purse
from moot.compare.study import ArmIs, CasesFrom, Study

MODEL = "http://127.0.0.1:1/v1#tiny-1"
STUDY = Study(
    study="paid",
    cases=CasesFrom(source="questions"),
    arms={
        "free": ArmIs(is_="solver", budget=1),
        "debate": ArmIs(is_="debate", budget=9, model=MODEL, usd=0.5),
        "vote": ArmIs(is_="vote", budget="debate", model=MODEL, usd=0.1),
    },
)


def test_a_case_may_cost_what_each_answer_may_and_each_vote_of_one() -> None:
    assert Purse(STUDY, 10.0).at_most == pytest.approx(0.5 + 9 * 0.1)


def test_what_is_being_answered_counts_as_if_it_cost_the_most() -> None:
    purse, tasks = Purse(STUDY, 3.0), iter(range(9))
    assert list(purse.paid(tasks)) == [0, 1], "a third one at the same time would not fit"
    purse.settle(0.1)
    purse.settle(0.1)
    assert list(purse.paid(tasks)) == [2, 3], "what was not spent is there again"
    purse.settle(1.4)
    purse.settle(1.4)
    assert not list(purse.paid(tasks))
    assert purse.told() == (
        "the budget of $3.00 ends the study for now: $3.0000 are spent, and the next case may cost $1.4000, more than "
        "the $0.0000 that are left"
    )


def test_without_a_budget_everything_can_be_paid() -> None:
    assert list(Purse(STUDY, None).paid(iter(range(9)))) == list(range(9))
