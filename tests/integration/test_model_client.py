"""The client of models against a server that misbehaves over real HTTP; waits of retries take no time."""

from __future__ import annotations

import asyncio
import json
import logging
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from random import Random
from typing import Any

import pytest

from moot.bots.models import exchange
from moot.bots.models.answer import Answer
from moot.bots.models.client import ModelClient
from moot.bots.models.errors import NoPackage
from moot.bots.models.forms import form_of
from moot.bots.models.probing import TRIAL, Colour, find_rung
from moot.bots.models.record import answer_in, record_of
from moot.bots.models.request import Request, Rung, Tool
from moot.config.models import ModelSettings
from tests.doubles.messages_server import MessagesServer
from tests.doubles.model_server import ModelServer

KEY = "sk-test-0123456789abcdefghij"
TYPED = Request(
    messages=({"role": "system", "content": "Be brief."}, {"role": "user", "content": "Which colour?"}),
    max_tokens=50,
    form=form_of(Colour),
    temperature=0.3,
)
LOOK_UP = Tool(name="look_up", about="Looks a word up.", parameters={"type": "object", "properties": {}})
GOOD = '{"colour":"red","number":1}'

both = pytest.mark.parametrize("kind", [ModelServer, MessagesServer])
"""A server of each API."""


class WallTime:
    """Seconds that pass when somebody sleeps."""

    def __init__(self) -> None:
        self.s = 1_000.0
        self.slept: list[float] = []

    def now(self) -> float:
        return self.s

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.s += seconds


@pytest.fixture(scope="module", params=[ModelServer, MessagesServer], ids=["openai", "anthropic"])
def running(request: pytest.FixtureRequest) -> Iterator[ModelServer]:
    with request.param(key=KEY) as server:
        yield server


@pytest.fixture
def server(running: ModelServer) -> ModelServer:
    """Return a server of each API in turn."""
    running.forget()
    running.most_at_once = 0
    running.latency_s = 0.0
    return running


@pytest.fixture
def openai_server() -> Iterator[ModelServer]:
    with ModelServer(key=KEY) as server:
        yield server


def client(server: ModelServer, time: WallTime | None = None, key: str = KEY, **more: Any) -> ModelClient:
    time = time or WallTime()
    given = {"api": server.api, "url": server.url, "model": server.model, **more}
    settings = ModelSettings.model_validate(given)
    return ModelClient(settings, key, rng=Random(1), now_s=time.now, sleep=time.sleep)


async def asked(one: ModelClient, rung: Rung = "json_schema", request: Request = TYPED, **how: Any) -> Answer:
    async with one:
        answer = await one.call(request, rung, **how)
    # However a call ends, its record tells the same.
    assert (
        answer_in(record_of("o/0/1/1", answer), partial(one.endpoint.read, request=request, rung=rung))
        == answer
    )
    return answer


async def test_an_answer_is_typed_and_says_what_it_used(server: ModelServer) -> None:
    answer = await asked(client(server))
    assert answer.value == Colour(colour="red", number=1)
    assert (answer.outcome, answer.tries, answer.why, answer.status) == ("answered", 1, "", 200)
    assert answer.usage is not None and answer.usage.input == 100
    assert answer.model_reported == "tiny-1" and answer.provider_id.encode() in answer.reply
    [sent] = server.calls
    assert sent.body["max_tokens"] == 50
    system = sent.body["messages"][0]["content"] if server.api == "openai" else sent.body["system"][0]["text"]
    assert system.startswith("Be brief.\n\nYour answer is one JSON object")


async def test_what_each_api_is_sent_beside_the_conversation() -> None:
    with ModelServer() as openai, MessagesServer() as anthropic:
        for server in (openai, anthropic):
            await asked(client(server, key=""))
    [sent] = openai.calls
    assert (sent.body["temperature"], sent.body["messages"][1]["role"]) == (0.3, "user")
    [sent] = anthropic.calls
    # What stays the same from call to call may be read from the provider's cache.
    assert sent.body["system"][0]["cache_control"] == {"type": "ephemeral"}
    assert [one["role"] for one in sent.body["messages"]] == ["user"]
    assert (sent.body["thinking"], "temperature" in sent.body) == ({"type": "disabled"}, False)


