"""A society whose log another process has taken over ends, with all its processes, and says why in one line (K3)."""

from __future__ import annotations

import json
import signal
import socket
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import pytest

from moot.channels.errors import LeaseHeld
from moot.channels.gateway import address
from moot.clock import RealClock
from moot.config.settings import load_settings
from moot.plan import Plan
from moot.society import Society
from tests.doubles.command_line import data, done
from tests.integration.test_cli_commands import messages, up, wait_for

WITH_PAGE = """
[console]
port = 0
"""


def fence_out(place: Path) -> None:
    with closing(sqlite3.connect(place / "log.sqlite", timeout=30)) as db, db:
        db.execute("UPDATE fence SET epoch = epoch + 1")


def complaint(process: subprocess.Popen[str]) -> str:
    """Wait for a society to end on its own; return what it complained of."""
    output, _ = process.communicate(timeout=90)
    assert process.returncode == 3, output
    assert "Traceback" not in output
    (line,) = [line for line in output.splitlines() if "fenced out" in line]
    assert output.rstrip().endswith(line)
    return line


def children(process: subprocess.Popen[str]) -> list[int]:
    found = Path(f"/proc/{process.pid}/task").glob("*/children")
    return [int(pid) for tasks in found for pid in tasks.read_text().split()]


def is_listening(place: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as guest:
        return guest.connect_ex(str(address.find(place))) == 0


def is_alive(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


@pytest.mark.rule("K3")
@pytest.mark.parametrize("speed", [1, 600])
def test_k3_a_society_that_is_fenced_out_ends_with_one_line(tmp_path: Path, speed: int) -> None:
    """In real time it has nothing to say for many minutes, and ends all the same."""
    place = tmp_path / "data"
    with up(place, "--speed", speed) as process:
        fence_out(place)
        line = complaint(process)
    assert line.startswith("moot up: ") and str(place) in line
    assert "SOCIETY_STOPPED" not in [m["body"]["type"] for m in messages(place)]
    assert "every rule holds" in done("verify", place)


@pytest.mark.rule("K3")
def test_k3_a_paused_society_that_is_fenced_out_ends_and_so_does_its_page(tmp_path: Path) -> None:
    place, config = tmp_path / "data", tmp_path / "moot.toml"
    config.write_text(WITH_PAGE)
    with up(place, "--speed", 600, "--config", config, with_page=True) as process:
        wait_for(lambda: bool(children(process)), process)
        wait_for((place / "console-token").exists, process)
        gateways = children(process)
        done("pause", place)
        fence_out(place)
        complaint(process)
        wait_for(lambda: not any(map(is_alive, gateways)))


@pytest.mark.rule("K3")
def test_k3_a_second_society_lives_on_where_the_first_was_fenced_out(tmp_path: Path) -> None:
    """Somebody deleted the lock file, which is all that keeps a second one out."""
    place = tmp_path / "data"
    with up(place, "--speed", 60) as first:
        (place / "lock").unlink()
        with up(place, "--speed", 60) as second:
            complaint(first)
            wait_for(lambda: is_listening(place), second)
            done("post", place, "bridge", "who is there?")
            wait_for(lambda: data("status", place)["queued"] == 0, second)
            second.send_signal(signal.SIGINT)
            output, _ = second.communicate(timeout=90)
            assert second.returncode == 0, output
    assert [m["body"]["text"] for m in messages(place, "--type", "NOTE")] == ["who is there?"]
    assert "every rule holds" in done("verify", place)


@pytest.mark.rule("K3")
def test_k3_an_epoch_that_no_lock_can_have_is_one_line(tmp_path: Path) -> None:
    place = tmp_path / "data"
    place.mkdir()
    (place / "lock").write_text(json.dumps({"epoch": 10**26, "pid": 1}))
    with up(place, "--speed", 60) as process:
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=90)
        assert process.returncode == 0, output
    # Without blanks: a narrow terminal breaks the line anywhere.
    said = f"{place / 'lock'} held no epoch that a society writes".replace(" ", "")
    assert "".join(output.split()).count(said) == 1
    assert "Traceback" not in output


@pytest.mark.rule("K3")
def test_k3_a_society_that_finds_out_with_its_last_word_says_the_same(tmp_path: Path) -> None:
    async def main(clock: RealClock) -> None:
        plan = Plan(settings=load_settings(), seed=1, start=clock.now(), directory=tmp_path, bus="sqlite")
        society = await Society.open(plan, clock)
        fence_out(tmp_path)
        await society.close()

    with pytest.raises(LeaseHeld, match="fenced out"):
        RealClock().run(main)
