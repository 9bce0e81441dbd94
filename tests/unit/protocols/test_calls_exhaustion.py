from datetime import timedelta
from typing import Any

import pytest

from moot.protocols.calls.exhaustion import Exhaustion
from moot.protocols.calls.messages import BudgetSet
from moot.protocols.escalation.messages import EscalationAnswer
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.people import Note
from moot.protocols.kernel.seats import ADMIN
from tests.doubles.call_table import CallTable

SPENT = {"calls": 0}
SIMULATED = {"calls": 0, "on_exhausted": "simulated"}


def refused(budget: dict[str, Any], **config: Any) -> CallTable:
    table = CallTable(budget, **config)
    table.refuse()
    table.officers()
    return table


def exhaustion(table: CallTable) -> Exhaustion:
    found = table.docket.context.fold_named("exhaustion")
    assert isinstance(found, Exhaustion)
    return found


def said(table: CallTable, kind: str) -> list[Envelope]:
    return [env for env in table.log if env.body.type == kind]


def answer(table: CallTable, option: int) -> None:
    case_id = said(table, "ESCALATION")[-1].case_id
    body = EscalationAnswer(escalation_id=case_id or "", option=option)
    table.post(ADMIN, body, channel="#admin", case_id=case_id, key=f"answer-{case_id}")
    table.officers()


def test_a_spent_budget_escalates_once_with_the_conservative_option_first() -> None:
    table = refused(SPENT)
    table.refuse(turn=2)
    table.officers()
    (env,) = said(table, "ESCALATION")
    body: Any = env.body
    assert (
        body.context
        == "the budget of the society is 0 calls, 0 calls booked: 0 calls left, the call may take 1 call"
    )
    assert [option.effect for option in body.options] == [
        "stay_silent",
        "simulate",
        "raise_budget",
        "stop_society",
    ]
    assert said(table, "CONFIG_CHANGED") == []


def test_a_refusal_that_is_wrong_where_it_stands_changes_nothing() -> None:
    table = refused({"calls": 1})
    assert table.effects[-1].superseded
    assert said(table, "ESCALATION") == []


def test_raising_by_the_same_amount_makes_room_and_asks_again_only_when_that_is_spent() -> None:
    table = CallTable({"calls": 1})
    table.settle(table.reserve().body.call_id, usage=None, outcome="unknown")
    table.refuse()
    table.officers()
    answer(table, 3)
    assert not exhaustion(table).spent
    table.settle(table.reserve().body.call_id, usage=None, outcome="unknown")
    assert not table.effects[-2].superseded
    table.refuse()
    table.officers()
    assert len(said(table, "ESCALATION")) == 2


def test_a_raise_makes_room_for_the_call_also_where_more_is_booked_than_the_budget_was_set_to() -> None:
    table = CallTable({"calls": 1})
    table.settle(table.reserve().body.call_id, usage=None, outcome="unknown")
    table.budget(scope="society", calls=0)
    table.refuse()
    table.officers()
    answer(table, 3)
    table.reserve()
    assert not table.effects[-1].superseded


def test_a_budget_that_an_admin_sets_ends_the_escalation_of_the_spent_one() -> None:
    table = refused(SPENT)
    table.budget(scope="society", calls=5)
    table.officers()
    (end,) = said(table, "ESCALATION_RESOLVED")
    assert (end.body.how, exhaustion(table).spent) == ("withdrawn", {})
    table.reserve()
    assert not table.effects[-1].superseded


def test_only_the_message_that_makes_room_or_seats_other_minds_has_seats_asked_again() -> None:
    table = refused(SPENT)
    made = table.post(ADMIN, BudgetSet(scope="society", calls=5), channel="#admin").seq
    assert exhaustion(table).asks_again_at == made
    note = table.post(ADMIN, Note(text="hm"), channel="#admin").seq
    assert exhaustion(table).asks_again_at != note
    table = refused(SIMULATED)
    (change,) = said(table, "CONFIG_CHANGED")
    assert exhaustion(table).asks_again_at == change.seq