async def test_a_client_that_does_not_try_again_sends_one_request(server: ModelServer) -> None:
    server.plays(server.faults["429, wait 0 s"], server.refuses(400, "temperature is not taken"))
    settings = ModelSettings.model_validate({"api": server.api, "url": server.url, "model": server.model})
    one = ModelClient(settings, KEY, rng=Random(1), now_s=WallTime().now, tries_again=False)
    async with one:
        for fault in ("rate", "request"):
            answer = await one.call(TYPED)
            assert (answer.fault, answer.tries) == (fault, 1)
    assert len(server.calls) == 2


async def test_what_an_endpoint_does_not_take_of_how_answers_are_drawn_is_left_out() -> None:
    drawn = replace(TYPED, form=None, top_p=0.9, presence_penalty=0.5, frequency_penalty=-0.25)
    with ModelServer() as server:
        server.plays(server.refuses(400, "Unsupported value: 'presence_penalty'"))
        await asked(client(server, key=""), request=drawn)
    first, again = [one.body for one in server.calls]
    assert {"temperature": 0.3, "top_p": 0.9, "presence_penalty": 0.5}.items() <= first.items()
    assert first.keys() - again.keys() == {"presence_penalty"} and again["frequency_penalty"] == -0.25
    with MessagesServer() as server:
        body = client(server).written(drawn)
    assert body["top_p"] == 0.9 and "presence_penalty" not in body


FAULTS = [
    ("429, wait 3600 s", "provider_error", "rate", 1),
    ("breaks after headers", "unknown", "server", 1),
    ("20 MB", "provider_error", "too_large", 1),
    ("5 MB, and says so", "provider_error", "too_large", 1),
    ("compressed unasked", "provider_error", "too_large", 1),
    ("a redirect", "provider_error", "redirect", 1),
    ("no JSON", "provider_error", "garbage", 1),
    ("nothing", "provider_error", "garbage", 1),
    ("no choices", "provider_error", "garbage", 1),
    ("empty", "unparsable", "", 1),
    ("truncated", "truncated", "", 1),
    ("double", "unparsable", "", 1),
    ("prose around", "unparsable", "", 1),
    ("refusal", "refused", "", 1),
    ("tool loop", "unparsable", "", 1),
    ("another model", "answered", "", 1),
    ("usage missing", "answered", "", 1),
    ("usage negative", "answered", "", 1),
    ("429, wait 0 s", "answered", "", 2),
    ("429, wait nonsense", "answered", "", 2),
    ("500", "answered", "", 2),
    ("503 without a word", "answered", "", 2),
]
OPENAI_FAULTS = [
    ("filter", "filtered", "", 1),
    ("filtered prompt", "filtered", "", 1),
]
ANTHROPIC_FAULTS = [
    ("overloaded", "answered", "", 2),
    ("too large", "provider_error", "request", 1),
    ("no credit", "provider_error", "credit", 1),
    ("no credit, as a bad request", "provider_error", "credit", 1),
    ("out of context", "truncated", "", 1),
    ("paused", "provider_error", "server", 1),
]


@pytest.mark.parametrize(
    ("running", "name", "outcome", "fault", "requests"),
    [
        *((ModelServer, *one) for one in FAULTS + OPENAI_FAULTS),
        *((MessagesServer, *one) for one in FAULTS + ANTHROPIC_FAULTS),
    ],
    indirect=["running"],
)
async def test_a_fault_has_one_outcome_and_is_asked_again_only_where_that_helps(
    server: ModelServer, name: str, outcome: str, fault: str, requests: int
) -> None:
    server.plays(server.faults[name], server.says(GOOD))
    answer = await asked(client(server))
    assert (answer.outcome, answer.fault) == (outcome, fault)
    assert len(server.calls) == answer.tries == requests
    assert KEY not in repr(answer) and KEY.encode() not in answer.reply
    assert "\n" not in answer.why and bool(answer.why) == (outcome != "answered")


