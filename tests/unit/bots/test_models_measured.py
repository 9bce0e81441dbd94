"""Measuring replies before redaction; short values are no secrets (R-G7); duplicate keys (R-G9)."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest

from moot.bots.models.client import ModelClient
from moot.bots.models.errors import NoKey
from moot.bots.models.exchange import Reply
from moot.bots.models.forms import form_of
from moot.bots.models.key import discreet_reply, key_of
from moot.bots.models.openai_api import OpenAiEndpoint
from moot.bots.models.probing import Judgement
from moot.bots.models.request import Request
from moot.bots.models.usage import readings
from moot.config.models import ModelSettings
from moot.protocols.calls.usage import Usage
from tests.unit.bots.replies import chat, raw

SETTINGS = ModelSettings(url="http://127.0.0.1:1/v1", model="m")
ASKED = Request(messages=({"role": "user", "content": "?"},), max_tokens=9)
TYPED = Request(messages=ASKED.messages, max_tokens=9, form=form_of(Judgement))


def read(body: bytes, key: str, request: Request = ASKED):
    client = ModelClient(SETTINGS, key, rng=Random(0), now_s=lambda: 0.0)
    return client._read(Reply(200, {}, discreet_reply(body, key), body), request, "json_object")


@pytest.mark.rule("R-G7")
@pytest.mark.parametrize("key", ["a", "1", "yes", "ollama", "1234567"])
def test_a_value_of_fewer_than_8_characters_is_no_secret(key: str) -> None:
    body = raw(chat(f"yes, {key}, 1 and a"))
    assert discreet_reply(body, key) == body
    assert read(body, key).text == f"yes, {key}, 1 and a"


@pytest.mark.rule("R-G7")
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-le", "utf-32"])
def test_a_longer_key_is_taken_out_in_whichever_encoding(encoding: str) -> None:
    body = raw(chat("It is 12345678.")).decode().encode(encoding)
    answer = read(body, "12345678")
    assert answer.text == "It is [redacted:key]." and b"12345678" not in answer.reply
    assert answer.usage == Usage(input=100, output=20)


@pytest.mark.rule("R-G7")
def test_figures_are_measured_before_the_key_is_taken_out_of_them() -> None:
    used = {"prompt_tokens": 12345678, "completion_tokens": 5, "total_tokens": 12345683}
    answer = read(raw(chat("yes", usage=used)), "12345678")
    assert answer.usage == Usage(input=12345678, output=5)
    assert (answer.outcome, answer.text) == ("answered", "yes")
    assert json.loads(answer.reply)["usage"] == used


@pytest.mark.rule("R-G7")
def test_an_object_that_redaction_would_break_is_read_as_it_came() -> None:
    content = '{"answer":"yes","confidence":0.5,"reasons":["the api_key: abc, is told"],"token":7}'
    whole = content.replace(',"token":7', "")
    answer = read(raw(chat(whole)), "", TYPED)
    assert answer.outcome == "answered" and answer.value.answer == "yes"
    assert read(raw(chat(content)), "", TYPED).outcome == "unparsable"


@pytest.mark.rule("R-G7")
@pytest.mark.parametrize(("reason", "outcome"), [("It holds.", "answered"), ("my confidence", "unparsable")])
def test_an_object_whose_texts_hold_the_key_is_never_read_as_it_came(reason: str, outcome: str) -> None:
    told = {"answer": "yes", "confidence": 0.5, "reasons": [reason]}
    answer = read(raw(chat(json.dumps(told))), "confidence", TYPED)
    assert answer.outcome == outcome
    assert reason == "It holds." or "my confidence" not in f"{answer.text}{answer.value}{answer.reply!r}"


@pytest.mark.rule("R-G7")
@pytest.mark.parametrize("key", ["x", "ollama", "1234567"])
def test_a_key_that_short_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, key: str) -> None:
    monkeypatch.setenv("MOOT_TEST_KEY", key)
    with pytest.raises(NoKey, match=f"MOOT_TEST_KEY has {len(key)} characters.*cannot be redacted") as caught:
        key_of("m", ModelSettings(url=SETTINGS.url, model="m", key_env="MOOT_TEST_KEY"))
    assert key not in str(caught.value).split("models.m: ")[1].split(" ")
    monkeypatch.setenv("MOOT_TEST_KEY", "12345678")
    assert key_of("m", ModelSettings(url=SETTINGS.url, model="m", key_env="MOOT_TEST_KEY")) == "12345678"


@pytest.mark.rule("R-G9")
def test_a_field_that_stands_twice_in_the_object_of_arguments_is_refused() -> None:
    call = {
        "id": "1",
        "type": "function",
        "function": {"name": "Judgement", "arguments": {"answer": "no", "x": 1}},
    }
    text = json.dumps(chat(None, "tool_calls", tool_calls=[call])).replace('"x": 1', '"answer": "yes"')
    answer = OpenAiEndpoint(SETTINGS).read(200, text.encode(), TYPED, "tool")
    assert (answer.outcome, "'answer' stands twice" in answer.why) == ("unparsable", True)


@pytest.mark.rule("R-G17")
@pytest.mark.parametrize(
    ("usage", "settled"),
    [
        ({"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 115}, Usage(input=10, output=5)),
        ({"prompt_tokens": 10, "completion_tokens": 5, "input_tokens": 0}, None),
        (
            {"prompt_tokens": 1000, "completion_tokens": 200, "input_tokens": 0, "output_tokens": 0},
            Usage(input=0, output=0),
        ),
        ({"prompt_tokens": 8, "total_tokens": 8}, Usage(input=8, output=0)),
        ({"input_tokens": 9, "output_tokens": 5, "cache_read_input_tokens": 3}, Usage(
            input=12, cached_input=3, output=5
        )),
    ],
)  # fmt: skip
def test_calls_that_were_settled_before_verify_as_they_did(usage: object, settled: Usage | None) -> None:
    found = readings({"usage": usage}, 3)
    assert settled in found if settled is not None else found == []


@pytest.mark.rule("R-G10")
@pytest.mark.parametrize(
    ("usage", "cheap"),
    [
        ({"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 115}, Usage(input=10, output=5)),
        (
            {"prompt_tokens": 1000, "completion_tokens": 200, "input_tokens": 0, "output_tokens": 0},
            Usage(input=0, output=0),
        ),
    ],
)
def test_a_call_of_version_4_is_not_settled_as_calls_were_before(usage: object, cheap: Usage) -> None:
    assert cheap in readings({"usage": usage}, 3)
    assert cheap not in readings({"usage": usage}, 4)
