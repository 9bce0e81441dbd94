"""Trials that ask models, over real HTTP, with a server that misbehaves."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest

from moot.arbiter.asking import Patience
from moot.arbiter.embedders import EndpointEmbedder
from moot.arbiter.live import CRITIQUE_REQUEST, FINAL_REQUEST, MAX_TOKENS, runner_of
from moot.arbiter.outcomes import Outcomes
from moot.arbiter.ports import Embedded, NotBegun, RanTrial
from moot.arbiter.replies import payload_of
from moot.clock import Clock, RealClock
from moot.protocols.arbiter.contract import clause
from moot.protocols.arbiter.generated import ResolvedConfiguration
from moot.protocols.arbiter.plan import plan
from tests.doubles.arbiter_configs import resolved
from tests.doubles.direct_post import DirectPost
from tests.doubles.model_server import ModelServer, Turn, completion, embedding, refusal, too_many


@pytest.fixture(scope="module")
def running() -> Iterator[ModelServer]:
    with ModelServer() as server:
        yield server


@pytest.fixture
def server(running: ModelServer) -> ModelServer:
    return running.forget()


def configured(kind: str = "independent", **changed: Any) -> ResolvedConfiguration:
    """Return a run; `protocol`, `execution` and `sampling` are changed by what is given."""
    found = resolved(kind)
    for section, values in changed.items():
        for name, value in values.items():
            found[section][name] = {**found[section][name], **value} if name == "timeouts" else value
    return ResolvedConfiguration.from_json(json.dumps(found))


def ran(
    server: ModelServer,
    config: ResolvedConfiguration | None = None,
    *,
    most: int | None = None,
    cancel_after: int = 0,
) -> RanTrial:
    """Carry out the first trial of a run; `cancel_after`: until so many requests have come."""
    config = config or configured()

    async def main(clock: Clock) -> RanTrial:
        post = DirectPost(server, clock.now, most)
        runner = runner_of(config, Outcomes(config, None, "live-v0"), post, clock)
        trial = asyncio.create_task(runner.run(next(plan(config))))
        if cancel_after:
            while len(server.calls) < cancel_after:
                await asyncio.sleep(0.005)
            trial.cancel()
        try:
            return await trial
        finally:
            await post.close()

    return RealClock().run(main)


def embedded(server: ModelServer, text: str = "yes", retries: int = 1) -> Embedded:
    config = configured()

    async def main(clock: Clock) -> Embedded:
        post = DirectPost(server, clock.now)
        patience = Patience.of(config, retries)
        found = await EndpointEmbedder("e/one", post, clock, patience).embed(3, text)
        await post.close()
        return found

    return RealClock().run(main)


def test_an_independent_trial_asks_once_with_persona_template_contract_and_instruments(
    server: ModelServer,
) -> None:
    contract = {
        "id": "c",
        "sha256": "0" * 64,
        "schema": {"type": "object"},
        "embed_text_source": "decision",
    }
    config = configured(
        sampling={
            "instruments": [
                {"instrument": "i0", "sha256": "0" * 64, "text": "Say how sure you are."},
                {"instrument": "i1", "sha256": "0" * 64, "text": " "},
            ],
            "decode": {"temperature": {"min": 0.5, "max": 0.5}, "top_p": 0.9, "max_tokens": 70},
        },
    )
    server.plays(completion("Yes, on Sundays.", model="one-2026"))
    found = ran(server, config)
    trial, planned = found.trial, next(plan(config))
    [sent] = server.calls
    persona, template = planned.assigned_config.persona, planned.assigned_config.protocol
    assert sent.body["messages"] == [
        {"role": "system", "content": f"{persona}\n\n{template}\n\nSay how sure you are."},
        {"role": "user", "content": "Should the library open on Sundays?"},
    ]
    assert (sent.body["temperature"], sent.body["top_p"], sent.body["max_tokens"]) == (0.5, 0.9, 70)
    assert (trial.status, trial.error, trial.error_code) == ("success", None, None)
    assert (trial.actual_model, trial.requested_model_slug) == (
        "one-2026",
        planned.assigned_config.model,
    )
    assert trial.raw_assistant_text == found.parsed.line.outcome == "Yes, on Sundays."
    assert found.parsed.line.parser_version == "live-v0"
    assert trial.request_payload == sent.body
    assert trial.response_payload is not None and trial.response_payload["model"] == "one-2026"
    assert trial.usage is not None and trial.usage.as_json() == {
        "prompt_tokens": 100,
        "completion_tokens": 20,
        "total_tokens": 120,
    }
    assert trial.attempt is not None and trial.attempt.retry_count == 0
    held = configured(protocol={"decision_contract": contract}, sampling={"personas": [_silent()]})
    assert held.protocol.decision_contract is not None
    said = clause(held.protocol.decision_contract)
    server.forget()
    config = held
    with_contract(server, config)
    [sent] = server.calls
    assert sent.body["messages"][0]["content"] == f"{next(plan(held)).assigned_config.protocol}\n\n{said}"
    assert sent.body["max_tokens"] == MAX_TOKENS and "temperature" not in sent.body


def _silent() -> dict[str, Any]:
    return {"persona": "none", "weight": 1, "sha256": "0" * 64, "text": "\n"}


def with_contract(server: ModelServer, config: ResolvedConfiguration) -> RanTrial:
    async def main(clock: Clock) -> RanTrial:
        post = DirectPost(server, clock.now)
        outcomes = Outcomes(config, lambda _value: None, "live-v0")
        found = await runner_of(config, outcomes, post, clock).run(next(plan(config)))
        await post.close()
        return found

    return RealClock().run(main)


GONE = ("model_unavailable", False, 1)
BROKEN = ("error", False, 1)
AGAIN = ("error", True, 3)

FAULTS: dict[str, tuple[Turn, tuple[str, bool, int]]] = {
    "503 without a word": (Turn(503), AGAIN),
    "500": (refusal(500, "it broke"), AGAIN),
    "429": (too_many("3600"), AGAIN),
    "breaks after headers": (Turn(stall="break"), AGAIN),
    "404": (refusal(404, "no such model"), GONE),
    "a code": (refusal(400, "gone", "model_not_available"), GONE),
    "401": (refusal(401, "wrong key", "invalid_api_key"), BROKEN),
    "400": (refusal(400, "no such parameter"), BROKEN),
    "a redirect": (Turn(307, headers={"location": "http://127.0.0.1:9/"}), BROKEN),
    "20 MB": (Turn(streamed_mb=20), BROKEN),
    "no JSON": (Turn(body=b"<html>welcome</html>"), BROKEN),
    "nothing": (Turn(), BROKEN),
    "no choices": (Turn(body=b'{"id":"1","choices":[]}'), BROKEN),
    "error inside 200": (Turn(body=b'{"error":{"message":"upstream is down"},"choices":[]}'), AGAIN),
    "filtered prompt": (refusal(400, "the prompt was filtered", "content_filter"), BROKEN),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_faulty_reply_is_the_status_of_its_trial(server: ModelServer, fault: str) -> None:
    turn, (status, is_retryable, requests) = FAULTS[fault]
    server.always = turn
    found = ran(server)
    trial = found.trial
    assert (trial.status, trial.error_code, trial.actual_model) == (status, None, None)
    assert trial.error is not None and trial.error.message and trial.error.retryable is is_retryable
    assert trial.attempt is not None and trial.attempt.retry_count == requests - 1
    assert len(server.calls) == requests
    assert found.parsed.line.as_json() == {
        "trial_id": 0,
        "parse_status": "failed",
        "parser_version": "live-v0",
    }
    assert trial.raw_assistant_text is None


@pytest.mark.parametrize(
    ("reply", "text", "parse_status"),
    [
        (completion(""), "", "failed"),
        (completion(None, refusal="I cannot help with that."), "", "failed"),
        (completion(None, finish="content_filter"), "", "failed"),
        (completion("Half an ans", finish="length"), "Half an ans", "success"),
        (
            completion("odd \ud800", usage={"prompt_tokens": -5, "completion_tokens": 1}),
            "odd \ufffd",
            "success",
        ),
    ],
)
def test_what_a_model_said_counts_as_it_stands_and_nothing_is_an_answer_too(
    server: ModelServer, reply: Turn, text: str, parse_status: str
) -> None:
    server.plays(reply)
    found = ran(server)
    assert (found.trial.status, found.trial.raw_assistant_text) == ("success", text)
    assert found.parsed.line.parse_status == parse_status
    json.dumps(found.trial.as_json(), ensure_ascii=False).encode()


def test_a_request_is_sent_again_until_it_is_answered(server: ModelServer) -> None:
    server.plays(too_many(), refusal(503, "busy"), completion("yes"))
    trial = ran(server).trial
    assert (trial.status, len(server.calls)) == ("success", 3)
    assert trial.attempt is not None and trial.attempt.retry_count == 2


def test_what_an_endpoint_does_not_take_is_left_out_and_no_retry(server: ModelServer) -> None:
    server.plays(refusal(400, "unsupported value: temperature"), completion("yes"))
    config = configured(
        sampling={"decode": {"temperature": 0.7}}, protocol={"timeouts": {"per_call_max_retries": 0}}
    )
    trial = ran(server, config).trial
    assert trial.status == "success" and trial.attempt is not None and trial.attempt.retry_count == 0
    assert trial.request_payload is not None and "temperature" not in trial.request_payload
    assert [("temperature" in one.body) for one in server.calls] == [True, False]


def test_a_call_that_takes_too_long_is_not_tried_again(server: ModelServer) -> None:
    server.always = Turn(stall="before")
    trial = ran(server, configured(protocol={"timeouts": {"per_call_timeout_ms": 60}})).trial
    assert (trial.status, trial.error_code) == ("timeout_exhausted", "timeout_exhausted")
    assert len(server.calls) <= 1 and trial.actual_model is None


def test_the_time_limit_of_a_call_holds_for_its_retries_and_pauses_too(server: ModelServer) -> None:
    server.always = refusal(503, "busy")
    config = configured(
        protocol={"timeouts": {"per_call_timeout_ms": 30_000}},
        execution={"retry_policy": {"max_retries": 0, "backoff_ms": 30_000}},
    )
    trial = ran(server, config).trial
    assert (trial.status, len(server.calls)) == ("timeout_exhausted", 1)
    assert trial.error is not None
    assert trial.error.message == "HTTP 503: busy; no time is left to send it again"


def test_a_trial_that_no_budget_has_room_for_is_not_begun(server: ModelServer) -> None:
    for kind in ("independent", "debate_v1"):
        with pytest.raises(NotBegun, match="leaves no room"):
            ran(server, configured(kind), most=0)


def test_a_trial_that_is_cancelled_says_so(server: ModelServer) -> None:
    server.always = Turn(stall="before")
    trial = ran(server, cancel_after=1).trial
    assert (trial.status, trial.error_code) == ("error", "shutdown_abort")


# ---------------------------------------------------------------- debates


def test_a_debate_has_three_turns_each_told_what_came_before(server: ModelServer) -> None:
    config = configured("debate_v1", sampling={"decode": {"max_tokens": {"min": 9, "max": 9}}})
    final = '{"decision": "yes", "confidence": "high"}'
    server.plays(completion("Open."), completion("Who pays?"), completion(final, model="last-1"))
    found = ran(server, config)
    trial, roles = found.trial, next(plan(config)).role_assignments
    assert roles is not None
    systems = [
        f"{roles.proposer.persona_id}\n\n---\n\nYou are proposer_system.",
        f"{roles.critic.persona_id}\n\n---\n\nYou are critic_system.",
        f"{roles.proposer.persona_id}\n\n---\n\nYou are proposer_final_system.",
    ]
    question = {"role": "user", "content": "Should the library open on Sundays?"}
    attacked = [
        question,
        {"role": "assistant", "content": "Open."},
        {"role": "user", "content": CRITIQUE_REQUEST},
    ]
    closing = [
        *attacked,
        {"role": "assistant", "content": "Who pays?"},
        {"role": "user", "content": FINAL_REQUEST},
    ]
    for sent, system, said in zip(server.calls, systems, ([question], attacked, closing), strict=True):
        assert sent.body["messages"] == [{"role": "system", "content": system}, *said]
        assert sent.body["max_tokens"] == 9
    assert trial.calls is not None and trial.transcript is not None
    assert [(one.call_index, one.role, one.error_message) for one in trial.calls] == [
        (0, "proposer", None),
        (1, "critic", None),
        (2, "proposer", None),
    ]
    assert [(one.turn, one.content) for one in trial.transcript] == [
        (0, "Open."),
        (1, "Who pays?"),
        (2, final),
    ]
    assert (trial.status, trial.actual_model, trial.raw_assistant_text) == ("success", "last-1", final)
    # The calls say what was used, and it is counted once.
    assert trial.usage is None and all(one.usage is not None for one in trial.calls)
    assert found.parsed.line.outcome == "yes"


@pytest.mark.parametrize(
    ("turns", "status", "message"),
    [
        ([completion(" ")], "error", "turn 0 of the debate is empty"),
        ([completion("Open."), refusal(404, "gone")], "model_unavailable", "HTTP 404: gone"),
        (
            [completion("Open."), completion("Who pays?"), completion("")],
            "error",
            "turn 2 of the debate is empty",
        ),
    ],
)
def test_a_turn_that_fails_or_is_empty_ends_a_debate(
    server: ModelServer, turns: list[Turn], status: str, message: str
) -> None:
    server.plays(*turns)
    found = ran(server, configured("debate_v1"))
    trial = found.trial
    assert trial.status == status and trial.error is not None and trial.error.message == message
    assert trial.calls is not None and len(trial.calls) == len(server.calls) == len(turns)
    assert trial.calls[-1].error_message == message
    assert trial.transcript is not None and len(trial.transcript) == len(turns) - 1
    assert found.parsed.line.as_json() == {
        "trial_id": 0,
        "parse_status": "failed",
        "parser_version": "debate-v1",
    }


def test_the_time_limit_of_a_debate_holds_for_all_its_calls(server: ModelServer) -> None:
    server.plays(completion("Open."), Turn(stall="before"))
    config = configured("debate_v1", protocol={"timeouts": {"total_trial_timeout_ms": 400}})
    trial = ran(server, config).trial
    assert (trial.status, trial.error_code) == ("timeout_exhausted", "timeout_exhausted")
    assert trial.calls is not None and len(trial.calls) <= 2


def test_a_debate_that_is_cut_short_keeps_the_calls_that_were_answered(server: ModelServer) -> None:
    server.plays(completion("Open."), Turn(stall="before"))
    trial = ran(server, configured("debate_v1"), cancel_after=2).trial
    assert (trial.status, trial.error_code) == ("error", "shutdown_abort")
    assert trial.calls is not None and [one.usage is not None for one in trial.calls] == [True]
    server.forget().plays(completion("Open."))
    trial = ran(server, configured("debate_v1"), most=1).trial
    assert (trial.status, trial.error_code) == ("error", "no_budget")
    assert trial.calls is not None and len(trial.calls) == 1


# ---------------------------------------------------------------- embeddings


def test_a_text_is_embedded_by_an_endpoint(server: ModelServer) -> None:
    server.embedding_script.append(embedding([0.5, 0.25]))
    found = embedded(server)
    assert found.vector is not None and found.vector.tolist() == [0.5, 0.25]
    assert (found.model, found.generation_id, found.error) == ("embed-1", "embd-1", None)
    assert server.embedded[0].body["input"] == "yes"


def test_an_embedding_that_fails_is_told_and_tried_as_often_as_the_run_says(server: ModelServer) -> None:
    server.embedding_script.extend([refusal(503, "busy"), refusal(503, "busy"), refusal(503, "busy")])
    found = embedded(server, retries=2)
    assert (found.vector, found.error, len(server.embedded)) == (None, "HTTP 503: busy", 3)
    server.forget().embedding_script.append(embedding([1.0], [2.0]))
    found = embedded(server)
    assert (found.error, len(server.embedded)) == ("the reply holds 2 embeddings for 1 text", 1)
    server.forget().embedding_script.append(embedding([1.0, float("nan")]))
    assert embedded(server).error == "the embedding in the reply holds what is no number of 32 bits"


def test_a_reply_is_kept_as_a_file_can_hold_it() -> None:
    odd = b'{"a": [NaN, 1e999, "\\ud800"], "b": {"\\ud800": 1}}'
    assert payload_of(odd) == {"a": [None, None, "\ufffd"], "b": {"\ufffd": 1}}
    assert payload_of(b"[1]") is None and payload_of(b"[" * 100_000) is None
