"""`moot arbiter verify`: what it prints, its exit codes, and one line for whatever is no run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from moot.arbiter.verify import CHECKS
from tests.doubles.command_line import data, done, moot


@pytest.fixture
def run(tmp_path: Path) -> Path:
    config = tmp_path / "run.json"
    done("arbiter", "init", "Is tea better than coffee?", "--template", "debate", "--out", config)
    return Path(data("arbiter", "resolve", config, "--out", tmp_path / "runs")["path"])


def test_a_folder_that_resolve_wrote_passes_every_check(run: Path) -> None:
    lines = done("arbiter", "verify", run).splitlines()
    assert {line.split()[0] for line in lines[:-1]} == {"PASS"}
    assert {line.split()[1] for line in lines[:-1]} <= set(CHECKS)
    assert lines[-1] == f"{run}: every check holds"


def test_a_fault_is_told_with_file_line_and_field_and_exit_code_1(run: Path) -> None:
    plan = run / "trial_plan.jsonl"
    first, *others = plan.read_text(encoding="utf-8").splitlines(keepends=True)
    value = json.loads(first)
    value["assigned_config"]["model"] = "another/model"
    plan.write_text("".join([json.dumps(value) + "\n", *others]), encoding="utf-8")
    result = moot("arbiter", "verify", run)
    assert result.exit_code == 1
    assert 'trial_plan.jsonl:1: assigned_config.model: is "another/model", should be' in result.stdout
    assert "manifest.json: plan_sha256: " in result.stdout
    told = json.loads(moot("arbiter", "verify", run, "--json").stdout)
    assert (told["ok"], told["failures"]) == (False, 2)
    assert [one["check"] for one in told["checks"] if one["level"] == "FAIL"] == ["plan"]


def test_what_is_no_run_is_told_in_one_line(run: Path, tmp_path: Path) -> None:
    manifest = run / "manifest.json"
    value = json.loads(manifest.read_text(encoding="utf-8"))
    for path, says in (
        (tmp_path / "nothing", "there is no such folder"),
        (manifest, "is a file: name the folder of a run"),
        (tmp_path, "is no run: it holds no manifest.json"),
    ):
        result = moot("arbiter", "verify", path)
        assert result.exit_code == 1
        assert result.stdout.splitlines() == [f"FAIL  readable       {says}", f"{path}: 1 fault"]
    manifest.write_text(json.dumps({**value, "schema_version": "2.0.0"}), encoding="utf-8")
    assert "has schema_version 2.0.0: this Moot judges 1.0.0" in moot("arbiter", "verify", run).stdout
    manifest.write_text(json.dumps(value)[:300], encoding="utf-8")
    assert moot("arbiter", "verify", run).stdout.count("FAIL") == 1


def test_trials_cut_off_in_the_middle_are_all_that_is_wrong_with_a_list(tmp_path: Path) -> None:
    config = tmp_path / "run.json"
    done("arbiter", "init", "--out", config)
    run = Path(data("arbiter", "mock-run", config, "--out", tmp_path / "runs")["path"])
    trials = run / "trials.jsonl"
    trials.write_bytes(trials.read_bytes()[:-40])
    told = [line for line in moot("arbiter", "verify", run).stdout.splitlines() if "FAIL" in line]
    assert [line.split()[1] for line in told] == ["readable"]
