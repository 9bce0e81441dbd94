"""A whole debate of Moot's as one trial: `protocol.type` is `moot:debate`."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from moot.arbiter.live import runner_of
from moot.arbiter.outcomes import Outcomes
from moot.arbiter.ports import RanTrial
from moot.arbiter.verify import verify_run
from moot.clock import Clock, RealClock
from moot.config.arbiter.judging import judge_of
from moot.protocols.arbiter.generated import ResolvedConfiguration
from moot.protocols.arbiter.plan import plan
from tests.doubles.arbiter_files import changed, lines, said, write_lines
from tests.doubles.arbiter_live import run_live
from tests.doubles.arbiter_runs import configured
from tests.doubles.command_line import complaint, data, done
from tests.doubles.direct_post import DirectPost
from tests.doubles.model_server import ModelServer, Turn, completion, refusal


def unanswered(shown: str) -> int:
    found = re.search(r"^unanswered: \[(\d+)", shown, re.MULTILINE)
    return int(found[1]) if found else 1


PREFERS = {
    "concede": False,
    "option": "yes",
    "number": unanswered,
    "for_score": 0.7,
    "against_score": 0.4,
    "confidence": 0.8,
}


@pytest.fixture(scope="module")
def running() -> Iterator[ModelServer]:
    with ModelServer(model="a/one") as server:
        yield server


@pytest.fixture
def server(running: ModelServer) -> ModelServer:
    running.forget().prefers = PREFERS
    return running


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "run.json"
    done(
        "arbiter", "init", "Should the library open on Sundays?", "--template", "heterogeneity", "--out", path
    )
    changed(path, lambda plain: plain["protocol"].update(type="moot:debate"))
    changed(path, lambda plain: plain["execution"].update(k_max=12, k_min=4, batch_size=4, workers=3))
    return path


def mocked(config: Path, *options: object) -> Path:
    return Path(data("arbiter", "mock-run", config, "--out", config.parent / "runs", *options)["path"])


def debates(**execution: Any) -> ResolvedConfiguration:
    found = configured("moot:debate", labels=("yes", "no"), k_max=2, batch_size=2, **execution)
    sampling = found.sampling.model_copy(update={"models": found.sampling.models[:1]})
    return found.model_copy(update={"sampling": sampling})


def test_simulated_minds_debate_each_trial_and_their_verdicts_are_measured(config: Path) -> None:
    directory = mocked(config)
    done("arbiter", "verify", directory)
    trials, parsed = lines(directory, "trials.jsonl"), lines(directory, "parsed.jsonl")
    assert len(trials) == 12
    for trial, line in zip(trials, parsed, strict=True):
        assert trial["transcript"][0]["role"] == "advocate"
        assert trial["transcript"][-1] == {
            "turn": len(trial["transcript"]) - 1,
            "role": "judge",
            "content": trial["raw_assistant_text"],
        }
        verdict = json.loads(trial["raw_assistant_text"])
        if verdict["decision"] == "undecided":
            assert line["parse_status"] == "fallback"
        else:
            assert (line["outcome"], line["embed_text"]) == (verdict["decision"], verdict["rationale"])
    decided = {line["outcome"] for line in parsed if line["parse_status"] == "success"}
    assert decided == {"yes", "no"}
    told = {one["label"]: one["count"] for one in data("arbiter", "certify", directory)["labels"]}
    assert {label: told[label] for label in decided} == {
        label: sum(line["outcome"] == label for line in parsed) for label in decided
    }
    assert "moot:debate" in done("arbiter", "report", directory)


def test_equal_seeds_give_equal_debates_whatever_runs_beside_them(config: Path) -> None:
    one, other = mocked(config), mocked(config, "--workers", 1, "--max-trials", 5)
    assert {n: said(one)[n] for n in range(5)} == said(other)
    compared = data("arbiter", "compare", one, mocked(config))
    assert compared
    changed(config, lambda plain: plain["run"].update(seed=7))
    assert said(mocked(config)) != said(one)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (
            lambda plain: plain["protocol"].pop("decision_contract"),
            "protocol.decision_contract: moot:debate needs the contract that lists what a debate can decide: name "
            "binary_decision_v1",
        ),
        (
            lambda plain: plain["sampling"].update(instruments=[{"instrument": "i", "text": "Be brief."}]),
            "sampling.instruments: moot:debate takes none: leave them out",
        ),
        (
            lambda plain: plain["protocol"].update(type="moot:trading"),
            "protocol.type: choose 'independent', 'debate_v1', 'moot:debate', 'moot:arena' or 'moot:panel', "
            "not 'moot:trading'",
        ),
    ],
)
def test_a_file_by_which_no_debate_can_be_held_is_refused_in_one_line(
    config: Path, change: Callable[[Any], object], why: str
) -> None:
    changed(config, change)
    assert complaint(1, "arbiter", "validate", config) == f"moot arbiter validate: {config}: {why}"


def test_models_debate_through_the_ledger_of_the_run(config: Path, server: ModelServer) -> None:
    changed(config, lambda plain: plain["execution"].update(k_max=3, k_min=1, batch_size=3))
    found = data(
        "arbiter", "run", config, "--endpoint", f"{server.url}#a/one", "--out", config.parent / "runs"
    )
    directory = Path(found["path"])
    done("arbiter", "verify", directory)
    done("verify", directory / "ledger")
    trials = lines(directory, "trials.jsonl")
    assert [one["status"] for one in trials] == ["success"] * 3
    assert sum(len(one["calls"]) for one in trials) == len(server.calls) > 3 * 3
    assert {one["outcome"] for one in lines(directory, "parsed.jsonl")} == {"yes"}
    plain = json.loads((directory / "config.resolved.json").read_text(encoding="utf-8"))
    personas = {one["persona"]: one["text"].strip() for one in plain["sampling"]["personas"]}
    for trial in trials:
        assert trial["actual_model"] == "a/one"
        for call in trial["calls"]:
            system = call["request_payload"]["messages"][0]["content"]
            assert system.startswith(personas[trial["role_assignments"][call["role"]]["persona_id"]])


def test_a_debate_that_cannot_be_paid_to_its_end_goes_on_where_it_was(
    server: ModelServer, tmp_path: Path
) -> None:
    first = run_live(server, tmp_path, config=debates(workers=1), budget={"calls": 3})
    assert first.ended.stop_reason == "user_interrupt"
    assert [one.trial.error_code for one in first.trials] == ["no_budget"]
    assert len(server.calls) == 3 == len(first.trials[0].trial.calls or ())
    second = run_live(server, tmp_path, config=debates(workers=1), budget={"calls": 100})
    assert [one.trial.status for one in second.trials] == ["success"] * 2
    paid = sum(len(one.trial.calls or ()) for one in second.trials)
    assert paid == len(server.calls)


def test_a_call_that_fails_ends_its_debate_and_says_why(server: ModelServer, tmp_path: Path) -> None:
    server.plays(refusal(400, "no such thing"))
    found = run_live(server, tmp_path, config=debates(workers=1))
    failed, whole = (one.trial for one in found.trials)
    assert (failed.status, failed.error_code, failed.transcript) == ("error", None, ())
    assert failed.error is not None and "no such thing" in failed.error.message
    assert whole.status == "success"


def test_a_seat_that_gives_no_usable_answer_ends_its_debate_at_once(
    server: ModelServer, tmp_path: Path
) -> None:
    server.always = server.says("I would rather not.")
    found = run_live(server, tmp_path, config=debates())
    for one in found.trials:
        assert (one.trial.status, one.parsed.parse_status) == ("error", "failed")
        assert one.trial.error is not None
        assert one.trial.error.message.endswith("the advocate stays silent")


@pytest.mark.parametrize("limit_ms", [1, 100])
def test_a_debate_that_takes_too_long_is_cut_off(server: ModelServer, tmp_path: Path, limit_ms: int) -> None:
    server.always = Turn(stall="before")
    config = debates()
    timeouts = config.protocol.timeouts.model_copy(update={"total_trial_timeout_ms": limit_ms})
    config = config.model_copy(update={"protocol": config.protocol.model_copy(update={"timeouts": timeouts})})
    found = run_live(server, tmp_path, config=config)
    assert [one.trial.status for one in found.trials] == ["timeout_exhausted"] * 2
    assert [one.trial.error_code for one in found.trials] == ["timeout_exhausted"] * 2


def test_a_debate_that_is_cancelled_keeps_what_was_said(server: ModelServer) -> None:
    config = debates()
    claim = {
        "option": "yes",
        "claim": "People have time.",
        "grounds": [{"text": "They say so.", "evidence_ref": ""}],
    }
    server.plays(completion(json.dumps(claim)), Turn(stall="before"))

    async def main(clock: Clock) -> RanTrial:
        post = DirectPost(server, clock.now)
        judge = judge_of(config.protocol.decision_contract)
        runner = runner_of(config, Outcomes(config, judge, "live-v0"), post, clock)
        trial = asyncio.create_task(runner.run(next(plan(config))))
        while len(server.calls) < 2:
            await asyncio.sleep(0.005)
        trial.cancel()
        try:
            return await trial
        finally:
            await post.close()

    found = RealClock().run(main).trial
    assert (found.status, found.error_code, found.raw_assistant_text) == ("error", "shutdown_abort", None)
    assert [one.content for one in found.transcript or ()] == ["yes: People have time.\n- They say so."]
    assert [one.role for one in found.calls or ()] == ["advocate"]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda one: one["transcript"][1].update(role="advocate"), "transcript[1]"),
        (lambda one: one["transcript"][-1].update(content="{}"), "raw_assistant_text"),
        (lambda one: one["calls"].pop(), "was asked of nobody"),
        (lambda one: one.update(raw_assistant_text="{}"), "raw_assistant_text"),
        (
            lambda one: one.update(
                role_assignments={"proposer": one["role_assignments"]["critic"]}
                | {"critic": one["role_assignments"]["critic"]}
            ),
            "role_assignments",
        ),
    ],
)
def test_a_changed_debate_is_found(config: Path, change: Callable[[Any], object], why: str) -> None:
    directory = mocked(config)
    trials = lines(directory, "trials.jsonl")
    change(trials[0])
    write_lines(directory, "trials.jsonl", trials)
    told = [*verify_run(directory).lines()]
    assert any(line.startswith("FAIL") and why in line for line in told), told
