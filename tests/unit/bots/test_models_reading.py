"""Replies: classified before they are parsed; JSON is never closed or guessed (K30)."""

from __future__ import annotations

from typing import Any

import pytest

from moot.bots.models.answer import ToolCall
from moot.bots.models.forms import form_of
from moot.bots.models.listing import models_listed
from moot.bots.models.openai_api import OpenAiEndpoint
from moot.bots.models.probing import Colour
from moot.bots.models.request import Request, Rung, Tool
from moot.bots.models.strict_json import one_object
from moot.bots.models.usage import usage_of
from moot.config.models import ModelSettings
from moot.protocols.calls.usage import Usage
from tests.doubles.model_server import MISBEHAVING, Turn, completion

LOOK_UP = Tool(name="look_up", about="Looks a word up.", parameters={"type": "object", "properties": {}})
TYPED = Request(messages=({"role": "user", "content": "?"},), max_tokens=9, form=form_of(Colour))
PLAIN = Request(messages=TYPED.messages, max_tokens=9)
ENDPOINT = OpenAiEndpoint(ModelSettings(url="http://127.0.0.1:8080/v1", model="tiny-1"))
WHOLE = '{"colour":"red","number":1}'


def read(turn: Turn, request: Request = TYPED, rung: Rung = "json_schema") -> Any:
    return ENDPOINT.read(200, turn.body, request, rung)


@pytest.mark.parametrize(
    ("name", "outcome", "why"),
    [
        ("no JSON", "provider_error", "no JSON"),
        ("nothing", "provider_error", "no JSON"),
        ("no choices", "provider_error", "no choice"),
        ("error inside 200", "provider_error", "upstream is down"),
        ("empty", "unparsable", "empty"),
        ("truncated", "truncated", "max_tokens"),
        ("cut without a word", "unparsable", "not one JSON object"),
        ("double", "unparsable", "Extra data at character 28"),
        ("a field twice", "unparsable", "'colour' stands twice"),
        ("prose around", "unparsable", "not one JSON object"),
        ("does not fit", "unparsable", "colour: choose 'red', 'green' or 'blue'"),
        ("refusal", "refused", "I cannot help with that."),
        ("filter", "filtered", "filter"),
        ("tool loop", "unparsable", "'look_up' is not offered: none is"),
        ("another model", "answered", ""),
        ("usage missing", "answered", ""),
        ("usage negative", "answered", ""),
    ],
)  # fmt: skip
@pytest.mark.parametrize("rung", ["json_schema", "json_object", "prompt"])
def test_every_reply_has_one_outcome(name: str, outcome: str, why: str, rung: Rung) -> None:
    answer = read(MISBEHAVING[name], rung=rung)
    assert answer.outcome == outcome
    assert why in answer.why and "\n" not in answer.why
    assert (answer.value is None) == (outcome != "answered")


def test_what_was_cut_off_refused_or_filtered_is_no_answer_even_if_it_parses() -> None:
    assert read(completion(WHOLE)).value == Colour(colour="red", number=1)
    assert read(completion(WHOLE, finish="length")).outcome == "truncated"
    assert read(completion(WHOLE, finish="content_filter")).outcome == "filtered"
    assert read(completion(WHOLE, refusal="no")).outcome == "refused"
    assert read(completion("words", finish="length"), PLAIN).outcome == "truncated"


@pytest.mark.parametrize(
    "text", ['{"colour":"red","number":NaN}', "[1]", '"red"', "[" * 100_000, "1" * 5_000]
)
def test_what_is_no_object_of_json_is_unparsable(text: str) -> None:
    assert read(completion(text)).outcome == "unparsable"


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity"])
def test_what_json_has_no_number_for_is_none(word: str) -> None:
    assert one_object('{"a":1.5}') == {"a": 1.5}
    with pytest.raises(ValueError, match=f"{word} is no number of JSON"):
        one_object(f'{{"a":{word}}}')


def test_one_fenced_block_is_taken_where_the_prompt_alone_asked_and_nowhere_else() -> None:
    fenced = completion(f"```json\n{WHOLE}\n```\n")
    assert read(fenced, rung="prompt").outcome == "answered"
    assert read(fenced, rung="json_object").outcome == "unparsable"
    assert read(completion(f"Here:\n```json\n{WHOLE}\n```"), rung="prompt").outcome == "unparsable"


def test_reasoning_is_no_answer() -> None:
    answer = read(completion("", reasoning_content=WHOLE))
    assert (answer.outcome, answer.why) == ("unparsable", "the reply is empty but for its reasoning")


