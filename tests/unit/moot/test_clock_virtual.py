"""Virtual time: it jumps when nobody is busy, and only then (K2)."""

import asyncio
import math
import socket
import threading
import time
from concurrent.futures import Future
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moot.clock import Stalled, VirtualClock, in_thread
from moot.clock.loop import Events, SocietySelector

START = datetime(2026, 1, 5, 9, 30, tzinfo=UTC)
DAY = timedelta(days=1)


def test_a_week_passes_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float | None] = []
    look = SocietySelector.wait

    def wait(port: SocietySelector, wall_timeout_s: float | None) -> Events:
        waits.append(wall_timeout_s)
        return look(port, wall_timeout_s)

    async def main(clock: VirtualClock) -> datetime:
        monkeypatch.setattr(SocietySelector, "wait", wait)
        await asyncio.sleep(7 * 86_400)
        monkeypatch.undo()
        return clock.now()

    assert VirtualClock(START).run(main) == START + timedelta(days=7)
    assert waits
    assert set(waits) == {0}, "it looks for real events and waits for none"
    assert len(waits) < 10


def test_it_starts_at_its_instant_and_can_be_read_before_and_after() -> None:
    async def main(clock: VirtualClock) -> None:
        assert asyncio.get_running_loop().time() == 0.0
        assert clock.now() == START
        await clock.sleep(DAY)

    clock = VirtualClock(START)
    assert clock.now() == START
    clock.run(main)
    assert clock.now() == START + DAY
    assert (clock.kind, clock.speed, clock.paused) == ("virtual", math.inf, False)


def test_a_naive_instant_is_refused() -> None:
    async def main(clock: VirtualClock) -> None:
        with pytest.raises(ValueError, match="time zone"):
            await clock.sleep_until(START.replace(tzinfo=None))

    with pytest.raises(ValueError, match="time zone"):
        VirtualClock(START.replace(tzinfo=None))
    VirtualClock(START).run(main)


def test_other_time_zones_are_understood_and_now_is_utc() -> None:
    tokyo = timezone(timedelta(hours=9))

    async def main(clock: VirtualClock) -> None:
        await clock.sleep_until(datetime(2026, 1, 5, 20, 0, tzinfo=tokyo))
        assert clock.now() == datetime(2026, 1, 5, 11, 0, tzinfo=UTC)
        assert clock.now().tzinfo is UTC

    VirtualClock(START.astimezone(tokyo)).run(main)


CENTURY = timedelta(days=36_525)
INSTANTS = st.timedeltas(timedelta(0), CENTURY).map(lambda later: START + later)


@settings(max_examples=60)
@given(st.lists(INSTANTS, min_size=60, max_size=120))
def test_sleep_until_wakes_exactly_at_each_of_thousands_of_instants(instants: list[datetime]) -> None:
    woken: list[datetime] = []

    async def sleeper(clock: VirtualClock, instant: datetime) -> None:
        await clock.sleep_until(instant)
        assert clock.now() == instant
        woken.append(instant)

    async def main(clock: VirtualClock) -> None:
        await asyncio.gather(*(sleeper(clock, instant) for instant in instants))

    VirtualClock(START).run(main)
    assert woken == sorted(instants)


@settings(max_examples=60)
@given(st.lists(st.floats(min_value=1e-6, max_value=1e5), min_size=1, max_size=50))
def test_chained_sleeps_never_end_early(delays: list[float]) -> None:
    async def main(clock: VirtualClock) -> None:
        loop = asyncio.get_running_loop()
        for delay in delays:
            before, before_s = clock.now(), loop.time()
            await asyncio.sleep(delay)
            passed_us = (clock.now() - before) / timedelta(microseconds=1)
            assert delay * 1e6 - 0.11 <= passed_us < delay * 1e6 + 1
            assert loop.time() > before_s

    VirtualClock(START).run(main)


def test_sleeping_until_the_past_only_lets_others_run() -> None:
    seen: list[str] = []

    async def main(clock: VirtualClock) -> None:
        asyncio.get_running_loop().call_soon(seen.append, "other")
        await clock.sleep_until(START - DAY)
        await clock.sleep(-DAY)
        assert clock.now() == START
        assert seen == ["other"]

    VirtualClock(START).run(main)


def test_now_is_kept_while_time_stands() -> None:
    async def main(clock: VirtualClock) -> None:
        assert clock.now() is clock.now()
        await asyncio.sleep(1)
        assert clock.now() == START + timedelta(seconds=1)

    VirtualClock(START).run(main)


def test_time_stands_while_tasks_are_ready() -> None:
    async def main(clock: VirtualClock) -> None:
        asyncio.get_running_loop().call_later(1, lambda: None)
        for _ in range(100):
            await asyncio.sleep(0)
        assert clock.now() == START

    VirtualClock(START).run(main)


