"""Requests of a model with each of its settings, as a server receives them over real HTTP."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from random import Random
from typing import Any

import pytest

import moot as moot_api
from moot.bots.models.client import ModelClient
from moot.bots.models.embeddings_api import embedding_of
from moot.bots.models.forms import form_of
from moot.bots.models.in_use import ModelInUse, endpoint_of
from moot.bots.models.probing import Colour
from moot.bots.models.request import Request
from moot.config.models import RESERVED_FIELDS, ModelSettings
from moot.config.settings import ConfigError, load_settings
from moot.memory.bodies_file import CALLS_NAME, StoredBodiesFile
from tests.doubles.command_line import data, done, moot, write
from tests.doubles.messages_server import MessagesServer
from tests.doubles.model_server import ModelServer, Sent, completion

KEY = "a-key-of-twenty-signs"
SECRET = "another-secret-value-1"
ASKED = Request(
    messages=({"role": "system", "content": "Be brief."}, {"role": "user", "content": "Which colour?"}),
    max_tokens=50,
    form=form_of(Colour),
    temperature=0.3,
)
PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "use-a-model.md"


@pytest.fixture(scope="module")
def running() -> Iterator[ModelServer]:
    with ModelServer() as server:
        yield server


@pytest.fixture
def server(running: ModelServer) -> ModelServer:
    running.forget()
    running.key, running.key_header, running.thinks = "", ("authorization", "Bearer "), 0
    return running


async def sent_with(server: ModelServer, url: str = "", key: str = "", **given: Any) -> Sent:
    """Send one request as settings say, and return what the server received."""
    plain = {"api": server.api, "url": url or server.url, "model": server.model, **given}
    settings = ModelSettings.model_validate(plain)
    async with ModelClient(settings, key, rng=Random(1), now_s=lambda: 0.0) as client:
        answer = await client.call(ASKED)
    assert answer.outcome == "answered", answer.why
    return server.calls[-1]


async def test_without_new_settings_a_request_stays_as_it_was(server: ModelServer) -> None:
    sent = await sent_with(server, key=KEY)
    assert list(sent.body) == ["model", "messages", "max_tokens", "temperature", "response_format"]
    assert (sent.path, sent.query) == ("/v1/chat/completions", "")
    assert sent.headers["authorization"] == f"Bearer {KEY}"
    assert sent.headers.keys() == {
        "host", "accept", "connection", "content-length", "content-type", "accept-encoding", "user-agent",
        "authorization",
    }  # fmt: skip
    settings = ModelSettings(url="http://h/v1", model="m")
    assert settings.public().keys() == {
        "api", "url", "model", "small", "timeout_s", "connect_s", "at_once"
    }  # fmt: skip


BODIES: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"reasoning_effort": "low"}, {"reasoning_effort": "low"}),
    ({"reasoning_effort": "none"}, {"reasoning_effort": "none"}),
    ({"seed": 0}, {"seed": 0}),
    ({"seed": -7}, {"seed": -7}),
    ({"max_tokens_field": "max_completion_tokens"}, {"max_completion_tokens": 50, "temperature": 0.3}),
    ({"max_tokens_field": "max_tokens", "reasoning": True}, {"max_tokens": 50}),
    ({"extra_body": {"top_k": 20}}, {"top_k": 20}),
    ({"extra_body": {"temperature": 1.0}}, {"temperature": 1.0}),
    ({"extra_body": {"reasoning": {"effort": "high"}}}, {"reasoning": {"effort": "high"}}),
    ({"extra_body": {"chat_template_kwargs": {"enable_thinking": False}}, "seed": 3}, {"seed": 3}),
    ({"extra_body": {"nothing": None, "list": [1, {"a": 2}]}}, {"nothing": None, "list": [1, {"a": 2}]}),
]


@pytest.mark.parametrize(("given", "expected"), BODIES)
async def test_a_setting_stands_in_the_body_of_a_request(
    given: dict[str, Any], expected: dict[str, Any], server: ModelServer
) -> None:
    sent = await sent_with(server, **given)
    assert expected.items() <= sent.body.items()
    assert given.get("extra_body", {}).items() <= sent.body.items()
    limits = sent.body.keys() & {"max_tokens", "max_completion_tokens"}
    assert len(limits) == 1


def test_objects_of_the_extra_body_are_merged_field_by_field() -> None:
    settings = ModelSettings(
        url="https://openrouter.ai/api/v1",
        model="m",
        extra_body={"provider": {"order": ["x"], "deep": {"a": 1}}},
    )
    body = endpoint_of(settings, False, True).write(ASKED, "json_schema")
    assert body["provider"] == {"require_parameters": True, "order": ["x"], "deep": {"a": 1}}


async def test_the_same_settings_of_the_messages_api() -> None:
    with MessagesServer() as server:
        sent = await sent_with(server, reasoning_effort="low")
        assert sent.body["output_config"]["effort"] == "low"
        assert sent.body["output_config"]["format"]["type"] == "json_schema"
        thinking = {"type": "enabled", "budget_tokens": 2_000}
        sent = await sent_with(server, extra_body={"thinking": thinking}, headers={"anthropic-beta": "x-1"})
        assert sent.body["thinking"] == thinking and sent.headers["anthropic-beta"] == "x-1"
        server.key, server.key_header = KEY, ("x-api-key", "")
        sent = await sent_with(server, key=KEY, key_header="x-api-key", url=f"{server.url}/v1/messages")
        assert "authorization" not in sent.headers and sent.path == "/v1/messages"


async def test_a_text_is_embedded_with_the_settings_of_its_model(server: ModelServer) -> None:
    settings = ModelSettings(
        api="embeddings",
        url=f"{server.url}/embeddings?api-version=2",
        model="e",
        extra_body={"dimensions": 8},
        headers={"X-One": "1"},
    )
    async with ModelClient(settings, "", rng=Random(1), now_s=lambda: 0.0) as client:
        assert (await client.call(embedding_of("red"))).outcome == "answered"
    (sent,) = server.embedded
    assert (sent.body["dimensions"], sent.headers["x-one"], sent.query) == (8, "1", "api-version=2")


ADDRESSES = [
    ("/v1", "/v1/chat/completions", ""),
    ("/v1/", "/v1/chat/completions", ""),
    ("/v1/chat/completions", "/v1/chat/completions", ""),
    ("/v1/?a=b", "/v1/chat/completions", "a=b"),
    ("/openai/deployments/my-gpt?api-version=2024-10-21", "/openai/deployments/my-gpt/chat/completions",
     "api-version=2024-10-21"),
    ("/openai/deployments/my-gpt/chat/completions?api-version=2024-10-21",
     "/openai/deployments/my-gpt/chat/completions", "api-version=2024-10-21"),
    ("/openai/deployments/my-gpt/?api-version=2025-01-01-preview&x=%2Fa+b",
     "/openai/deployments/my-gpt/chat/completions", "api-version=2025-01-01-preview&x=%2Fa+b"),
]  # fmt: skip


@pytest.mark.parametrize(("below", "path", "query"), ADDRESSES)
async def test_the_path_of_a_request_stands_before_the_parameters_of_the_address(
    below: str, path: str, query: str, server: ModelServer
) -> None:
    origin = server.url.removesuffix("/v1")
    sent = await sent_with(server, url=origin + below)
    assert (sent.path, sent.query) == (path, query)


KEYS = [
    ({}, "authorization", f"Bearer {KEY}"),
    ({"key_header": "api-key"}, "api-key", KEY),
    ({"key_header": "x-goog-api-key"}, "x-goog-api-key", KEY),
    ({"key_header": "X-Auth", "key_prefix": "Bearer"}, "x-auth", f"Bearer {KEY}"),
    ({"key_header": "X-Auth", "key_prefix": "Token "}, "x-auth", f"Token {KEY}"),
    ({"key_prefix": ""}, "authorization", KEY),
    ({"key_prefix": "Token"}, "authorization", f"Token {KEY}"),
    ({"key_header": "AUTHORIZATION"}, "authorization", f"Bearer {KEY}"),
]


@pytest.mark.parametrize(("given", "header", "value"), KEYS)
async def test_the_key_is_sent_in_the_header_that_is_configured(
    given: dict[str, Any], header: str, value: str, server: ModelServer
) -> None:
    sent = await sent_with(server, key=KEY, **given)
    assert sent.headers[header] == value
    assert sum(KEY in one for one in sent.headers.values()) == 1
    assert not any(KEY in one for one in (await sent_with(server, **given)).headers.values())


async def test_headers_are_sent_and_their_secrets_are_taken_out_of_replies(
    server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROXY_TOKEN", SECRET)
    headers = {
        "HTTP-Referer": "https://example.org",
        "User-Agent": "mine/1",
        "X-Proxy-Token": {"env": "PROXY_TOKEN"},
        "Proxy-Auth": {"env": "PROXY_TOKEN", "prefix": "Bearer "},
    }
    sent = await sent_with(server, headers=headers)
    assert sent.headers["http-referer"] == "https://example.org"
    assert sent.headers["user-agent"] == "mine/1"
    assert sent.headers["x-proxy-token"] == SECRET
    assert sent.headers["proxy-auth"] == f"Bearer {SECRET}"

    server.plays(completion(f'{{"colour":"red","number":1,"said":"{SECRET}"}}'))
    settings = ModelSettings.model_validate({"url": server.url, "model": server.model, "headers": headers})
    async with ModelClient(settings, "", rng=Random(1), now_s=lambda: 0.0) as client:
        assert SECRET.encode() not in (await client.call(ASKED)).reply
    told = settings.public()["headers"]
    assert told == {"http-referer": "https://example.org", "user-agent": "mine/1"}


WRONG: list[tuple[dict[str, Any], str]] = [
    *(({"extra_body": {name: 1}}, f"extra_body: may not set {name}: ") for name in RESERVED_FIELDS),
    ({"extra_body": {"x": float("nan")}}, "extra_body: must hold JSON values alone"),
    (
        {"extra_body": {"api_key": "sk-0123456789abcdefghijklmn"}},
        "extra_body: holds what looks like a secret",
    ),
    ({"extra_body": {"x": "a" * 30_000}}, "extra_body: has 30,"),
    ({"headers": {"Authorization": "Bearer abc"}}, "a secret is never written here"),
    ({"headers": {"X-Api-Key": "abc"}}, "a secret is never written here"),
    ({"headers": {"X-Thing": "ghp_0123456789abcdefghijABCDEFGHIJ"}}, "a secret is never written here"),
    ({"headers": {"Content-Type": "text/plain"}}, "belongs to the transport"),
    ({"headers": {"Host": "x"}}, "belongs to the transport"),
    ({"headers": {"a b": "x"}}, "is no name of a header"),
    ({"headers": {"": "x"}}, "is no name of a header"),
    ({"headers": {"X-A": "a\r\nb: c"}}, "printable ASCII"),
    ({"headers": {"X-A": 3}}, "must be a text"),
    ({"headers": {"X-A": {"env": "lower"}}}, "is the name of an environment variable in capitals"),
    ({"headers": {"X-A": {"variable": "A"}}}, "X-A"),
    ({"headers": {"X-A": "1", "x-a": "2"}}, "named twice"),
    ({"headers": {"Authorization": {"env": "A"}}, "key_env": "B"}, "leave one of the two out"),
    (
        {"headers": {"api-key": {"env": "A"}}, "key_env": "B", "key_header": "API-Key"},
        "leave one of the two out",
    ),
    ({"key_header": "content-length"}, "belongs to the transport"),
    ({"key_header": "a: b"}, "is no name of a header"),
    ({"seed": 2**63}, "seed: "),
    ({"seed": "x"}, "seed: "),
    ({"max_tokens": 0}, "max_tokens: "),
    ({"max_tokens": 2_000_000}, "max_tokens: "),
    ({"max_tokens_field": "max"}, "max_tokens_field: "),
    ({"reasoning_effort": "as much as you can"}, "reasoning_effort: "),
    ({"reasoning_effort": ""}, "reasoning_effort: "),
    ({"url": "http://h/v1?key=abc"}, "holds a key in its parameter 'key'"),
    ({"url": "http://h/v1?api_key=abc"}, "holds a key in its parameter 'api_key'"),
    ({"url": "http://h/v1?a=1&subscription-key=abc"}, "holds a key in its parameter"),
    ({"url": "http://h/v1?access_token=abc"}, "holds a key in its parameter"),
    ({"url": "http://h/v1#x"}, "holds nothing but the address"),
    ({"api": "anthropic", "seed": 1}, 'seed is unknown to api = "anthropic"'),
    ({"api": "anthropic", "max_tokens_field": "max_tokens"}, "max_tokens_field is unknown"),
    ({"api": "embeddings", "max_tokens": 1}, "max_tokens is unknown"),
    ({"api": "embeddings", "reasoning_effort": "low"}, "reasoning_effort is unknown"),
]


@pytest.mark.parametrize(("given", "said"), WRONG)
def test_a_setting_that_cannot_be_used_is_refused_in_one_line(given: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError) as refused:
        load_settings(models={"local": {"url": "http://h/v1", "model": "m", **given}})
    line = str(refused.value)
    assert line.startswith("configuration: models.local") and said in line and "\n" not in line
    assert "ghp_" not in line and "sk-0" not in line


def test_a_variable_of_a_header_that_is_not_set_is_named(server: ModelServer, tmp_path: Path) -> None:
    text = f'[models.local]\nurl = "{server.url}"\nmodel = "tiny-1"\nheaders = {{ X-A = {{ env = "NOT_SET" }} }}\n'
    path = write(tmp_path / "s.toml", text)
    said = moot("models", "check", "--config", path)
    assert said.exit_code == 1 and "headers.x-a: the variable NOT_SET is not set" in said.stdout
    line = refused("debate", "Where?", "--model", "local", "--config", path)
    assert "models.local: headers.x-a: the variable NOT_SET is not set" in line


def held(*args: object, **environment: str) -> str:
    """Run a command whose case ends, whatever it comes to."""
    result = moot(*args, **environment)
    assert "Traceback" not in result.output and result.exit_code in (0, 3), result.output
    return result.output


def refused(*args: object) -> str:
    """Run a command that cannot start; return its last line."""
    result = moot(*args)
    assert result.exit_code == 2, result.output
    return result.stderr.splitlines()[-1]


def settings_in(server: ModelServer, more: str) -> str:
    price = "price = { input = 1, output = 2 }"
    return f'[models.local]\napi = "{server.api}"\nurl = "{server.url}"\nmodel = "tiny-1"\n{price}\n{more}\n'


def test_the_limit_of_a_model_is_that_of_its_seats_of_its_probes_and_of_its_reservations(
    server: ModelServer, tmp_path: Path
) -> None:
    path = write(tmp_path / "s.toml", settings_in(server, "max_tokens = 5000"))
    ask = ("debate", "Where?", "--options", "Rome,Oslo", "--config", path)
    held(*ask, "--model", "local", "--out", tmp_path / "d")
    assert {one.body["max_tokens"] for one in server.calls} == {5_000}
    found = [one.body for one in moot_api.open_log(tmp_path / "d") if one.body.type == "CALL_RESERVED"]
    with StoredBodiesFile(tmp_path / "d" / CALLS_NAME) as bodies:
        for body in found:
            size = len(bodies.get(body.request_sha256))
            assert body.max_tokens == size + 5_000 and body.max_cost == size + 2 * 5_000
    # A seat's own limit goes before the model's.
    server.forget()
    path = write(tmp_path / "t.toml", settings_in(server, "max_tokens = 5000") + (
        "[minds]\ncritic = { model = \"local\", max_tokens = 700 }\n"
    ))  # fmt: skip
    held("debate", "Where?", "--options", "Rome,Oslo", "--config", path)
    assert {one.body["max_tokens"] for one in server.calls} == {700}
    done("models", "check", "--config", path)
    assert {one.body["max_tokens"] for one in server.calls} == {700}


@pytest.mark.parametrize("kind", [ModelServer, MessagesServer])
@pytest.mark.parametrize("thinks", [100, 1_100, 1_300, 3_000, 9_000])
def test_a_model_that_passes_the_check_answers_in_its_seat(
    kind: type[ModelServer], thinks: int, tmp_path: Path
) -> None:
    with kind() as server:
        server.thinks = thinks
        path = write(tmp_path / "s.toml", settings_in(server, ""))
        checked = moot("models", "check", "--config", path)
        ask = ("debate", "Where?", "--options", "Rome,Oslo", "--model", "local", "--config")
        if checked.exit_code == 0:
            assert thinks <= 1_200
            moot(*ask, path, "--out", tmp_path / "d")
            assert "(truncated)" not in done("log", tmp_path / "d", "--type", "AUDIT")
            return
        assert "raise max_tokens in [models.local]" in checked.stdout
        assert "raise max_tokens in [models.local]" in refused(*ask, path)
        path = write(tmp_path / "s.toml", settings_in(server, f"max_tokens = {thinks}"))
        done("models", "check", "--config", path)
        assert "(truncated)" not in moot(*ask, path).output


def test_the_advice_names_the_seat_whose_limit_is_too_small(server: ModelServer, tmp_path: Path) -> None:
    server.thinks = 2_000
    more = 'max_tokens = 8000\n[minds]\ncritic = { model = "local", max_tokens = 100 }'
    path = write(tmp_path / "s.toml", settings_in(server, more))
    said = moot("models", "check", "--config", path)
    assert said.exit_code == 1 and "raise max_tokens in [minds] critic" in said.stdout
    line = refused("debate", "Where?", "--config", path)
    assert "raise max_tokens in [minds] critic" in line


def test_an_answer_that_is_cut_off_later_names_the_setting(server: ModelServer, tmp_path: Path) -> None:
    server.plays(*[completion('{"colour":"red","number":1}'), completion("", finish="length")] * 1)
    server.always = completion("", finish="length")
    path = write(tmp_path / "s.toml", settings_in(server, ""))
    said = moot("debate", "Where?", "--options", "Rome,Oslo", "--model", "local", "--config", path)
    assert "raise max_tokens in [models.local]" in said.stderr


ALL = """\
max_tokens = 4000
max_tokens_field = "max_completion_tokens"
seed = 7
reasoning_effort = "low"
headers = { X-Title = "Moot", X-Proxy-Token = { env = "PROXY_TOKEN" } }
extra_body = { top_k = 20, nested = { a = [1, 2] } }
key_header = "api-key"
key_env = "MY_KEY"
"""


def test_a_run_with_every_setting_replays_without_a_server(tmp_path: Path) -> None:
    with ModelServer(key=KEY) as server:
        server.key_header = ("api-key", "")
        path = write(tmp_path / "s.toml", settings_in(server, ALL))
        ask = ("debate", "Where?", "--options", "Rome,Oslo", "--model", "local", "--config", path)
        environment = {"MY_KEY": KEY, "PROXY_TOKEN": SECRET}
        held(*ask, "--out", tmp_path / "one", **environment)
        for sent in server.calls:
            assert sent.body["seed"] == 7 and sent.body["nested"] == {"a": [1, 2]}
            assert sent.body["max_completion_tokens"] == 4_000 and sent.headers["x-proxy-token"] == SECRET
        done("models", "check", "--config", path, **environment)
    said = moot("debate", "--replay", tmp_path / "one", "--out", tmp_path / "two")
    assert said.exit_code in (0, 3) and "byte for byte" in said.stderr, said.output
    assert (tmp_path / "one" / CALLS_NAME).exists()
    for file in (tmp_path / "one").rglob("*"):
        if file.is_file():
            content = file.read_bytes()
            assert SECRET.encode() not in content and KEY.encode() not in content, file
    done("verify", tmp_path / "two")
    told = data("calls", tmp_path / "two")
    assert told["totals"]["by_model"]["local"]["calls"] > 3


def test_what_a_log_says_of_a_model_gives_the_same_requests() -> None:
    plain: Mapping[str, Any] = tomllib.loads(f'url = "http://h/v1?a=b"\nmodel = "m"\n{ALL}')
    settings = ModelSettings.model_validate(plain)
    endpoint = endpoint_of(settings, True, False)
    used = ModelInUse(name="local", settings=settings, rung="tool", endpoint=endpoint, price=None)
    again = ModelInUse.of_log("local", json.loads(json.dumps(used.as_log())))
    assert again.written(ASKED) == used.written(ASKED)
    assert b'"seed":7' in used.written(ASKED)


def test_every_example_of_the_page_can_be_used() -> None:
    page = PAGE.read_text(encoding="utf-8")
    section = page.partition("## Providers and servers")[2].partition("\n## ")[0]
    found = [tomllib.loads(text) for text in re.findall(r"```toml\n(.*?)```", section, re.DOTALL)]
    assert [name for one in found for name in one["models"]] == [
        "thinker", "azure", "gemini", "router", "vllm"
    ]  # fmt: skip
    for one in found:
        load_settings(**one)