def test_a_forced_tool_answers_and_other_tools_are_calls() -> None:
    both = Request(messages=TYPED.messages, max_tokens=9, form=TYPED.form, tools=(LOOK_UP,))
    answered = read(completion(None, tools=[("Colour", WHOLE)]), both, "tool")
    assert answered.value == Colour(colour="red", number=1)
    beside = read(completion(WHOLE), both, "tool")
    assert (beside.outcome, beside.why) == ("unparsable", "the reply does not call Colour")
    called = read(MISBEHAVING["tool loop"], both, "tool")
    assert called.outcome == "answered" and called.value is None
    assert called.tool_calls == (ToolCall("call_1", "look_up", {"word": "red"}),)
    wrong = read(MISBEHAVING["tool arguments are no JSON"], both, "tool")
    assert (wrong.outcome, wrong.why.partition(":")[0]) == ("unparsable", "the arguments of look_up")
    torn = read(completion(None, tools=[("Colour", WHOLE), ("look_up", "{}")]), both, "tool")
    assert torn.why == "the reply both answers and calls a tool"


def test_the_model_that_answered_its_id_and_why_it_stopped_are_told() -> None:
    answer = read(MISBEHAVING["another model"])
    assert (answer.model_reported, answer.provider_id, answer.finish) == ("other-9", "chatcmpl-1", "stop")


@pytest.mark.parametrize(
    ("usage", "found"),
    [
        ({"prompt_tokens": 9, "completion_tokens": 5}, Usage(input=9, output=5)),
        (
            {
                "prompt_tokens": 90,
                "completion_tokens": 50,
                "total_tokens": 140,
                "prompt_tokens_details": {"cached_tokens": 30, "cache_write_tokens": 20},
                "completion_tokens_details": {"reasoning_tokens": 40},
            },
            Usage(input=90, cached_input=30, cache_write=20, output=50, reasoning=40),
        ),
        (
            {
                "prompt_tokens": 90,
                "completion_tokens": 50,
                "total_tokens": 180,
                "completion_tokens_details": {"reasoning_tokens": 40},
            },
            Usage(input=90, output=90, reasoning=40),
        ),
        (
            {"prompt_tokens": 9, "completion_tokens": 5, "prompt_cache_hit_tokens": 4},
            Usage(input=9, cached_input=4, output=5),
        ),
        (
            {"prompt_tokens": 9, "completion_tokens": 5, "prompt_tokens_details": None},
            Usage(input=9, output=5),
        ),
        (None, None),
        ({}, None),
        ({"prompt_tokens": 9, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": -3}}, None),
        ({"prompt_tokens": -9, "completion_tokens": 5}, None),
        ({"prompt_tokens": True, "completion_tokens": 5}, None),
        ({"prompt_tokens": 9.5, "completion_tokens": 5}, None),
        ({"prompt_tokens": 9, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 10}}, None),
        (
            {
                "prompt_tokens": 9,
                "completion_tokens": 5,
                "completion_tokens_details": {"reasoning_tokens": 6},
            },
            None,
        ),
    ],
)
def test_usage_is_told_in_all_its_kinds_or_not_at_all(usage: object, found: Usage | None) -> None:
    assert usage_of({"usage": usage}) == found


@pytest.mark.parametrize(
    ("status", "body", "outcome", "fault"),
    [
        (401, b'{"error":{"message":"no"}}', "provider_error", "key"),
        (403, b"", "provider_error", "key"),
        (402, b"{}", "provider_error", "credit"),
        (404, b'{"detail":"gone"}', "provider_error", "no_model"),
        (429, b'{"error":{"message":"slow","code":"rate"}}', "provider_error", "rate"),
        (429, b'{"error":{"message":"pay","code":"insufficient_quota"}}', "provider_error", "credit"),
        (400, b'{"error":{"message":"x","code":"content_filter"}}', "filtered", ""),
        (400, b'{"error":"bad"}', "provider_error", "request"),
        (307, b"", "provider_error", "redirect"),
        (503, b"\xff" * 9_000, "provider_error", "server"),
    ],
)  # fmt: skip
def test_a_status_says_what_is_wrong(status: int, body: bytes, outcome: str, fault: str) -> None:
    answer = ENDPOINT.read_refusal(status, body)
    assert (answer.outcome, answer.fault) == (outcome, fault)
    assert answer.why.startswith(f"HTTP {status}: ") and len(answer.why) < 400


@pytest.mark.parametrize(
    ("body", "found"),
    [
        (b'{"data":[{"id":"a","max_model_len":9},{"id":"b"},{"x":1},3]}', {"a": 9, "b": None}),
        (
            b'{"data":[{"id":"a","meta":{"n_ctx_train":7}},{"id":"b","context_length":-1}]}',
            {"a": 7, "b": None},
        ),
        (b'{"data":[]}', {}),
        (b'{"data":3}', None),
        (b"<html>", None),
    ],
)
def test_a_list_of_models_says_how_much_each_can_read_if_it_says_so(body: bytes, found: object) -> None:
    assert models_listed(body) == found
