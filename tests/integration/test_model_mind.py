"""The mind of a model against a server that misbehaves over real HTTP: what is repaired, and what ends in silence."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from moot.bots.minds.human import HumanMind
from moot.bots.minds.mind import Reply, View
from moot.bots.minds.model.asking import ModelOptions, SeatTool, room
from moot.bots.minds.model.mind import ModelMind, at_once, drawn
from moot.bots.minds.model.toolkit import Toolkit
from moot.bots.models.request import Rung, Tool
from moot.config.prompts import load_prompts
from moot.memory.inmemory import InMemoryStore
from moot.protocols.kernel.envelope import Actor, Envelope
from moot.protocols.kernel.obligation import Obligation
from moot.protocols.kernel.seats import Seat
from moot.protocols.research.messages import Concede, Rebuttal, RiskAssessment, RiskScores, Verdict
from tests.doubles.messages_server import MessagesServer
from tests.doubles.model_calls import PlainCaller, client_of
from tests.doubles.model_server import MISBEHAVING, ModelServer, completion

NOW = datetime(2026, 2, 23, 10, tzinfo=UTC)
GOOD = {
    "risk_rating": "REJECT",
    "confidence": 0.7,
    "scores": dict.fromkeys(RiskScores.model_fields, 0.3),
    "conditions": [],
    "fatal_flaws": [],
    "reasoning": "It is overfitted.",
}


@pytest.fixture(scope="module")
def running() -> Iterator[ModelServer]:
    with ModelServer() as server:
        yield server


@pytest.fixture
def server(running: ModelServer) -> ModelServer:
    return running.forget()


def view(*expects: str, seat: str = "critic", kind: str = "debate", **brief: Any) -> View:
    due = Obligation(
        f"hyp_1/step/{seat}", "hyp_1", Seat(seat), expects, "#a-arena", NOW, NOW, timedelta(minutes=20)
    )
    return View(due, Seat(seat), NOW, 0, "", (), (), brief, InMemoryStore().read(), kind=kind)


class Kit(Toolkit):
    """A kit that offers what a test gives it."""

    def __init__(self, tools: tuple[SeatTool, ...]) -> None:
        self.tools = tools

    def offered(self, view: View) -> tuple[SeatTool, ...]:
        return self.tools


class Asked:
    """What came of one answer."""

    def __init__(self, reply: Reply | None, caller: PlainCaller, told: list[str]) -> None:
        self.body = None if reply is None else reply.body
        self.requests = [request for _, _, request in caller.asked]
        self.turns = [turn for _, turn, _ in caller.asked]
        self.told = told


def ask(
    server: ModelServer,
    seen: View | None = None,
    *turns: Any,
    rung: Rung = "json_schema",
    most: int | None = None,
    options: ModelOptions | None = None,
    tools: tuple[SeatTool, ...] = (),
) -> Asked:
    """Have a model's mind answer, the server playing some turns first."""
    server.plays(*turns)
    told: list[str] = []

    async def tell(_view: View, why: str) -> None:
        told.append(why)

    async def main() -> Asked:
        async with client_of(server) as client:
            caller = PlainCaller(client, rung, most=most)
            mind = ModelMind(
                caller,
                options or ModelOptions(name="the model local (tiny-1)"),
                load_prompts(),
                delay=at_once,
                kit=Kit(tools),
                tell=tell,
            )
            reply = await mind.answer(seen or view("RISK_ASSESSMENT", round=2))
            return Asked(reply, caller, told)

    return asyncio.run(main())


def posted(author: str, body: RiskAssessment) -> Envelope:
    """Return a message of the debate as it stands in a log."""
    return Envelope(
        v=2,
        seq=1,
        id="message-1",
        channel="#a-arena",
        author=Seat(author),
        actor=Actor("bot", "moot", ""),
        case_id="hyp_1",
        obligation_id="hyp_1/before",
        attempt=0,
        tenure=0,
        in_reply_to=None,
        hops=0,
        sent_at=NOW,
        body=body,
        json="",
        hash="",
    )


def said(**over: Any) -> Any:
    return completion(json.dumps({**GOOD, **over}))


@pytest.mark.parametrize("rung", ["json_schema", "tool", "json_object", "prompt"])
def test_a_model_fills_in_what_is_its_seats_and_the_rules_fill_in_the_rest(
    server: ModelServer, rung: Rung
) -> None:
    asked = ask(server, rung=rung)
    assert isinstance(asked.body, RiskAssessment)
    assert (asked.body.round, asked.body.hypothesis_id) == (2, "")
    (request,) = asked.requests
    assert request.form is not None
    assert list(request.form.schema["properties"]) == list(GOOD)
    assert not asked.told


