"""Arguments by a tool's own schema, and what a server's answer is held to."""

from __future__ import annotations

import json
from typing import Any

import pytest
from mcp_types import CallToolResult, TextContent

from moot.bots.notebook.answers import MAX_ANSWER_CHARS, TEXT_CHARS, passages
from moot.bots.notebook.errors import NotebookGarbage, NotebookRefused
from moot.bots.notebook.parameters import arguments_for

TEXT: dict[str, Any] = {"type": "string"}
ASKED = {"query": "weekend gaps", "limit": 5}


def schema(required: list[str], **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required}


@pytest.mark.parametrize(
    ("shape", "given"),
    [
        ({}, ASKED),
        (schema(["query"], query=TEXT, limit={"type": "integer"}), ASKED),
        (schema(["question"], question=TEXT), {"question": "weekend gaps"}),
        (schema(["text"], text=TEXT, top_k={"type": "integer"}), {"text": "weekend gaps", "top_k": 5}),
        (schema([], q=TEXT), {"q": "weekend gaps"}),
        (schema(["Query"], Query=TEXT), {"Query": "weekend gaps"}),
        (schema(["user_question"], user_question=TEXT), {"user_question": "weekend gaps"}),
        (schema(["queries"], queries={"type": "array", "items": TEXT}), None),
        (schema(["query"], query={"type": "array", "items": TEXT}), {"query": ["weekend gaps"]}),
        (
            schema(["query", "mode"], query=TEXT, mode={**TEXT, "default": "fast"}),
            {"query": "weekend gaps", "mode": "fast"},
        ),
        (
            schema(["query", "tag"], query=TEXT, tag={"type": ["string", "null"]}),
            {"query": "weekend gaps", "tag": None},
        ),
        (
            schema(["query", "tag"], query=TEXT, tag={"anyOf": [TEXT, {"type": "null"}]}),
            {"query": "weekend gaps", "tag": None},
        ),
        (schema(["query"], query=TEXT, tag=TEXT), {"query": "weekend gaps"}),
        (
            {**schema(["question"], question={"$ref": "#/$defs/q"}), "$defs": {"q": TEXT}},
            {"question": "weekend gaps"},
        ),
        (schema(["text", "query"], text=TEXT, query=TEXT), None),
        (schema(["query", "workspace"], query=TEXT, workspace=TEXT), None),
        (schema(["workspace"], workspace=TEXT), None),
        (schema(["query", "notebook_id"], query=TEXT, notebook_id=TEXT), None),
        ({"type": "object", "properties": {}, "additionalProperties": False}, None),
    ],
)
def test_a_question_is_given_under_the_tools_own_name_or_the_tool_is_refused(
    shape: dict[str, Any], given: dict[str, Any] | None
) -> None:
    if given is not None:
        assert arguments_for("notebook_query", shape, ASKED) == given
        return
    with pytest.raises(NotebookRefused, match="notebook_query"):
        arguments_for("notebook_query", shape, ASKED)


def test_an_unknown_required_parameter_is_named() -> None:
    shape = schema(["query", "workspace"], query=TEXT, workspace=TEXT)
    with pytest.raises(NotebookRefused, match="requires the parameter 'workspace', which Moot does not know"):
        arguments_for("notebook_query", shape, ASKED)


def answer(text: str, **more: Any) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=text)], **more)


@pytest.mark.parametrize(
    "said",
    [
        answer("Authentication expired", isError=True),
        answer(json.dumps({"status": "error", "error": "Authentication expired"})),
        answer(json.dumps({"success": False, "message": "Authentication expired"})),
        answer(json.dumps({"error": {"code": 3, "message": "Authentication expired"}})),
        answer("Error executing tool notebook_query: Authentication expired"),
    ],
)
def test_a_servers_own_error_is_shown_and_is_no_evidence(said: CallToolResult) -> None:
    with pytest.raises(NotebookRefused, match="Authentication expired"):
        passages(said, 5)


def test_what_speaks_of_an_error_among_passages_is_evidence() -> None:
    (found,) = passages(answer(json.dumps({"status": "success", "answer": "The error is below 1 %."})), 5)
    assert found.text == "The error is below 1 %."


def test_a_long_passage_is_cut_with_a_note_and_a_longer_answer_is_refused() -> None:
    (found,) = passages(answer("x" * (TEXT_CHARS + 1)), 5)
    assert len(found.text) == TEXT_CHARS
    assert found.text.endswith(f"[cut: {TEXT_CHARS:,} of {TEXT_CHARS + 1:,} characters]")
    (found,) = passages(answer("x" * TEXT_CHARS), 5)
    assert found.text == "x" * TEXT_CHARS
    with pytest.raises(NotebookGarbage, match="1,000,001 characters"):
        passages(answer("x" * (MAX_ANSWER_CHARS + 1)), 5)
