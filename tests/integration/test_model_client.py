"""The client of models against a server that misbehaves over real HTTP; waits of retries take no time."""

from __future__ import annotations

import asyncio
import logging
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from moot.bots.models.answer import Answer
from moot.bots.models.client import ModelClient
from moot.bots.models.forms import form_of
from moot.bots.models.probing import TRIAL, Colour, find_rung
from moot.bots.models.request import Request, Rung, Tool
from moot.config.models import ModelSettings
from tests.doubles.model_server import MISBEHAVING, ModelServer, completion, refusal, too_many

KEY = "sk-test-0123456789abcdefghij"
TYPED = Request(
    messages=({"role": "system", "content": "Be brief."}, {"role": "user", "content": "Which colour?"}),
    max_tokens=50,
    form=form_of(Colour),
    temperature=0.3,
)
GOOD = completion('{"colour":"red","number":1}')


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


@pytest.fixture(scope="module")
def running() -> Iterator[ModelServer]:
    with ModelServer(key=KEY) as server:
        yield server


@pytest.fixture
def server(running: ModelServer) -> ModelServer:
    running.script.clear()
    running.sent.clear()
    running.always = None
    running.most_at_once = 0
    running.latency_s = 0.0
    return running


def client(server: ModelServer, time: WallTime | None = None, key: str = KEY, **more: Any) -> ModelClient:
    time = time or WallTime()
    settings = ModelSettings.model_validate({"url": server.url, "model": server.model, **more})
    return ModelClient(settings, key, rng=Random(1), now_s=time.now, sleep=time.sleep)


async def asked(one: ModelClient, rung: Rung = "json_schema", request: Request = TYPED, **how: Any) -> Answer:
    async with one:
        return await one.call(request, rung, **how)


async def test_an_answer_is_typed_and_says_what_it_used(server: ModelServer) -> None:
    answer = await asked(client(server))
    assert answer.value == Colour(colour="red", number=1)
    assert (answer.outcome, answer.tries, answer.finish, answer.why) == ("answered", 1, "stop", "")
    assert answer.usage is not None and answer.usage.input == 100
    assert answer.model_reported == "tiny-1" and b"chatcmpl-1" in answer.reply
    [sent] = server.calls
    assert (sent.body["max_tokens"], sent.body["temperature"]) == (50, 0.3)
    assert sent.body["messages"][0]["content"].startswith("Be brief.\n\nYour answer is one JSON object")


@pytest.mark.parametrize(
    ("name", "outcome", "fault", "requests"),
    [
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
        ("filter", "filtered", "", 1),
        ("filtered prompt", "filtered", "", 1),
        ("tool loop", "unparsable", "", 1),
        ("another model", "answered", "", 1),
        ("usage missing", "answered", "", 1),
        ("usage negative", "answered", "", 1),
        ("429, wait 0 s", "answered", "", 2),
        ("429, wait nonsense", "answered", "", 2),
        ("500", "answered", "", 2),
        ("503 without a word", "answered", "", 2),
    ],
)
async def test_a_fault_has_one_outcome_and_is_asked_again_only_where_that_helps(
    server: ModelServer, name: str, outcome: str, fault: str, requests: int
) -> None:
    server.plays(MISBEHAVING[name], GOOD)
    answer = await asked(client(server))
    assert (answer.outcome, answer.fault) == (outcome, fault)
    assert len(server.calls) == answer.tries == requests
    assert KEY not in repr(answer) and KEY.encode() not in answer.reply
    assert "\n" not in answer.why and bool(answer.why) == (outcome != "answered")


@pytest.mark.parametrize("name", ["no headers", "hangs after headers"])
async def test_a_server_that_hangs_is_left_after_the_time_of_one_request(
    server: ModelServer, name: str
) -> None:
    server.plays(MISBEHAVING[name])
    answer = await asked(client(server, timeout_s=0.2))
    assert (answer.outcome, answer.why, answer.tries) == ("timed_out", "no whole reply within 0.2 s", 1)


