"""The Messages API: requests are what its SDK allows, and every way in which a reply ends has its outcome."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from anthropic.types import Message
from anthropic.types.message_create_params import MessageCreateParamsNonStreaming
from pydantic import TypeAdapter

from moot.bots.models.anthropic_api import AnthropicEndpoint
from moot.bots.models.forms import form_of
from moot.bots.models.probing import Colour
from moot.bots.models.request import Request, Rung, Tool
from moot.config.models import ModelSettings
from moot.protocols.calls.usage import Usage
from tests.doubles.messages_server import MISBEHAVING, Turn, message

ENDPOINT = AnthropicEndpoint(ModelSettings.model_validate({"api": "anthropic", "model": "tiny-1"}))
LOOK_UP = Tool(name="look_up", about="Looks a word up.", parameters={"type": "object", "properties": {}})
TYPED = Request(
    messages=({"role": "system", "content": "Be brief."}, {"role": "user", "content": "?"}),
    max_tokens=9,
    form=form_of(Colour),
    temperature=0.3,
)
WHOLE = '{"colour":"red","number":1}'


def read(turn: Turn, request: Request = TYPED, rung: Rung = "json_schema") -> Any:
    return ENDPOINT.read(200, turn.body, request, rung)


@pytest.mark.parametrize("rung", ["json_schema", "tool", "prompt"])
@pytest.mark.parametrize("tools", [(), (LOOK_UP,)])
def test_a_request_is_one_that_the_types_of_the_sdk_allow(rung: Rung, tools: tuple[Tool, ...]) -> None:
    call = {"id": "a", "type": "function", "function": {"name": "look_up", "arguments": "{}"}}
    talk = (
        *TYPED.messages,
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "a", "content": "red: a colour"},
        {"role": "user", "content": "Well?"},
    )
    body = ENDPOINT.write(replace(TYPED, messages=talk, tools=tools), rung)
    assert TypeAdapter(MessageCreateParamsNonStreaming).validate_python(body)
    assert set(body) <= set(MessageCreateParamsNonStreaming.__annotations__)
    assert [one["role"] for one in body["messages"]] == ["user", "assistant", "user", "user"]
    assert body == ENDPOINT.write(replace(TYPED, messages=talk, tools=tools), rung)


def test_a_tool_that_is_to_be_called_is_named_unless_another_may_be_called_first() -> None:
    alone = ENDPOINT.write(TYPED, "tool")
    assert alone["tool_choice"] == {"type": "tool", "name": "Colour"}
    [tool] = alone["tools"]
    assert (tool["strict"], tool["input_schema"]) == (True, form_of(Colour).schema)
    assert ENDPOINT.write(replace(TYPED, tools=(LOOK_UP,)), "tool")["tool_choice"] == {"type": "any"}


def test_what_a_model_reasoned_before_it_called_a_tool_goes_back_before_the_call() -> None:
    thinking = {"type": "thinking", "thinking": "Hm.", "signature": "c2lnbmVk"}
    turn = message(None, stop="tool_use", tools=[("look_up", {"word": "red"})])
    reply = json.loads(turn.body)
    reply["content"].insert(0, thinking)
    answer = read(Turn(body=json.dumps(reply).encode()), replace(TYPED, tools=(LOOK_UP,)))
    assert answer.outcome == "answered" and answer.thinking == (thinking,)
    call = {"id": "a", "type": "function", "function": {"name": "look_up", "arguments": "{}"}}
    said = {"role": "assistant", "content": None, "tool_calls": [call], "thinking": answer.thinking}
    body = ENDPOINT.write(replace(TYPED, messages=(*TYPED.messages, said)), "prompt")
    assert [one["type"] for one in body["messages"][-1]["content"]] == ["thinking", "tool_use"]


@pytest.mark.parametrize(
    ("name", "outcome", "why"),
    [
        ("no JSON", "provider_error", "no JSON"),
        ("nothing", "provider_error", "no JSON"),
        ("no choices", "provider_error", "no content"),
        ("error inside 200", "provider_error", "upstream is down"),
        ("empty", "unparsable", "empty"),
        ("truncated", "truncated", "max_tokens"),
        ("out of context", "truncated", "context ends"),
        ("paused", "provider_error", "paused"),
        ("cut without a word", "unparsable", "not one JSON object"),
        ("double", "unparsable", "Extra data at character 28"),
        ("a field twice", "unparsable", "'colour' stands twice"),
        ("prose around", "unparsable", "not one JSON object"),
        ("does not fit", "unparsable", "colour: choose 'red', 'green' or 'blue'"),
        ("refusal", "refused", "I cannot help with that."),
        ("tool loop", "unparsable", "'look_up' is not offered: none is"),
        ("another model", "answered", ""),
        ("usage missing", "answered", ""),
        ("usage negative", "answered", ""),
    ],
)  # fmt: skip
@pytest.mark.parametrize("rung", ["json_schema", "prompt"])
def test_every_reply_has_one_outcome(name: str, outcome: str, why: str, rung: Rung) -> None:
    answer = read(MISBEHAVING[name], rung=rung)
    assert answer.outcome == outcome
    assert why in answer.why and "\n" not in answer.why
    assert (answer.value is None) == (outcome != "answered")


@pytest.mark.parametrize("stop", ["max_tokens", "model_context_window_exceeded", "refusal", "pause_turn"])
def test_what_was_cut_off_refused_or_paused_is_no_answer_even_if_it_parses(stop: str) -> None:
    answer = read(message(WHOLE, stop=stop))
    assert answer.outcome != "answered" and answer.value is None and answer.finish == stop


@pytest.mark.parametrize("details", [None, {"category": "cyber", "explanation": None}, "no"])
def test_a_refusal_says_why_as_far_as_it_is_told(details: object) -> None:
    why = read(message(None, stop="refusal", stop_details=details)).why
    told = "cyber" if isinstance(details, dict) else "it gave no reason"
    assert why == f"the model refused: {told}"


@pytest.mark.parametrize(
    ("usage", "found"),
    [
        ({"input_tokens": 9, "output_tokens": 5}, Usage(input=9, output=5)),
        (
            {
                "input_tokens": 9,
                "cache_read_input_tokens": 30,
                "cache_creation_input_tokens": 20,
                "output_tokens": 50,
                "output_tokens_details": {"thinking_tokens": 40},
            },
            Usage(input=59, cached_input=30, cache_write=20, output=50, reasoning=40),
        ),
        (
            {
                "input_tokens": 9,
                "cache_read_input_tokens": None,
                "cache_creation_input_tokens": None,
                "output_tokens": 5,
                "output_tokens_details": None,
            },
            Usage(input=9, output=5),
        ),
        ({"input_tokens": 9}, None),
        ({"input_tokens": "9", "output_tokens": 5}, None),
        ({"input_tokens": 9, "cache_read_input_tokens": -3, "output_tokens": 5}, None),
        ({"input_tokens": 9, "cache_read_input_tokens": "3", "output_tokens": 5}, None),
        ({"input_tokens": 9, "output_tokens": 5, "output_tokens_details": {"thinking_tokens": 6}}, None),
    ],
)
def test_usage_counts_what_was_cached_as_input_too(usage: object, found: Usage | None) -> None:
    assert read(message(WHOLE, usage=usage)).usage == found


@pytest.mark.parametrize("kind", ["overloaded_error", "api_error", "timeout_error"])
def test_an_error_of_theirs_is_the_servers_whatever_its_status(kind: str) -> None:
    raw = json.dumps({"type": "error", "error": {"type": kind, "message": "later"}}).encode()
    assert ENDPOINT.read(400, raw, TYPED, "prompt").fault == "server"


def test_the_replies_of_the_double_are_messages_of_the_sdk() -> None:
    for name in ("truncated", "refusal", "tool loop", "another model"):
        assert Message.model_validate_json(MISBEHAVING[name].body)
