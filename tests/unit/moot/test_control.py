"""Control requests: the pace of a running society, from another process."""

import asyncio
import sqlite3
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from moot.channels.log.lease import Lease
from moot.control import SCHEMA, ControlPump, NobodyListens, ask
from tests.doubles.data_dir import a_debate, write_log


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write_log(tmp_path / "data", a_debate().log[:1]) / "log.sqlite"


async def in_thread(path: Path, *args: Any, **more: Any) -> Any:
    return await asyncio.to_thread(ask, path, *args, **more)


def test_a_request_is_carried_out_and_its_receipt_comes_back(path: Path) -> None:
    asked = []

    async def handle(op: str, value: float | None, by: str) -> dict[str, Any]:
        asked.append((op, value, by))
        return {"speed": value}

    async def main() -> list[Any]:
        with Lease.acquire(path.parent):
            async with ControlPump(path, handle):
                return [
                    await in_thread(path, "speed", 60.0, "ann"),
                    await in_thread(path, "pause", None, "bob"),
                ]

    assert asyncio.run(main()) == [{"ok": True, "speed": 60.0}, {"ok": True, "speed": None}]
    assert asked == [("speed", 60.0, "ann"), ("pause", None, "bob")]


@pytest.mark.parametrize(
    ("answer", "receipt"),
    [
        (ValueError("too fast"), {"ok": False, "why": "too fast"}),
        (KeyError("x"), {"ok": False, "why": "KeyError: 'x'"}),
        ({"ok": False, "why": "a real clock"}, {"ok": False, "why": "a real clock"}),
    ],
)
def test_what_the_society_refuses_is_told(path: Path, answer: Any, receipt: dict[str, Any]) -> None:
    async def handle(op: str, value: float | None, by: str) -> dict[str, Any]:
        if isinstance(answer, Exception):
            raise answer
        return dict(answer)

    async def main() -> Any:
        with Lease.acquire(path.parent):
            async with ControlPump(path, handle):
                return await in_thread(path, "speed", 1e9, "ann")

    assert asyncio.run(main()) == receipt


def test_nobody_is_asked_where_no_society_runs(path: Path) -> None:
    with pytest.raises(NobodyListens, match="no society runs"):
        ask(path, "pause", None, "ann")


def test_a_request_that_nobody_takes_is_withdrawn(path: Path) -> None:
    with Lease.acquire(path.parent), pytest.raises(NobodyListens, match="nothing has changed"):
        ask(path, "pause", None, "ann", wait_s=0.1)

    with closing(sqlite3.connect(path)) as db:
        assert db.execute("SELECT count(*) FROM control").fetchone() == (0,)


def test_a_request_that_was_taken_is_not_withdrawn(path: Path) -> None:
    slow = threading.Event()

    async def handle(op: str, value: float | None, by: str) -> dict[str, Any]:
        await asyncio.to_thread(slow.wait, 10)
        return {}

    async def main() -> Any:
        with Lease.acquire(path.parent):
            async with ControlPump(path, handle):
                receipt = await in_thread(path, "pause", None, "ann", wait_s=0.5)
                slow.set()
                return receipt

    assert asyncio.run(main())["why"] == "the society has taken it and is still at it"


def test_requests_to_an_earlier_society_are_dropped_at_the_start(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute(SCHEMA)
        db.execute("INSERT INTO control(op, value, by, asked_ns) VALUES ('pause', NULL, 'ann', 1)")
        db.commit()
    asked = []

    async def handle(op: str, value: float | None, by: str) -> dict[str, Any]:
        asked.append(op)
        return {}

    async def main() -> None:
        with Lease.acquire(path.parent):
            async with ControlPump(path, handle):
                await in_thread(path, "resume", None, "ann")

    asyncio.run(main())

    assert asked == ["resume"]


def test_the_pump_ends_with_its_loop_and_closes_twice(path: Path) -> None:
    async def handle(op: str, value: float | None, by: str) -> dict[str, Any]:
        return {}

    async def main() -> None:
        pump = ControlPump(path, handle)
        await pump.close()
        await pump.close()

    asyncio.run(main())

    assert not [thread for thread in threading.enumerate() if thread.name == "control pump"]


def test_a_paused_loop_is_told_to_go_on(path: Path) -> None:
    from datetime import UTC, datetime

    from moot.clock import PacedClock

    clock = PacedClock(datetime(2026, 1, 1, tzinfo=UTC), 100.0)
    went_on: list[Any] = []

    async def main(running: PacedClock) -> None:
        slept = asyncio.Event()

        async def handle(op: str, value: float | None, by: str) -> dict[str, Any]:
            (running.pause if op == "pause" else running.resume)()
            return {"paused": running.paused}

        with Lease.acquire(path.parent):
            async with ControlPump(path, handle, hold=running.hold):
                went_on.append(await in_thread(path, "pause", None, "ann"))
                asyncio.get_running_loop().call_later(10, slept.set)
                went_on.append(await in_thread(path, "resume", None, "ann"))
                await slept.wait()

    clock.run(main)

    assert went_on == [{"ok": True, "paused": True}, {"ok": True, "paused": False}]


def test_a_request_that_a_starting_society_drops_is_made_again(path: Path) -> None:
    async def handle(op: str, value: float | None, by: str) -> dict[str, Any]:
        return {"speed": value}

    async def main() -> Any:
        with Lease.acquire(path.parent):
            asking = asyncio.create_task(in_thread(path, "speed", 2.0, "ann", wait_s=60.0))
            await asyncio.sleep(0.3)
            async with ControlPump(path, handle):
                return await asking

    assert asyncio.run(main()) == {"ok": True, "speed": 2.0}