async def test_a_call_ends_when_its_answer_is_due_and_is_not_begun_after_that(server: ModelServer) -> None:
    server.plays(MISBEHAVING["no headers"])
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
    server.plays(MISBEHAVING["hangs after headers"])
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
    server.always = MISBEHAVING["500"]
    time = WallTime()
    answer = await asked(client(server, time))
    assert (answer.outcome, answer.fault) == ("provider_error", "server")
    assert "takes too long" in answer.why
    assert 44 < time.s - 1_000 <= 60 and answer.latency_ms == round((time.s - 1_000) * 1_000)
    assert len(server.calls) == answer.tries == len(time.slept) + 1

    time = WallTime()
    await asked(client(server, time), deadline_s=time.s + 5)
    assert time.s - 1_000 <= 5

    server.always = too_many("20")
    time = WallTime()
    assert (await asked(client(server, time))).tries in (2, 3)
    assert all(20 <= one <= 22 for one in time.slept)


async def test_two_clients_do_not_come_again_at_the_same_time(server: ModelServer) -> None:
    waits = []
    for seed in (1, 2):
        server.plays(MISBEHAVING["500"], GOOD)
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
    assert answer.why == "HTTP 401: Incorrect API key provided: [redacted:key]"
    for text in (repr(one), repr(answer), answer.reply.decode(), caplog.text):
        assert wrong not in text
    missing = await asked(client(server, model="tiny-2"))
    assert (missing.fault, missing.why) == ("no_model", "HTTP 404: the model tiny-2 does not exist")


async def test_nothing_goes_out_that_is_not_of_the_configuration(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-somebody-else")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-of-somebody")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Secret: abc")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    with ModelServer() as server:
        await asked(client(server, key=""))
    [sent] = server.calls
    assert "authorization" not in sent.headers
    assert not any("abc" in one or "somebody" in one for one in sent.headers.values())
    assert set(sent.body) == {"model", "messages", "max_tokens", "temperature", "response_format"}


async def test_a_server_that_is_not_there_is_tried_until_the_cap_and_never_counts_as_sent() -> None:
    with ModelServer() as gone:
        url = gone.url
    time = WallTime()
    settings = ModelSettings(url=url, model="x")
    one = ModelClient(settings, "", rng=Random(1), now_s=time.now, sleep=time.sleep)
    answer = await asked(one)
    assert (answer.outcome, answer.fault, answer.tries) == ("provider_error", "no_server", 0)
    assert answer.why.startswith(f"no connection to {url}: ")
    assert 44 < time.s - 1_000 <= 60 and len(time.slept) < 20


async def test_a_server_without_tls_is_told_at_once(server: ModelServer) -> None:
    time = WallTime()
    settings = ModelSettings(url=server.url.replace("http:", "https:"), model="x")
    answer = await asked(ModelClient(settings, KEY, rng=Random(1), now_s=time.now, sleep=time.sleep))
    assert (answer.outcome, answer.fault, time.slept) == ("provider_error", "tls", [])


async def test_a_model_that_reasons_is_recognised_by_what_it_refuses_also_by_many_at_once() -> None:
    with ModelServer(reasons=True) as server:
        async with client(server, key="") as one:
            answers = await asyncio.gather(*(one.call(TYPED) for _ in range(8)))
            assert {answer.outcome for answer in answers} == {"answered"}
            before = len(server.calls)
            assert (await one.call(TYPED)).tries == 1
        assert len(server.calls) == before + 1
        last = server.calls[-1].body
        assert last["max_completion_tokens"] == 50
        assert "max_tokens" not in last and "temperature" not in last
        told = await asked(client(server, key="", reasoning=True))
        assert told.tries == 1


async def test_a_temperature_that_is_refused_is_left_out(server: ModelServer) -> None:
    server.plays(refusal(400, "temperature does not support 0.3 with this model"))
    answer = await asked(client(server))
    assert (answer.outcome, answer.tries) == ("answered", 2)
    assert "temperature" not in server.calls[1].body and "max_tokens" in server.calls[1].body


async def test_a_probe_with_a_temperature_learns_whether_the_endpoint_takes_one(server: ModelServer) -> None:
    server.plays(refusal(400, "temperature does not support 0.3 with this model"))
    async with client(server) as one:
        found = await find_rung(one, 30, 0.3)
    assert (found.rung, one.dialect.takes_temperature) == ("json_schema", False)
    assert "temperature" in server.calls[0].body and "temperature" not in server.calls[1].body