@pytest.mark.parametrize("name", ["no headers", "hangs after headers"])
async def test_a_server_that_hangs_is_left_after_the_time_of_one_request(
    server: ModelServer, name: str
) -> None:
    server.plays(server.faults[name])
    answer = await asked(client(server, timeout_s=0.2))
    assert (answer.outcome, answer.why, answer.tries) == ("timed_out", "no whole reply within 0.2 s", 1)


async def test_a_call_ends_when_its_answer_is_due_and_is_not_begun_after_that(server: ModelServer) -> None:
    server.plays(server.faults["no headers"])
    time = WallTime()
    answer = await asked(client(server, time), deadline_s=time.s + 0.2)
    assert (answer.outcome, answer.why, answer.tries) == (
        "timed_out",
        "there was no answer when it was due",
        1,
    )
    answer = await asked(client(server, time), deadline_s=time.s)
    assert (answer.outcome, answer.tries) == ("timed_out", 0)


async def test_a_call_that_is_given_up_ends_at_once_as_abandoned(server: ModelServer) -> None:
    server.plays(server.faults["hangs after headers"])
    given_up = asyncio.Event()
    async with client(server) as one:
        calling = asyncio.ensure_future(one.call(TYPED, given_up=given_up))
        while not server.calls:
            await asyncio.sleep(0.005)
        given_up.set()
        answer = await calling
        assert (answer.outcome, answer.tries, one.pace.taken) == ("abandoned", 1, 0)
        assert (await one.call(TYPED, given_up=asyncio.Event())).outcome == "answered"


async def test_retries_wait_longer_each_time_and_stop_at_the_cap_or_at_the_deadline(
    server: ModelServer,
) -> None:
    server.always = server.faults["500"]
    time = WallTime()
    answer = await asked(client(server, time))
    assert (answer.outcome, answer.fault) == ("provider_error", "server")
    assert "takes too long" in answer.why
    assert 44 < time.s - 1_000 <= 60 and answer.latency_ms == round((time.s - 1_000) * 1_000)
    assert len(server.calls) == answer.tries == len(time.slept) + 1

    time = WallTime()
    await asked(client(server, time), deadline_s=time.s + 5)
    assert time.s - 1_000 <= 5

    server.always = server.refuses(429, "slow down", retry_after="20")
    time = WallTime()
    assert (await asked(client(server, time))).tries in (2, 3)
    assert all(20 <= one <= 22 for one in time.slept)


async def test_two_clients_do_not_come_again_at_the_same_time(server: ModelServer) -> None:
    waits = []
    for seed in (1, 2):
        server.plays(server.faults["500"], server.says(GOOD))
        time = WallTime()
        one = client(server, time)
        one._rng = Random(seed)
        await asked(one)
        waits += time.slept
    assert waits[0] != waits[1]


async def test_a_wrong_key_and_an_unknown_model_are_told_without_the_key(
    server: ModelServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    wrong = "wrong-key-without-a-known-look"
    one = client(server, key=wrong)
    answer = await asked(one)
    assert (answer.outcome, answer.fault, answer.tries) == ("provider_error", "key", 1)
    assert answer.why.startswith("HTTP 401: ") and answer.why.endswith(" [redacted:key]")
    for text in (repr(one), repr(answer), answer.reply.decode(), caplog.text):
        assert wrong not in text
    missing = await asked(client(server, model="tiny-2"))
    assert missing.fault == "no_model"
    assert missing.why.startswith("HTTP 404: ") and "tiny-2" in missing.why


@both
@pytest.mark.parametrize("key", ["", KEY])
async def test_nothing_goes_out_that_is_not_of_the_configuration(
    monkeypatch: pytest.MonkeyPatch, kind: type[ModelServer], key: str
) -> None:
    for name in ("OPENAI", "ANTHROPIC"):
        monkeypatch.setenv(f"{name}_API_KEY", "sk-of-somebody-else")
        monkeypatch.setenv(f"{name}_CUSTOM_HEADERS", "X-Secret: of somebody\nanthropic-version: of somebody")
        monkeypatch.setenv(f"{name}_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-of-somebody")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "token-of-somebody")
    with kind(key=key) as server:
        answer = await asked(client(server, key=key))
    assert answer.outcome == "answered"
    [sent] = server.calls
    assert sent.headers.get("authorization") == (f"Bearer {KEY}" if key else None)
    ours = {"host", "accept", "connection", "content-length", "content-type", "accept-encoding", "user-agent"}
    assert set(sent.headers) - {"authorization", "anthropic-version"} == ours
    assert not any("somebody" in one for one in sent.headers.values())


