"""An outage of the disk: time stands, and what happened is said once, however often the disk refuses."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime
from typing import Any

import pytest

from moot import outage as module
from moot.channels.errors import StorageError
from moot.clock import Clock, PacedClock, RealClock
from moot.outage import Outage

START = datetime(2026, 2, 23, 10, tzinfo=UTC)


class Disk:
    """A bus whose disk refuses so many messages."""

    def __init__(self, refusals: int) -> None:
        self.taken: list[str] = []
        self._refusals = refusals

    async def publish(self, draft: Any) -> None:
        if self._refusals:
            self._refusals -= 1
            raise StorageError("disk is full")
        self.taken.append(draft)


def cannot_be_printed(_line: str) -> None:
    """Fail as a terminal's file does that is on the same disk."""
    raise OSError("No space left on device")


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