LOOP = "The window of the fit overlaps the test. " * 6
FLAGGED = {
    "repeated text": ({"reasoning": LOOP}, "reasoning repeats itself"),
    "repeated text in a list": ({"conditions": ["Wait.", LOOP]}, "conditions[1] repeats itself"),
    "an objection nobody is sure of": (
        {"confidence": 0, "fatal_flaws": ["It peeks."]},
        "confidence is 0 beside a fatal objection",
    ),
}


@pytest.mark.rule("K30")
@pytest.mark.parametrize("name", FLAGGED)
def test_a_useless_answer_is_asked_for_once_more_and_the_second_is_silence(
    server: ModelServer, name: str
) -> None:
    over, why = FLAGGED[name]
    mended = ask(server, None, said(**over), said())
    assert isinstance(mended.body, RiskAssessment) and not mended.told
    assert f"flagged: {why}" in mended.requests[-1].messages[-1]["content"]
    given_up = ask(server.forget(), None, said(**over), said(**over), said())
    assert given_up.body is None and given_up.turns == [1, 2]
    assert f"flagged: {why}" in given_up.told[0] and given_up.told[0].endswith("the critic stays silent")


@pytest.mark.rule("K30")
def test_an_answer_identical_to_the_round_before_is_flagged(server: ModelServer) -> None:
    before = RiskAssessment.model_validate_json(json.dumps({**GOOD, "round": 1, "hypothesis_id": "hyp_1"}))
    past = (posted("critic", before),)
    seen = view("RISK_ASSESSMENT", round=2)._replace(transcript=past)
    given_up = ask(server, seen, said(), said())
    assert given_up.body is None and given_up.turns == [1, 2]
    assert "identical to the one of the round before" in given_up.told[0]
    changed = ask(server.forget(), seen, said(), said(confidence=0.6))
    assert isinstance(changed.body, RiskAssessment) and changed.body.confidence == 0.6
    of_another = seen._replace(transcript=(posted("evolver", before),))
    assert isinstance(ask(server.forget(), of_another, said()).body, RiskAssessment)


@pytest.mark.rule("K30")
def test_k30_an_answer_that_cannot_be_used_goes_back_with_the_latest_error_alone(server: ModelServer) -> None:
    asked = ask(server, None, said(confidence=7), said(risk_rating="MAYBE"), said())
    assert isinstance(asked.body, RiskAssessment)
    assert asked.turns == [1, 2, 3]
    first, second, third = (request.messages for request in asked.requests)
    assert [len(first), len(second), len(third)] == [2, 4, 4]
    assert first == second[:2] == third[:2]
    assert "RISK_ASSESSMENT.confidence: choose at most 1, not 7" in second[-1]["content"]
    assert "risk_rating" in third[-1]["content"]
    assert "confidence" not in third[-1]["content"]
    assert '"MAYBE"' in third[-2]["content"]


WRONG = ("empty", "double", "a field twice", "prose around", "does not fit", "cut without a word")


@pytest.mark.rule("K30")
@pytest.mark.parametrize("fault", WRONG)
def test_k30_after_two_repairs_the_seat_stays_silent_and_the_log_says_why(
    server: ModelServer, fault: str
) -> None:
    asked = ask(server, None, *[MISBEHAVING[fault]] * 3)
    assert (asked.body, asked.turns) == (None, [1, 2, 3])
    (why,) = asked.told
    assert why.startswith("the model local (tiny-1) has no answer (unparsable): ")
    assert why.endswith("; the critic stays silent")
    assert "\n" not in why


@pytest.mark.parametrize("fault", WRONG)
def test_a_fault_that_happens_once_is_repaired(server: ModelServer, fault: str) -> None:
    assert isinstance(ask(server, None, MISBEHAVING[fault]).body, RiskAssessment)


@pytest.mark.rule("K30")
def test_k30_what_was_cut_off_is_asked_once_more_as_it_was_with_a_larger_cap(server: ModelServer) -> None:
    asked = ask(server, None, MISBEHAVING["truncated"], said())
    assert isinstance(asked.body, RiskAssessment)
    first, second = asked.requests
    assert first.messages == second.messages
    assert second.max_tokens > first.max_tokens
    asked = ask(server, None, *[MISBEHAVING["truncated"]] * 2)
    assert (asked.body, asked.turns) == (None, [1, 2])
    assert "(truncated)" in asked.told[0]