@both
async def test_what_is_asked_stands_in_the_body_and_nothing_else(kind: type[ModelServer]) -> None:
    with kind() as server:
        await asked(client(server, key=""))
    [sent] = server.calls
    of_all = {"model", "messages", "max_tokens"}
    assert (
        set(sent.body) - of_all
        == {
            "openai": {"temperature", "response_format"},
            "anthropic": {"system", "thinking", "output_config"},
        }[server.api]
    )


@both
async def test_a_server_that_is_not_there_is_tried_until_the_cap_and_never_counts_as_sent(
    kind: type[ModelServer],
) -> None:
    with kind() as gone:
        pass
    time = WallTime()
    answer = await asked(client(gone, time, key=""))
    assert (answer.outcome, answer.fault, answer.tries) == ("provider_error", "no_server", 0)
    assert answer.why.startswith(f"no connection to {gone.url}: ")
    assert 44 < time.s - 1_000 <= 60 and len(time.slept) < 20


@both
async def test_a_server_that_stays_away_is_waited_for_once_until_it_answers_again(
    kind: type[ModelServer],
) -> None:
    with kind() as server:
        time = WallTime()
        async with client(server, time, key="") as one:
            server.stop()
            assert (await one.call(TYPED)).fault == "no_server"
            waited = len(time.slept)
            assert (await one.call(TYPED)).fault == "no_server"
            assert len(time.slept) == waited > 0
            server.start()
            assert (await one.call(TYPED)).outcome == "answered"
            server.stop()
            assert (await one.call(TYPED)).fault == "no_server"
            assert len(time.slept) > waited


async def test_a_server_without_tls_is_told_at_once(server: ModelServer) -> None:
    time = WallTime()
    answer = await asked(client(server, time, url=server.url.replace("http:", "https:")))
    assert (answer.outcome, answer.fault, time.slept) == ("provider_error", "tls", [])


@both
async def test_a_model_that_reasons_is_recognised_by_what_it_refuses_also_by_many_at_once(
    kind: type[ModelServer],
) -> None:
    with kind(reasons=True) as server:
        async with client(server, key="") as one:
            answers = await asyncio.gather(*(one.call(TYPED) for _ in range(8)))
            assert {answer.outcome for answer in answers} == {"answered"}
            before = len(server.calls)
            assert (await one.call(TYPED)).tries == 1
        assert len(server.calls) == before + 1
        last = server.calls[-1].body
        assert last["max_completion_tokens" if server.api == "openai" else "max_tokens"] == 50
        assert not {"temperature", "thinking"} & set(last)
        assert server.api == "anthropic" or "max_tokens" not in last
        told = await asked(client(server, key="", reasoning=True))
        assert told.tries == 1


async def test_a_temperature_that_is_refused_is_left_out(openai_server: ModelServer) -> None:
    openai_server.plays(openai_server.refuses(400, "temperature does not support 0.3 with this model"))
    answer = await asked(client(openai_server))
    assert (answer.outcome, answer.tries) == ("answered", 2)
    assert "temperature" not in openai_server.calls[1].body and "max_tokens" in openai_server.calls[1].body


async def test_a_form_that_is_too_large_for_anthropics_api_is_asked_for_in_the_prompt_alone() -> None:
    why = "output_config.format.schema: Invalid schema: The compiled grammar is too large"
    with MessagesServer() as server:
        server.plays(server.refuses(400, why), server.says(GOOD), server.says(GOOD))
        async with client(server, key="") as one:
            answers = [await one.call(TYPED), await one.call(TYPED)]
            other = await one.call(TRIAL)
    assert [answer.tries for answer in (*answers, other)] == [2, 1, 1]
    assert {answer.outcome for answer in (*answers, other)} == {"answered"}
    # Another form is held to as before.
    assert ["output_config" in sent.body for sent in server.calls] == [True, False, False, True]
    assert "fits this JSON Schema" in server.calls[1].body["system"][0]["text"]


