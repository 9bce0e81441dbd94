"""Replies in every shape that servers send: how each is read, and what a user is advised to do (K30)."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from typing import Any, NamedTuple

import pytest

from moot.bots.models.advice import advice
from moot.bots.models.answer import Answer
from moot.bots.models.anthropic_api import AnthropicEndpoint
from moot.bots.models.embeddings_api import EmbeddingsEndpoint
from moot.bots.models.forms import form_of
from moot.bots.models.openai_api import OpenAiEndpoint
from moot.bots.models.probing import Colour
from moot.bots.models.reasoning import separate
from moot.bots.models.request import Request, Tool
from moot.config.models import ModelSettings
from tests.unit.bots.replies import chat, embedded, message, raw

LOOK_UP = Tool(name="look_up", about="Looks a word up.", parameters={"type": "object", "properties": {}})
ASKED = ({"role": "user", "content": "?"},)
PLAIN = Request(messages=ASKED, max_tokens=9)
TYPED = Request(messages=ASKED, max_tokens=9, form=form_of(Colour))
WITH_TOOL = Request(messages=ASKED, max_tokens=9, tools=(LOOK_UP,))
CHAT = OpenAiEndpoint(ModelSettings(url="http://127.0.0.1:8080/v1", model="m"))
EMBEDS = EmbeddingsEndpoint(ModelSettings(url="http://127.0.0.1:8080/v1", model="m"))
MESSAGES = AnthropicEndpoint(ModelSettings(url="http://127.0.0.1:8080", model="m", api="anthropic"))
WHOLE = '{"colour":"red","number":1}'
LARGER = "larger model"
LONGER = "raise max_tokens"


def call(name: str = "look_up", arguments: Any = "{}", **more: Any) -> dict[str, Any]:
    return {"id": "c1", "type": "function", "function": {"name": name, "arguments": arguments}, **more}


class Shape(NamedTuple):
    """A reply, and what it is."""

    reply: Any
    outcome: str
    why: str = ""
    advised: str = ""
    request: Request = PLAIN
    text: str | None = None
    status: int = 0


def good(reply: Any, text: str | None = "A text.", request: Request = PLAIN) -> Shape:
    return Shape(reply, "answered", request=request, text=text)


def typed(content: Any, outcome: str = "answered", why: str = "", advised: str = "") -> Shape:
    return Shape(chat(content), outcome, why, advised, TYPED)


SHAPES: dict[str, Shape] = {
    # Endings.
    "stop": good(chat("A text.", "stop")),
    "STOP": good(chat("A text.", "STOP")),
    "end_turn": good(chat("A text.", "end_turn")),
    "stop_sequence": good(chat("A text.", "stop_sequence")),
    "eos": good(chat("A text.", "eos")),
    "COMPLETE": good(chat("A text.", "COMPLETE")),
    "no ending": good(chat("A text.", None)),
    "an empty ending": good(chat("A text.", "")),
    **{
        name: Shape(chat("A text", name), "truncated", "cut off", LONGER)
        for name in ("length", "MAX_TOKENS", "max_tokens", "model_length", "max_output_tokens", "Length")
    },
    **{
        name: Shape(chat("A text", name), "filtered", "filter", "another model or provider")
        for name in ("content_filter", "SAFETY", "RECITATION", "PROHIBITED_CONTENT", "SPII", "BLOCKLIST")
    },
    **{
        name: Shape(chat("A text", name), "provider_error", "broke off", "try again later")
        for name in ("abort", "insufficient_system_resource", "error", "cancelled", "network_error")
    },
    **{
        name: Shape(chat("A text", name), "provider_error", name, "try again later")
        for name in (
            "OTHER",
            "MALFORMED_FUNCTION_CALL",
            "FINISH_REASON_UNSPECIFIED",
            "function_call",
            "banana",
        )
    },
    "an ending that is no text": Shape(chat("A text", 3), "provider_error", "3", "try again later"),
    "tool_calls without a call or a tool": Shape(
        chat("A text", "tool_calls"), "unparsable", "no tool was offered", LARGER
    ),
    # Refusals.
    "a refusal": Shape(chat(None, refusal="I will not."), "refused", "I will not.", "another model"),
    "a refusal without words": Shape(chat("", "refusal"), "refused", "gave no reason", "another model"),
    # Reasoning.
    "a block of reasoning": good(chat("<think>\nHm. VERDICT: APPROVED\n</think>\n\nA text.")),
    "thinking": good(chat("<thinking>Hm.</thinking>A text.")),
    "reasoning, in capitals": good(chat("<REASONING>Hm.</REASONING>\nA text.")),
    "thoughts with attributes": good(chat('  <thought depth="2">Hm.</thought> A text.')),
    "a block after a mark of byte order": good(chat("\ufeff<think>Hm.</think>A text.")),
    "two blocks": good(chat("<think>Hm.</think>\n<think>Well.</think>\nA text.")),
    "a nested block": good(chat("<think>Hm <think>well</think> yes</think>A text.")),
    "a block that mentions its tag": good(chat("<think>I write <think> here.</think>A text.")),
    "a lone end tag": good(chat("Hm.\nWell.\n</think>\n\nA text.")),
    "Magistral": good(chat("[THINK]Hm.[/THINK]A text.")),
    "Kimi": good(chat("◁think▷Hm.◁/think▷A text.")),
    "Command A": good(chat("<|START_THINKING|>Hm.<|END_THINKING|>A text.")),
    "gpt-oss": good(
        chat("<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>A text.")
    ),
    "a tag inside the text": good(chat("Write <think>x</think> so."), "Write <think>x</think> so."),
    "a quoted end tag": good(chat("Close it with `</think>`."), "Close it with `</think>`."),
    "nothing but reasoning": Shape(
        chat("<think>Hm.</think>\n"), "unparsable", "empty but for its reasoning", "raise max_tokens"
    ),
    "a block that never ends": Shape(
        chat("<think>Hm. VERDICT: APPROVED"), "unparsable", "empty but for its reasoning", "raise max_tokens"
    ),
    "reasoning in a field": good(chat("A text.", reasoning_content="Hm.")),
    "only a field of reasoning": Shape(
        chat(None, reasoning_content="Hm."), "unparsable", "empty but for its reasoning", "raise max_tokens"
    ),
    "reasoning as a part": good(
        chat(
            [
                {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]},
                {"type": "text", "text": "A text."},
            ]
        )
    ),
    "reasoning before JSON": typed(f"<think>{{}}</think>{WHOLE}"),
    "a tag in a value": typed(
        '{"colour":"red","number":1,"x":"</think>"}', "unparsable", "x: there is no", LARGER
    ),
    # Content.
    "no content": Shape(chat(None), "unparsable", "empty", LARGER),
    "blanks": Shape(chat(" \n "), "unparsable", "empty", LARGER),
    "parts": good(chat([{"type": "text", "text": "A "}, {"type": "output_text", "text": "text."}])),
    "parts that are text": good(chat(["A ", "text."])),
    "a form": typed(WHOLE),
    "a form after a mark of byte order": typed("\ufeff" + WHOLE),
    "a fence": typed(f"```json\n{WHOLE}\n```", "unparsable", "not one JSON object", LARGER),
    "prose around": typed(f"Here: {WHOLE}", "unparsable", "not one JSON object", LARGER),
    "two objects": typed(f"{WHOLE}\n{WHOLE}", "unparsable", "Extra data", LARGER),
    "a key twice": typed('{"colour":"red","colour":"blue","number":1}', "unparsable", "stands twice", LARGER),
    "a list": typed(f"[{WHOLE}]", "unparsable", "no object", LARGER),
    "NaN": typed('{"colour":"red","number":NaN}', "unparsable", "no number of JSON", LARGER),
    "cut without a word": typed('{"colour":"re', "unparsable", "not one JSON object", LARGER),
    # Tools.
    "a call": good(chat(None, "tool_calls", tool_calls=[call()]), "", WITH_TOOL),
    "a call in Anthropic's word": good(chat(None, "tool_use", tool_calls=[call()]), "", WITH_TOOL),
    "a call with an object": good(
        chat(None, "tool_calls", tool_calls=[call(arguments={"a": 1})]), "", WITH_TOOL
    ),
    "a call without arguments": good(chat(None, "stop", tool_calls=[call(arguments=None)]), "", WITH_TOOL),
    "a call with a list": Shape(
        chat(None, "tool_calls", tool_calls=[call(arguments=[1])]),
        "unparsable",
        "no JSON object",
        LARGER,
        WITH_TOOL,
    ),
    "a call with broken JSON": Shape(
        chat(None, "tool_calls", tool_calls=[call(arguments="{")]),
        "unparsable",
        "arguments of look_up",
        LARGER,
        WITH_TOOL,
    ),
    "a call of another tool": Shape(
        chat(None, "tool_calls", tool_calls=[call("drop")]),
        "unparsable",
        "'drop' is not offered",
        LARGER,
        WITH_TOOL,
    ),
    "a call instead of content": Shape(
        chat(None, "tool_calls", tool_calls=[call()]), "unparsable", "is not offered: none is", LARGER
    ),
    # Errors with status 200.
    "an error": Shape(
        {"error": {"message": "down"}}, "provider_error", "down", "try again later", status=500
    ),
    "code 429": Shape(
        {"error": {"code": 429, "message": "slow down"}}, "provider_error", "slow down", "at_once", status=429
    ),
    "code 429 as text": Shape(
        {"error": {"code": "429", "message": "slow down"}},
        "provider_error",
        "slow down",
        "at_once",
        status=429,
    ),
    "RESOURCE_EXHAUSTED in a list": Shape(
        [{"error": {"status": "RESOURCE_EXHAUSTED", "message": "quota"}}],
        "provider_error",
        "quota",
        "at_once",
        status=429,
    ),
    "a word for the limit": Shape(
        {"error": {"type": "rate_limit_error", "message": "slow"}},
        "provider_error",
        "slow",
        "at_once",
        status=429,
    ),
    "no credit": Shape(
        {"error": {"code": 402, "message": "pay"}}, "provider_error", "pay", "credit", status=402
    ),
    "a quota": Shape(
        {"error": {"code": "insufficient_quota", "message": "spent"}},
        "provider_error",
        "spent",
        "credit",
        status=402,
    ),
    "a wrong key": Shape(
        {"error": {"code": 401, "message": "key"}}, "provider_error", "key", "key_env", status=401
    ),
    "no such model": Shape(
        {"error": {"code": "model_not_found", "message": "gone"}},
        "provider_error",
        "gone",
        "correct model",
        status=404,
    ),
    "a bad request": Shape(
        {"error": {"code": 400, "message": "no"}}, "provider_error", "no", "documentation", status=400
    ),
    "an error as text": Shape({"error": "down"}, "provider_error", "down", "try again later", status=500),
    "an error in vLLM's form": Shape(
        {"object": "error", "message": "no such thing", "type": "BadRequestError", "code": 400},
        "provider_error",
        "no such thing",
        "documentation",
        status=400,
    ),
    "a code beside a message": Shape(
        {"code": 429, "message": "slow down"}, "provider_error", "slow down", "at_once", status=429
    ),
    "an error beside a choice": Shape(
        {**chat("Half a"), "error": {"code": 502, "message": "upstream"}},
        "provider_error",
        "upstream",
        "try again later",
        status=502,
    ),
    "an error inside a choice": Shape(
        {"choices": [{"error": {"code": 503, "message": "busy"}, "message": {"content": "Half"}}]},
        "provider_error",
        "busy",
        "try again later",
        status=503,
    ),
    "an error that is null": good({**chat("A text."), "error": None}),
    "no choices": Shape({"choices": []}, "provider_error", "no choice", "correct url or api"),
    # Bytes.
    "nothing": Shape(b"", "provider_error", "empty", "correct url or api"),
    "a page": Shape(b"<html>Gateway</html>", "provider_error", "<html>Gateway", "correct url or api"),
    "gzip without a header": Shape(
        gzip.compress(raw(chat("A text."))), "provider_error", "gzip", "correct url or api"
    ),
    "a mark of byte order": good(b"\xef\xbb\xbf" + raw(chat("A text."))),
    "UTF-16": good(json.dumps(chat("A text.")).encode("utf-16")),
    "Latin-1": Shape(
        json.dumps(chat("naïve"), ensure_ascii=False).encode("latin-1"),
        "provider_error",
        "UTF-8",
        "correct url or api",
    ),
    "a number": Shape(b"42", "provider_error", "no JSON object", "correct url or api"),
}


def read(shape: Shape) -> Answer:
    body = shape.reply if isinstance(shape.reply, bytes) else raw(shape.reply)
    return CHAT.read(200, body, shape.request, "json_schema")


@pytest.mark.rule("K30", "R-G8", "R-G11")
@pytest.mark.parametrize("name", SHAPES)
def test_a_reply_is_classified_and_a_user_is_advised(name: str) -> None:
    shape = SHAPES[name]
    answer = read(shape)
    assert answer.outcome == shape.outcome, answer.why
    assert shape.why in answer.why and "\n" not in answer.why
    if shape.outcome != "answered":
        assert shape.advised in advice(answer)
    if shape.text is not None:
        assert answer.text == shape.text
    assert answer.retry_status == shape.status


def test_there_are_shapes_enough() -> None:
    assert len(SHAPES) >= 60


@pytest.mark.rule("R-G9")
def test_a_key_that_stands_twice_in_arguments_makes_them_invalid() -> None:
    reply = chat(None, "tool_calls", tool_calls=[call(arguments='{"a": 1, "a": 2}')])
    answer = CHAT.read(200, raw(reply), WITH_TOOL, "json_schema")
    assert answer.outcome == "unparsable"
    assert "stands twice" in answer.why


@pytest.mark.rule("R-G8", "R-G11")
@pytest.mark.parametrize(
    ("reply", "outcome", "text"),
    [
        (message("A text."), "answered", "A text."),
        (message("A text.", "stop"), "answered", "A text."),
        (message("<think>Hm.</think>A text."), "answered", "A text."),
        (
            message([{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "A text."}]),
            "answered",
            "A text.",
        ),
        (message("A text", "max_tokens"), "truncated", None),
        (message("A text", "model_context_window_exceeded"), "truncated", None),
        (message("A text", "refusal"), "refused", None),
        (message("A text", "pause_turn"), "provider_error", None),
        (message("A text", "banana"), "provider_error", None),
        (message("<think>Hm."), "unparsable", None),
        ({"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}, "provider_error", None),
    ],
)
def test_messages_of_anthropic_follow_the_same_rules(reply: Any, outcome: str, text: str | None) -> None:
    answer = MESSAGES.read(200, raw(reply), PLAIN, "prompt")
    assert answer.outcome == outcome
    assert text is None or answer.text == text


def test_an_error_of_anthropic_with_status_200_is_one_of_its_kind() -> None:
    reply = {"type": "error", "error": {"type": "rate_limit_error", "message": "slow down"}}
    answer = MESSAGES.read(200, raw(reply), PLAIN, "prompt")
    assert (answer.fault, answer.retry_status) == ("rate", 429)


def test_an_error_to_a_text_that_is_embedded_is_one_of_its_kind() -> None:
    answer = EMBEDS.read(200, raw({"error": {"code": 429, "message": "slow down"}}), PLAIN, "prompt")
    assert (answer.outcome, answer.fault, answer.retry_status) == ("provider_error", "rate", 429)
    assert EMBEDS.read(200, raw(embedded({"prompt_tokens": 3})), PLAIN, "prompt").outcome == "answered"


@pytest.mark.rule("R-G10")
def test_what_was_generated_before_an_error_is_booked() -> None:
    answer = CHAT.read(
        200, raw({**chat("Half a"), "error": {"code": 429, "message": "slow"}}), PLAIN, "prompt"
    )
    assert answer.usage is not None and answer.usage.output == 20
    assert not replace(answer, tries=1).is_free


@pytest.mark.rule("R-G8")
@pytest.mark.parametrize(
    "text", ["", "A text.", "  A text.\n", "a < b > c", "</b> bold", "<html>", '{"a": "</think>"}']
)
def test_a_text_without_reasoning_stays_as_it_is(text: str) -> None:
    assert separate(text) == ("", text)


@pytest.mark.rule("R-G8")
def test_reasoning_and_reply_are_separated() -> None:
    found = separate("<think>Hm.</think>\nWell.</think>\nA text.")
    assert found.reply == "A text."
    assert "Hm." in found.reasoning and "Well." in found.reasoning
