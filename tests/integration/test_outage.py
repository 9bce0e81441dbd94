"""A disk that takes no log for a while: the society waits, says how long, and no rule is broken by it (K6, K17)."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Callable, Coroutine, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from moot.channels.errors import StorageError
from moot.clock import Clock, PacedClock, RealClock, real
from moot.config.settings import load_settings
from moot.plan import Plan
from moot.protocols.kernel.envelope import Actor, Draft, Envelope
from moot.protocols.kernel.officers import ClockSet, SocietyStopped
from moot.protocols.kernel.people import Note
from moot.protocols.kernel.seats import ADMIN
from moot.society import Society
from moot.stored import stored_envelopes
from tests.doubles.checking import findings
from tests.doubles.command_line import done
from tests.doubles.small_disk import fill, mounted
from tests.doubles.waiting import until_though_time_stands
from tests.integration.test_cli_commands import messages, up, wait_for

MONDAY = datetime(2026, 2, 23, 10, tzinfo=UTC)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    with mounted(tmp_path / "data") as place:
        yield place


@pytest.mark.rule("K17")
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
        author=ADMIN,
        body=Note(text=text),
        actor=Actor("human", "cli", "ann"),
        key=text,
    )


def lives(
    directory: Path, scene: Callable[[Society], Coroutine[Any, Any, None]], clock: Clock | None = None
) -> list[Envelope]:
    """Play a scene in a society, in real time unless a clock is given, and return its log."""

    async def main(clock: Clock) -> None:
        settings = load_settings().owned({"cli": "ann"})
        plan = Plan(settings=settings, seed=1, start=clock.now(), directory=directory, bus="sqlite")
        async with await Society.open(plan, clock) as society:
            await scene(society)

    (clock or RealClock()).run(main)
    return list(stored_envelopes(directory))


@pytest.mark.rule("K6")
@pytest.mark.parametrize(("silent_s", "is_said"), [(2.0, True), (20.0, False)])
def test_k6_an_outage_in_real_time_is_held_time_which_the_log_says_when_it_is_long(
    silent_s: float, is_said: bool, small_disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(real, "_STALL_NS", int(silent_s * 1e9))
    outage_s = 4.0
    told: list[str] = []

    async def scene(society: Society) -> None:
        clock, outage = society.clock, society.host.outage
        assert outage is not None
        outage.tell = told.append
        ballast = fill(small_disk)
        posting = [asyncio.create_task(society.host.publish(a_note(f"note {n}"))) for n in range(3)]
        await until_though_time_stands(lambda: told)
        stands_at = clock.now()
        await asyncio.to_thread(time.sleep, outage_s)
        assert clock.now() == stands_at
        assert not any(task.done() for task in posting)
        ballast.unlink()
        assert [(await task).status for task in posting] == ["accepted"] * 3
        # Said or not, society time is the wall's again.
        await until_though_time_stands(lambda: datetime.now(UTC) - clock.now() < timedelta(seconds=1))
        assert clock.now() - stands_at > timedelta(seconds=outage_s)
        assert clock.behind == timedelta(0)

    log = lives(small_disk, scene)
    types = [env.body.type for env in log]
    assert (types.count("SOCIETY_STARTED"), types.count("AUDIT")) == (1, 1)
    assert types.index("AUDIT") < types.index("NOTE")
    assert sorted(env.body.text for env in log if isinstance(env.body, Note)) == [
        "note 0",
        "note 1",
        "note 2",
    ]
    held = [env.body.held for env in log if isinstance(env.body, ClockSet)]
    assert bool(held) == is_said
    assert sum(held, timedelta(0)) >= timedelta(seconds=outage_s) * is_said
    assert [line.partition(" (")[0] for line in told] == [
        "the log cannot be written",
        "the log can be written again: the society goes on",
    ]
    assert findings(log) == []


@pytest.mark.parametrize("make", [RealClock, lambda: PacedClock(MONDAY, 600.0)])
def test_a_society_that_closes_waits_for_no_disk(make: Callable[[], Clock], small_disk: Path) -> None:
    async def scene(society: Society) -> None:
        outage = society.host.outage
        assert outage is not None
        ballast = fill(small_disk)
        posting = asyncio.create_task(society.host.publish(a_note("lost")))
        await until_though_time_stands(lambda: outage.is_on)
        closing = asyncio.create_task(society.close())
        await until_though_time_stands(closing.done)
        with pytest.raises(Exception, match="disk is full"):
            await closing
        with pytest.raises(StorageError):
            await posting
        ballast.unlink()

    log = lives(small_disk, scene, make())
    assert not [env for env in log if isinstance(env.body, Note | SocietyStopped)]


@pytest.mark.parametrize("speed", [1, 6000])
def test_a_society_that_is_stopped_while_the_disk_is_full_ends_in_one_line_and_goes_on_later(
    speed: float, small_disk: Path
) -> None:
    with up(small_disk, "--speed", speed) as process:
        wait_for(lambda: bool(messages(small_disk)))
        # It finds what a person wrote, and no room for it.
        process.send_signal(signal.SIGSTOP)
        done("post", small_disk, "a-arena", "later")
        ballast = fill(small_disk)
        process.send_signal(signal.SIGCONT)
        assert process.stdout is not None
        for line in process.stdout:
            if "the log cannot be written" in line:
                break
        process.send_signal(signal.SIGINT)
        rest, _ = process.communicate(timeout=90)
        assert process.returncode == 2, rest
        assert "Traceback" not in rest
        assert "disk is full" in [line for line in rest.splitlines() if line.startswith("moot up: ")][-1]
    ballast.unlink()
    with up(small_disk, "--speed", speed) as process:
        wait_for(lambda: bool(messages(small_disk, "--type", "NOTE")), process)
        process.send_signal(signal.SIGINT)
        rest, _ = process.communicate(timeout=60)
        assert process.returncode == 0, rest
    assert [m["body"]["text"] for m in messages(small_disk, "--type", "NOTE")] == ["later"]
    assert "every rule holds" in done("verify", small_disk)