async def test_a_request_that_was_written_before_is_sent_as_it_stands(server: ModelServer) -> None:
    server.plays(GOOD)
    async with client(server) as one:
        stored = {**one.written(TYPED, "json_object"), "seed": 7}
        answer = await one.call(TYPED, "json_object", body=stored)
    assert answer.outcome == "answered" and answer.value == Colour(colour="red", number=1)
    assert server.calls[0].body == stored


async def test_tools_are_offered_and_their_calls_come_back(server: ModelServer) -> None:
    look_up = Tool(name="look_up", about="Looks a word up.", parameters={"type": "object", "properties": {}})
    server.plays(MISBEHAVING["tool loop"])
    answer = await asked(client(server), "tool", replace(TYPED, tools=(look_up,)))
    assert answer.outcome == "answered" and answer.value is None
    assert dict(answer.tool_calls[0].arguments) == {"word": "red"}
    sent = server.calls[0].body
    assert [tool["function"]["name"] for tool in sent["tools"]] == ["look_up", "Colour"]
    assert sent["tool_choice"] == "required"
    server.plays(MISBEHAVING["tool arguments are no JSON"])
    wrong = await asked(client(server), "tool", replace(TYPED, tools=(look_up,)))
    assert wrong.outcome == "unparsable" and wrong.why.startswith("the arguments of look_up: ")


async def test_no_more_requests_are_under_way_than_slots_and_a_429_halves_them() -> None:
    with ModelServer() as server:
        async with client(server, key="", at_once=4) as one:
            server.waits_for = 4
            answers = await asyncio.gather(*(one.call(TYPED) for _ in range(12)))
            assert server.most_at_once == 4
            server.waits_for = 0
            server.plays(too_many())
            answers.append(await one.call(TYPED))
            assert 2 < one.pace.limit < 3
            server.most_at_once = 0
            server.waits_for = 2
            answers += await asyncio.gather(*(one.call(TYPED) for _ in range(4)))
            assert server.most_at_once == 2
    assert {answer.outcome for answer in answers} == {"answered"}


@pytest.mark.parametrize(
    ("rungs", "ignores", "found"),
    [
        ({"json_schema", "tool", "json_object"}, set(), "json_schema"),
        ({"tool", "json_object"}, set(), "tool"),
        ({"tool"}, {"json_schema"}, "tool"),
        ({"json_object"}, set(), "json_object"),
        (set(), set(), "prompt"),
        # What comes back for an ignored `json_object` is the same as for one that is enforced.
        (set(), {"json_schema", "tool", "json_object"}, "json_object"),
    ],
)
async def test_the_probe_finds_the_surest_rung_that_is_enforced(
    rungs: set[str], ignores: set[str], found: Rung
) -> None:
    with ModelServer(rungs=frozenset(rungs), ignores=frozenset(ignores)) as server:
        async with client(server, key="") as one:
            probed = await find_rung(one, 20)
            assert probed.rung == found
            trial = await one.call(TRIAL, found)
    assert trial.outcome == "answered" and trial.value.answer == "yes"
    assert len(server.calls) <= 5


@pytest.mark.parametrize(
    ("spoil", "outcome"),
    [
        (lambda server: setattr(server, "key", "other"), "provider_error"),
        (lambda server: setattr(server, "model", "other"), "provider_error"),
        (lambda server: server.plays(too_many("3600")), "provider_error"),
    ],
)
async def test_the_probe_stops_at_what_no_rung_mends(
    spoil: Callable[[ModelServer], None], outcome: str
) -> None:
    with ModelServer(key=KEY) as server:
        one = client(server)
        spoil(server)
        async with one:
            probed = await find_rung(one, 20)
    assert probed.rung is None and [answer.outcome for _, answer in probed.answers] == [outcome]
    assert len(server.calls) == 1


async def test_a_probe_that_was_cut_off_has_more_room_once(server: ModelServer) -> None:
    server.plays(MISBEHAVING["truncated"])
    async with client(server) as one:
        probed = await find_rung(one, 20)
    assert probed.rung == "json_schema"
    assert [sent.body["max_tokens"] for sent in server.calls] == [300, 4_000]


def test_the_sdk_is_not_imported_before_the_first_call() -> None:
    code = "import sys, moot.bots.models.client, moot.cli.commands; sys.exit('openai' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
