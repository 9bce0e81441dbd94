"""Mock runs in a process of their own that is signalled, killed, or meets a full disk."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.doubles.command_line import done
from tests.unit.moot.test_arbiter_artifacts import ALWAYS, CLUSTERED, files, obeys, read

PATIENCE_S = 120
HOUR_MS = "3600000"
MANY = "3000"
"""Trials enough that no run of them ends before it is stopped, however slow the machine."""

FULL = (
    "import resource, signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
    "resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, 30_000)); from moot.__main__ import main; main()"
)


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "run.json"
    done("arbiter", "init", "Is tea better than coffee?", "--out", path)
    return path


class Running:
    """A mock run in a process of its own."""

    def __init__(self, config: Path, *options: str, delay_ms: str, code: str | None = None) -> None:
        self.runs = config.parent / "runs"
        words = ["arbiter", "mock-run", str(config), "--out", str(self.runs), *options]
        self.errors = config.parent / "errors.txt"
        with self.errors.open("wb") as errors:
            self.process = subprocess.Popen(
                [sys.executable, *(["-c", code] if code else ["-m", "moot"]), *words],
                stdout=subprocess.PIPE,
                stderr=errors,
                env={**os.environ, "NO_COLOR": "1", "ARBITER_MOCK_DELAY_MS": delay_ms},
            )

    @property
    def directory(self) -> Path:
        (found,) = self.runs.iterdir()
        return found

    def wait_for(self, what: Callable[[], bool]) -> None:
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            try:
                if what():
                    return
            except (OSError, ValueError):
                pass
            assert self.process.poll() is None, self.errors.read_text(encoding="utf-8")
            time.sleep(0.02)
        raise AssertionError(f"nothing happened within {PATIENCE_S} s")

    def wait_for_trials(self, count: int) -> None:
        self.wait_for(lambda: (self.directory / "trials.jsonl").read_bytes().count(b"\n") >= count)

    def ended(self) -> tuple[int, str]:
        """Return the exit code and standard error."""
        self.process.communicate(timeout=PATIENCE_S)
        return self.process.returncode, self.errors.read_text(encoding="utf-8")


def manifest_of(directory: Path) -> Any:
    return json.loads((directory / "manifest.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_run_gracefully_and_its_folder_is_whole(config: Path, number: signal.Signals) -> None:
    running = Running(config, "--max-trials", MANY, "--batch-size", "10", "--workers", "3", delay_ms="100")
    running.wait_for_trials(12)
    running.process.send_signal(number)
    code, errors = running.ended()
    assert code == 0, errors
    assert errors.count("interrupted: no further trial begins") == 1
    directory = running.directory
    assert files(directory) == ALWAYS | CLUSTERED | {"embeddings.arrow", "certificate.json"}
    obeys(directory)
    manifest = manifest_of(directory)
    trials = read(directory / "trials.jsonl")
    assert (manifest["stop_reason"], manifest["incomplete"]) == ("user_interrupt", True)
    assert 12 <= manifest["k_attempted"] == len(trials) < int(MANY) == manifest["k_planned"]
    assert {one["status"] for one in trials} == {"success"}
    assert read(directory / "convergence_trace.jsonl")[-1]["k_attempted"] == len(trials)


@pytest.mark.rule("R-S9")
def test_a_second_signal_ends_trials_in_flight_at_once(config: Path) -> None:
    running = Running(config, "--max-trials", "40", "--batch-size", "10", "--workers", "3", delay_ms=HOUR_MS)
    running.wait_for(lambda: manifest_of(running.directory)["incomplete"])
    running.process.send_signal(signal.SIGINT)
    running.wait_for(lambda: "interrupted:" in running.errors.read_text(encoding="utf-8"))
    running.process.send_signal(signal.SIGINT)
    code, errors = running.ended()
    assert code == 0, errors
    directory = running.directory
    obeys(directory)
    manifest = manifest_of(directory)
    assert (manifest["stop_reason"], manifest["incomplete"], manifest["k_attempted"]) == (
        "user_interrupt",
        True,
        3,
    )
    assert [one["error_code"] for one in read(directory / "trials.jsonl")] == ["shutdown_abort"] * 3
    assert {one["parser_version"] for one in read(directory / "parsed.jsonl")} == {"mock-v0"}
    assert files(directory) >= ALWAYS | CLUSTERED


@pytest.mark.rule("R-S8")
def test_a_killed_run_says_that_it_is_incomplete_and_every_whole_line_holds(config: Path) -> None:
    running = Running(config, "--max-trials", MANY, "--batch-size", "5", delay_ms="100")
    running.wait_for_trials(11)
    running.process.kill()
    running.ended()
    directory = running.directory
    manifest = manifest_of(directory)
    assert (manifest["incomplete"], manifest["stop_reason"], manifest["k_attempted"]) == (
        True,
        "completed",
        0,
    )
    for name in ("trials.jsonl", "parsed.jsonl", "debug/embeddings.jsonl"):
        text = (directory / name).read_text(encoding="utf-8")
        whole = [json.loads(line) for line in text.split("\n")[:-1]]
        assert len(whole) >= 10, name


def test_a_full_disk_ends_a_run_in_one_line_and_loses_nothing(config: Path) -> None:
    running = Running(config, "--max-trials", "100", delay_ms="0", code=FULL)
    code, errors = running.ended()
    assert code == 1
    (line,) = errors.splitlines()
    directory = running.directory
    assert line == (
        f"moot arbiter: {directory}/trials.jsonl: cannot be written: File too large; {directory} holds what there is"
    )
    obeys(directory)
    manifest = manifest_of(directory)
    trials = read(directory / "trials.jsonl")
    assert (manifest["stop_reason"], manifest["incomplete"]) == ("error", True)
    assert 10 < manifest["k_attempted"] == len(trials) < 100
    assert "trials.jsonl: cannot be written: File too large; a mock run" in manifest["notes"]
