"""`moot arbiter mock-run` and `quickstart`: a run is carried out without asking anybody."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.doubles.command_line import complaint, data, done, moot
from tests.unit.moot.test_arbiter_artifacts import ALWAYS, CLUSTERED, files, obeys, read


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "run.json"
    done("arbiter", "init", "Is tea better than coffee?", "--out", path)
    return path


def mocked(config: Path, *options: object, **env: str) -> Any:
    return data("arbiter", "mock-run", config, "--out", config.parent / "runs", *options, **env)


@pytest.mark.parametrize("template", ["quickstart", "heterogeneity", "debate", "free"])
def test_every_template_is_carried_out(tmp_path: Path, template: str) -> None:
    path = tmp_path / "run.json"
    done("arbiter", "init", "--template", template, "--out", path)
    found = mocked(path)
    directory = Path(found["path"])
    assert directory == tmp_path / "runs" / found["run_id"]
    specified = files(directory) - {"certificate.json"}
    assert specified == ALWAYS | CLUSTERED | {"embeddings.arrow"} == set(found["artifacts"])
    obeys(directory)
    assert (found["stop_reason"], found["incomplete"]) == ("k_max_reached", False)
    assert found["k_attempted"] == found["k_eligible"] == found["k_planned"]
    statuses = {one["parse_status"] for one in read(directory / "parsed.jsonl")}
    assert statuses <= {"success", "fallback"}


def test_equal_files_give_equal_plans_answers_and_figures(config: Path) -> None:
    one, other = (Path(mocked(config, *more)["path"]) for more in ((), ("--workers", 7)))

    def known(directory: Path, name: str) -> list[Any]:
        lines = read(directory / name)
        for line in lines:
            line.pop("recorded_at", None)
            line.pop("attempt", None)
        return lines

    for name in ("trial_plan.jsonl", "convergence_trace.jsonl", "clusters/online.assignments.jsonl"):
        assert known(one, name) == known(other, name), name
    assert (one / "embeddings.arrow").read_bytes() == (other / "embeddings.arrow").read_bytes()


def test_options_stand_in_the_place_of_what_the_file_says(config: Path) -> None:
    found = mocked(config, "--max-trials", 7, "--batch-size", 3, "--workers", 2, "--debug")
    (resolved,) = read(Path(found["path"]) / "config.resolved.json")
    execution = resolved["execution"]
    assert (execution["k_max"], execution["batch_size"], execution["workers"]) == (7, 3, 2)
    assert found["k_attempted"] == 7
    assert len(read(Path(found["path"]) / "convergence_trace.jsonl")) == 3
    assert "debug/embeddings.jsonl" in found["artifacts"]
    many = complaint(1, "arbiter", "mock-run", config, "--max-trials", 100_001)
    assert many.endswith("execution.k_max: 100,001 trials, 100,000 are the most: lower it")
    for option in ("--max-trials", "--batch-size", "--workers"):
        assert "choose at least 1, not 0" in complaint(2, "arbiter", "mock-run", config, option, 0)


def test_a_person_reads_a_receipt_and_a_script_the_folder(config: Path) -> None:
    runs = config.parent / "runs"
    told = done("arbiter", "mock-run", config, "--out", runs)
    assert told.startswith("Arbiter receipt\nRun ")
    assert "Question    Is tea better than coffee?" in told
    directory = Path(done("arbiter", "mock-run", config, "--out", runs, "--quiet").strip())
    assert directory.parent == runs
    receipt = (directory / "receipt.txt").read_text(encoding="utf-8")
    assert re.sub(r"\d", "", told.splitlines()[2]) == re.sub(r"\d", "", receipt.splitlines()[2])


def test_policies_act_on_a_mock_run_as_on_any(config: Path) -> None:
    value = json.loads(config.read_text(encoding="utf-8"))
    value["sampling"]["models"][0]["model"] = "google/gemma-4-31b-it:free"
    config.write_text(json.dumps(value), encoding="utf-8")
    runs = config.parent / "runs"
    assert "which --strict refuses" in complaint(1, "arbiter", "mock-run", config, "--strict", "--out", runs)
    assert not runs.exists()
    result = moot("arbiter", "mock-run", config, "--strict", "--allow-free", "--out", runs, "--quiet")
    assert result.exit_code == 0
    assert "is free" in result.stderr


def test_answers_without_their_form_are_an_error_where_the_policy_says_so(config: Path) -> None:
    out = config.parent / "runs"
    result = moot("arbiter", "mock-run", config, "--out", out, "--contract-failure", "fail", "--json")
    assert result.exit_code == 1
    (manifest,) = read(Path(json.loads(result.stdout)["path"]) / "manifest.json")
    assert (manifest["stop_reason"], manifest["incomplete"]) == ("error", True)
    assert manifest["notes"].startswith("20 of 20 answers have not the form that was asked for; a mock run")


def test_variables_make_a_mock_run_slow_or_mute_or_keep_its_receipt(config: Path) -> None:
    mute = mocked(config, "--max-trials", 3, ARBITER_MOCK_EMPTY_EMBED="1", ARBITER_RECEIPT_FAIL="1")
    assert mute["k_eligible"] == 0
    assert "receipt.txt" not in mute["artifacts"]
    working = Path(mute["path"]) / "debug" / "embeddings.jsonl"
    assert {one["skip_reason"] for one in read(working)} == {"empty_embed_text"}
    assert all("embed_text" not in one for one in read(Path(mute["path"]) / "parsed.jsonl"))
    slow = mocked(config, "--max-trials", 2, "--workers", 2, ARBITER_MOCK_DELAY_MS="30")
    latencies = [one["attempt"]["latency_ms"] for one in read(Path(slow["path"]) / "trials.jsonl")]
    assert min(latencies) >= 30
    found = complaint(1, "arbiter", "mock-run", config, ARBITER_MOCK_DELAY_MS="soon")
    assert found.endswith("ARBITER_MOCK_DELAY_MS is 'soon': give whole milliseconds, at most an hour")


def test_a_folder_that_cannot_be_made_is_one_line_and_exit_code_1(config: Path) -> None:
    found = complaint(1, "arbiter", "mock-run", config, "--out", config)
    assert (
        found
        == f"moot arbiter: {config}/{found.split('/')[-1].split(':')[0]}: cannot be written: Not a directory"
    )


@pytest.mark.parametrize("profile", ["quickstart", "heterogeneity", "debate", "free"])
def test_a_quickstart_goes_from_a_question_to_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, profile: str
) -> None:
    monkeypatch.chdir(tmp_path)
    found = data("arbiter", "quickstart", "Is tea better?", "--profile", profile)
    obeys(Path(found["path"]))
    assert found["path"].startswith("runs/")
    assert found["stop_reason"] == "k_max_reached"
    (written,) = read(tmp_path / "arbiter.config.json")
    assert (written["question"]["text"], written["template_id"]) == ("Is tea better?", profile)


def test_a_quickstart_replaces_a_file_only_when_told_to(config: Path) -> None:
    before = config.read_text(encoding="utf-8")
    options = ("--config", config, "--out", config.parent / "runs")
    assert "--yes replaces it" in complaint(1, "arbiter", "quickstart", "Why?", *options)
    assert config.read_text(encoding="utf-8") == before
    assert not (config.parent / "runs").exists()
    told = done("arbiter", "quickstart", "Why?", "--yes", "--mock", *options)
    assert told.startswith(f"{config} is valid: 20 trials (independent)")
    assert "a mock run: no model was asked" in told
    assert "choose one of them" in complaint(1, "arbiter", "quickstart", "--mock", "--live", *options)
    live = complaint(1, "arbiter", "quickstart", "--live", "--yes", *options, OPENROUTER_API_KEY=None)
    assert "set OPENROUTER_API_KEY" in live
    assert "Question    Why?" in told