async def test_a_probe_with_a_temperature_learns_whether_the_endpoint_takes_one(
    openai_server: ModelServer,
) -> None:
    openai_server.plays(openai_server.refuses(400, "temperature does not support 0.3 with this model"))
    async with client(openai_server) as one:
        found = await find_rung(one, 30, 0.3)
    assert (found.rung, one.dialect.takes_temperature) == ("json_schema", False)
    assert "temperature" in openai_server.calls[0].body and "temperature" not in openai_server.calls[1].body


async def test_a_request_that_was_written_before_is_sent_as_it_stands(server: ModelServer) -> None:
    server.plays(server.says(GOOD))
    async with client(server) as one:
        stored = {**one.written(TYPED, "prompt"), "seed": 7}
        answer = await one.call(TYPED, "prompt", body=stored)
    assert answer.outcome == "answered" and answer.value == Colour(colour="red", number=1)
    assert server.calls[0].body == stored


async def test_tools_are_offered_and_their_calls_come_back(server: ModelServer) -> None:
    server.plays(server.faults["tool loop"])
    answer = await asked(client(server), "tool", replace(TYPED, tools=(LOOK_UP,)))
    assert answer.outcome == "answered" and answer.value is None
    assert dict(answer.tool_calls[0].arguments) == {"word": "red"}
    sent = server.calls[0].body
    assert [tool.get("function", tool)["name"] for tool in sent["tools"]] == ["look_up", "Colour"]
    assert sent["tool_choice"] == ("required" if server.api == "openai" else {"type": "any"})
    server.plays(server.faults["tool arguments are no JSON"])
    wrong = await asked(client(server), "tool", replace(TYPED, tools=(LOOK_UP,)))
    assert wrong.outcome == "unparsable" and "JSON object" in wrong.why


async def test_results_of_tools_go_back_in_the_words_of_the_api(server: ModelServer) -> None:
    async with client(server) as one:
        server.plays(server.faults["tool loop"])
        request = replace(TYPED, tools=(LOOK_UP,))
        [called] = (await one.call(request, "json_schema")).tool_calls
        function = {"name": called.name, "arguments": json.dumps(called.arguments)}
        calls = [{"id": id_, "type": "function", "function": function} for id_ in (called.id, "second")]
        told = [{"role": "tool", "tool_call_id": one["id"], "content": f"about {one['id']}"} for one in calls]
        asks_for = {"role": "assistant", "content": "", "tool_calls": calls}
        again = replace(request, messages=(*request.messages, asks_for, *told))
        answer = await one.call(again, "json_schema")
    assert answer.value == Colour(colour="red", number=1)
    sent = server.calls[1].body["messages"]
    if server.api == "openai":
        assert sent[2:] == [asks_for, *told]
        return
    used = [
        {"type": "tool_use", "id": id_, "name": "look_up", "input": {"word": "red"}}
        for id_ in ("toolu_1", "second")
    ]
    results = [
        {"type": "tool_result", "tool_use_id": one["id"], "content": f"about {one['id']}"} for one in used
    ]
    # The results of tools that were called together are one turn.
    assert sent[1:] == [{"role": "assistant", "content": used}, {"role": "user", "content": results}]


@both
async def test_no_more_requests_are_under_way_than_slots_and_a_429_halves_them(
    kind: type[ModelServer],
) -> None:
    with kind() as server:
        async with client(server, key="", at_once=4) as one:
            server.waits_for = 4
            answers = await asyncio.gather(*(one.call(TYPED) for _ in range(12)))
            assert server.most_at_once == 4
            server.waits_for = 0
            server.plays(server.refuses(429, "slow down"))
            answers.append(await one.call(TYPED))
            assert 2 < one.pace.limit < 3
            server.most_at_once = 0
            server.waits_for = 2
            answers += await asyncio.gather(*(one.call(TYPED) for _ in range(4)))
            assert server.most_at_once == 2
    assert {answer.outcome for answer in answers} == {"answered"}


