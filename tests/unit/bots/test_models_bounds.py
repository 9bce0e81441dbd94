"""Bounds of a form: left out for most endpoints, tightened for small models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from moot.bots.models.bounds import BOUNDS, MOST_CHARS, MOST_ITEMS, SHARES, tight, without_bounds
from moot.bots.models.forms import form_of
from moot.bots.models.openai_api import OpenAiEndpoint
from moot.bots.models.request import LADDER, Request, Rung
from moot.config.models import ModelSettings
from moot.protocols.rulebook import rulebook

KINDS = sorted(rulebook().messages)


def nodes(schema: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    parts = [*schema.get("properties", {}).values(), *schema.get("anyOf", [])]
    parts += [schema["items"]] if "items" in schema else []
    return [schema, *(one for part in parts for one in nodes(part))]


@pytest.mark.parametrize("name", KINDS)
def test_every_text_list_and_share_of_a_small_models_form_has_an_end(name: str) -> None:
    for node in nodes(tight(form_of(rulebook().messages[name]).schema)):
        if "enum" in node:
            continue
        if node.get("type") == "string":
            assert node["maxLength"] <= MOST_CHARS
        if node.get("type") == "array":
            assert node["maxItems"] <= max(MOST_ITEMS, node.get("minItems", 0))
        assert (node.get("type"), node.get("minimum"), node.get("maximum")) != ("number", 0, 1)


@pytest.mark.parametrize("name", KINDS)
def test_other_models_get_no_bounds_but_the_words_for_them(name: str) -> None:
    form = form_of(rulebook().messages[name])
    for node in nodes(without_bounds(form.schema)):
        assert not BOUNDS & set(node)
    assert [node.get("description") for node in nodes(form.schema)] == [
        node.get("description") for node in nodes(without_bounds(form.schema))
    ]


def test_what_a_computer_holds_is_no_bound_and_a_visible_text_is_said_to_be_not_blank() -> None:
    objection = form_of(rulebook().messages["OBJECTIONS"]).schema["properties"]["objections"]
    assert "description" not in objection and "maxItems" not in objection
    assert objection["items"]["properties"]["text"]["description"] == "at least 1 characters, not blank"
    share = tight(form_of(rulebook().messages["OBJECTIONS"]).schema)["properties"]["confidence"]
    assert share == {"type": "number", "description": "at least 0, at most 1", "enum": list(SHARES)}


@pytest.mark.parametrize("rung", LADDER)
@pytest.mark.parametrize("small", [False, True])
def test_a_small_model_is_held_by_the_schema_and_is_not_shown_it(rung: Rung, small: bool) -> None:
    request = Request(
        messages=({"role": "user", "content": "Object."},),
        max_tokens=100,
        form=form_of(rulebook().messages["OBJECTIONS"]),
    )
    settings = ModelSettings(url="http://127.0.0.1:1/v1", model="m", small=small)
    body = OpenAiEndpoint(settings).write(request, rung)
    enforced = {
        "json_schema": lambda: body["response_format"]["json_schema"]["schema"],
        "tool": lambda: body["tools"][0]["function"]["parameters"],
    }.get(rung)
    if enforced:
        assert any("maxItems" in node for node in nodes(enforced())) == small
    is_shown = any("JSON Schema" in one["content"] for one in body["messages"])
    assert is_shown == (not small or rung != "json_schema")
