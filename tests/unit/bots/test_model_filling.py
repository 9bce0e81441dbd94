"""What a model is asked to fill in: a form for every duty of every seat, and what becomes of it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from moot.bots.minds.mind import View
from moot.bots.minds.model.filling import filling_for
from moot.memory.inmemory import InMemoryStore
from moot.protocols.kernel.obligation import Obligation
from moot.protocols.kernel.seats import Seat
from moot.protocols.research.messages import CausalEntry, CausalRecord, StrategyMoved
from moot.protocols.rulebook import rulebook
from tests.doubles.model_server import fitting

NOW = datetime(2026, 2, 23, 10, tzinfo=UTC)
BOOK = rulebook()
DUTIES = [
    (kind, name, seat)
    for kind, machine in BOOK.types.items()
    for name, step in machine.steps.items()
    for seat in sorted(BOOK.bots)
    if callable(step.seat) or step.seat == seat
]


def view(expects: tuple[str, ...], seat: str, kind: str, **brief: Any) -> View:
    due = Obligation(f"case_1/step/{seat}", "case_1", Seat(seat), expects, "#a-arena", NOW, NOW, timedelta(0))
    return View(due, Seat(seat), NOW, 0, "", (), (), brief, InMemoryStore().read(), kind=kind)


@pytest.mark.parametrize(("kind", "step", "seat"), DUTIES, ids=str)
def test_every_duty_of_every_seat_has_a_form(kind: str, step: str, seat: str) -> None:
    expects = BOOK.types[kind].steps[step].expects
    schema = filling_for(view(expects, seat, kind)).form.schema
    shapes = schema["properties"]["answer"]["anyOf"] if len(expects) > 1 else [schema]
    assert len(shapes) == len(expects)
    for shape, name in zip(shapes, expects, strict=True):
        case_field = BOOK.messages[name].case_field
        assert not case_field or case_field not in shape["properties"]
    fitting(schema)


def test_every_seat_of_a_bot_owes_something() -> None:
    assert {seat for _, _, seat in DUTIES} == BOOK.bots


def test_an_answer_that_opens_a_case_names_the_one_that_it_is_part_of() -> None:
    made = filling_for(view(("HYPOTHESIS",), "explorer", "cycle"))
    assert "cycle_id" not in made.form.schema["properties"]
    fields = fitting(made.form.schema)
    fields["expected_traits"]["holding_period_days"] = [2, 5]
    assert made.form.judge(fields).cycle_id == "case_1"


RECORD = CausalRecord(
    record=CausalEntry(
        at=NOW,
        kind="failure",
        hypothesis_id="hyp_1",
        lineage_id=None,
        seat=None,
        archetype="momentum",
        failure_code="tail_risk",
        regime=None,
        summary="Measured.",
        metrics={"alpha": 0.4},
    )
)


def test_what_the_figures_list_is_chosen_among_those() -> None:
    replies = filling_for(view(("REPLIES",), "advocate", "motion", unanswered=(2, 3), round=2)).form.schema
    assert replies["properties"]["replies"]["items"]["properties"]["number"]["enum"] == [2, 3]
    judgment = filling_for(view(("JUDGMENT",), "judge", "motion", options=("yes", "no"))).form.schema
    assert judgment["properties"]["option"]["enum"] == ["yes", "no", ""]
    changes = (("arch_001", "Add a data source"), ("arch_002", "Drop another"))
    verdict = filling_for(
        view(("ARCHITECTURE_VERDICT",), "evolver", "architecture", changes=changes)
    ).form.schema
    assert verdict["properties"]["rejected"]["items"]["enum"] == ["arch_001", "arch_002"]
    nothing = filling_for(view(("REPLIES",), "advocate", "motion", unanswered=(), round=2)).form.schema
    assert "enum" not in nothing["properties"]["replies"]["items"]["properties"]["number"]


def test_objections_are_numbered_for_the_critic() -> None:
    made = filling_for(view(("OBJECTIONS",), "critic", "motion", next_number=4, round=2))
    assert "number" not in made.form.schema["properties"]["objections"]["items"]["properties"]
    one = {"text": "It costs too much.", "severity": "major", "evidence_ref": ""}
    body = made.form.judge({"objections": [one, one], "confidence": 0.6})
    assert [objection.number for objection in body.objections] == [4, 5]
    with pytest.raises(ValueError, match=r"^objections\[0\].number: there is no such field to fill in$"):
        made.form.judge({"objections": [{**one, "number": 9}], "confidence": 0.6})


def test_of_what_is_measured_a_model_is_asked_for_its_own_words_and_changes_nothing_else() -> None:
    made = filling_for(view(("CAUSAL_RECORD",), "evolver", "debate"), RECORD)
    assert fitting(made.form.schema) == {"record": {"summary": "because"}}
    body = made.form.judge({"record": {"summary": "It lost in falls."}})
    assert body.record == RECORD.record.model_copy(update={"summary": "It lost in falls."})
    with pytest.raises(ValueError, match=r"^record.metrics: there is no such field to fill in"):
        made.form.judge({"record": {"summary": "It won.", "metrics": {"alpha": 1.0}}})
    with pytest.raises(ValueError, match=r"^record.lacks summary"):
        made.form.judge({"record": {}})


def test_a_field_whose_name_in_json_is_another_is_filled_in_by_either() -> None:
    moved = StrategyMoved(strategy_id="s1", from_="staging", to="production", reason="Measured.")
    asked = view(
        ("STRATEGY_MOVED",), "operator", "session", strategy_id="s1", from_="staging", to="production"
    )
    made = filling_for(asked, moved)
    assert list(made.form.schema["properties"]) == ["reason"]
    body = made.form.judge({"reason": "It kept its promise."})
    assert body == moved.model_copy(update={"reason": "It kept its promise."})


@pytest.mark.parametrize(("form", "other"), [("guardian", "executability"), ("trader", "concerns")])
def test_of_a_review_of_two_forms_only_ones_own_is_asked_for(form: str, other: str) -> None:
    made = filling_for(view(("DEPLOY_REVIEW",), form, "deployment", form=form))
    assert other not in made.form.schema["properties"]
    assert made.form.judge(fitting(made.form.schema)).form == form


def test_an_object_of_which_the_rules_fix_a_part_is_asked_for_its_rest() -> None:
    brief = {"trading_feedback": {"production_strategies": 2, "daily_pnl_pct": None}}
    made = filling_for(view(("DAILY_REPORT",), "evolver", "daily", **brief))
    assert list(made.form.schema["properties"]["trading_feedback"]["properties"]) == ["feedback_insights"]
