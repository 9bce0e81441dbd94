"""Accelerated time: continuous through every change of speed, and never early (K7, K8)."""

import asyncio
import itertools
import math
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.clock import PacedClock, in_thread

START = datetime(2026, 1, 5, 9, 30, tzinfo=UTC)
HOUR = timedelta(hours=1)


class Wall:
    """A wall clock that a test moves."""

    def __init__(self) -> None:
        self.ns = 123_456_789

    def __call__(self) -> int:
        return self.ns

    def pass_s(self, seconds: float) -> None:
        self.ns += round(seconds * 1e9)


class Port:
    """A port where nothing ever arrives; it notes how long the clock would wait."""

    def __init__(self) -> None:
        self.waits: list[float | None] = []

    def wait(self, wall_timeout_s: float | None) -> list[object]:
        self.waits.append(wall_timeout_s)
        return []

    def has_io(self) -> bool:
        return False


def opened(speed: float, check: Callable[[PacedClock, Wall], None]) -> None:
    """Run a check on a clock whose time passes, on a wall that moves only by hand."""
    wall = Wall()

    async def main(clock: PacedClock) -> None:
        check(clock, wall)

    PacedClock(START, speed, monotonic_ns=wall).run(main)


def test_it_stands_at_its_start_until_it_runs_and_after_it_has_run() -> None:
    wall = Wall()

    async def main(clock: PacedClock) -> None:
        assert clock.now() == START
        for _ in range(10):
            wall.pass_s(1)
            clock.now()
        assert clock.now() == START + timedelta(seconds=1200)

    clock = PacedClock(START, 120, monotonic_ns=wall)
    wall.pass_s(1000)
    assert clock.now() == START
    clock.run(main)
    wall.pass_s(1000)
    clock.set_speed(5)
    wall.pass_s(1000)
    assert clock.now() == START + timedelta(seconds=1200)
    assert (clock.kind, clock.speed, clock.paused) == ("accelerated", 5, False)


def test_a_change_of_speed_is_continuous() -> None:
    def check(clock: PacedClock, wall: Wall) -> None:
        wall.pass_s(1)
        clock.set_speed(1)
        assert clock.now() == START + timedelta(seconds=120)
        wall.pass_s(1)
        assert clock.now() == START + timedelta(seconds=121)
        clock.set_speed(0.5)
        wall.pass_s(1)
        assert clock.now() == START + timedelta(seconds=121.5)

    opened(120, check)


def test_a_paused_clock_stands_and_resumes_where_it_stood() -> None:
    def check(clock: PacedClock, wall: Wall) -> None:
        clock.pause()
        clock.pause()
        wall.pass_s(100)
        assert clock.paused
        assert clock.now() == START
        clock.set_speed(3)
        wall.pass_s(100)
        assert clock.now() == START
        clock.resume()
        clock.resume()
        wall.pass_s(1)
        assert not clock.paused
        assert clock.now() == START + timedelta(seconds=3)

    opened(120, check)


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["pass", "set_speed", "pause", "resume", "step"]),
            st.floats(min_value=1e-3, max_value=1e5),
        ),
        max_size=40,
    )
)
def test_now_never_runs_backwards_whatever_is_done(acts: list[tuple[str, float]]) -> None:
    def check(clock: PacedClock, wall: Wall) -> None:
        last = clock.now()
        for act, size in acts:
            if act == "pass":
                wall.pass_s(size / 1000)
            elif act == "set_speed":
                clock.set_speed(size)
            elif act == "step":
                clock.step()
                clock.idle(clock.elapsed_us() + round(size), Port())  # type: ignore[arg-type]
            else:
                getattr(clock, act)()
            assert clock.now() >= last
            last = clock.now()

    opened(60, check)


def test_the_wait_is_converted_to_wall_time() -> None:
    def check(clock: PacedClock, wall: Wall) -> None:
        port = Port()
        due_us = 240_000
        clock.idle(due_us, port)  # type: ignore[arg-type]
        clock.set_speed(1)
        clock.idle(due_us, port)  # type: ignore[arg-type]
        wall.pass_s(0.14)
        clock.idle(due_us, port)  # type: ignore[arg-type]
        wall.pass_s(0.5)
        clock.idle(due_us, port)  # type: ignore[arg-type]
        clock.idle(None, port)  # type: ignore[arg-type]
        clock.pause()
        clock.idle(due_us, port)  # type: ignore[arg-type]
        clock.resume()
        clock.idle(10**15, port)  # type: ignore[arg-type]
        assert port.waits == [
            pytest.approx(0.002),
            pytest.approx(0.24),
            pytest.approx(0.1),
            0,
            0.25,
            None,
            0.25,
        ]

    opened(120, check)


