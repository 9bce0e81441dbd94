"""The record of a reply tells what the reply told."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.bots.models.answer import Answer
from moot.bots.models.client import ENDPOINTS
from moot.bots.models.errors import BadRecord
from moot.bots.models.forms import form_of
from moot.bots.models.probing import Colour
from moot.bots.models.record import Read, answer_in, record_of
from moot.bots.models.request import LADDER, Request, Rung, Tool
from moot.config.models import ModelSettings
from tests.doubles import messages_server, model_server
from tests.doubles.messages_server import message
from tests.doubles.model_server import Turn, completion

PLAIN = Request(messages=({"role": "user", "content": "?"},), max_tokens=9)
TYPED = replace(PLAIN, form=form_of(Colour))
TOOLS = replace(TYPED, tools=(Tool(name="look_up", about="Looks a word up.", parameters={"type": "object"}),))
REQUESTS = {"plain": PLAIN, "typed": TYPED, "tools": TOOLS}
GOOD = '{"colour":"red","number":1}'
TURNS: dict[tuple[str, str], Turn] = {
    **{("openai", name): turn for name, turn in model_server.MISBEHAVING.items()},
    **{("anthropic", name): turn for name, turn in messages_server.MISBEHAVING.items()},
    ("openai", "good"): completion(GOOD),
    ("openai", "by a tool"): completion(None, tools=[("answer", GOOD)]),
    ("openai", "no UTF-8"): Turn(body=b'{"choices":[{"message":{"content":"\xff"}}]}'),
    ("openai", "half a pair"): completion("\ud800"),
    ("anthropic", "good"): message(GOOD),
    ("anthropic", "by a tool"): message(None, tools=[("answer", json.loads(GOOD))]),
}


def reader(api: str, asked: Request = TYPED, rung: Rung = "json_schema") -> Read:
    settings = ModelSettings.model_validate({"api": api, "url": "http://127.0.0.1:9/v1", "model": "tiny-1"})
    return partial(ENDPOINTS[settings.api](settings).read, request=asked, rung=rung)


@pytest.mark.parametrize(("api", "name"), TURNS)
@pytest.mark.parametrize("asked", REQUESTS)
def test_an_answer_is_read_of_its_record_as_it_was(api: str, name: str, asked: str) -> None:
    turn = TURNS[api, name]
    for rung in LADDER:
        read = reader(api, REQUESTS[asked], rung)
        answer = replace(read(turn.status, turn.body), tries=2, latency_ms=700)
        assert answer_in(record_of("o/0/1/2", answer), read) == answer


def test_an_answer_that_was_used_when_it_came_is_used_again_though_it_would_be_flagged_now() -> None:
    flagging = replace(TYPED, flag_of=lambda _found: "flagged: of no use")
    turn = next(turn for (api, name), turn in TURNS.items() if api == "openai" and used(reader(api), turn))
    read = reader("openai")
    record = record_of("o/0/1/1", replace(read(turn.status, turn.body), tries=1))
    again = answer_in(record, reader("openai", flagging))
    assert (again.outcome, again.why, again.is_flagged) == ("answered", "", False) and again.value is not None
    flagged = reader("openai", flagging)(turn.status, turn.body)
    assert (flagged.outcome, flagged.is_flagged) == ("unparsable", True)
    kept = answer_in(record_of("o/0/1/1", replace(flagged, tries=1)), reader("openai", flagging))
    assert (kept.outcome, kept.is_flagged) == ("unparsable", True)


def used(read: Read, turn: Turn) -> bool:
    answer = read(turn.status, turn.body)
    return answer.outcome == "answered" and answer.value is not None


@given(st.sampled_from(["openai", "anthropic"]), st.sampled_from([200, 307, 400, 429, 500]), st.binary())
def test_any_bytes_survive(api: str, status: int, body: bytes) -> None:
    read = reader(api)
    answer = replace(read(status, body), tries=1)
    record = record_of("o/0/1/1", answer)
    assert answer_in(record, read) == answer
    assert record.isascii() and json.loads(record)["call_id"] == "o/0/1/1"


@pytest.mark.parametrize("outcome", ["timed_out", "abandoned", "unknown", "provider_error"])
def test_a_call_without_a_reply_is_told_by_its_record_alone(outcome: str) -> None:
    answer = Answer(outcome=outcome, why="nobody knows", fault="no_server", tries=3, latency_ms=9)  # type: ignore[arg-type]
    assert answer_in(record_of("o/0/1/1", answer), _unasked) == answer


@pytest.mark.parametrize("record", [b"", b"[]", b"null", b"{}", b"\xff", b'{"outcome":"answered","body":7}'])
def test_what_is_no_record_is_an_error_of_one_line(record: bytes) -> None:
    with pytest.raises(BadRecord, match=r"^the record of a reply cannot be read: .*$"):
        answer_in(record, _unasked)


def _unasked(_status: int, _body: bytes) -> Answer:
    raise AssertionError("there is no reply to read")
