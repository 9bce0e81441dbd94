"""Recorded runs with models, held again from the command line: no key, no network, the same bytes."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from moot.memory.bodies_file import CALLS_NAME
from moot.place import LOG_NAME
from tests.doubles.command_line import data, done, moot, write
from tests.doubles.model_server import ModelServer

SAME = "byte for byte"


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(latency_s=0.01) as one:
        one.prefers = {"fatal_flaws": [], "confidence": 0.8}
        yield one


def model(server: ModelServer) -> tuple[str, ...]:
    return ("--model", f"{server.url}#tiny-1")


def recorded(server: ModelServer, out: Path, *command: object) -> int:
    """Record a run, stop its server, and return how many calls it took."""
    run = moot(*command, *model(server), "--out", out)
    assert run.exit_code != 2, run.output
    server.stop()
    return len(server.calls)


HELD = {
    "debate": ("debate", "Is a short week better?"),
    "arena": ("arena", "run", "--task", "task.json", "--max-rounds", "2"),
    "panel": (
        "panel",
        "run",
        "--contract",
        "strategy",
        "--paper",
        "paper.md",
        "--title",
        "T",
        "--field",
        "F",
    ),
    "simulate": ("simulate", "--days", "0.4", "--seats", "critic"),
}


@pytest.mark.rule("K29")
@pytest.mark.parametrize("what", HELD)
def test_a_recorded_run_is_held_again_without_its_server(
    server: ModelServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "task.json", '{"task_id": "t", "initial_prompt": "A haiku", "session_id": "s"}')
    write(tmp_path / "paper.md", "Rain falls.\n")
    assert recorded(server, tmp_path / "one", *HELD[what]) > 1
    command = HELD[what][: 1 if what in ("debate", "simulate") else 2]

    again = moot(*command, "--replay", tmp_path / "one", "--out", tmp_path / "two")

    assert SAME in again.stderr, again.output
    assert "every rule holds" in done("verify", tmp_path / "two")
    assert data("calls", tmp_path / "two")["totals"] == data("calls", tmp_path / "one")["totals"]


@pytest.mark.rule("K29")
def test_a_request_that_differs_is_a_miss_that_names_its_line(server: ModelServer, tmp_path: Path) -> None:
    recorded(server, tmp_path / "one", "debate", "Is a short week better?")
    with closing(sqlite3.connect(tmp_path / "one" / LOG_NAME)) as db:
        db.execute("UPDATE log SET json = replace(json, 'short week', 'long week')")
        db.commit()

    again = moot("debate", "--replay", tmp_path / "one")

    assert again.exit_code == 2
    line = again.stderr.strip().splitlines()[-1]
    assert "claim/advocate/0/1/1: line " in line
    assert "short week" in line and "long week" in line


def test_a_recording_without_its_bodies_is_refused(server: ModelServer, tmp_path: Path) -> None:
    recorded(server, tmp_path / "one", "debate", "Is a short week better?")
    (tmp_path / "one" / CALLS_NAME).unlink()

    again = moot("debate", "--replay", tmp_path / "one")

    assert again.exit_code == 2
    assert again.stderr.strip().splitlines()[-1].endswith(f"{CALLS_NAME} is not there")


def test_what_the_recording_says_is_not_said_again(server: ModelServer, tmp_path: Path) -> None:
    recorded(server, tmp_path / "one", "debate", "Is a short week better?")

    for said in (("--seed", "2"), ("Is it?",), model(server)):
        again = moot("debate", *said, "--replay", tmp_path / "one")
        assert again.exit_code == 2
        assert "cannot stand beside --replay" in again.stderr
    assert "goes with --replay" in moot("debate", "Is it?", "--then", "live").stderr
    assert "is missing" in moot("debate").stderr


def killed(server: ModelServer, out: Path, *command: str, at: int) -> None:
    """Start a run in a process of its own, and kill it once its log has so many messages."""
    process = subprocess.Popen(
        [sys.executable, "-m", "moot", *command, *model(server), "--out", str(out)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ},
    )
    try:
        while process.poll() is None:
            if (out / LOG_NAME).exists() and _messages(out) >= at:
                process.send_signal(signal.SIGKILL)
                break
    finally:
        process.wait(60)


def _messages(out: Path) -> int:
    try:
        with closing(sqlite3.connect(f"file:{out / LOG_NAME}?mode=ro", uri=True)) as db:
            return int(db.execute("SELECT coalesce(max(seq), 0) FROM log").fetchone()[0])
    except sqlite3.Error:
        return 0


def test_a_simulation_that_was_killed_goes_on_and_is_replayed_in_both_its_lives(
    server: ModelServer, tmp_path: Path
) -> None:
    out = tmp_path / "one"
    server.latency_s = 0.1
    killed(server, out, "simulate", "--days", "0.4", "--seats", "critic", at=12)
    server.latency_s = 0.0

    done("simulate", "--resume", out, "--days", "0.4")

    server.stop()
    settled = data("calls", out)["calls"]
    asked = [one.body for one in server.calls]
    # The probes of both lives come on top; what was settled in the first was not sent in the second.
    assert len(asked) <= len(settled) + 2
    assert "every rule holds" in done("verify", out)
    assert SAME in moot("simulate", "--replay", out, "--out", tmp_path / "two").stderr
    assert "was not broken off" in moot("simulate", "--resume", out).stderr


def test_a_reply_that_was_kept_and_not_settled_yet_counts_when_the_run_goes_on_and_when_it_is_replayed(
    server: ModelServer, tmp_path: Path
) -> None:
    out = tmp_path / "one"
    done("simulate", "--days", "0.2", "--seats", "critic", *model(server), "--out", out)
    reserved = min(call["seq"] for call in data("calls", out)["calls"])
    with closing(sqlite3.connect(out / LOG_NAME)) as db:
        db.execute("DELETE FROM log WHERE seq > ?", (reserved,))
        db.commit()
    (out / "head").unlink()

    done("simulate", "--resume", out, "--days", "0.2")

    assert data("calls", out)["calls"][0]["state"] == "answered"
    assert SAME in moot("simulate", "--replay", out, "--out", tmp_path / "two").stderr


def test_a_debate_that_was_killed_is_the_same_up_to_there_and_may_go_on_live(
    server: ModelServer, tmp_path: Path
) -> None:
    out = tmp_path / "one"
    server.latency_s = 0.2
    killed(server, out, "debate", "Is a short week better?", at=6)
    server.latency_s = 0.0

    broken = moot("debate", "--replay", out, "--out", tmp_path / "two")
    assert broken.exit_code == 2
    assert "was broken off after message" in broken.stderr
    went_on = moot("debate", "--replay", out, "--then", "live", "--out", tmp_path / "three")
    assert "and then went on" in went_on.stderr, went_on.output
    assert "every rule holds" in done("verify", tmp_path / "three")