@pytest.mark.rule("K30")
@pytest.mark.parametrize(
    ("fault", "status"),
    [
        ("refusal", "refused"),
        ("filter", "filtered"),
        ("filtered prompt", "filtered"),
        ("no choices", "provider error"),
        ("no JSON", "provider error"),
    ],
)
def test_k30_a_refusal_a_filter_and_a_fault_are_silence_and_are_told_apart(
    server: ModelServer, fault: str, status: str
) -> None:
    asked = ask(server, None, MISBEHAVING[fault])
    assert (asked.body, asked.turns) == (None, [1])
    assert f"has no answer ({status}): " in asked.told[0]


@pytest.mark.parametrize(
    "turn", [said(), completion(json.dumps(GOOD), model="other-9"), completion(json.dumps(GOOD), usage=None)]
)
def test_another_model_in_the_reply_and_a_missing_usage_change_no_answer(
    server: ModelServer, turn: Any
) -> None:
    body = ask(server, None, turn).body
    assert isinstance(body, RiskAssessment)
    assert body.risk_rating == "REJECT"


@pytest.mark.rule("K27")
def test_k27_without_room_in_a_budget_nothing_is_asked_and_the_log_says_why(server: ModelServer) -> None:
    asked = ask(server, most=0)
    assert asked.body is None
    assert not server.calls
    assert asked.told == [
        "the model local (tiny-1) was not asked: the society's budget of $0.01 has no room for another call; "
        "the critic stays silent"
    ]


def test_of_several_messages_the_model_chooses_one_and_the_form_of_that_holds(server: ModelServer) -> None:
    both = view("REBUTTAL", "CONCEDE", seat="explorer", round=2)
    assert isinstance(ask(server, both).body, Rebuttal)
    asked = ask(server, both, completion('{"answer":{"type":"CONCEDE","reason":"The tail is too fat."}}'))
    assert asked.body == Concede(round=2, reason="The tail is too fat.")
    mixed = completion('{"answer":{"type":"CONCEDE","reason":"No.","modifications":[]}}')
    other = completion('{"answer":{"type":"VERDICT","reason":"No."}}')
    asked = ask(server, both, mixed, other)
    assert isinstance(asked.body, Rebuttal)
    assert "modifications: there is no such field to fill in" in asked.requests[1].messages[-1]["content"]
    assert "answer.type: choose REBUTTAL or CONCEDE" in asked.requests[2].messages[-1]["content"]


def test_a_value_that_the_rules_leave_is_chosen_among_those(server: ModelServer) -> None:
    verdict = view("VERDICT", seat="evolver", verdict=("APPROVE", "REJECT"))
    asked = ask(server, verdict)
    assert isinstance(asked.body, Verdict)
    form = asked.requests[0].form
    assert form is not None
    assert form.schema["properties"]["verdict"]["enum"] == ["APPROVE", "REJECT"]


def test_what_the_rules_fix_whole_needs_no_call(server: ModelServer) -> None:
    names = {"tail_risk": 0.6}
    asked = ask(server, view("THRESHOLDS_ADJUSTED", period="2026-W09", before=names, after=names))
    assert asked.body is not None
    assert not server.calls


def look_up(found: str = "red is warm") -> SeatTool:
    async def run(arguments: Any) -> str:
        if "word" not in arguments:
            raise ValueError("look_up needs the field word")
        return found

    parameters = {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]}
    return SeatTool(Tool(name="look_up", about="Looks a word up.", parameters=parameters), run)


def called(arguments: str) -> Any:
    return completion(None, finish="tool_calls", tools=[("look_up", arguments)])


def test_what_a_tool_finds_is_quoted_to_the_model_which_then_answers(server: ModelServer) -> None:
    asked = ask(server, None, called('{"word":"red"}'), called("{}"), said(), tools=(look_up(),))
    assert isinstance(asked.body, RiskAssessment)
    assert asked.turns == [1, 2, 3]
    third = asked.requests[2].messages
    assert third[2]["tool_calls"][0]["function"] == {"name": "look_up", "arguments": '{"word": "red"}'}
    assert third[3]["tool_call_id"] == third[2]["tool_calls"][0]["id"]
    assert third[3]["content"].splitlines()[1] == "red is warm"
    assert third[5]["content"] == "error: look_up needs the field word"


