"""`moot up` killed at random moments, again and again, with a chat platform attached."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from moot.logs import open_log
from moot.verify import verify
from tests.doubles.fake_platform import PlatformFile

ROUNDS = 20
CONFIG = """
[surfaces]
fake = {{ module = "tests.doubles.fake_platform:FakePlatform", path = "{path}" }}
"""


def start(directory: Path, config: Path) -> subprocess.Popen[bytes]:
    words = ["up", "--no-console", "--speed", "1200", "--data", str(directory), "--config", str(config)]
    with (directory.parent / "up.out").open("ab") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "moot", *words],
            stdout=log,
            stderr=log,
            env={**os.environ, "NO_COLOR": "1"},
        )


def head(directory: Path) -> int:
    try:
        with closing(sqlite3.connect(f"file:{directory / 'log.sqlite'}?mode=ro", uri=True)) as db:
            return int(db.execute("SELECT coalesce(max(seq), 0) FROM log").fetchone()[0])
    except sqlite3.Error:
        return 0


def wait_for(condition: object, seconds: float, what: str) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():  # type: ignore[operator]
            return
        time.sleep(0.05)
    raise AssertionError(f"no {what} within {seconds} s")


@pytest.mark.timeout(600)
def test_twenty_kills_lose_nothing_and_post_nothing_twice(tmp_path: Path) -> None:
    directory, config = tmp_path / "data", tmp_path / "moot.toml"
    config.write_text(CONFIG.format(path=tmp_path / "platform.sqlite"))
    chance = random.Random(7)
    acknowledged = 0
    for _ in range(ROUNDS):
        before = head(directory)
        process = start(directory, config)
        try:
            wait_for(lambda b=before: head(directory) > b, 60, "message")
            time.sleep(chance.uniform(0.0, 1.2))
            acknowledged = head(directory)
        finally:
            process.send_signal(signal.SIGKILL)
            process.wait()
        assert head(directory) >= acknowledged

    process = start(directory, config)
    platform = PlatformFile(tmp_path / "platform.sqlite")
    try:
        wait_for(lambda: head(directory) > acknowledged, 60, "message")
        # Each channel catches up for itself, and the society goes on meanwhile.
        wait_for(lambda: set(range(1, acknowledged + 1)) <= set(platform.seqs()), 120, "catch-up")
    finally:
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0, (tmp_path / "up.out").read_text()[-2000:]
    with open_log(directory) as source:
        report = verify(source)
    assert report.ok, [str(finding) for finding in report.findings]
    seqs = platform.seqs()
    platform.close()
    assert len(seqs) == len(set(seqs))


def test_a_second_society_on_the_same_directory_is_refused(tmp_path: Path) -> None:
    directory, config = tmp_path / "data", tmp_path / "moot.toml"
    config.write_text("")
    process = start(directory, config)
    try:
        wait_for(lambda: head(directory) > 0, 60, "message")
        words = [sys.executable, "-m", "moot", "up", "--no-console", "--data", str(directory)]
        second = subprocess.run(words, capture_output=True, text=True, check=False)
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
    assert second.returncode == 3
    assert str(process.pid) in second.stderr
    assert "Traceback" not in second.stderr