@pytest.mark.parametrize(
    ("kind", "rungs", "ignores", "found"),
    [
        (ModelServer, {"json_schema", "tool", "json_object"}, set(), "json_schema"),
        (ModelServer, {"tool", "json_object"}, set(), "tool"),
        (ModelServer, {"tool"}, {"json_schema"}, "tool"),
        (ModelServer, {"json_object"}, set(), "json_object"),
        (ModelServer, set(), set(), "prompt"),
        # What comes back for an ignored `json_object` is the same as for one that is enforced.
        (ModelServer, set(), {"json_schema", "tool", "json_object"}, "json_object"),
        (MessagesServer, {"json_schema", "tool"}, set(), "json_schema"),
        (MessagesServer, {"tool"}, {"json_schema"}, "tool"),
        (MessagesServer, set(), set(), "prompt"),
    ],
)
async def test_the_probe_finds_the_surest_rung_that_is_enforced(
    kind: type[ModelServer], rungs: set[str], ignores: set[str], found: Rung
) -> None:
    with kind(rungs=frozenset(rungs), ignores=frozenset(ignores)) as server:
        async with client(server, key="") as one:
            probed = await find_rung(one, 20)
            assert probed.rung == found
            trial = await one.call(TRIAL, found)
    assert trial.outcome == "answered" and trial.value.answer == "yes"
    assert len(server.calls) <= 5


@both
@pytest.mark.parametrize(
    ("spoil", "outcome"),
    [
        (lambda server: setattr(server, "key", "other"), "provider_error"),
        (lambda server: setattr(server, "model", "other"), "provider_error"),
        (lambda server: server.plays(server.faults["429, wait 3600 s"]), "provider_error"),
    ],
)
async def test_the_probe_stops_at_what_no_rung_mends(
    kind: type[ModelServer], spoil: Callable[[ModelServer], None], outcome: str
) -> None:
    with kind(key=KEY) as server:
        one = client(server)
        spoil(server)
        async with one:
            probed = await find_rung(one, 20)
    assert probed.rung is None and [answer.outcome for _, answer in probed.answers] == [outcome]
    assert len(server.calls) == 1


async def test_a_probe_that_was_cut_off_has_more_room_once(server: ModelServer) -> None:
    server.plays(server.faults["truncated"])
    async with client(server) as one:
        probed = await find_rung(one, 20)
    assert probed.rung == "json_schema"
    assert [sent.body["max_tokens"] for sent in server.calls] == [300, 1_200]


@pytest.mark.parametrize("api", ["openai", "anthropic"])
def test_an_sdk_is_imported_by_the_first_call_off_the_loop_and_no_other(api: str) -> None:
    code = f"""
import asyncio, random, sys, threading
from moot.bots.models.client import ModelClient
from moot.config.models import ModelSettings
import moot.cli.commands
found = []
class Watch:
    def find_spec(self, name, path=None, target=None):
        if name in ("openai", "anthropic", "httpx2"):
            found.append((name, threading.current_thread() is threading.main_thread()))
sys.meta_path.insert(0, Watch())
async def call():
    settings = ModelSettings(api="{api}", url="http://127.0.0.1:9", model="x")
    client = ModelClient(settings, "", rng=random.Random(1), now_s=lambda: 0.0)
    print(sorted(one for one, is_main in found if one in sys.modules))
    await client.open()
    await client.close()
asyncio.run(call())
print(sorted(set(one for one, is_main in found if one in sys.modules)), any(m for n, m in found if n == "httpx2"))
"""
    said = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert said.splitlines() == ["[]", f"{sorted([api, 'httpx2'])} False"]


def test_without_the_package_of_an_api_one_line_says_how_it_is_installed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(exchange, "find_spec", lambda _name: None)
    settings = ModelSettings.model_validate({"api": "anthropic", "model": "claude-sonnet-5"})
    with pytest.raises(
        NoPackage, match=r"^the package anthropic is not installed: pip install 'moot\[anthropic\]'$"
    ):
        ModelClient(settings, "", rng=Random(1), now_s=WallTime().now)
