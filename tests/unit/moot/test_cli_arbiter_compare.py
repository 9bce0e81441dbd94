"""`moot arbiter compare`: runs that differ are told apart, runs that do not are not, and what is unlike is left out."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from moot.arbiter import comparing
from moot.protocols.arbiter.generated import Configuration
from tests.doubles.arbiter_answers import configured, kept, text_of
from tests.doubles.command_line import complaint, data, done, moot

IDS = ("20260223T100000Z_aaaaaa", "20260223T100000Z_bbbbbb", "20260223T100000Z_cccccc")
Answers = Callable[[int, str], str | None]


def later(start: int) -> Answers:
    """Answer as the same models would on other days."""
    return lambda trial_id, model: text_of(trial_id + start, model)


def more_no(trial_id: int, model: str) -> str | None:
    """Answer as on another day, but half of the decisions for it are against it."""
    text = text_of(trial_id + 2_000, model)
    if text is None or trial_id % 2 or '"yes"' not in text:
        return text
    return json.dumps({"decision": "no", "rationale": "Nobody has said who pays the staff on Sundays."})


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Path]:
    """Return a run, the same once more, and one that was told otherwise; of 120 trials each."""
    folder = tmp_path_factory.mktemp("runs")
    answers = (text_of, later(1_000), more_no)
    one, again, other = (
        kept(folder, configured(k_max=120), run_id=run_id, answers=each)
        for run_id, each in zip(IDS, answers, strict=True)
    )
    return one, again, other


def changed(folder: Path, run_id: str = IDS[1], /, **fields: Any) -> Path:
    """Carry out a run whose configuration differs in dotted fields."""
    config = configured(k_max=40).as_json()
    for path, value in fields.items():
        part: Any = config
        *parents, last = path.split("__")
        for name in parents:
            part = part[name]
        part[last] = value
    return kept(folder, Configuration.from_json(json.dumps(config)), run_id=run_id)


def test_two_runs_of_one_configuration_do_not_differ(runs: tuple[Path, Path, Path]) -> None:
    found = data("arbiter", "compare", runs[0], runs[1])
    assert list(found["differences"]) == ["decisions", "answers", "replies", "tokens", "cost"]
    assert (found["differing"], found["skipped"], found["warnings"]) == ([], {}, [])
    assert found["conclusion"].startswith(
        "No difference was found in decisions, answers, replies, tokens and"
    )
    decisions = found["differences"]["decisions"]
    assert [one["category"] for one in decisions["categories"]] == ["yes", "no", None]
    assert sum(one["counts"][0] for one in decisions["categories"]) == 120
    for one in decisions["categories"]:
        low, high = one["interval"]
        assert low <= one["difference"] <= high


def test_runs_that_were_told_otherwise_differ_in_what_they_decide_and_say(
    runs: tuple[Path, Path, Path],
) -> None:
    found = data("arbiter", "compare", runs[0], runs[2])
    assert {"decisions", "answers"} <= {*found["differing"]}
    assert "replies" not in found["differing"]
    moved = found["differences"]["decisions"]
    assert moved["p_value"] == 0.001
    assert moved["p_adjusted"] >= moved["p_value"]
    yes = moved["categories"][0]
    assert yes["interval"][1] < 0 < moved["statistic"]
    assert found["differences"]["answers"]["interval"][0] > 0
    assert found["conclusion"].startswith("The two runs differ in decisions")


def test_a_person_reads_tables_and_a_sentence(runs: tuple[Path, Path, Path]) -> None:
    told = done("arbiter", "compare", runs[0], runs[2]).splitlines()
    assert told[0] == f"A  {runs[0]}  120 trials"
    assert told[2] == "compared trial by trial, as both drew them alike; 999 shuffles, seed 1"
    assert told[4].split() == ["decision", "A", "B", "B", "less", "A", "95", "%"]
    assert told[-1].startswith("The two runs differ in decisions")
    assert any(line.startswith("cost ") and "$0.0000" in line for line in told)


def test_no_figure_is_cut_on_a_terminal_of_80_columns(runs: tuple[Path, Path, Path]) -> None:
    told = done("arbiter", "compare", runs[0], runs[2], COLUMNS="80")
    prose = told[told.rindex("\n\n") :]
    assert prose.count("\n") > 3 and max(map(len, prose.splitlines())) <= 80
    assert "…" not in told
    assert all(
        len(line) <= 80 for line in told.splitlines() if line.startswith(("answers", "tokens", "cost"))
    )


def test_a_seed_gives_the_same_figures_and_another_one_others(runs: tuple[Path, Path, Path]) -> None:
    once = data("arbiter", "compare", runs[0], runs[1], "--seed", 7, "--permutations", 199)
    assert once == data("arbiter", "compare", runs[0], runs[1], "--seed", 7, "--permutations", 199)
    other = data("arbiter", "compare", runs[0], runs[1], "--seed", 8, "--permutations", 199)
    assert once["differences"]["answers"]["statistic"] == other["differences"]["answers"]["statistic"]
    assert once["differences"]["answers"]["by_chance"] != other["differences"]["answers"]["by_chance"]
    assert once["permutations"] == 199


def test_runs_are_compared_trial_by_trial_only_when_they_drew_alike(tmp_path: Path) -> None:
    one = changed(tmp_path, IDS[0])
    assert data("arbiter", "compare", one, changed(tmp_path, IDS[1]))["is_paired"] is True
    assert data("arbiter", "compare", one, changed(tmp_path, IDS[2], run__seed=5))["is_paired"] is False
    # Trials that all draw the same have nothing in common beyond it.
    same = [{"persona": "persona_none", "weight": 1}], [{"protocol": "protocol_direct", "weight": 1}]
    plain = {"sampling__personas": same[0], "sampling__protocols": same[1], "sampling__decode": {}}
    alike = [changed(tmp_path / "plain", run_id, **plain) for run_id in IDS[:2]]
    assert data("arbiter", "compare", *alike)["is_paired"] is False


def test_what_is_unlike_is_left_out_or_warned_of(tmp_path: Path) -> None:
    one = changed(tmp_path, IDS[0])
    other = changed(
        tmp_path,
        IDS[1],
        question__text="Should it open at night?",
        measurement__embedding_model="other/model",
    )
    found = data("arbiter", "compare", one, other)
    assert found["warnings"] == ["the questions differ: what differs may come from them alone"]
    model = configured().measurement.embedding_model
    assert found["skipped"] == {"answers": f"embedding models differ: {model} and other/model"}
    result = moot("arbiter", "compare", one, other)
    assert "moot arbiter compare: the questions differ" in result.stderr
    assert "answers: not compared: embedding models differ" in result.stdout


def test_runs_without_usage_embeddings_of_a_kind_or_closed_decisions_are_compared_in_what_is_left(
    tmp_path: Path,
) -> None:
    config = configured(k_max=60).as_json()
    del config["protocol"]["decision_contract"]
    prose = Configuration.from_json(json.dumps(config))
    one, other = (
        kept(
            tmp_path, prose, run_id=run_id, answers=lambda trial_id, model, run=run_id: f"{trial_id} in {run}"
        )
        for run_id in IDS[:2]
    )
    found = data("arbiter", "compare", one, other)
    assert found["skipped"] == {"decisions": "no contract lists them, and too many different ones were made"}
    path = tmp_path / "run.json"
    done("arbiter", "init", "--template", "heterogeneity", "--out", path)
    mock = data("arbiter", "mock-run", path, "--out", tmp_path / "mock")["path"]
    found = data("arbiter", "compare", mock, one)
    assert found["skipped"]["answers"] == "they differ in length: 4 and 16 dimensions"
    assert found["skipped"]["tokens"] == "replies did not tell them"
    assert "the contracts differ" in found["warnings"]


def test_trials_after_one_that_was_cut_short_do_not_count(tmp_path: Path) -> None:
    one = changed(tmp_path, IDS[0])
    other = kept(tmp_path, configured(k_max=40), run_id=IDS[1], stop_after_s=7.5, asked=2)
    found = data("arbiter", "compare", one, other)
    assert found["runs"][1]["trials"] < 40
    assert any("second run's trials do not count" in line for line in found["warnings"])


def test_of_many_embeddings_some_are_drawn_by_the_seed(
    runs: tuple[Path, Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(comparing, "MOST_VECTORS", 50)
    found = data("arbiter", "compare", runs[0], runs[2])
    assert found["differences"]["answers"]["trials"] == [50, 50]
    assert any("50 were drawn by seed 1" in line for line in found["warnings"])
    assert found == data("arbiter", "compare", runs[0], runs[2])


def test_what_is_no_second_run_is_refused_in_a_line(runs: tuple[Path, Path, Path], tmp_path: Path) -> None:
    assert "are the same run: name two" in complaint(1, "arbiter", "compare", runs[0], runs[0])
    assert "there is no such folder" in complaint(1, "arbiter", "compare", runs[0], tmp_path / "none")
    path = tmp_path / "run.json"
    done("arbiter", "init", "--out", path)
    resolved = data("arbiter", "resolve", path, "--out", tmp_path / "runs")["path"]
    assert "has no trials that ended: name a run that was carried out" in complaint(
        1, "arbiter", "compare", runs[0], resolved
    )
    for option, value in (("--permutations", 98), ("--seed", -1)):
        assert "choose" in complaint(2, "arbiter", "compare", runs[0], runs[1], option, value)
