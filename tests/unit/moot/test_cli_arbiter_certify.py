"""`moot arbiter certify`, and runs that end when their mode is certain: what they keep, what verify says of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from moot.arbiter.certifying import Certifier, certificate_writer
from moot.arbiter.verify import verify_run
from tests.doubles.arbiter_answers import answered, configured, kept, prepared
from tests.doubles.command_line import complaint, data, done

RUN_ID = "20260223T100000Z_a1b2c3"


def decided(decision: str) -> str:
    return json.dumps({"decision": decision, "rationale": "It is so."})


def mostly_yes(trial_id: int, model: str) -> str:
    return decided("no" if trial_id % 6 == 1 else "yes")


def certified(
    folder: Path, answers: Callable[[int, str], str | None] = mostly_yes, **how: Any
) -> tuple[Path, dict[str, Any]]:
    """Carry out a run of 96 trials that keeps its certificate; return its folder and the certificate."""
    run = prepared(configured())
    directory = folder / RUN_ID
    certifier = Certifier(run.config, 0.05)
    kept(folder, answers=answers, subscribers=[certificate_writer(certifier, directory)], **how)
    return directory, json.loads((directory / "certificate.json").read_text(encoding="utf-8"))


def found_wrong(directory: Path) -> list[Any]:
    """Return what verify finds wrong or odd where a certificate has a say."""
    checks = {one.name: one.findings for one in verify_run(directory).checks}
    return [*checks["certificate"], *checks["ending"], *checks["files"]]


def test_a_run_keeps_what_certify_and_verify_count_again(tmp_path: Path) -> None:
    directory, kept_certificate = certified(tmp_path)
    assert data("arbiter", "certify", directory) == kept_certificate
    assert kept_certificate["mode"] == {"label": "yes", "at_trial": 24}
    assert kept_certificate["trials"] == 96
    assert found_wrong(directory) == []


@pytest.mark.parametrize("asked", [1, 2])
def test_an_interrupted_run_certifies_the_trials_before_the_first_that_was_cut_short(
    tmp_path: Path, asked: int
) -> None:
    directory, found = certified(tmp_path, stop_after_s=20.5, asked=asked)
    assert found["trials"] + found["not_counted"] > 0
    assert (found["not_counted"] > 0) is (asked == 2)
    assert data("arbiter", "certify", directory) == found
    assert found_wrong(directory) == []


def test_a_certificate_that_was_changed_is_found(tmp_path: Path) -> None:
    directory, found = certified(tmp_path)
    found["labels"][0]["low"] += 0.1
    (directory / "certificate.json").write_text(json.dumps(found), encoding="utf-8")
    report = verify_run(directory)
    assert "labels[0].low" in "\n".join(report.lines())
    assert not report.ok


def test_certify_tells_a_person_and_takes_another_rate(tmp_path: Path) -> None:
    directory, _ = certified(tmp_path)
    told = done("arbiter", "certify", directory).splitlines()
    assert told[0] == f"{RUN_ID}: 96 trials, alpha 0.05"
    assert told[2].split() == ["yes", "80", "83.3", "%", "67.1", "and", "93.9", "%"]
    assert told[4].split()[:4] == ["(no", "decision)", "0", "0.0"]
    assert "The most frequent one is yes: certain since trial 24." in told
    strict = data("arbiter", "certify", directory, "--alpha", 0.0001)
    assert strict["alpha"] == 0.0001
    assert strict["labels"][0]["low"] < 0.67
    assert strict["mode"]["at_trial"] > 24
    # The rate that the run was made with is the default.
    assert data("arbiter", "certify", directory)["alpha"] == 0.05


def test_what_a_certificate_says_is_wrapped(tmp_path: Path) -> None:
    told = done("arbiter", "certify", certified(tmp_path)[0], COLUMNS="80").splitlines()
    supposed = told[told.index("This supposes that:") + 1 :]
    assert len(supposed) > 4
    assert all(line.startswith("  ") and len(line) <= 80 for line in supposed)


def test_a_run_without_a_certain_mode_says_so(tmp_path: Path) -> None:
    directory, found = certified(tmp_path, lambda trial_id, model: decided("yes" if trial_id % 2 else "no"))
    assert found["mode"] is None
    assert "Which of them is the most frequent is not settled." in done("arbiter", "certify", directory)


def test_what_cannot_be_certified_is_refused_in_a_line(tmp_path: Path) -> None:
    directory, _ = certified(tmp_path)
    for rate in (0, 1, -0.5, 2, "nan"):
        assert "is no rate of error: give one above 0 and below 1" in complaint(
            1, "arbiter", "certify", directory, "--alpha", rate
        )
    assert "there is no such folder" in complaint(1, "arbiter", "certify", tmp_path / "none")
    config = directory / "config.resolved.json"
    changed = json.loads(config.read_text(encoding="utf-8"))
    del changed["protocol"]["decision_contract"]
    config.write_text(json.dumps(changed), encoding="utf-8")
    assert "has no closed labels: choose a contract whose schema gives decision an enum" in complaint(
        1, "arbiter", "certify", directory
    )


def test_a_mock_run_may_end_when_its_mode_is_certain(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    done("arbiter", "init", "--template", "heterogeneity", "--out", path)
    whole = data("arbiter", "mock-run", path, "--out", tmp_path / "runs")
    assert (whole["stop_reason"], whole["k_attempted"]) == ("k_max_reached", 96)
    assert "certificate.json" not in whole["artifacts"]
    found = data("arbiter", "mock-run", path, "--out", tmp_path / "runs", "--stop", "certified")
    # Mock answers never have the form that the contract asks for.
    assert (found["stop_reason"], found["incomplete"], found["k_attempted"]) == ("completed", False, 12)
    certain = "certified after 12 trials: the most frequent outcome is no decision (alpha 0.05)"
    assert found["notes"].startswith(certain)
    strict = data(
        "arbiter", "mock-run", path, "--out", tmp_path / "runs", "--stop", "certified", "--alpha", 1e-6
    )
    assert strict["k_attempted"] > 12
    for run in (whole, found, strict):
        kept_certificate = json.loads((Path(run["path"]) / "certificate.json").read_text(encoding="utf-8"))
        assert kept_certificate["no_decision"]["count"] == run["k_attempted"]
        assert verify_run(Path(run["path"])).ok


def test_a_run_that_cannot_be_certified_does_not_begin_with_such_a_rule(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    done("arbiter", "init", "--out", path)
    config = json.loads(path.read_text(encoding="utf-8"))
    del config["protocol"]["decision_contract"]
    path.write_text(json.dumps(config), encoding="utf-8")
    run = ("arbiter", "mock-run", path, "--out", tmp_path / "runs")
    assert f"{path}: protocol.decision_contract: has no closed labels" in complaint(
        1, *run, "--stop", "certified"
    )
    assert not (tmp_path / "runs").exists()
    assert not (Path(data(*run)["path"]) / "certificate.json").exists()


def test_a_certificate_of_a_run_that_failed_counts_the_batches_that_were_measured(tmp_path: Path) -> None:
    run = prepared(configured())
    certifier = Certifier(run.config, 0.05)
    told = []

    def break_down(event: Any) -> None:
        told.append(event)
        if len(told) == 44:
            raise OSError(28, "No space left on device", "trials.jsonl")

    with pytest.raises(Exception, match="cannot be written"):
        answered(run, [certificate_writer(certifier, tmp_path), break_down], mostly_yes)
    found = json.loads((tmp_path / "certificate.json").read_text(encoding="utf-8"))
    assert found["trials"] == 36
    assert found["not_counted"] > 0
