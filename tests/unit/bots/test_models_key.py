"""What servers send back is rid of key and secrets before it is read and kept."""

from __future__ import annotations

import json

import pytest

from moot.bots.models.client import ENDPOINTS
from moot.bots.models.forms import form_of
from moot.bots.models.key import discreet_reply, holds_key
from moot.bots.models.openai_api import OpenAiEndpoint
from moot.bots.models.probing import Colour
from moot.bots.models.request import Request
from moot.config.models import Api, ModelSettings
from tests.doubles.model_server import MISBEHAVING, completion

KEY = "a-key-without-a-known-look"
SETTINGS = ModelSettings(url="http://h/v1", model="m")
SECRET = "ghp_0123456789abcdefghijABCDEFGHIJ"


def test_a_reply_without_secrets_stays_as_it_came() -> None:
    for turn in [*MISBEHAVING.values(), completion('{"colour":"rød","tokens":3}')]:
        assert discreet_reply(turn.body, KEY) == turn.body
    assert discreet_reply(b"\xff\xfe", "") == b"\xff\xfe"


@pytest.mark.parametrize("content", [f"Take {SECRET}, please", json.dumps({"password": SECRET}), f"{KEY}!"])
def test_key_and_secrets_are_taken_out_and_json_stays_json(content: str) -> None:
    clean = discreet_reply(completion(content).body, KEY)
    assert SECRET.encode() not in clean and KEY.encode() not in clean
    request = Request(messages=({"role": "user", "content": "?"},), max_tokens=9)
    answer = OpenAiEndpoint(SETTINGS).read(200, clean, request, "prompt")
    assert answer.outcome == "answered" and "[redacted:" in answer.text
    assert answer.usage is not None


@pytest.mark.parametrize("dash", [b"-", b"\\-", b"\\u002d", b"\\u002D", b"\\\\u002d", b"\\\\\\u002d"])
def test_the_key_is_found_however_json_writes_it(dash: bytes) -> None:
    written = KEY.encode().replace(b"-", dash)
    assert discreet_reply(b'{"error":"not ' + written + b'"}', KEY) == b'{"error":"not [redacted:key]"}'


@pytest.mark.parametrize(
    "body", [f"<p>{SECRET}</p>".encode(), b"[" * 100_000 + SECRET.encode(), SECRET.encode()]
)
def test_secrets_are_taken_out_of_what_is_no_json(body: bytes) -> None:
    clean = discreet_reply(body, KEY)
    assert SECRET.encode() not in clean and b"[redacted:github_token]" in clean


@pytest.mark.parametrize("api", ["openai", "anthropic"])
def test_no_secret_goes_out_in_a_request(api: Api) -> None:
    asked = Request(
        messages=(
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": f"Is {SECRET} safe?"},
        ),
        max_tokens=9,
        form=form_of(Colour),
    )
    body = ENDPOINTS[api](SETTINGS).write(asked, "json_schema")
    assert body["messages"][-1]["content"] == "Is [redacted:github_token] safe?"
    assert SECRET not in json.dumps(body)


@pytest.mark.rule("R-G7")
@pytest.mark.parametrize(
    ("value", "is_told"),
    [
        ("it is sk-12345678.", True),
        ({"a": ["", {"b": "sk-12345678"}]}, True),
        ({"sk-12345678": "a name of a field"}, False),
        (["short"], False),
        (12345678, False),
        (None, False),
    ],
)
def test_a_text_that_holds_a_key_is_found_wherever_it_stands(value: object, is_told: bool) -> None:
    assert holds_key(value, ("sk-12345678", "short", "")) == is_told
