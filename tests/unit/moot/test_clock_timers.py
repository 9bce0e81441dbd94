"""The timer queue: a total order, and a heap that does not fill with the dead."""

import asyncio
import math
import time
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.clock import VirtualClock
from moot.clock.timers import NEVER_US, SocietyTimer, microseconds

START = datetime(2026, 1, 5, tzinfo=UTC)


def test_a_thousand_timers_of_one_instant_fire_in_creation_order() -> None:
    fired: list[int] = []

    async def main(clock: VirtualClock) -> None:
        loop = asyncio.get_running_loop()
        for number in range(1000):
            # Others come and go in between: what makes the stock heap lose the order.
            noise = loop.call_later(0.5 + number % 7, fired.append, -1)
            loop.call_later(3, fired.append, number)
            noise.cancel()
        await asyncio.sleep(3)

    VirtualClock(START).run(main)
    assert fired == list(range(1000))


def test_equal_instants_reached_by_different_sums_are_one_instant() -> None:
    fired: list[str] = []

    async def main(clock: VirtualClock) -> None:
        loop = asyncio.get_running_loop()
        loop.call_later(0.3, fired.append, "0.3 from the start")
        await asyncio.sleep(0.1)
        loop.call_later(0.2, fired.append, "0.2 after 0.1")
        loop.call_at(0.1 + 0.2, fired.append, "at 0.30000000000000004")
        loop.call_at(0.3, fired.append, "at 0.3")
        await asyncio.sleep(0.2)
        assert loop.time() == 0.3

    VirtualClock(START).run(main)
    assert fired == ["0.3 from the start", "0.2 after 0.1", "at 0.30000000000000004", "at 0.3"]


@given(st.integers(min_value=0, max_value=14 * 365 * 86_400 * 1_000_000))
def test_whole_microseconds_survive_the_way_through_a_float(whole_us: int) -> None:
    assert microseconds(whole_us / 1_000_000) == whole_us


@given(st.floats(min_value=0, max_value=1e8))
def test_a_conversion_is_never_early(seconds: float) -> None:
    due_us = microseconds(seconds)
    assert due_us >= seconds * 1e6 - 0.1001
    assert due_us < seconds * 1e6 + 1


def test_a_positive_delay_always_lets_time_pass() -> None:
    async def main(clock: VirtualClock) -> None:
        loop = asyncio.get_running_loop()
        when = loop.time() + 0.0000001
        rounds = 0
        while loop.time() < when:
            await asyncio.sleep(when - loop.time())
            rounds += 1
        assert rounds == 1

    VirtualClock(START).run(main)


def test_an_infinite_sleep_is_accepted_and_does_not_move_time() -> None:
    async def main(clock: VirtualClock) -> None:
        forever = asyncio.create_task(asyncio.sleep(math.inf))
        await asyncio.sleep(86_400)
        assert clock.now() == datetime(2026, 1, 6, tzinfo=UTC)
        assert not forever.done()

    assert microseconds(math.inf) == NEVER_US
    VirtualClock(START).run(main)


def test_a_cancelled_timer_neither_fires_nor_moves_time() -> None:
    fired: list[str] = []

    async def main(clock: VirtualClock) -> None:
        loop = asyncio.get_running_loop()
        loop.call_later(50, fired.append, "cancelled").cancel()
        # Nobody holds the clock here, so a timer at 50 s would be reached.
        await loop.run_in_executor(None, time.sleep, 0.005)
        assert loop.time() == 0
        loop.call_later(50, fired.append, "cancelled").cancel()
        await asyncio.sleep(100)
        assert loop.time() == 100

    VirtualClock(START).run(main)
    assert fired == []


def test_a_due_timer_can_still_be_cancelled_by_one_of_the_same_instant() -> None:
    fired: list[str] = []

    async def main(clock: VirtualClock) -> None:
        loop = asyncio.get_running_loop()
        handles: list[asyncio.TimerHandle] = []
        loop.call_later(1, lambda: handles[0].cancel())
        handles.append(loop.call_later(1, fired.append, "cancelled"))
        await asyncio.sleep(2)
        assert handles[0].cancelled()

    VirtualClock(START).run(main)
    assert fired == []


def test_cancelled_timers_are_swept_and_the_living_keep_their_order() -> None:
    fired: list[int] = []

    async def main(clock: VirtualClock) -> None:
        loop = asyncio.get_running_loop()
        handles = [loop.call_later(10, fired.append, number) for number in range(2000)]
        queue = handles[0].queue  # type: ignore[attr-defined]
        for number, handle in enumerate(handles):
            if number % 10:
                handle.cancel()
        assert len(queue) == 200
        assert len(queue._heap) < 500
        await asyncio.sleep(10)
        assert len(queue) == 0

    VirtualClock(START).run(main)
    assert fired == list(range(0, 2000, 10))


def test_a_cancelled_timer_lets_go_of_its_callback() -> None:
    async def main(clock: VirtualClock) -> None:
        timer = asyncio.get_running_loop().call_later(10, pytest.fail)
        assert isinstance(timer, SocietyTimer)
        assert timer.when() == 10
        timer.cancel()
        timer.cancel()
        assert timer.call is None
        assert timer.cancelled()

    VirtualClock(START).run(main)


def test_a_timer_runs_in_the_context_of_whoever_set_it() -> None:
    import contextvars

    who: contextvars.ContextVar[str] = contextvars.ContextVar("who", default="nobody")
    seen: list[str] = []

    async def main(clock: VirtualClock) -> None:
        loop = asyncio.get_running_loop()
        who.set("setter")
        loop.call_later(1, lambda: seen.append(who.get()))
        loop.call_later(1, lambda: seen.append(who.get()), context=contextvars.Context())
        who.set("later")
        await asyncio.sleep(1)

    VirtualClock(START).run(main)
    assert seen == ["setter", "nobody"]


def test_a_closed_loop_takes_no_timer() -> None:
    async def main(clock: VirtualClock) -> asyncio.AbstractEventLoop:
        return asyncio.get_running_loop()

    loop = VirtualClock(START).run(main)
    with pytest.raises(RuntimeError, match="closed"):
        loop.call_later(1, pytest.fail)
