"""A whole run of the Arena, or a whole review panel, as one trial: `moot:arena` and `moot:panel`."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from moot.arbiter.live import runner_of
from moot.arbiter.outcomes import Outcomes
from moot.arbiter.ports import RanTrial
from moot.arbiter.verify import verify_run
from moot.bots.minds.simulated.panel.writer import SimulatedPanelWriter
from moot.clock import Clock, RealClock
from moot.config.arbiter.bank import load_bank
from moot.config.arbiter.configuring import load_configuration, resolve
from moot.config.arbiter.judging import judge_of
from moot.protocols.arbiter.generated import ResolvedConfiguration
from moot.protocols.arbiter.plan import plan
from tests.doubles.arbiter_files import changed, lines, said, write_lines
from tests.doubles.arbiter_live import run_live
from tests.doubles.command_line import complaint, data, done
from tests.doubles.direct_post import DirectPost
from tests.doubles.model_server import ModelServer, completion

PROTOCOLS: Mapping[str, Any] = {
    "arena": {
        "type": "moot:arena",
        "decision_contract": {"id": "arena_outcome_v1"},
        "arena": {"max_rounds": 2},
    },
    "panel": {
        "type": "moot:panel",
        "decision_contract": {"id": "editorial_decision_v1"},
        "panel": {"contract": "methodology_focus", "title": "On rain", "field": "weather"},
    },
}
WORK = "# Rain\n\nIt rained on 12 of 30 days (Smith 2019). We measured it by hand and repeated that once.\n"

ACCEPTS = {"score": "pass", "F1.fired": False, "F2.fired": False, "F0.fired": True}
MENDS = {"score": "warn", "F1.fired": False, "F2.fired": True, "F0.fired": False}


@pytest.fixture(scope="module")
def running() -> Iterator[ModelServer]:
    with ModelServer(model="a/one") as server:
        yield server


@pytest.fixture
def server(running: ModelServer) -> ModelServer:
    running.forget().prefers = {}
    return running


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """Return the file of a run of four trials that are runs of the Arena."""
    path = tmp_path / "run.json"
    done("arbiter", "init", "Plan our Sundays.", "--template", "heterogeneity", "--out", path)
    changed(path, lambda plain: plain["execution"].update(k_max=4, k_min=1, batch_size=4, workers=2))
    changed(path, lambda plain: plain["question"].update(text=WORK))
    changed(path, lambda plain: plain.update(protocol=PROTOCOLS["arena"]))
    return path


def holding(config: Path, kind: str, **execution: int) -> Path:
    changed(config, lambda plain: plain.update(protocol=PROTOCOLS[kind]))
    changed(config, lambda plain: plain["execution"].update(execution))
    return config


def mocked(config: Path, *options: object) -> Path:
    return Path(data("arbiter", "mock-run", config, "--out", config.parent / "runs", *options)["path"])


def asked(config: Path, server: ModelServer, *options: object) -> Path:
    endpoint = ("--endpoint", f"{server.url}#a/one", "--out", config.parent / "runs")
    return Path(data("arbiter", "run", config, *endpoint, *options)["path"])


def verdicts(directory: Path) -> list[Any]:
    return [json.loads(one["raw_assistant_text"]) for one in lines(directory, "trials.jsonl")]


def test_simulated_minds_hold_runs_of_the_arena_whose_outcome_and_text_are_measured(config: Path) -> None:
    directory = mocked(holding(config, "arena", k_max=8))
    done("arbiter", "verify", directory)
    for trial, parsed in zip(lines(directory, "trials.jsonl"), lines(directory, "parsed.jsonl"), strict=True):
        turns = trial["transcript"]
        assert [one["role"] for one in turns[:2]] == ["planner", "reviewer"]
        assert turns[-1]["role"] == "finalizer"
        is_approved = turns[-2]["content"].rstrip().endswith("VERDICT: APPROVED")
        assert parsed["outcome"] == ("approved" if is_approved else "unresolved")
        assert parsed["embed_text"] == turns[-1]["content"].strip()
    assert {one["outcome"] for one in lines(directory, "parsed.jsonl")} == {"approved", "unresolved"}
    assert "moot:arena" in done("arbiter", "report", directory)


def test_simulated_reviewers_hold_panels_whose_decision_and_synthesis_are_measured(config: Path) -> None:
    directory = mocked(holding(config, "panel"))
    done("arbiter", "verify", directory)
    for trial, parsed in zip(lines(directory, "trials.jsonl"), lines(directory, "parsed.jsonl"), strict=True):
        roles = [one["role"] for one in trial["transcript"]]
        assert sorted(roles[:-1]) == ["eic", "eic", "methodology", "methodology"]
        assert roles[-1] == "synthesizer"
        assert f"editorial_decision={parsed['outcome']}" in parsed["embed_text"]
        assert parsed["embed_text"] == trial["transcript"][-1]["content"].strip()
    plain = json.loads((directory / "config.resolved.json").read_text(encoding="utf-8"))
    assert plain["protocol"]["panel"]["contract"]["contract_id"] == "reviewer/reviewer_methodology_focus/v1"


@pytest.mark.parametrize("kind", PROTOCOLS)
def test_equal_seeds_give_equal_words_whatever_runs_beside_them(config: Path, kind: str) -> None:
    one = mocked(holding(config, kind))
    assert {n: said(one)[n] for n in range(3)} == said(mocked(config, "--workers", 1, "--max-trials", 3))


def test_other_runs_say_nothing_of_arena_and_panel(config: Path) -> None:
    changed(config, lambda plain: plain.update(protocol={"type": "independent"}))
    for path in mocked(config).rglob("*.json*"):
        for line in path.read_text(encoding="utf-8").splitlines():
            assert '"arena"' not in line and '"panel"' not in line, path


@pytest.mark.parametrize(
    ("kind", "change", "why"),
    [
        (
            "arena",
            lambda one: one.pop("decision_contract"),
            "protocol.decision_contract: moot:arena needs the contract that lists what a run of the Arena can "
            "decide: name arena_outcome_v1",
        ),
        (
            "arena",
            lambda one: one.update(decision_contract={"id": "binary_decision_v1"}),
            "protocol.decision_contract.id: binary_decision_v1 does not list what a run of the Arena can decide, "
            "approved, unresolved: take arena_outcome_v1",
        ),
        (
            "panel",
            lambda one: one.update(type="moot:arena", decision_contract={"id": "arena_outcome_v1"}),
            "protocol.panel: is for moot:panel, and type is moot:arena: leave it out",
        ),
        (
            "panel",
            lambda one: one["panel"].update(contract="strict"),
            "protocol.panel.contract: strict: there is no such file; the shipped contracts are full, "
            "methodology_focus, strategy, architecture",
        ),
        (
            "panel",
            lambda one: one["panel"].update(title="x" * 501),
            "protocol.panel.title: has 501 characters, 500 are the most: shorten it",
        ),
        (
            "arena",
            lambda one: one["arena"].update(max_rounds=6),
            "protocol.arena.max_rounds: choose at most 5, not 6",
        ),
    ],
)
def test_a_file_by_which_nothing_can_be_held_is_refused_in_one_line(
    config: Path, kind: str, change: Callable[[Any], object], why: str
) -> None:
    changed(holding(config, kind), lambda plain: change(plain["protocol"]))
    assert complaint(1, "arbiter", "validate", config) == f"moot arbiter validate: {config}: {why}"


def test_a_task_of_which_nothing_is_left_is_refused(config: Path) -> None:
    changed(holding(config, "arena"), lambda plain: plain["question"].update(text="Uptime: 99.95 %"))
    assert "question.text: cannot be a task of the Arena" in complaint(1, "arbiter", "validate", config)


def test_a_contract_that_cannot_hold_a_long_text_is_refused(config: Path, tmp_path: Path) -> None:
    bank = tmp_path / "bank" / "contracts"
    bank.mkdir(parents=True)
    schema = {
        "type": "object",
        "properties": {
            "decision": {"enum": ["approved", "unresolved"]},
            "rationale": {"type": "string", "maxLength": 500},
        },
    }
    text = json.dumps({"id": "brief", "schema": schema, "embed_text_source": "rationale"})
    (bank / "brief.json").write_text(text, encoding="utf-8")
    entry = {"id": "brief", "path": "brief.json", "sha256": hashlib.sha256(text.encode()).hexdigest()}
    manifest = {"schema_version": "1.0.0", "contracts": [entry]}
    (bank / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    changed(config, lambda plain: plain["protocol"].update(decision_contract={"id": "brief"}))
    said = complaint(1, "arbiter", "validate", config, "--bank", bank.parent)
    assert said.endswith("decision, rationale: rationale may be a long text: give rationale_max_chars")


@pytest.mark.parametrize(
    ("prefers", "decision", "calls"),
    [
        ({"verdict": "APPROVED", "issues": []}, "approved", 3),
        # A review that repeats the one before it would be flagged.
        ({"verdict": "REVISE", "issues": lambda prompt: [f"say who pays {len(prompt)}"]}, "unresolved", 5),
    ],
)
def test_models_hold_runs_of_the_arena_through_the_ledger_of_the_run(
    config: Path, server: ModelServer, prefers: Mapping[str, Any], decision: str, calls: int
) -> None:
    server.prefers = prefers
    directory = asked(config, server)
    done("arbiter", "verify", directory)
    done("verify", directory / "ledger")
    assert len(server.calls) == 4 * calls
    assert verdicts(directory) == [{"decision": decision, "rationale": "red"}] * 4
    for trial in lines(directory, "trials.jsonl"):
        assert [one["turn"] for one in trial["calls"]] == [*range(calls)]
        assert [one["role"] for one in trial["calls"]] == [one["role"] for one in trial["transcript"]]


@pytest.mark.parametrize(("prefers", "decision"), [(ACCEPTS, "accept"), (MENDS, "major_revision")])
def test_models_hold_panels_through_the_ledger_of_the_run(
    config: Path, server: ModelServer, prefers: Mapping[str, Any], decision: str
) -> None:
    server.prefers = prefers
    directory = asked(holding(config, "panel"), server)
    done("arbiter", "verify", directory)
    done("verify", directory / "ledger")
    assert [one["decision"] for one in verdicts(directory)] == [decision] * 4
    personas = {
        one["persona"]: one["text"].strip()
        for one in json.loads((directory / "config.resolved.json").read_text())["sampling"]["personas"]
    }
    for trial in lines(directory, "trials.jsonl"):
        assert len(trial["calls"]) == len(trial["transcript"]) == 5
        for call in trial["calls"]:
            system = call["request_payload"]["messages"][0]["content"]
            assert system.startswith(personas[trial["role_assignments"][call["role"]]["persona_id"]])
            shown = json.dumps(call["request_payload"]["messages"][1:])
            is_first = call["turn"] < 2
            assert ("It rained on 12 of 30 days" in shown) is (not is_first and call["role"] != "synthesizer")


@pytest.mark.parametrize("kind", PROTOCOLS)
def test_what_could_not_be_paid_to_its_end_goes_on_without_paying_twice(
    config: Path, server: ModelServer, tmp_path: Path, kind: str
) -> None:
    server.prefers = {**ACCEPTS, "verdict": "APPROVED", "issues": []}
    changed(
        holding(config, kind, workers=1),
        lambda plain: plain["sampling"].update(models=[{"model": "a/one", "weight": 1}]),
    )
    run = resolve(load_configuration(config), load_bank(None), "20260101T000000Z_abcdef", str(config))
    first = run_live(server, tmp_path, config=run, budget={"calls": 9})
    # What is embedded is paid for, too.
    made = [len(one.trial.calls or ()) for one in first.trials]
    assert made == ([3, 3, 1] if kind == "arena" else [5, 3])
    cut = first.trials[-1].trial
    assert cut.error is not None and cut.error_code == "no_budget"
    assert cut.error.message == "the budget of the run is 9 calls, which leaves no room for the call"
    assert len(server.calls) == sum(made)
    second = run_live(server, tmp_path, config=run, budget={"calls": 100})
    assert [one.trial.status for one in second.trials] == ["success"] * 4
    assert sum(len(one.trial.calls or ()) for one in second.trials) == len(server.calls)


def test_the_numbers_of_a_seats_calls_do_not_depend_on_what_others_are_asked(
    config: Path, server: ModelServer
) -> None:
    changed(
        holding(config, "panel"),
        lambda plain: plain["sampling"].update(models=[{"model": "a/one", "weight": 1}]),
    )
    run = resolve(load_configuration(config), load_bank(None), "20260101T000000Z_abcdef", str(config))
    server.prefers = ACCEPTS
    one = _numbered(run, server)
    # The first who is asked has to answer once more.
    server.plays(completion("No."))
    other = _numbered(run, server)
    assert len(other["eic"]) == len(one["eic"]) + 1
    assert (other["methodology"], other["synthesizer"]) == (one["methodology"], one["synthesizer"])
    assert len({turn for turns in other.values() for turn in turns}) == 6


def _numbered(run: ResolvedConfiguration, server: ModelServer) -> dict[str, list[int]]:
    """Hold the first trial of a run; return the numbers of its calls by seat."""
    turns: list[int] = []

    async def main(clock: Clock) -> RanTrial:
        post = DirectPost(server, clock.now)
        try:
            outcomes = Outcomes(run, judge_of(run.protocol.decision_contract), "live-v0")
            return await runner_of(run, outcomes, post, clock).run(next(plan(run)))
        finally:
            turns.extend(place.turn for place, _, _ in post.sent)
            await post.close()

    trial = RealClock().run(main).trial
    assert trial.status == "success"
    found: dict[str, list[int]] = {}
    for turn, call in zip(turns, trial.calls or (), strict=True):
        found.setdefault(call.role, []).append(turn)
    return found


def test_a_reviewer_that_gives_no_usable_answer_ends_its_panel(config: Path, server: ModelServer) -> None:
    server.always = server.says("I would rather not.")
    (trial, *_) = lines(asked(holding(config, "panel"), server), "trials.jsonl")
    assert trial["status"] == "error"
    assert trial["error"]["message"].endswith("stays silent")


def test_a_panel_that_decides_nothing_is_an_error_that_says_why(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def talks(_self: Any, _view: Any, _prompt: Any) -> str:
        return "I like it."

    monkeypatch.setattr(SimulatedPanelWriter, "write", talks)
    directory = mocked(holding(config, "panel"))
    done("arbiter", "verify", directory)
    for trial, parsed in zip(lines(directory, "trials.jsonl"), lines(directory, "parsed.jsonl"), strict=True):
        assert (trial["status"], parsed["parse_status"]) == ("error", "failed")
        assert trial["error"]["message"].startswith("the panel decided nothing: ")
        assert "[PANEL-SHRUNK: usable=0, panel_size=2]" in trial["error"]["message"]
        # Each reviewer is asked a second time.
        assert len(trial["transcript"]) == 4


def _turns(change: Callable[[Any], object]) -> Callable[[Any], object]:
    return lambda trial: change(trial["transcript"])


@pytest.mark.parametrize(
    ("kind", "change", "why"),
    [
        ("arena", _turns(lambda said: said[0].update(role="reviewer")), "transcript[0]"),
        ("arena", _turns(lambda said: said[-1].update(content="Another plan.")), "raw_assistant_text"),
        ("arena", _turns(lambda said: said[-2].update(content="No verdict.")), "without a verdict"),
        ("arena", _turns(lambda said: said[-2].update(content="VERDICT: REVISE")), ""),
        (
            "arena",
            lambda one: one.update(
                raw_assistant_text=one["raw_assistant_text"].replace("approved", "unresolved")
            ),
            "raw_assistant_text",
        ),
        (
            "panel",
            lambda one: one.update(
                raw_assistant_text=json.dumps({"decision": "accept", "rationale": "Yes."})
            ),
            "raw_assistant_text",
        ),
        ("panel", _turns(lambda said: said[-1].update(content="editorial_decision=accept")), "does not lead"),
        ("panel", _turns(lambda said: said[-2].update(content="I like it.")), "does not lead"),
        ("panel", _turns(lambda said: said[0].update(role="synthesizer")), "transcript[1]"),
        ("panel", lambda one: one["calls"].pop(), "was asked of nobody"),
    ],
)
def test_what_was_changed_in_a_trial_is_found(
    config: Path, kind: str, change: Callable[[Any], object], why: str
) -> None:
    directory = mocked(holding(config, kind))
    trials = lines(directory, "trials.jsonl")
    approved = next((one for one in trials if '"approved"' in one["raw_assistant_text"]), trials[0])
    change(approved)
    write_lines(directory, "trials.jsonl", trials)
    told = [*verify_run(directory).lines()]
    assert any(line.startswith("FAIL") and why in line for line in told), told


def test_reviewers_that_are_not_those_of_the_mode_are_found(config: Path) -> None:
    directory = mocked(holding(config, "panel"))
    changed(
        directory / "config.resolved.json",
        lambda plain: plain["protocol"]["panel"].update(reviewers=["eic", "methodology", "da"]),
    )
    assert any("role_assignments" in line for line in verify_run(directory).lines())
