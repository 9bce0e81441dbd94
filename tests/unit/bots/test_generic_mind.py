"""The generic mind: any message class, what figures fix, what a schema leaves open."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Any, Literal, Self

import pytest
from pydantic import Field, ValidationError, model_validator

from moot.bots.minds.generic import GenericMind, filled
from moot.bots.minds.mind import View
from moot.bots.tools.seeding import generator
from moot.memory.inmemory import InMemoryStore
from moot.protocols.kernel.message import Ident, Instant, Message, Part, Share, Text, Texts
from moot.protocols.kernel.obligation import Obligation
from moot.protocols.rulebook import rulebook
from moot.protocols.trading.messages import RiskDecision
from moot.protocols.trading.seats import TRADER
from tests.doubles.table import START

NOW = datetime(2026, 2, 23, 15, 30, tzinfo=UTC)


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


class Leaf(Part):
    name: Ident
    weight: Annotated[float, Field(gt=0, le=5)]
    children: tuple[Leaf, ...] = ()


class Twig(Part):
    kind: Literal["twig"] = "twig"
    leaves: Annotated[tuple[Leaf, ...], Field(min_length=2, max_length=3)]


class Root(Part):
    kind: Literal["root"]
    depth_m: Annotated[int, Field(gt=2, lt=5, multiple_of=2)]


class Vine(Part):
    next: Vine | None
    others: tuple[Vine, ...]


class Inspection(Message):
    """Everything that a field may be."""

    case_field = "case_id"
    type: Literal["INSPECTION"] = "INSPECTION"
    case_id: str = ""
    tree_id: Ident
    colour: Colour
    grade: Literal["a", "b"]
    is_sound: bool
    share: Share
    below: Annotated[float, Field(lt=-3)]
    price: Decimal
    at: Instant
    day: date
    code: Annotated[str, Field(pattern=r"^[A-Z]{3}-\d$")]
    note: Annotated[str, Field(min_length=40, max_length=60)]
    notes: Texts
    part: Annotated[Twig | Root, Field(discriminator="kind")]
    vine: Vine
    either: int | None
    figures: Mapping[str, float]
    pair: tuple[int, str]
    hint: Text = "none"


class Form(Message):
    """Fields that need and exclude each other."""

    type: Literal["FORM"] = "FORM"
    form: Literal["long", "short"]
    words: Text | None = None
    number: int | None = None

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if (self.words is not None) != (self.form == "long") or (self.number is not None) != (
            self.form == "short"
        ):
            raise ValueError("not the form's fields")
        return self


def drawn(kind: type[Any], given: Mapping[str, Any] | None = None, n: int = 0) -> Any:
    return filled(kind, given or {}, generator("test", n), NOW)


def test_any_class_is_filled_within_its_bounds() -> None:
    found = [drawn(Inspection, n=n) for n in range(60)]
    assert {one.colour for one in found} == set(Colour)
    assert {one.grade for one in found} == {"a", "b"}
    assert {one.is_sound for one in found} == {True, False}
    assert {type(one.part) for one in found} == {Twig, Root}
    assert all(one.at == NOW and one.day == NOW.date() for one in found)
    assert all(one.hint == "none" and one.case_id == "" for one in found)
    assert all(str(one.notes[0]).startswith("Simulated note") for one in found)
    assert len({one.share for one in found}) > 30


def test_the_same_chance_fills_alike() -> None:
    assert drawn(Inspection, n=7) == drawn(Inspection, n=7)
    assert drawn(Inspection, n=7) != drawn(Inspection, n=8)


@pytest.mark.parametrize("kind", rulebook().messages.values(), ids=rulebook().messages)
def test_every_message_of_moot_can_be_filled(kind: type[Message]) -> None:
    for n in range(5):
        assert isinstance(drawn(kind, n=n), kind)


def test_fields_that_need_each_other_are_found_by_chance() -> None:
    assert {drawn(Form, n=n).form for n in range(20)} == {"long", "short"}


def test_what_is_given_stands() -> None:
    given = {
        "share": 0.25,
        "colour": Colour.BLUE,
        "hint": "said",
        "notes": ("one", "two"),
        "nothing_of_it": 3,
    }
    given |= {"at": NOW - timedelta(days=1), "price": Decimal("1.50"), "pair": (4, "x"), "either": None}
    found = drawn(Inspection, given)
    assert {name: getattr(found, name) for name in given if name in Inspection.model_fields} == {
        name: value for name, value in given.items() if name != "nothing_of_it"
    }


def test_a_list_of_values_is_a_choice_and_a_list_that_the_field_may_have_is_not() -> None:
    given = {"grade": ("b",), "either": (3, 4), "notes": ("only", "these"), "tree_id": ["oak", "elm"]}
    found = [drawn(Inspection, given, n) for n in range(20)]
    assert {one.grade for one in found} == {"b"}
    assert {one.either for one in found} == {3, 4}
    assert {one.tree_id for one in found} == {"oak", "elm"}
    assert {one.notes for one in found} == {("only", "these")}


def test_the_rest_of_an_object_that_is_given_in_part_is_drawn() -> None:
    found = drawn(Inspection, {"part": {"kind": "root"}, "figures": {"x": 1.0}})
    assert (found.part.kind, found.part.depth_m, found.figures) == ("root", 4, {"x": 1.0})
    whole = Twig(leaves=(Leaf(name="a", weight=1.0), Leaf(name="b", weight=2.0)))
    assert drawn(Inspection, {"part": whole}).part == whole


def test_what_is_given_and_not_allowed_is_an_error() -> None:
    with pytest.raises(ValidationError):
        drawn(Inspection, {"share": 1.5})


def view(expects: tuple[str, ...], brief: Mapping[str, Any], attempt: int = 0) -> View:
    owed = Obligation(
        "c/look/trader",
        "c",
        TRADER,
        expects,
        "#b-risk",
        START,
        START + timedelta(hours=1),
        timedelta(hours=1),
    )
    return View(owed, TRADER, START, attempt, "", (), (), brief, InMemoryStore().read())


def mind() -> GenericMind:
    return GenericMind(1, {"INSPECTION": Inspection, "FORM": Form, "RISK_DECISION": RiskDecision})


def test_the_mind_answers_with_one_of_what_is_expected() -> None:
    found = [mind().reply(view(("INSPECTION", "FORM"), {}, attempt)) for attempt in range(20)]
    assert {type(reply.body) for reply in found if reply is not None} == {Inspection, Form}


def test_it_stays_silent_where_it_knows_no_class() -> None:
    unknown = view(("VERDICT",), {})
    assert mind().consider(unknown) is None
    assert mind().reply(unknown) is None
    assert mind().consider(view(("FORM",), {})) is not None


def test_an_id_of_the_case_that_must_be_said_is_the_obligations() -> None:
    class Said(Message):
        case_field = "thing_id"
        type: Literal["SAID"] = "SAID"
        thing_id: Ident

    found = GenericMind(1, {"SAID": Said}).reply(view(("SAID",), {}))
    assert found is not None
    assert found.body.thing_id == "c"  # type: ignore[attr-defined]
