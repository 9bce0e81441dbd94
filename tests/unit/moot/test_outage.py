"""An outage of the disk: time stands, and what happened is said once, however often the disk refuses."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from moot import outage as module
from moot.channels.errors import StorageError
from moot.chaos.wall import RealWorld, Wall
from moot.clock import Clock, PacedClock, RealClock
from moot.outage import Outage

START = datetime(2026, 2, 23, 10, tzinfo=UTC)


class Disk:
    """A bus whose disk refuses so many messages."""

    def __init__(self, refusals: int) -> None:
        self.taken: list[str] = []
        self.refusals = refusals

    async def publish(self, draft: Any) -> None:
        if self.refusals:
            self.refusals -= 1
            raise StorageError("disk is full")
        self.taken.append(draft)


def cannot_be_printed(_line: str) -> None:
    """Fail as a terminal's file does that is on the same disk."""
    raise OSError("No space left on device")


class CountedWall(RealWorld):
    """A real clock whose wall is simulated, and which notes how long it is asked to wait."""

    def __init__(self, wall: Wall) -> None:
        super().__init__(wall)
        self.waits: list[float] = []

    async def wait_wall(self, seconds: float) -> None:
        self.waits.append(seconds)
        await super().wait_wall(seconds)


def test_a_full_disk_is_tried_evenly_and_one_that_is_full_again_at_once_ever_less_often() -> None:
    disk = Disk(refusals=0)
    clock = CountedWall(Wall(START))

    async def main(clock: Clock) -> None:
        outage = Outage(disk, clock, audit=lambda _said: "audit")  # type: ignore[arg-type,return-value]

        async def lasts(refusals: int) -> None:
            disk.refusals = refusals
            assert outage.note(StorageError("disk is full"))
            await outage.over()

        await lasts(5)
        for _ in range(6):
            await lasts(1)
        await clock.sleep(timedelta(seconds=3))
        await lasts(1)
        await outage.close()

    clock.run(main)
    first, again, last = clock.waits[:6], clock.waits[6:-2], clock.waits[-2:]
    assert first == last * 3 == [module.AGAIN_S] * 6
    assert again[::2] == again[1::2] == [1.0, 2.0, 4.0, 8.0, 8.0, 8.0]


@pytest.mark.rule("K6")
@pytest.mark.parametrize("make", [lambda: PacedClock(START, 600.0), RealClock])
def test_k6_time_stands_until_the_disk_takes_messages_again(
    make: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "AGAIN_S", 0.02)
    disk = Disk(refusals=3)

    async def main(clock: Clock) -> None:
        outage = Outage(
            disk,  # type: ignore[arg-type]
            clock,
            audit=lambda _said: "audit",  # type: ignore[arg-type,return-value]
            tell=cannot_be_printed,
        )
        assert outage.note(StorageError("disk is full"))
        assert outage.note(StorageError("disk is full"))
        await asyncio.sleep(0)
        stands_at = clock.now()
        waiting = asyncio.create_task(outage.over())
        for _ in range(3):
            await asyncio.to_thread(time.sleep, 0.01)
            assert clock.now() == stands_at
        assert outage.is_on
        await waiting
        await asyncio.to_thread(time.sleep, 0.01)
        assert clock.now() > stands_at
        await outage.close()

    make().run(main)
    assert disk.taken == ["audit"]