@pytest.mark.rule("K6")
@pytest.mark.parametrize("speed", [0.5, 120, 100_000])
def test_k6_of_a_stall_a_second_counts_whoever_looks_first(speed: float) -> None:
    def check(clock: PacedClock, wall: Wall) -> None:
        wall.pass_s(0.5)
        assert clock.now() == START + timedelta(seconds=0.5 * speed)
        wall.pass_s(3600)
        seen: list[datetime] = []
        other = threading.Thread(target=lambda: seen.append(clock.now()))
        other.start()
        other.join()
        after = START + timedelta(seconds=1.5 * speed)
        assert seen == [after] == [clock.now()]
        wall.pass_s(0.5)
        assert clock.now() == after + timedelta(seconds=0.5 * speed)
        assert clock.behind == timedelta(0)

    opened(speed, check)


@pytest.mark.rule("K6")
def test_k6_time_stands_while_anybody_holds_it_and_goes_on_from_there() -> None:
    def check(clock: PacedClock, wall: Wall) -> None:
        port = Port()
        with clock.still():
            with clock.still():
                wall.pass_s(0.9)
            wall.pass_s(0.9)
            assert clock.now() == START
            clock.step()
            clock.idle(10_000, port)  # type: ignore[arg-type]
            assert clock.now() == START
            assert port.waits == [None]
            clock.resume()
        wall.pass_s(0.9)
        assert clock.now() == START + timedelta(seconds=0.9 * 120)

    opened(120, check)


@pytest.mark.parametrize("speed", [0, -1, math.inf, math.nan])
def test_an_impossible_speed_is_refused(speed: float) -> None:
    with pytest.raises(ValueError, match="positive"):
        PacedClock(START, speed)
    clock = PacedClock(START, 2)
    with pytest.raises(ValueError, match="positive"):
        clock.set_speed(speed)
    assert clock.speed == 2


@pytest.mark.parametrize("speed", [1000, 100_000, 1_234.5678])
def test_sleepers_wake_in_order_and_never_early(speed: float) -> None:
    woken: list[int] = []

    async def sleeper(clock: PacedClock, number: int) -> None:
        instant = START + timedelta(microseconds=number * 100_003)
        await clock.sleep_until(instant)
        assert clock.now() >= instant
        woken.append(number)

    async def main(clock: PacedClock) -> None:
        await asyncio.gather(*(sleeper(clock, number) for number in reversed(range(300))))

    PacedClock(START, speed).run(main)
    assert woken == list(range(300))