def test_a_hold_stops_time_until_the_thread_comes_back() -> None:
    events: list[str] = []

    def work() -> str:
        time.sleep(0.02)
        events.append("thread")
        return "done"

    async def main(clock: VirtualClock) -> None:
        asyncio.get_running_loop().call_later(1, events.append, "timer")
        assert await in_thread(clock, work) == "done"
        assert clock.now() == START
        await asyncio.sleep(2)

    VirtualClock(START).run(main)
    assert events == ["thread", "timer"]


def test_without_a_hold_time_does_not_wait_for_the_thread_and_the_result_is_not_lost() -> None:
    async def main(clock: VirtualClock) -> str:
        gate = threading.Event()
        result = asyncio.get_running_loop().run_in_executor(None, lambda: gate.wait() and "late")
        await asyncio.sleep(3600)
        assert clock.now() == START + timedelta(hours=1)
        gate.set()
        return str(await result)

    assert VirtualClock(START).run(main) == "late"


def test_holds_are_counted_and_shared() -> None:
    async def main(clock: VirtualClock) -> None:
        asyncio.get_running_loop().call_later(1, lambda: None)
        with clock.hold(), clock.hold() as inner:
            assert inner.count == 2
        async with clock.hold():
            first = asyncio.create_task(in_thread(clock, time.sleep, 0.01))
            await in_thread(clock, time.sleep, 0.001)
            assert clock.hold().count == 2
            await first
        assert clock.now() == START
        assert clock.hold().count == 0
        with pytest.raises(RuntimeError, match="nobody had taken"):
            clock.hold().__exit__(None, None, None)

    VirtualClock(START).run(main)


def test_a_hold_is_released_when_its_holder_fails_or_is_cancelled() -> None:
    gate = threading.Event()

    def fail() -> None:
        raise LookupError("in the thread")

    async def main(clock: VirtualClock) -> None:
        with pytest.raises(LookupError):
            await in_thread(clock, fail)
        waiting = asyncio.create_task(in_thread(clock, gate.wait))
        await asyncio.sleep(0)
        assert clock.hold().count == 1
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert clock.hold().count == 0
        await asyncio.sleep(60)
        gate.set()

    VirtualClock(START).run(main)


def test_a_hold_left_in_another_thread_wakes_the_loop() -> None:
    async def main(clock: VirtualClock) -> None:
        hold = clock.hold().__enter__()

        def leave() -> None:
            time.sleep(0.01)
            hold.__exit__(None, None, None)

        thread = threading.Thread(target=leave)
        thread.start()
        await asyncio.sleep(5)
        thread.join()
        assert clock.now() == START + timedelta(seconds=5)

    VirtualClock(START, hold_s=2).run(main)


def test_a_held_socket_is_served_before_time_moves() -> None:
    async def main(clock: VirtualClock) -> None:
        ours, theirs = socket.socketpair()
        with ours, theirs:
            ours.setblocking(False)
            asyncio.get_running_loop().call_later(1, lambda: None)
            writer = threading.Thread(target=lambda: (time.sleep(0.01), theirs.send(b"x")))
            writer.start()
            with clock.hold():
                assert await asyncio.get_running_loop().sock_recv(ours, 1) == b"x"
            writer.join()
        assert clock.now() == START

    VirtualClock(START).run(main)


def test_ready_io_is_not_starved_by_jumps() -> None:
    async def main(clock: VirtualClock) -> None:
        ours, theirs = socket.socketpair()
        with ours, theirs:
            ours.setblocking(False)
            got: list[datetime] = []
            loop = asyncio.get_running_loop()
            loop.add_reader(ours, lambda: (ours.recv(1), got.append(clock.now())))
            for hour in range(1, 4):
                await asyncio.sleep(3600)
                theirs.send(b"x")
                await asyncio.sleep(3600)
                assert got[-1] == START + timedelta(hours=2 * hour - 1)
            loop.remove_reader(ours)
            assert len(got) == 3

    VirtualClock(START).run(main)


def test_a_socket_that_is_awaited_without_timers_is_waited_for() -> None:
    async def main(clock: VirtualClock) -> None:
        ours, theirs = socket.socketpair()
        with ours, theirs:
            ours.setblocking(False)
            writer = threading.Thread(target=lambda: (time.sleep(0.03), theirs.send(b"x")))
            writer.start()
            assert await asyncio.get_running_loop().sock_recv(ours, 1) == b"x"
            writer.join()

    VirtualClock(START, stall_s=0.01).run(main)


def test_tasks_that_wait_for_each_other_are_reported() -> None:
    ended: list[str] = []

    async def main(clock: VirtualClock) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("cleaned up")

    with pytest.raises(Stalled, match="nobody holds the clock") as caught:
        VirtualClock(START, stall_s=0.01).run(main)
    assert caught.value.holds == 0
    assert caught.value.waited_s >= 0.0099
    assert ended == ["cleaned up"]