def test_simulated_minds_answer_when_that_is_chosen_and_no_longer_after_a_raise() -> None:
    table = refused(SPENT)
    assert exhaustion(table).goes_on_with("advocate") == "model"
    answer(table, 2)
    (change,) = said(table, "CONFIG_CHANGED")
    assert change.body.changes["minds"] == {"advocate": "simulated"}
    assert exhaustion(table).goes_on_with("advocate") == "simulated"
    assert table.docket.context.fold_named("minds").of("advocate", change.seq) == "simulated"

    table.budget(scope="society", calls=5)
    table.officers()
    assert said(table, "CONFIG_CHANGED")[-1].body.changes["minds"] == {"advocate": {"model": "priced"}}
    assert exhaustion(table).goes_on_with("advocate") == "model"


def test_until_somebody_answers_the_configuration_says_who_goes_on() -> None:
    table = refused(SIMULATED)
    assert len(said(table, "CONFIG_CHANGED")) == 1
    answer(table, 2)
    assert said(table, "CONFIG_CHANGED")[-1].body.changes["minds"] == {"advocate": {"model": "priced"}}


@pytest.mark.parametrize(
    ("budget", "effect", "mind"),
    [(SPENT, "stay_silent", "model"), (SIMULATED, "simulate", "simulated")],
    ids=["silent", "simulated"],
)
def test_where_nobody_answers_it_stays_as_the_configuration_says(
    budget: dict[str, Any], effect: str, mind: str
) -> None:
    table = refused(budget)
    table.wait(hours=4)
    (end,) = said(table, "ESCALATION_RESOLVED")
    assert (end.body.how, end.body.effect) == ("expired", effect)
    assert exhaustion(table).goes_on_with("advocate") == mind


def test_the_budget_of_a_seat_holds_up_that_seat_alone() -> None:
    minds = {"advocate": {"model": "priced"}, "judge": {"model": "priced"}, "critic": "silent"}
    table = refused({"seat": {"calls": 0}, "on_exhausted": "simulated"}, minds=minds)
    (change,) = said(table, "CONFIG_CHANGED")
    assert change.body.changes["minds"] == {**minds, "advocate": "simulated"}


def test_a_spent_day_is_over_at_midnight() -> None:
    table = refused({"day": {"calls": 0}})
    answer(table, 2)
    table.wait(hours=14)
    assert table.now.hour == 0
    assert [change.sent_at.hour for change in said(table, "CONFIG_CHANGED")] == [10, 0]
    assert exhaustion(table).spent == {}


def test_a_spent_day_is_not_spent_any_more_at_midnight_though_nobody_says_anything() -> None:
    table = refused({"day": {"calls": 0}})
    assert list(exhaustion(table).spent_at(table.now)) == ["day/2026-02-23/calls"]
    assert exhaustion(table).spent_at(table.now + timedelta(hours=14)) == {}


def test_the_budget_of_a_case_is_over_with_the_case() -> None:
    table = refused({"case": {"calls": 0}, "on_exhausted": "simulated"})
    assert list(exhaustion(table).spent) == [f"case/{table.motion_id}/calls"]
    table.wait(hours=2)
    assert table.outcome
    assert exhaustion(table).spent == {}


@pytest.mark.parametrize("model", ["free", "unheard of"])
def test_a_model_whose_price_is_not_known_is_refused_under_a_budget_in_dollars_and_nobody_is_asked(
    model: str,
) -> None:
    table = CallTable({"usd": "2"})
    table.refuse(model=model, max_cost=None)
    table.officers()
    assert not table.effects[-1].superseded
    assert said(table, "ESCALATION") == []
    table.reserve(model=model, max_cost=None, turn=2)
    assert table.effects[-1].superseded


def test_a_start_with_another_budget_asks_nobody_about_the_old_one() -> None:
    table = refused(SPENT)
    table.given["budget"] = {"calls": 9}
    table.down(hours=1)
    assert exhaustion(table).spent == {}
    assert said(table, "ESCALATION_RESOLVED")[-1].body.how == "withdrawn"


def test_what_an_admin_set_holds_until_the_configuration_changes() -> None:
    table = CallTable({"calls": 1})
    table.budget(scope="society", calls=7)
    table.down(hours=1)
    assert table.ledger.books.limits["society"].calls == 7
    table.given["budget"] = {"calls": 2}
    table.down(hours=1)
    assert table.ledger.books.limits["society"].calls == 2