@pytest.fixture
def eager_threads() -> Iterator[None]:
    """Have threads take turns between any two instructions."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


@pytest.mark.usefixtures("eager_threads")
def test_now_is_monotone_between_threads_that_change_the_speed() -> None:
    async def main(clock: PacedClock) -> None:
        is_over = threading.Event()

        def change() -> None:
            for speed in itertools.cycle([1e6, 1, 1e3, 0.1]):
                if is_over.is_set():
                    return
                clock.set_speed(speed)

        changer = threading.Thread(target=change)
        changer.start()
        last, last_s = clock.now(), asyncio.get_running_loop().time()
        began = time.monotonic()
        while time.monotonic() - began < 0.03:
            now, now_s = clock.now(), asyncio.get_running_loop().time()
            assert now >= last
            assert now_s >= last_s
            last, last_s = now, now_s
        is_over.set()
        changer.join()

    PacedClock(START, 1).run(main)


@pytest.mark.timeout(20)
def test_a_speed_set_by_another_thread_wakes_a_sleeper() -> None:
    async def main(clock: PacedClock) -> None:
        changer = threading.Timer(0.01, clock.set_speed, [1e6])
        changer.start()
        await clock.sleep(HOUR)
        changer.join()
        assert clock.now() >= START + HOUR

    PacedClock(START, 1).run(main)


@pytest.mark.timeout(20)
def test_a_speed_set_by_the_loop_itself_wakes_a_sleeper() -> None:
    async def main(clock: PacedClock) -> None:
        asyncio.get_running_loop().call_later(0.005, clock.set_speed, 1e6)
        await clock.sleep(HOUR)

    PacedClock(START, 1).run(main)


def test_slowing_down_mid_sleep_makes_the_sleep_longer() -> None:
    wall = Wall()

    async def main(clock: PacedClock) -> None:
        sleeping = asyncio.create_task(clock.sleep(timedelta(seconds=20)))
        await ready()
        wall.pass_s(0.01)
        clock.set_speed(1)
        for _ in range(11):
            wall.pass_s(0.9)
            await ready()
        assert clock.now() == START + timedelta(seconds=19.9)
        assert not sleeping.done()
        clock.set_speed(1000)
        wall.pass_s(0.0001)
        await sleeping
        assert clock.now() == START + timedelta(seconds=20)

    PacedClock(START, 1000, monotonic_ns=wall).run(main)


async def ready(times: int = 20) -> None:
    for _ in range(times):
        await asyncio.sleep(0)


def test_a_paused_society_still_answers_and_can_be_resumed() -> None:
    async def main(clock: PacedClock) -> None:
        clock.pause()
        stood_at = clock.now()
        sleeping = asyncio.create_task(clock.sleep(timedelta(seconds=1)))
        assert await asyncio.to_thread(lambda: time.sleep(0.02) or "answer") == "answer"
        assert clock.now() == stood_at
        assert not sleeping.done()
        resumer = threading.Timer(0.005, clock.resume)
        resumer.start()
        await sleeping
        resumer.join()
        assert clock.now() >= stood_at + timedelta(seconds=1)

    PacedClock(START, 1000).run(main)


def test_a_step_moves_to_the_next_timer_and_stands_there() -> None:
    async def main(clock: PacedClock) -> None:
        seen: list[datetime] = []
        loop = asyncio.get_running_loop()
        clock.pause()
        stood_at = clock.now()
        for seconds in (60, 60, 120, 240):
            loop.call_later(seconds, lambda: seen.append(clock.now()))
        after = [stood_at + timedelta(seconds=seconds) for seconds in (60, 60, 120, 240)]

        clock.step()
        assert clock.now() == stood_at
        await stepped(clock, after[0])
        assert seen == after[:2]
        clock.step()
        clock.step()
        await stepped(clock, after[3])
        assert seen == after
        assert clock.paused
        await asyncio.to_thread(time.sleep, 0.005)
        assert clock.now() == after[3]

    PacedClock(START, 120).run(main)


async def stepped(clock: PacedClock, instant: datetime) -> None:
    """Let the paused loop idle, as it does between the clicks of a person, until a step has arrived."""
    for _ in range(100):
        await asyncio.to_thread(time.sleep, 0.0005)
        if clock.now() == instant:
            return
    raise AssertionError(f"no step to {instant}, but at {clock.now()}")


def test_a_step_pauses_a_running_clock_and_a_step_without_timers_is_dropped() -> None:
    async def main(clock: PacedClock) -> None:
        clock.step()
        assert clock.paused
        while clock._steps:  # a busy machine may be done with sleeping before the loop has nothing to do
            await asyncio.to_thread(time.sleep, 0.005)
        stood_at = clock.now()
        asyncio.get_running_loop().call_later(60, lambda: None)
        await asyncio.to_thread(time.sleep, 0.005)
        assert clock.now() == stood_at
        clock.step()
        await stepped(clock, stood_at + timedelta(seconds=60))

    PacedClock(START, 120).run(main)


def test_a_step_waits_for_who_holds() -> None:
    async def main(clock: PacedClock) -> None:
        clock.pause()
        stood_at = clock.now()
        asyncio.get_running_loop().call_later(60, lambda: None)
        clock.step()
        await in_thread(clock, time.sleep, 0.01)
        assert clock.now() == stood_at
        await stepped(clock, stood_at + timedelta(seconds=60))

    PacedClock(START, 120).run(main)


def test_resuming_forgets_the_steps_that_are_left() -> None:
    async def main(clock: PacedClock) -> None:
        loop = asyncio.get_running_loop()
        with clock.hold():
            clock.step()
            clock.step()
        clock.resume()
        assert not clock.paused
        loop.call_later(3600, lambda: None)
        await asyncio.to_thread(time.sleep, 0.005)
        assert clock.now() < START + timedelta(seconds=1800)

    PacedClock(START, 1).run(main)


def test_a_hold_does_not_stop_accelerated_time() -> None:
    async def main(clock: PacedClock) -> None:
        with clock.hold():
            await clock.sleep(timedelta(seconds=10))

    PacedClock(START, 10_000).run(main)


def test_time_stands_still_while_a_thread_works() -> None:
    held, done = threading.Event(), Future[tuple[datetime, datetime]]()

    def work(clock: PacedClock) -> None:
        held.wait(60)
        before = clock.now()
        threading.Event().wait(0.05)
        done.set_result((before, clock.now()))

    async def main(clock: PacedClock) -> tuple[datetime, datetime]:
        threading.Thread(target=work, args=(clock,), daemon=True).start()
        asyncio.get_running_loop().call_soon(held.set)
        found = await clock.from_thread(done)
        await clock.sleep(timedelta(seconds=1))  # which it can: time passes again
        return found

    before, after = PacedClock(START, 1_000).run(main)
    assert before == after
