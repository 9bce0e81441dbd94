"""Forms: the schema of a message as providers take it, and its own validation as the judge."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field

from moot.bots.models.bounds import without_bounds
from moot.bots.models.errors import NoSchema
from moot.bots.models.forms import form_of
from moot.protocols.rulebook import rulebook
from tests.doubles.model_server import fitting


class Part(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    score: Annotated[float, Field(ge=0, le=1)]


class Whole(BaseModel):
    """What is said.

    More about it.
    """

    model_config = ConfigDict(extra="forbid", strict=True)
    type: Literal["WHOLE"] = "WHOLE"
    case_id: str
    words: Annotated[str, Field(max_length=20)] = ""
    parts: tuple[Part, ...]
    figures: dict[str, float]
    note: str | None = None


def nodes(schema: Any) -> list[dict[str, Any]]:
    if isinstance(schema, dict):
        return [schema, *(one for value in schema.values() for one in nodes(value))]
    return [one for value in schema for one in nodes(value)] if isinstance(schema, list) else []


SAID = {
    "words": "well",
    "parts": [{"score": 0.5}],
    "figures": [{"name": "a", "value": 1.5}],
    "note": None,
}


def test_a_schema_is_flat_closed_and_without_bounds_and_asks_for_what_the_society_does_not_fill_in() -> None:
    schema = without_bounds(form_of(Whole, {"case_id": "c1"}).schema)
    assert list(schema["properties"]) == ["words", "parts", "figures", "note"]
    assert schema["description"] == "What is said."
    text = json.dumps(schema)
    for word in ("$ref", "$defs", "maxLength", "minimum", "maximum", "default", "title", "const"):
        assert f'"{word}"' not in text
    for node in nodes(schema):
        if node.get("type") == "object":
            assert node["additionalProperties"] is False
            assert node["required"] == list(node["properties"])
    assert schema["properties"]["words"]["description"] == "at most 20 characters"
    assert (
        schema["properties"]["parts"]["items"]["properties"]["score"]["description"]
        == "at least 0, at most 1"
    )


def test_what_is_filled_in_joins_what_is_given_and_pairs_are_a_map_again() -> None:
    found = form_of(Whole, {"case_id": "c1"}).judge(SAID)
    assert found == Whole(case_id="c1", words="well", parts=(Part(score=0.5),), figures={"a": 1.5})


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"words": "x" * 21}, "words: has 21 characters, 20 are the most: shorten it"),
        ({"parts": [{"score": 1.5}]}, "parts.0.score: choose at most 1, not 1.5"),
        ({"parts": [{"score": "1"}]}, "parts.0.score: give a number, not '1'"),
        ({"figures": [{"name": "a", "value": 1.0}] * 2}, "figures: a name stands twice"),
        ({"case_id": "c2"}, "case_id: there is no such field to fill in"),
        ({"type": "WHOLE"}, "type: there is no such field to fill in"),
        ({"more": 1}, "more: there is no such field to fill in"),
    ],
)
def test_pydantic_judges_the_whole_in_one_line(change: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError) as refused:
        form_of(Whole, {"case_id": "c1"}).judge({**SAID, **change})
    assert str(refused.value) == why


class Tree(BaseModel):
    branches: list[Tree]


def test_a_class_that_holds_its_own_kind_cannot_be_asked_for() -> None:
    class Wood(BaseModel):
        trees: list[Tree]

    with pytest.raises(NoSchema, match="Wood: Tree holds parts of its own kind"):
        form_of(Wood)


def test_every_message_has_a_form_and_what_may_be_anything_is_asked_for_as_named_plain_values() -> None:
    for kind in rulebook().messages.values():
        schema = form_of(kind).schema
        assert "type" not in schema["properties"]
        fitting(schema)
    given = {"strategy_id": "s1", "backtest_metrics": {}}
    form = form_of(rulebook().messages["DEPLOY_PROPOSAL"], given)
    body = form.judge(
        {"risk_profile": [{"name": "cvar", "value": 0.1}, {"name": "archetype", "value": "momentum"}]}
    )
    assert body.risk_profile == {"cvar": 0.1, "archetype": "momentum"}


def test_ids_that_the_sequencer_counts_are_not_asked_for() -> None:
    proposal = form_of(rulebook().messages["ARCHITECTURE_PROPOSAL"]).schema["properties"]["proposals"]
    assert "change_id" not in proposal["items"]["properties"]
    critique = form_of(rulebook().messages["ARCHITECTURE_CRITIQUE"]).schema["properties"]["critiques"]
    assert "change_id" in critique["items"]["properties"], "there it names a change that exists"
    assert "equity_ref" in form_of(rulebook().messages["BACKTEST_RESULT"]).schema["properties"]
