"""A real, small language model in the seats: on this machine, without network, over real HTTP.

It thinks little, so nothing is expected of what it says: only that it is said in the form that was asked for, that the
case ends by its rules, that the log holds it all, and that a recording gives it again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import moot
from moot.bots.minds.model.reviews import ReviewForm
from tests.doubles.command_line import data, write
from tests.doubles.command_line import moot as moot_line
from tests.doubles.real_model import NAME, serving, settings

pytestmark = pytest.mark.timeout(900)

SAME = "byte for byte"
FREE = "price = { input = 0, output = 0 }\n"

SEEDS = (1, 2, 3)
"""Cases that are held until an answer of the model stands in one; that of the first does, as the model now is."""


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with serving() as found:
        yield found


def seated(url: str, *seats: str) -> dict[str, Any]:
    """Return what seats the model, as `import moot` takes it."""
    return {
        "model": {**settings(url), "temperature": 0, "max_tokens": 1_000},
        "seats": seats,
        "budget": {"calls": 1, "on_exhausted": "simulated"},
    }


class Held(NamedTuple):
    """A case in which an answer of the model stands."""

    result: Any
    log: Path
    body: dict[str, Any]
    reply: dict[str, Any]


def held(place: Path, seat: str, hold: Callable[..., Any], *args: Any, **options: Any) -> Held:
    """Hold a case with the model in a seat; return it with the seat's message and what the model itself replied."""
    for seed in SEEDS:
        log = place / f"seed-{seed}"
        result = hold(*args, seed=seed, out=log, **options)
        verified = data("verify", log)
        assert verified["ok"] and not verified["findings"]
        calls = data("calls", log)["calls"]
        assert {one["seat"] for one in calls} == {seat}
        (told,) = data("calls", log, calls[0]["id"])
        if told["message"] is not None:
            (call,) = told["calls"]
            assert (call["state"], call["cost"]) == ("answered", 0)
            assert verified["heard"][f"{seat} by the model {NAME}"] == 1
            content = call["reply"]["body"]["choices"][0]["message"]["content"]
            return Held(result, log, told["message"]["body"], json.loads(content))
    raise AssertionError("no answer of the model stands in any case")


def test_the_model_is_held_to_a_form_by_a_strict_schema(url: str, tmp_path: Path) -> None:
    # A value in JSON is the same in TOML, but for tables.
    given = {name: one for name, one in settings(url).items() if name != "price"}
    lines = [f"{name} = {json.dumps(one)}\n" for name, one in given.items()]
    config = write(tmp_path / "society.toml", f"[models.{NAME}]\n{''.join(lines)}{FREE}")
    (found,) = data("models", "check", "--config", config)["models"]
    assert (found["ok"], found["rung"], found["cost_micro_usd"]) == (True, "json_schema", 0)
    said = {one["check"]: one["said"] for one in found["findings"]}
    assert said["context"] == "4,096 tokens"
    assert said["round trip"].startswith(("'yes' with confidence ", "'no' with confidence "))


def test_the_critic_of_a_hypothesis_is_the_model(url: str, tmp_path: Path) -> None:
    case = held(tmp_path, "critic", moot.simulate, days=0.07, **seated(url, "critic"))
    assert sum(case.result.summary["verdicts"].values()) == 1
    assert case.body["type"] == "RISK_ASSESSMENT"
    assert {name: case.body[name] for name in case.reply} == case.reply
    assert {"risk_rating", "confidence", "scores", "reasoning"} <= set(case.reply)
    assert SAME in moot_line("simulate", "--replay", case.log, "--out", tmp_path / "again").output


def test_the_critic_of_a_motion_is_the_model(url: str, tmp_path: Path) -> None:
    question, options = "Where do we meet?", ["Rome", "Oslo"]
    case = held(tmp_path, "critic", moot.debate, question, options=options, **seated(url, "critic"))
    assert case.result.outcome in ("UPHELD", "REJECTED", "UNDECIDED")
    assert case.body["type"] == "OBJECTIONS"
    assert case.body["confidence"] == case.reply["confidence"]
    assert [one["text"] for one in case.body["objections"]] == [
        one["text"] for one in case.reply["objections"]
    ]
    assert SAME in moot_line("debate", "--replay", case.log).output


def test_the_reviewer_of_a_run_of_the_arena_is_the_model(url: str, tmp_path: Path) -> None:
    task = "Write a note of three sentences that invites the team to a picnic on Saturday."
    case = held(tmp_path, "reviewer", moot.arena, task, max_rounds=1, **seated(url, "reviewer"))
    assert case.body["type"] == "REVIEW"
    review = ReviewForm.model_validate_json(json.dumps(case.reply))
    assert case.body["text"] == review.text(1)
    ends = {"APPROVED": "TERMINATED_APPROVED", "REVISE": "TERMINATED_MAX_ROUNDS"}
    assert case.result.outcome == ends[review.verdict]
    assert SAME in moot_line("arena", "run", "--replay", case.log).output


def test_a_run_of_arbiter_asks_it_and_embeds_what_it_says_offline(url: str, tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    moot_line("arbiter", "init", "Is tea better than coffee?", "--out", path)
    plain = json.loads(path.read_text(encoding="utf-8"))
    plain["sampling"]["decode"] = {"temperature": {"min": 0.2, "max": 1.0}, "max_tokens": 12}
    plain["protocol"]["timeouts"] = {"per_call_timeout_ms": 280_000}
    plain["execution"] |= {"k_max": 2, "k_min": 2, "batch_size": 2, "workers": 1}
    write(path, json.dumps(plain))
    where = ("--endpoint", f"{url}#{NAME}", "--embeddings", "wordllama", "--out", tmp_path / "runs")
    found = data("arbiter", "run", path, *where)
    assert (found["k_attempted"], found["k_eligible"], found["incomplete"]) == (2, 2, False)
    assert 0 < found["usage"]["totals"]["completion_tokens"] <= 24
    for what in (("arbiter", "verify", found["path"]), ("verify", f"{found['path']}/ledger")):
        assert moot_line(*what).exit_code == 0