@pytest.mark.parametrize("rung", ["json_schema", "tool", "prompt"])
def test_a_model_behind_anthropics_api_looks_things_up_and_answers_alike(rung: Rung) -> None:
    with MessagesServer() as server:
        first = server.calls_tool("look_up", '{"word":"red"}')
        asked = ask(server, None, first, rung=rung, tools=(look_up(),))
    assert isinstance(asked.body, RiskAssessment) and not asked.told
    [result] = server.calls[1].body["messages"][-1]["content"]
    assert (result["type"], result["content"].splitlines()[1]) == ("tool_result", "red is warm")


def test_a_model_that_only_looks_things_up_comes_to_an_end_and_says_nothing(server: ModelServer) -> None:
    server.always = MISBEHAVING["tool loop"]
    asked = ask(server, tools=(look_up(),))
    assert asked.body is None
    assert len(asked.turns) == 8, "five look-ups, the sixth turn that should have answered, two repairs"
    assert "(tool loop)" in asked.told[0]


def test_arguments_that_are_no_json_are_an_error_for_the_model(server: ModelServer) -> None:
    asked = ask(server, None, called("word=red"), said(), tools=(look_up(),))
    assert isinstance(asked.body, RiskAssessment)
    assert "the arguments of look_up" in asked.requests[1].messages[-1]["content"]


@pytest.mark.rule("K27")
def test_k27_what_is_reserved_for_an_answer_stays_tight() -> None:
    short = {"type": "object", "properties": {"verdict": {"type": "string", "enum": ["UPHELD", "REJECTED"]}}}
    long = {"type": "object", "properties": {"reasons": {"type": "array", "items": {"type": "string"}}}}
    bounded = {"type": "object", "properties": {"name": {"type": "string", "maxLength": 100}}}
    assert room(short) < room(bounded) < room(long) < 1_500


def test_a_long_result_is_shortened_and_says_so(server: ModelServer) -> None:
    asked = ask(server, None, called('{"word":"red"}'), tools=(look_up("x" * 50_000),))
    result = asked.requests[1].messages[-1]["content"]
    assert len(result) < 7_000
    assert "(shortened: ask for less)" in result


@pytest.mark.rule("K28")
def test_k28_virtual_time_draws_the_delay_from_the_seed_and_real_time_waits_for_nothing() -> None:
    due = view("RISK_ASSESSMENT")
    due = due._replace(
        obligation=Obligation(
            "hyp_1/step/critic", "hyp_1", Seat("critic"), ("RISK_ASSESSMENT",), "#a-arena", NOW,
            NOW + timedelta(minutes=20), timedelta(minutes=20),
        )
    )  # fmt: skip
    one, again, other = drawn(1)(due), drawn(1)(due), drawn(2)(due)
    assert one is not None
    assert one == again != other
    assert timedelta(0) < one < timedelta(minutes=20)
    assert at_once(due) == timedelta(0)


@pytest.mark.rule("K28")
def test_k28_a_model_is_asked_when_a_duty_opens_and_what_is_measured_is_so_when_it_is_due(
    server: ModelServer,
) -> None:
    async def main() -> list[bool]:
        async with client_of(server) as client:
            caller, prompts = PlainCaller(client), load_prompts()
            mind = ModelMind(caller, ModelOptions(), prompts, delay=at_once, measured=HumanMind())
            return [mind.begins_at_once(view(kind)) for kind in ("RISK_ASSESSMENT", "SIGNAL", "EXECUTION")]

    assert asyncio.run(main()) == [True, True, False]


def test_an_answer_of_which_the_rules_leave_nothing_open_is_nobodys_and_needs_no_model(
    server: ModelServer,
) -> None:
    brief = {
        "period": "2026-W08",
        **dict.fromkeys(("rejects", "wrongly_rejected", "approvals", "failed_backtests"), 0),
        **dict.fromkeys(("false_negative_rate", "false_positive_rate", "factor"), 0.0),
        "recommendation": "keep",
    }

    async def main() -> Reply | None:
        async with client_of(server) as client:
            mind = ModelMind(PlainCaller(client), ModelOptions(), load_prompts(), delay=at_once)
            return await mind.answer(view("THRESHOLD_REVIEW")._replace(brief=brief))

    reply = asyncio.run(main())
    assert reply is not None
    assert (reply.is_stand_in, reply.body.recommendation) == (True, "keep")
    assert server.calls == []
