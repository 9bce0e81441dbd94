"""A thread that has a loop do its work: results and errors come back, and it never outlives its loop (K25)."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from contextlib import nullcontext
from typing import Any

import pytest

from moot.channels.guests.loop_thread import LoopEnded, LoopThread

PATIENCE_S = 10.0


class Asking(LoopThread):
    """Has the loop do one thing, and keeps what came of it."""

    def __init__(
        self, work: Callable[[], Coroutine[Any, Any, str]], *, after: threading.Event | None = None
    ) -> None:
        super().__init__("asking", poll_s=0.01, hold=nullcontext)
        self.came: str | BaseException | None = None
        self.under_way = asyncio.Event()
        self._work, self._after = work, after
        self._thread.start()

    def _run(self) -> None:
        if self._after is not None:
            self._after.wait(PATIENCE_S)
        try:
            self.came = self._on_loop(self._watched)
        except Exception as exc:
            self.came = exc

    async def _watched(self) -> str:
        self.under_way.set()
        return await self._work()

    def ended(self) -> bool:
        """Wait for the thread; say whether it ended and was told to stop."""
        self._thread.join(PATIENCE_S)
        return not self._thread.is_alive() and self._stop.is_set()


async def for_ever() -> str:
    await asyncio.Event().wait()
    return "never"


def test_what_the_work_returns_or_raises_comes_back() -> None:
    async def answer() -> str:
        return "done"

    async def fail() -> str:
        raise RuntimeError("of the work's own")

    async def come(work: Callable[[], Coroutine[Any, Any, str]]) -> str | BaseException | None:
        async with Asking(work) as asking:
            await asking.under_way.wait()
        return asking.came

    assert asyncio.run(come(answer)) == "done"
    failed = asyncio.run(come(fail))
    assert isinstance(failed, RuntimeError) and str(failed) == "of the work's own"


def test_a_loop_that_cancels_the_work_ends_the_thread_at_once() -> None:
    async def main() -> Asking:
        asking = Asking(for_ever)
        await asking.under_way.wait()
        assert asking._task is not None
        asking._task.cancel()
        # The loop goes on meanwhile.
        assert await asyncio.to_thread(asking.ended)
        return asking

    assert isinstance(asyncio.run(main()).came, LoopEnded)


def test_a_loop_that_is_closed_over_the_work_ends_the_thread() -> None:
    loop = asyncio.new_event_loop()

    async def main() -> Asking:
        asking = Asking(for_ever)
        await asking.under_way.wait()
        return asking

    asking = loop.run_until_complete(main())
    assert asking._task is not None
    asking._task._log_destroy_pending = False  # type: ignore[attr-defined]  # it is left pending on purpose
    loop.close()
    assert asking.ended()
    assert isinstance(asking.came, LoopEnded)


def test_a_loop_that_is_closed_before_the_work_ends_the_thread() -> None:
    closed = threading.Event()

    async def main() -> Asking:
        return Asking(for_ever, after=closed)

    asking = asyncio.run(main())
    closed.set()
    assert asking.ended()
    assert isinstance(asking.came, LoopEnded)


@pytest.mark.parametrize("times", [1, 2])
async def test_closing_waits_for_the_thread_and_may_be_repeated(times: int) -> None:
    async def answer() -> str:
        return "done"

    asking = Asking(answer)
    for _ in range(times):
        await asking.close()
    assert not asking._thread.is_alive()
