"""The I/O thread: wall time for sockets, no time for the society (K22)."""

import asyncio
import concurrent.futures
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from moot.clock import Clock, IoThread, IoThreadClosed, PacedClock, VirtualClock, WallTimeout

START = datetime(2026, 1, 5, tzinfo=UTC)

every_clock = pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda: VirtualClock(START), id="virtual"),
        pytest.param(lambda: PacedClock(START, 1000), id="x1000"),
    ],
)
Make = Callable[[], Clock]


async def answer(wall_s: float = 0.0) -> tuple[str, str]:
    await asyncio.sleep(wall_s)
    return "answer", threading.current_thread().name


def test_50_ms_of_io_take_no_virtual_time() -> None:
    async def main(clock: Clock) -> None:
        asyncio.get_running_loop().call_later(0.001, lambda: None)
        with IoThread(clock) as io:
            began = time.monotonic()
            assert await io.call(lambda: answer(0.05), wall_timeout_s=60) == ("answer", "moot-io")
            assert time.monotonic() - began >= 0.049
            assert clock.now() == START

    VirtualClock(START).run(main)


def test_50_ms_of_io_are_not_cut_short_by_accelerated_time() -> None:
    async def main(clock: Clock) -> None:
        async with IoThread(clock) as io:
            began = time.monotonic()
            # The limit is of wall time: 40 s are not 40 ms, though 50 s of society time pass.
            assert await io.call(lambda: answer(0.05), wall_timeout_s=40) == ("answer", "moot-io")
            assert time.monotonic() - began >= 0.049
            assert clock.now() - START >= timedelta(seconds=49)

    PacedClock(START, 1000).run(main)


@every_clock
def test_a_slow_call_is_cut_at_its_wall_limit(make: Make) -> None:
    ended: list[str] = []

    async def slow() -> None:
        try:
            await asyncio.sleep(30)
        finally:
            ended.append("cancelled")

    async def main(clock: Clock) -> None:
        with IoThread(clock) as io:
            with pytest.raises(WallTimeout, match=r"slow took longer than 0\.01 s") as caught:
                await io.call(slow, wall_timeout_s=0.01)
            assert ended == ["cancelled"]
            assert caught.value.wall_timeout_s == 0.01
            assert isinstance(caught.value, TimeoutError)
            assert clock.hold().count == 0

    make().run(main)


@every_clock
def test_an_error_comes_back_as_it_is(make: Make) -> None:
    async def refuse() -> None:
        raise TimeoutError("the server's own")

    async def main(clock: Clock) -> None:
        with IoThread(clock) as io:
            with pytest.raises(TimeoutError, match="the server's own") as caught:
                await io.call(refuse, wall_timeout_s=60)
            assert not isinstance(caught.value, WallTimeout)

    make().run(main)


def test_cancelling_is_passed_on() -> None:
    ended = threading.Event()

    async def slow() -> None:
        try:
            await asyncio.sleep(30)
        finally:
            ended.set()

    async def main(clock: Clock) -> None:
        with IoThread(clock) as io:
            calling = asyncio.create_task(io.call(slow, wall_timeout_s=30))
            await asyncio.sleep(0)
            await io.call(answer, wall_timeout_s=60)
            calling.cancel()
            with pytest.raises(asyncio.CancelledError):
                await calling
            assert ended.wait(1)
            assert clock.hold().count == 0

    VirtualClock(START).run(main)


def test_calls_run_side_by_side() -> None:
    at_work = 0
    all_at_work = asyncio.Event()

    async def meet() -> None:
        nonlocal at_work
        at_work += 1
        if at_work == 20:
            all_at_work.set()
        await all_at_work.wait()

    async def main(clock: Clock) -> None:
        with IoThread(clock) as io:
            await asyncio.gather(*(io.call(meet, wall_timeout_s=60) for _ in range(20)))
            assert clock.now() == START

    VirtualClock(START).run(main)


@every_clock
def test_closing_ends_what_runs_and_refuses_what_comes(make: Make) -> None:
    ended: list[str] = []

    async def slow() -> None:
        try:
            await asyncio.sleep(30)
        finally:
            await asyncio.sleep(0.001)
            ended.append("cleaned up")

    async def main(clock: Clock) -> None:
        io = IoThread(clock, name="moot-io-test")
        calling = asyncio.create_task(io.call(slow, wall_timeout_s=30))
        await asyncio.sleep(0)
        await io.call(answer, wall_timeout_s=60)
        await io.aclose()
        await io.aclose()
        io.close()
        assert ended == ["cleaned up"]
        with pytest.raises(IoThreadClosed, match="during"):
            await calling
        with pytest.raises(IoThreadClosed, match="is closed"):
            await io.call(slow, wall_timeout_s=30)
        assert "moot-io-test" not in [thread.name for thread in threading.enumerate()]

    make().run(main)


def test_spawned_work_does_not_hold() -> None:
    async def main(clock: Clock) -> concurrent.futures.Future[tuple[str, str]]:
        gate = threading.Event()

        async def later() -> tuple[str, str]:
            await asyncio.to_thread(gate.wait)
            return await answer()

        with IoThread(clock) as io:
            done = io.spawn(later)
            assert clock.hold().count == 0
            await asyncio.sleep(3600)
            assert not done.done()
            gate.set()
            assert done.result(60) == ("answer", "moot-io")
            return io.spawn(lambda: answer(30))

    with pytest.raises(IoThreadClosed):
        VirtualClock(START).run(main).result(1)


def test_it_cannot_close_itself() -> None:
    async def main(clock: Clock) -> None:
        with IoThread(clock) as io:

            async def suicide() -> None:
                io.close()

            with pytest.raises(RuntimeError, match="join current thread"):
                await io.call(suicide, wall_timeout_s=60)

    VirtualClock(START).run(main)


def test_a_thread_that_is_blocked_does_not_block_its_owner() -> None:
    gate = threading.Event()

    async def block() -> None:
        gate.wait(5)

    async def main(clock: Clock) -> None:
        io = IoThread(clock)
        io.spawn(block)
        with pytest.raises(WallTimeout, match="closing the I/O thread"):
            io.close(wall_timeout_s=0.01)
        gate.set()
        io.close()

    VirtualClock(START).run(main)
