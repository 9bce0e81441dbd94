"""Real time: the system's UTC, never backwards."""

import asyncio
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.clock import RealClock

SECOND_NS = 1_000_000_000
START_NS = 1_767_605_400 * SECOND_NS  # 2026-01-05 09:30 UTC


class Wall:
    """A system clock that somebody sets, beside one that only counts."""

    def __init__(self) -> None:
        self.utc = START_NS
        self.count = 0

    def clock(self) -> RealClock:
        return RealClock(utc_ns=lambda: self.utc, monotonic_ns=lambda: self.count)

    def pass_s(self, seconds: float) -> None:
        self.utc += round(seconds * SECOND_NS)
        self.count += round(seconds * SECOND_NS)

    def set_by_s(self, seconds: float) -> None:
        self.utc += round(seconds * SECOND_NS)


class Port:
    def __init__(self) -> None:
        self.waits: list[float | None] = []

    def wait(self, wall_timeout_s: float | None) -> list[object]:
        self.waits.append(wall_timeout_s)
        return []

    def has_io(self) -> bool:
        return False


def test_now_is_the_utc_of_the_system() -> None:
    clock = RealClock()
    before = datetime.now(UTC)
    now = clock.now()
    assert before - timedelta(milliseconds=1) <= now <= datetime.now(UTC)
    assert now.tzinfo is UTC
    assert (clock.kind, clock.speed, clock.paused) == ("real", 1, False)


def test_it_follows_the_wall() -> None:
    wall = Wall()
    clock = wall.clock()
    assert clock.now() == clock.start == datetime(2026, 1, 5, 9, 30, tzinfo=UTC)
    wall.pass_s(1.5)
    assert clock.now() == datetime(2026, 1, 5, 9, 30, 1, 500_000, tzinfo=UTC)
    wall.set_by_s(3600)
    assert clock.now() == datetime(2026, 1, 5, 10, 30, 1, 500_000, tzinfo=UTC)


def test_a_society_of_a_machine_whose_clock_is_ahead_is_gone_on_with_at_half_pace() -> None:
    wall = Wall()
    ahead = datetime(2026, 1, 5, 9, 31, tzinfo=UTC)
    clock = RealClock(after=ahead, utc_ns=lambda: wall.utc, monotonic_ns=lambda: wall.count)
    assert clock.now() == clock.start == ahead
    wall.pass_s(20)
    assert clock.now() == ahead + timedelta(seconds=10)
    wall.pass_s(180)
    assert clock.now() == ahead + timedelta(seconds=140), "caught up after 120 s, and no longer"
    behind = RealClock(
        after=ahead - timedelta(days=1), utc_ns=lambda: wall.utc, monotonic_ns=lambda: wall.count
    )
    assert behind.now() == clock.now()


def test_a_system_clock_set_back_is_awaited_at_half_pace() -> None:
    wall = Wall()
    clock = wall.clock()
    wall.pass_s(100)
    now = clock.now()
    wall.set_by_s(-10)
    assert clock.now() == now
    wall.pass_s(4)
    assert clock.now() == now + timedelta(seconds=2)
    wall.pass_s(16)
    assert clock.now() == now + timedelta(seconds=10) == clock.start + timedelta(seconds=110)
    wall.pass_s(1)
    assert clock.now() == now + timedelta(seconds=11)


@given(st.lists(st.tuples(st.booleans(), st.floats(min_value=-1e4, max_value=1e4)), max_size=50))
def test_now_never_runs_backwards(moves: list[tuple[bool, float]]) -> None:
    wall = Wall()
    clock = wall.clock()
    last = clock.now()
    for is_set, seconds in moves:
        if is_set:
            wall.set_by_s(seconds)
        else:
            wall.pass_s(abs(seconds))
        assert clock.now() >= last
        last = clock.now()


def test_it_looks_at_the_wall_every_second_for_a_clock_that_was_set() -> None:
    wall, port = Wall(), Port()
    clock = wall.clock()
    clock.idle(60_000_000, port)  # type: ignore[arg-type]
    clock.idle(250_000, port)  # type: ignore[arg-type]
    wall.set_by_s(3600)
    clock.idle(60_000_000, port)  # type: ignore[arg-type]
    clock.idle(None, port)  # type: ignore[arg-type]
    assert port.waits == [1, 0.25, 0, 1]


def running(check: Callable[[RealClock, Wall, list[timedelta]], None]) -> None:
    """Run a check on a clock in its run, with what it says of falling behind."""
    wall, told = Wall(), list[timedelta]()

    async def main(clock: RealClock) -> None:
        clock.on_behind = lambda: told.append(clock.behind)
        check(clock, wall, told)
        await asyncio.sleep(0)
        await asyncio.sleep(0)

    wall.clock().run(main)


@pytest.mark.rule("K6")
@pytest.mark.parametrize("how", ["pass_s", "set_by_s"])
def test_k6_a_jump_is_not_followed_until_it_has_been_said(how: str) -> None:
    told: list[timedelta] = []

    def check(clock: RealClock, wall: Wall, said: list[timedelta]) -> None:
        nonlocal told
        told = said
        start = clock.now()
        wall.pass_s(19)
        assert clock.now() == start + timedelta(seconds=19)
        getattr(wall, how)(7200)
        assert clock.now() == start + timedelta(seconds=19)
        wall.pass_s(5)
        assert clock.now() == start + timedelta(seconds=24)
        assert clock.behind == timedelta(hours=2)
        clock.catch_up(timedelta(hours=2))
        assert clock.now() == start + timedelta(hours=2, seconds=24)
        assert clock.behind == timedelta(0)
        wall.pass_s(1)
        assert clock.now() == start + timedelta(hours=2, seconds=25)

    running(check)
    assert len(told) == 1


@pytest.mark.rule("K6")
def test_k6_a_clock_that_is_set_forth_and_back_is_behind_by_nothing() -> None:
    def check(clock: RealClock, wall: Wall, _told: list[timedelta]) -> None:
        now = clock.now()
        wall.set_by_s(7200)
        assert (clock.now(), clock.behind) == (now, timedelta(hours=2))
        wall.set_by_s(-7200)
        wall.pass_s(1)
        assert (clock.now(), clock.behind) == (now + timedelta(seconds=1), timedelta(0))

    running(check)


@pytest.mark.rule("K6")
def test_k6_time_that_is_held_is_caught_up_with_in_silence_when_it_is_short_and_told_when_it_is_long() -> (
    None
):
    told: list[timedelta] = []

    def check(clock: RealClock, wall: Wall, said: list[timedelta]) -> None:
        nonlocal told
        told = said
        start = clock.now()
        with clock.still():
            for _ in range(15):
                wall.pass_s(1)
                assert clock.now() == start
        assert clock.now() == start + timedelta(seconds=15)
        with clock.still(), clock.still():
            for _ in range(300):
                wall.pass_s(1)
                clock.now()
            assert clock.behind == timedelta(0)
        assert clock.now() == start + timedelta(seconds=15)
        assert clock.behind == timedelta(minutes=5)

    running(check)
    assert told == [timedelta(minutes=5)]


def test_a_sleeper_wakes_on_time_and_never_early() -> None:
    async def main(clock: RealClock) -> None:
        for milliseconds in (1, 3, 10):
            instant = clock.now() + timedelta(milliseconds=milliseconds)
            await clock.sleep_until(instant)
            assert clock.now() >= instant
        with_hold = time.monotonic()
        with clock.hold():
            await asyncio.sleep(0.005)
        assert time.monotonic() - with_hold >= 0.004

    RealClock().run(main)