def test_a_hold_that_never_ends_is_reported() -> None:
    async def main(clock: VirtualClock) -> None:
        with clock.hold():
            await asyncio.sleep(1)

    with pytest.raises(Stalled, match=r"1 hold\(s\)") as caught:
        VirtualClock(START, hold_s=0.01).run(main)
    assert caught.value.holds == 1


def test_nested_timeouts_count_in_virtual_time() -> None:
    async def main(clock: VirtualClock) -> None:
        ended: list[float] = []
        loop = asyncio.get_running_loop()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(30) as outer:
                for _ in range(2):
                    with pytest.raises(TimeoutError):
                        async with asyncio.timeout(10):
                            await asyncio.sleep(3600)
                    ended.append(loop.time())
                async with asyncio.timeout(1000) as inner:
                    await asyncio.sleep(3600)
        assert outer.expired()
        assert not inner.expired()
        assert ended == [10, 20]
        assert loop.time() == 30
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.sleep(100), 12.5)
        assert loop.time() == 42.5

    VirtualClock(START).run(main)


def test_a_timeout_does_not_fire_while_the_clock_is_held() -> None:
    async def main(clock: VirtualClock) -> None:
        async with asyncio.timeout(0.001):
            await in_thread(clock, time.sleep, 0.02)

    VirtualClock(START).run(main)


def test_a_cancelled_sleep_leaves_no_timer_behind() -> None:
    async def main(clock: VirtualClock) -> None:
        for sleep in (clock.sleep(DAY), clock.sleep_until(START + DAY), asyncio.sleep(86_400)):
            sleeping = asyncio.create_task(sleep)
            await asyncio.sleep(0)
            sleeping.cancel()
            with pytest.raises(asyncio.CancelledError):
                await sleeping
        await asyncio.Event().wait()

    clock = VirtualClock(START, stall_s=0.01)
    with pytest.raises(Stalled):
        clock.run(main)
    assert clock.now() == START


def test_sleeping_on_a_clock_that_does_not_run_is_refused() -> None:
    async def other() -> None:
        with pytest.raises(RuntimeError, match="not running"):
            await VirtualClock(START).sleep(DAY)

    asyncio.run(other())


class Delivery:
    """A thread that hands over a result when it is told to."""

    def __init__(self) -> None:
        self.work: Future[str] = Future()
        self.go = threading.Event()

    def start(self, result: str) -> None:
        def run() -> None:
            self.go.wait(60)
            self.work.set_result(result)

        threading.Thread(target=run, daemon=True).start()


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_results_of_threads_come_in_the_order_in_which_they_were_awaited(order: tuple[int, ...]) -> None:
    deliveries = [Delivery() for _ in range(3)]
    said: list[str] = []

    async def wait(clock: VirtualClock, n: int) -> None:
        said.append(await clock.from_thread(deliveries[n].work))
        for _ in range(5):
            await asyncio.sleep(0)
        said.append(f"{n} went on")

    async def busy() -> None:
        for _ in range(20):
            await asyncio.sleep(0)
        said.append("busy")
        for n in order:
            deliveries[n].start(f"{n} came")
            deliveries[n].go.set()
            # However early one of them has come.
            await asyncio.to_thread(deliveries[n].work.result, 60)

    async def main(clock: VirtualClock) -> None:
        await asyncio.gather(*(wait(clock, n) for n in range(3)), busy(), clock.sleep(DAY))

    clock = VirtualClock(START)
    clock.run(main)
    assert said == ["busy", "0 came", "0 went on", "1 came", "1 went on", "2 came", "2 went on"]


def test_time_stands_still_until_a_thread_has_its_result() -> None:
    delivery = Delivery()
    delivery.start("done")

    async def main(clock: VirtualClock) -> tuple[str, datetime]:
        beside = asyncio.create_task(clock.sleep(DAY))
        asyncio.get_running_loop().call_soon(delivery.go.set)
        found = await clock.from_thread(delivery.work), clock.now()
        await beside
        return found

    assert VirtualClock(START).run(main) == ("done", START)


def test_whoever_awaits_a_thread_may_be_cancelled_and_the_others_get_theirs() -> None:
    first, second = Delivery(), Delivery()
    second.start("second")

    async def main(clock: VirtualClock) -> tuple[str, bool]:
        waits = asyncio.create_task(clock.from_thread(first.work))
        other = asyncio.create_task(clock.from_thread(second.work))
        await asyncio.sleep(0)
        second.go.set()
        waits.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waits
        return await other, first.work.cancelled()

    assert VirtualClock(START).run(main) == ("second", True)
