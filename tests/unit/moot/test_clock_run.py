"""A run leaves nothing behind, however it ends (K25)."""

import asyncio
import gc
import os
import signal
import threading
import time
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import psutil
import pytest

from moot.clock import Clock, ClockUsedTwice, PacedClock, RealClock, VirtualClock, in_thread, run

START = datetime(2026, 1, 5, tzinfo=UTC)

CLOCKS = [
    pytest.param(lambda: VirtualClock(START), id="virtual"),
    pytest.param(lambda: PacedClock(START, 1000), id="paced"),
    pytest.param(RealClock, id="real"),
]
every_clock = pytest.mark.parametrize("make", CLOCKS)
Make = Callable[[], Clock]


@every_clock
def test_the_result_of_main_comes_back(make: Make) -> None:
    async def main(clock: Clock) -> str:
        await asyncio.sleep(0.001)
        return clock.kind

    clock = make()
    assert run(main, clock=clock) == clock.kind
    assert make().run(main) == clock.kind


@every_clock
def test_an_error_of_main_comes_back(make: Make) -> None:
    async def main(clock: Clock) -> None:
        await asyncio.sleep(0.001)
        raise LookupError("from main")

    with pytest.raises(LookupError, match="from main"):
        make().run(main)


@every_clock
def test_a_clock_has_one_run(make: Make) -> None:
    async def main(clock: Clock) -> None: ...

    clock = make()
    clock.run(main)
    with pytest.raises(ClockUsedTwice):
        clock.run(main)


def test_a_clock_cannot_run_inside_a_loop() -> None:
    async def inner(clock: Clock) -> None:
        pytest.fail("never runs")

    async def outer(clock: Clock) -> None:
        with pytest.raises(RuntimeError, match="inside a running"):
            VirtualClock(START).run(inner)

    VirtualClock(START).run(outer)


@every_clock
def test_everything_is_closed(make: Make) -> None:
    ended: list[str] = []

    async def generate() -> AsyncIterator[int]:
        try:
            yield 1
        finally:
            ended.append("generator")

    async def linger() -> None:
        try:
            await asyncio.sleep(1e9)
        finally:
            await asyncio.sleep(0.001)
            ended.append("task")

    generators: list[AsyncIterator[int]] = []

    async def main(clock: Clock) -> asyncio.AbstractEventLoop:
        generators.append(generate())
        await anext(generators[0])
        linger_task = asyncio.create_task(linger())
        await in_thread(clock, time.sleep, 0)
        assert not linger_task.done()
        asyncio.get_running_loop().call_later(1e9, ended.append, "timer")
        return asyncio.get_running_loop()

    before = psutil.Process().num_fds(), threading.active_count()
    loop = make().run(main)
    gc.collect()
    assert loop.is_closed()
    assert ended == ["task", "generator"]
    assert (psutil.Process().num_fds(), threading.active_count()) == before


def test_leftover_tasks_are_cancelled_in_creation_order() -> None:
    order: list[int] = []

    async def linger(number: int) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            order.append(number)

    tasks: list[asyncio.Task[None]] = []

    async def main(clock: Clock) -> None:
        for number in range(300):
            tasks.append(asyncio.create_task(linger(number)))
            # Tasks that come and go spread the numbers, so that a set does not happen to be in order.
            await asyncio.gather(*(asyncio.sleep(0) for _ in range(7)))

    VirtualClock(START).run(main)
    assert order == list(range(300))


def test_virtual_time_stands_while_the_executor_is_shut_down() -> None:
    async def main(clock: Clock) -> None:
        loop = asyncio.get_running_loop()
        loop.run_in_executor(None, time.sleep, 0.02)
        loop.call_later(1, fired.append, "timer")

    fired: list[str] = []
    clock = VirtualClock(START)
    clock.run(main)
    assert clock.now() == START
    assert fired == []


def test_a_failure_during_the_final_cancelling_is_reported() -> None:
    reports: list[dict[str, Any]] = []

    async def stubborn() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            raise LookupError("while cancelled")

    tasks: list[asyncio.Task[None]] = []

    async def main(clock: Clock) -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, report: reports.append(report))
        tasks.append(asyncio.create_task(stubborn()))
        await asyncio.sleep(0)

    VirtualClock(START).run(main)
    assert [str(report["exception"]) for report in reports] == ["while cancelled"]


@every_clock
def test_main_may_cancel_itself(make: Make) -> None:
    async def main(clock: Clock) -> None:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        await asyncio.sleep(1)

    with pytest.raises(asyncio.CancelledError):
        make().run(main)


@every_clock
def test_keyboard_interrupt_cleans_up_and_comes_out(make: Make) -> None:
    ended: list[str] = []
    loops: list[asyncio.AbstractEventLoop] = []

    async def linger() -> None:
        try:
            await asyncio.sleep(1e9)
        finally:
            ended.append("task")

    async def main(clock: Clock) -> None:
        loops.append(asyncio.get_running_loop())
        lingering = asyncio.create_task(linger())
        # The signal arrives while the loop waits for a thread, as Ctrl-C does.
        killer = threading.Timer(0.005, os.kill, [os.getpid(), signal.SIGINT])
        killer.start()
        try:
            with clock.hold():
                await asyncio.Event().wait()
        finally:
            killer.join()
            ended.append("main")
            assert not lingering.done()

    with pytest.raises(KeyboardInterrupt):
        make().run(main)
    assert ended == ["main", "task"]
    assert loops[0].is_closed()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_keyboard_interrupt_raised_by_the_program_comes_out() -> None:
    ended: list[str] = []

    async def linger() -> None:
        try:
            await asyncio.sleep(1e9)
        finally:
            ended.append("task")

    async def main(clock: Clock) -> None:
        lingering = asyncio.create_task(linger())
        await asyncio.sleep(1)
        assert not lingering.done()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        VirtualClock(START).run(main)
    assert ended == ["task"]


def test_a_signal_handler_of_the_caller_is_left_alone() -> None:
    got: list[str] = []

    async def main(clock: Clock) -> None:
        stop = asyncio.Event()
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
        killer = threading.Timer(0.005, os.kill, [os.getpid(), signal.SIGTERM])
        killer.start()
        with clock.hold():
            await stop.wait()
        killer.join()
        got.append("stopped")
        asyncio.get_running_loop().remove_signal_handler(signal.SIGTERM)

    VirtualClock(START).run(main)
    assert got == ["stopped"]


@every_clock
def test_it_works_in_asyncio_debug_mode(make: Make) -> None:
    async def main(clock: Clock) -> None:
        asyncio.get_running_loop().set_debug(True)
        await clock.sleep(timedelta(microseconds=10))
        async with asyncio.timeout(1e6):
            await asyncio.sleep(0.0001)

    make().run(main)
