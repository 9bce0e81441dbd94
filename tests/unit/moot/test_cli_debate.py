"""`moot debate`: any question, debated and judged; what cannot be asked is one line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.doubles.command_line import complaint, done, moot

QUESTION = "Should we adopt a four-day week?"
NO_MODEL = "no language model writes here: simulated, no model"


def record(*words: object) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(moot("debate", *words, "--json").stdout)
    return found


def test_a_debate_says_first_that_no_model_writes_then_what_is_said_then_what_it_came_to() -> None:
    result = moot("debate", QUESTION)
    lines = result.stdout.splitlines()

    assert (result.exit_code, result.stderr) == (0, f"{NO_MODEL}\n")
    assert f"asks motion_20260223_0000: {QUESTION}" in lines[0]
    said = [line for line in lines[1:] if "#motions" in line and "Referee" not in line]
    assert said
    assert all("(simulated, no model)" in line for line in said)
    told = {line[:12].strip(): line[12:] for line in lines[lines.index("") + 1 :]}
    assert told["question"] == QUESTION
    assert told["outcome"].split(",")[0] in {"UPHELD", "REJECTED", "UNDECIDED"}
    assert told["by"] == "simulated, no model"


def test_the_record_holds_the_judgment_and_every_objection_with_what_became_of_it() -> None:
    found = record("Where do we meet?", "--options", "Rome, Oslo", "--options", "Bonn", "--seed", 5)

    assert found["options"] == ["Rome", "Oslo", "Bonn"]
    assert found["claim"] in found["options"]
    assert found["written_by"] == {
        seat: ["simulated, no model"]
        for seat in ("advocate", "critic", "judge")
        if seat in found["written_by"]
    }
    assert [one["number"] for one in found["objections"]] == list(range(1, len(found["objections"]) + 1))
    for one in found["objections"]:
        assert one["stands"] or one["answer"], "nobody answered it, or it was conceded: it stands"


def test_objections_that_stand_are_shown_with_why() -> None:
    for seed in range(1, 30):
        found = record(QUESTION, "--seed", seed)
        if any(one["is_conceded"] for one in found["objections"]):
            break
    else:
        pytest.fail("no seed concedes an objection")
    (first, *_) = [one for one in found["objections"] if one["is_conceded"]]
    shown = moot("debate", QUESTION, "--seed", seed).stdout
    assert f"{first['number']} {first['severity']}, conceded: {first['text']}\n" in shown


def test_the_same_seed_gives_the_same_debate_and_another_one_another() -> None:
    assert record(QUESTION, "--seed", 3) == record(QUESTION, "--seed", 3)
    assert any(record(QUESTION, "--seed", 3) != record(QUESTION, "--seed", seed) for seed in (4, 5, 6))


def test_a_directory_keeps_a_log_that_verifies_and_that_moot_case_reads(tmp_path: Path) -> None:
    (tmp_path / "context.md").write_text("The plant runs day and night.", encoding="utf-8")
    place = tmp_path / "debate"
    result = moot("debate", QUESTION, "--context", tmp_path / "context.md", "--out", place)

    assert result.stderr == f"{NO_MODEL}\nthe log is in {place}\n"
    judged = moot("verify", place, "--strict")
    assert (judged.exit_code, judged.stderr) == (0, "")
    outcome = json.loads(done("case", place, "motion", "--json"))["motion"]["outcome"].lower()
    assert f"\n1 motion (1 {outcome}); no escalations\n" in judged.stdout
    shown = done("case", place, "motion")
    assert shown.count("(simulated, no model)") == result.stdout.count("(simulated, no model)")
    assert result.stdout.partition("\n\n")[2].strip() in shown
    found = json.loads(done("case", place, "motion", "--json"))
    assert found["motion"]["question"] == QUESTION
    assert complaint(2, "debate", QUESTION, "--out", place) == (
        f"moot debate: {place} holds a log already: name another directory"
    )


def test_a_context_comes_from_standard_input() -> None:
    result = moot("debate", QUESTION, "--context", "-", "--json", stdin=b"Trials in 61 firms.")
    assert result.exit_code == 0


def test_nobody_judges_where_the_judge_is_silent() -> None:
    result = moot("debate", QUESTION, "--mind", "judge=silent", "--json")
    found = json.loads(result.stdout)
    assert (result.exit_code, found["outcome"], found["confidence"]) == (3, "TIMEOUT", None)
    assert "judge" not in found["written_by"]


def test_why_a_mind_failed_is_told_on_standard_error_and_in_the_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "my_grump.py").write_text(
        "from moot.minds import Mind\n"
        "class Grump(Mind):\n"
        "    def answer(self, view):\n"
        "        raise ValueError('no idea')\n",
        encoding="utf-8",
    )
    monkeypatch.syspath_prepend(tmp_path)
    asked = moot("debate", QUESTION, "--mind", "critic=my_grump:Grump", "--json")
    (why,) = json.loads(asked.stdout)["warnings"]
    assert "my_grump:Grump raised ValueError: no idea" in why
    assert f"moot debate: {why}\n" in asked.stderr
    assert f"moot debate: {why}\n" in moot("debate", QUESTION, "--mind", "critic=my_grump:Grump").stderr
    assert record(QUESTION)["warnings"] == []


def test_a_context_is_as_long_as_in_a_society_and_no_longer(tmp_path: Path) -> None:
    path = tmp_path / "context.md"
    path.write_text("x" * 100_000, encoding="utf-8")
    assert moot("debate", QUESTION, "--context", path, "--json").exit_code == 0
    path.write_text("x" * 100_001, encoding="utf-8")
    assert complaint(2, "debate", QUESTION, "--context", path) == (
        "moot debate: context: has 100,001 characters, 100,000 are the most"
    )


def test_nobody_writes_in_a_seat_that_is_silent() -> None:
    said = moot("debate", QUESTION, "--mind", "critic=silent", "--json").stderr
    assert said.startswith("who writes here: advocate: simulated, no model; critic: nobody; judge: ")


def test_a_mind_of_ones_own_has_no_label(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my_stern.py").write_text(
        "from moot.minds import Mind\n"
        "from moot.protocols.motion.messages import Objection, Objections\n"
        "class Critic(Mind):\n"
        "    def answer(self, view):\n"
        "        return Objections(round=1, objections=(), confidence=0.9)\n",
        encoding="utf-8",
    )
    monkeypatch.chdir(tmp_path)
    result = moot("debate", QUESTION, "--mind", "critic=my_stern:Critic")

    by = "advocate: simulated, no model; critic: the mind my_stern:Critic; judge: simulated, no model"
    assert result.stderr == f"who writes here: {by}\n"
    (said,) = [line for line in result.stdout.splitlines() if "raises no objections" in line]
    assert "no model" not in said
    assert f"\nby          {by}\n" in result.stdout


def test_minds_of_its_seats_come_from_a_configuration_and_the_command_line_counts_more(
    tmp_path: Path,
) -> None:
    config = tmp_path / "moot.toml"
    lenient = "tests.doubles.own_minds:Lenient"
    config.write_text(
        f'[minds]\ncritic = "silent"\njudge = "silent"\nevolver = "{lenient}"\n', encoding="utf-8"
    )
    result = moot("debate", QUESTION, "--config", config, "--mind", "critic=simulated", "--json")
    assert result.exit_code == 3, "nobody judges"
    assert json.loads(result.stdout)["objections"], "the Critic speaks"


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("",), "question: is empty: write something"),
        (("  \n",), "question: is empty: write something"),
        (
            ("x" * 100_000,),
            "question: has 100,000 characters, 20,000 are the most: shorten it",
        ),
        ((QUESTION, "--options", "Rome,rome"), "options: two options are the same: 'Rome' and 'rome'"),
        (
            (QUESTION, "--options", "Rome"),
            "options: one option is no choice: give two or more, or none for yes and no",
        ),
        ((QUESTION, "--options", "Rome,,Oslo"), "options: option 2 is blank"),
        ((QUESTION, "--context", "/nowhere"), "/nowhere: No such file or directory"),
        (
            (QUESTION, "--mind", "critic"),
            "--mind critic: write SEAT=package.module:Class, such as critic=my_minds:MyCritic",
        ),
        (
            (QUESTION, "--mind", "planner=silent"),
            "minds: the seat 'planner' has no say here: choose advocate, critic, judge",
        ),
    ],
)
def test_what_cannot_be_asked_is_one_line(words: tuple[str, ...], why: str) -> None:
    assert complaint(2, "debate", *words) == f"moot debate: {why}"


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"\xff\xfe\x00", "is not UTF-8: see byte 0"),
        (b"a\0b", "is no text: it holds NUL bytes"),
        (b" ", "is empty"),
    ],
)
def test_a_context_that_is_no_text_is_one_line(tmp_path: Path, data: bytes, why: str) -> None:
    path = tmp_path / "context"
    path.write_bytes(data)
    assert complaint(2, "debate", QUESTION, "--context", path) == f"moot debate: {path}: {why}"
    assert (
        moot("debate", QUESTION, "--context", "-", stdin=data).stderr
        == f"moot debate: standard input: {why}\n"
    )
