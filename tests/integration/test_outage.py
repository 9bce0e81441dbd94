"""A disk that takes no log for a while: the society waits, says how long, and no rule is broken by it (K6, K17)."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Callable, Coroutine, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from moot import outage
from moot.channels.errors import StorageError
from moot.clock import RealClock
from moot.config.settings import load_settings
from moot.protocols.kernel.envelope import Actor, Draft, Envelope
from moot.protocols.kernel.people import Note
from moot.protocols.kernel.seats import Seat
from moot.society import Plan, Society
from moot.stored import stored_envelopes
from tests.doubles.checking import findings
from tests.doubles.command_line import done
from tests.doubles.small_disk import fill, mounted
from tests.doubles.waiting import until
from tests.integration.test_cli_commands import messages, up, wait_for

pytestmark = pytest.mark.timeout(240)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    with mounted(tmp_path / "data") as place:
        yield place


def test_k17_an_accelerated_society_stands_still_while_the_disk_is_full(small_disk: Path) -> None:
    """For longer than the officers may be late; before, duties fell due that nobody could post."""
    with up(small_disk, "--speed", 6000) as process:
        wait_for(lambda: bool(messages(small_disk)))
        ballast = fill(small_disk)
        assert process.stdout is not None
        said: list[str] = []
        for line in process.stdout:
            said.append(line)
            if "the log cannot be written" in line:
                break
        time.sleep(8.0)
        ballast.unlink()
        for line in process.stdout:
            said.append(line)
            if "the log can be written again" in line:
                break
        done("post", small_disk, "a-arena", "after the outage")
        process.send_signal(signal.SIGINT)
        rest, _ = process.communicate(timeout=60)
        assert process.returncode == 0, "".join(said) + rest
    told = "".join(said) + rest
    assert "Traceback" not in told
    assert told.count("the log cannot be written") == 1
    (audit,) = [m["body"] for m in messages(small_disk, "--type", "AUDIT") if m["body"]["event"] == "outage"]
    assert "database or disk is full" in audit["reason"]
    assert [m["body"]["text"] for m in messages(small_disk, "--type", "NOTE")] == ["after the outage"]
    assert "every rule holds" in done("verify", small_disk)


def a_note(text: str) -> Draft:
    return Draft(
        channel="#a-arena",
        author=Seat.ADMIN,
        body=Note(text=text),
        actor=Actor("human", "cli", "ann"),
        key=text,
    )


def lives(directory: Path, scene: Callable[[Society], Coroutine[Any, Any, None]]) -> list[Envelope]:
    """Play a scene in a society in real time, and return its log."""

    async def main(clock: RealClock) -> None:
        plan = Plan(settings=load_settings(), seed=1, start=clock.now(), directory=directory, bus="sqlite")
        async with await Society.open(plan, clock) as society:
            await scene(society)

    RealClock().run(main)
    return list(stored_envelopes(directory))


def test_k6_in_real_time_a_long_outage_ends_like_a_crash(
    small_disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outage, "LONG", timedelta(seconds=0.5))
    told: list[str] = []

    async def scene(society: Society) -> None:
        assert society.host.outage is not None
        society.host.outage.tell = told.append
        ballast = fill(small_disk)
        posting = [asyncio.create_task(society.host.publish(a_note(f"note {n}"))) for n in range(3)]
        await until(lambda: told)
        await asyncio.sleep(1.0)
        assert not any(task.done() for task in posting)
        ballast.unlink()
        assert [(await task).status for task in posting] == ["accepted"] * 3

    log = lives(small_disk, scene)
    types = [env.body.type for env in log]
    second = types.index("SOCIETY_STARTED", 1)
    assert types[second + 1] == "AUDIT"
    assert sorted(env.body.text for env in log if isinstance(env.body, Note)) == [
        "note 0",
        "note 1",
        "note 2",
    ]
    assert min(env.seq for env in log if isinstance(env.body, Note)) > second + 1
    assert [line.partition(" (")[0] for line in told] == [
        "the log cannot be written",
        "the log can be written again: the society goes on",
    ]
    assert findings(log) == []


def test_a_society_that_closes_waits_for_no_disk(small_disk: Path) -> None:
    async def scene(society: Society) -> None:
        assert society.host.outage is not None
        ballast = fill(small_disk)
        posting = asyncio.create_task(society.host.publish(a_note("lost")))
        await until(lambda: society.host.outage is not None and society.host.outage.is_on)
        await society.host.outage.close()
        with pytest.raises(StorageError):
            await posting
        ballast.unlink()

    assert not [env for env in lives(small_disk, scene) if isinstance(env.body, Note)]
