"""`moot arena start`, `record`: a task into a society's Arena, and the records of the runs in a log."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from moot.cli.act import acts
from moot.cli.place import login_name
from moot.protocols.arena.conformance.checker import check
from moot.protocols.arena.messages import ArenaDraft
from moot.protocols.arena.seats import PLANNER
from moot.protocols.kernel.officers import ConfigChanged
from moot.protocols.kernel.seats import TIMEKEEPER
from tests.doubles.arena_runs import TASK, Files, path_of
from tests.doubles.arena_table import NOTEBOOK, ArenaTable
from tests.doubles.command_line import complaint, data, done, moot, write
from tests.doubles.data_dir import a_debate, write_log
from tests.doubles.live_society import LiveSociety

ME = login_name()


@pytest.fixture(autouse=True)
def _short_watch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(acts, "VIOLATION_S", 0.5)


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)


@pytest.fixture
def table() -> ArenaTable:
    """A log with two runs: one was approved in round 2, one is under way; both wait at the same time."""
    found = ArenaTable()
    found.run()
    found.draft("A plan.")
    found.review("- More.\nVERDICT: REVISE")
    found.draft("A better plan.")
    found.review("VERDICT: APPROVED")
    found.final("The plan.")
    found.wait(minutes=5)
    found.run(task_id="t2", notebook=NOTEBOOK)
    return found


@pytest.fixture
def log(table: ArenaTable, tmp_path: Path) -> Path:
    return write_log(tmp_path / "data", table.log)


def opened(place: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(done("log", place, "--type", "ARENA_TASK", "--json").splitlines()[-1])
    return found


# ---------------------------------------------------------------- start


@pytest.fixture
def live(tmp_path: Path) -> Iterator[LiveSociety]:
    table = a_debate()
    with LiveSociety(tmp_path / "data", table.log, lambda: table.now) as society:
        yield society


def test_an_admin_posts_a_task(live: LiveSociety, files: Files) -> None:
    said = done("arena", "start", live.directory, "--task", files.json("task.json", TASK))

    message = opened(live.directory)
    assert said.splitlines()[0] == f"the task is in the Arena: message {message['seq']}"
    assert (message["channel"], message["author"]) == ("#r-arena", "admin")
    assert message["actor"] == {"kind": "human", "platform": "cli", "user_id": ME}
    body = message["body"]
    assert (body["task"], body["config"], body["notebook"]) == (TASK, {"notebook_enabled": False}, None)
    (run,) = data("arena", "record", live.directory)
    assert (run["task_id"], run["state"]) == (TASK["task_id"], "DRAFTING")


def test_the_task_files_notebook_and_the_config_are_posted_as_they_are(
    live: LiveSociety, files: Files
) -> None:
    task = files.json("task.json", {"task": TASK, "notebook": NOTEBOOK})
    config = files.json("config.json", {"max_rounds": 2})
    assert data("arena", "start", live.directory, "--task", task, "--config", config)["status"] == "accepted"

    body = opened(live.directory)["body"]
    assert body["config"] == {"max_rounds": 2, "notebook_enabled": True}
    assert body["notebook"] == NOTEBOOK
    assert data("arena", "record", live.directory)[0]["state"] == "SEEDING"


def test_the_societys_own_notebook_is_taken_when_the_task_names_none(tmp_path: Path, files: Files) -> None:
    table = a_debate()
    changes = {"arena": {"notebook": "/srv/desk-notes"}}
    table.say(TIMEKEEPER, ConfigChanged(changes=changes, reason="x"), channel="#admin", key="config/1")
    with LiveSociety(tmp_path / "data", table.log, lambda: table.now) as society:
        done("arena", "start", society.directory, "--task", files.json("task.json", TASK))

        body = opened(society.directory)["body"]
        assert body["config"] == {"notebook_enabled": True}
        assert body["notebook"]["notebook_id"] == "desk-notes"


def test_an_invalid_task_is_a_run_that_ends_at_once(live: LiveSociety, files: Files) -> None:
    task = files.json("task.json", {**TASK, "session_id": ""})
    said = moot("arena", "start", live.directory, "--task", task)
    assert said.exit_code == 4
    assert said.stdout.startswith("the task is in the Arena, and its run ends at once")
    assert said.stderr.startswith("moot arena start: the task has no valid session_id")

    (run,) = data("arena", "record", live.directory)
    assert run["state"] == "TERMINATED_ERROR"
    assert run["reason"].startswith("SESSION_ID_MISSING: ")


@pytest.mark.parametrize(
    ("more", "words", "said"),
    [
        ({"max_rounds": 2}, (), "the task is invalid: max_rounds: Extra inputs are not permitted"),
        ({}, ("--max-rounds", 9), "the config is invalid: max_rounds"),
        ({}, ("--max-rounds", 0), "the config is invalid: max_rounds"),
    ],
)
def test_start_says_what_the_run_refuses(
    more: dict[str, object], words: tuple[object, ...], said: str, live: LiveSociety, files: Files
) -> None:
    task = files.json("task.json", {**TASK, **more})
    result = moot("arena", "start", live.directory, "--task", task, *words)
    assert result.exit_code == 4 and said in result.stderr


def test_start_takes_the_number_of_rounds(live: LiveSociety, files: Files) -> None:
    task = files.json("task.json", TASK)
    done("arena", "start", live.directory, "--task", task, "--max-rounds", 2)
    (run,) = data("arena", "record", live.directory)
    assert data("arena", "record", live.directory, run["run_id"])["config"]["max_rounds"] == 2


def test_only_admins_start_runs(live: LiveSociety, files: Files) -> None:
    task = files.json("task.json", TASK)

    said = complaint(3, "arena", "start", live.directory, "--task", task, "--as", "bob")
    assert "viewer may not post ARENA_TASK" in said
    assert done("arena", "record", live.directory) == "the log holds no run of the Arena\n"


def test_a_task_for_a_stopped_society_waits_for_the_next(tmp_path: Path, files: Files) -> None:
    place = write_log(tmp_path / "data", a_debate().log)
    task = files.json("task.json", TASK)

    assert done("arena", "start", place, "--task", task) == "queued: no society runs, the next one takes it\n"
    assert data("status", place)["queued"] == 1
    assert "viewer may not post ARENA_TASK" in complaint(
        3, "arena", "start", place, "--task", task, "--as", "bob"
    )


def test_what_cannot_be_posted_is_usage(log: Path, files: Files, tmp_path: Path) -> None:
    task = files.json("task.json", TASK)
    for words, said in (
        ([log, "--task", tmp_path / "no.json"], "No such file"),
        ([log, "--task", files.json("x.json", "{")], "is not JSON"),
        ([log, "--task", files.json("list.json", "[]")], "list.json: needs a JSON object"),
        ([log, "--task", task, "--config", files.json("c.json", "3")], "c.json: needs a JSON object"),
        ([log, "--task", files.json("big.json", {**TASK, "initial_prompt": "x" * 30_000})], "task: "),
        ([tmp_path / "nowhere", "--task", task], "there is no"),
        ([log, "--task", task, "--as", ""], "--as"),
    ):
        assert said in complaint(2, "arena", "start", *words), words


# ---------------------------------------------------------------- record


def test_the_runs_of_a_log_are_listed(log: Path, table: ArenaTable) -> None:
    first, second = data("arena", "record", log)

    assert (first["task_id"], first["state"], first["rounds"]) == ("t1", "TERMINATED_APPROVED", 2)
    assert first["reason"] == "APPROVED: approved in round 2, the final output stands"
    assert (second["run_id"], second["task_id"], second["state"]) == (table.run_id, "t2", "SEEDING")
    assert (second["rounds"], second["reason"]) == (0, None)
    lines = done("arena", "record", log, COLUMNS="80").splitlines()
    assert [lines[0].split(), lines[1].strip()] == [["run", "opened", "rounds", "state"], "task and reason"]
    assert lines[2].split()[0] == first["run_id"]
    assert lines[3].strip() == "t1: APPROVED: approved in round 2, the final output stands"
    assert max(map(len, lines)) <= 80


def test_a_run_of_a_log_has_its_record(log: Path, files: Files) -> None:
    run_id = data("arena", "record", log)[0]["run_id"]

    text = done("arena", "record", log, run_id, "--out", files.out)
    record = files.record()
    assert path_of(record).endswith("FINALIZING TERMINATED_APPROVED")
    assert check(record).is_conformant
    assert text.startswith("t1  2 rounds of at most 5\n")
    assert data("arena", "record", log, run_id) == record
    assert moot("arena", "conformance", files.out).exit_code == 0


def test_a_run_that_goes_on_has_a_record_as_far_as_it_has_come(log: Path, table: ArenaTable) -> None:
    record = data("arena", "record", log, table.run_id)

    assert (path_of(record), record["terminal_state"]) == ("INIT SEEDING", None)
    assert not check(record).is_conformant
    assert "end       the run is not over\n" in done("arena", "record", log, table.run_id)


def test_an_exported_log_has_its_records_too(log: Path, tmp_path: Path) -> None:
    target = tmp_path / "log.jsonl"
    done("export", log, target)

    assert data("arena", "record", target) == data("arena", "record", log)
    run_id = data("arena", "record", log)[0]["run_id"]
    assert data("arena", "record", target, run_id) == data("arena", "record", log, run_id)


def test_what_breaks_a_rule_changes_no_record(table: ArenaTable, tmp_path: Path) -> None:
    early = ArenaDraft(round_index=1, text="Before anybody asked.")
    table.say(PLANNER, early, channel="#r-arena", case_id=table.run_id)
    log = write_log(tmp_path / "broken", table.log)

    assert any(env.body.type == "VIOLATION" for env in table.log)
    assert path_of(data("arena", "record", log, table.run_id)) == "INIT SEEDING"


def test_what_has_no_record_is_usage(log: Path, tmp_path: Path, files: Files) -> None:
    cycles = write_log(tmp_path / "debate", a_debate().log)
    for words, said in (
        ([log, "arena_19990101"], "there is no case arena_19990101"),
        ([log, "arena"], "begin with arena"),
        ([cycles, "hyp_"], "is no run of the Arena"),
        ([log, "--out", files.out], "--out needs a RUN"),
        ([tmp_path / "nowhere"], "there is no"),
        ([write(tmp_path / "x.jsonl", "no\n")], ""),
    ):
        assert said in complaint(2, "arena", "record", *words), words


def test_a_log_without_runs_says_so(tmp_path: Path) -> None:
    place = write_log(tmp_path / "debate", a_debate().log)

    assert done("arena", "record", place) == "the log holds no run of the Arena\n"
    assert data("arena", "record", place) == []


@pytest.mark.parametrize("width", ["60", "80"])
def test_the_list_fits_the_width(log: Path, width: str) -> None:
    assert max(map(len, done("arena", "record", log, COLUMNS=width).splitlines())) <= int(width)
