"""An outage of the disk in real time: what has to be said first is said once, however often the disk refuses."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from channels.errors import StorageError
from moot import outage as module
from moot.outage import Outage

START = datetime(2026, 2, 23, 10, tzinfo=UTC)


class Walking:
    """A clock in real time, on which a minute passes between two looks."""

    def __init__(self) -> None:
        self.at = START

    def now(self) -> datetime:
        self.at += timedelta(minutes=1)
        return self.at

    async def sleep_until(self, instant: datetime) -> None:
        raise AssertionError("nobody sleeps in society time")


class Disk:
    """A bus that takes a small message and then refuses a large one, as a disk that is nearly full does."""

    def __init__(self, refusals: int) -> None:
        self.taken: list[str] = []
        self._refusals = refusals

    async def publish(self, draft: Any) -> None:
        if draft == "audit" and self._refusals:
            self._refusals -= 1
            raise StorageError("disk is full")
        self.taken.append(draft)


def test_k6_a_society_that_goes_on_says_so_once_though_the_disk_refuses_the_next_message(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "AGAIN_S", 0.001)
    monkeypatch.setattr(module, "LONG", timedelta(minutes=10))
    disk = Disk(refusals=3)

    async def main() -> None:
        clock = Walking()
        outage = Outage(
            disk,  # type: ignore[arg-type]  # what it needs of a bus
            clock,  # type: ignore[arg-type]  # and of a clock
            started=lambda: "started",  # type: ignore[arg-type,return-value]
            audit=lambda _said: "audit",  # type: ignore[arg-type,return-value]
        )
        assert outage.note(StorageError("disk is full"))
        await asyncio.sleep(0)
        clock.at += timedelta(hours=1)
        async with asyncio.timeout(10):
            await outage.over()
        await outage.close()

    asyncio.run(main())
    assert disk.taken == ["started", "audit"]
