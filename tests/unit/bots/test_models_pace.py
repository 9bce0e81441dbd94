"""Retries and slots: how long to wait, and how many at once."""

from __future__ import annotations

import asyncio
from random import Random

import pytest

from moot.bots.models.pace import Pace
from moot.bots.models.retrying import FIRST_S, MOST_S, asked_s, wait_s


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, 0),
        ({"retry-after": "0"}, 0),
        ({"retry-after": "2.5"}, 2.5),
        ({"retry-after": "3600"}, 3600),
        ({"retry-after": "-5"}, 0),
        ({"retry-after": "nan"}, 0),
        ({"retry-after": "inf"}, 0),
        ({"retry-after": "whenever"}, 0),
        ({"retry-after": "9", "retry-after-ms": "250"}, 0.25),
        (
            {"retry-after": "Sat, 01 Jan 2000 00:00:30 GMT", "date": "Sat, 01 Jan 2000 00:00:10 GMT"},
            20,
        ),
        ({"retry-after": "Sat, 01 Jan 2000 00:00:30 GMT", "date": "Sat, 01 Jan 2000 00:01:10 GMT"}, 0),
        ({"retry-after": "Sat, 01 Jan 2000 00:00:30 GMT"}, 0),
    ],
)
def test_a_server_is_waited_for_as_it_asks_by_its_own_clock(headers: dict[str, str], seconds: float) -> None:
    assert asked_s(headers) == seconds


def test_waits_are_drawn_from_a_range_that_doubles_up_to_a_bound() -> None:
    for attempt in (1, 2, 3, 20, 10_000):
        most = min(MOST_S, FIRST_S * 2 ** min(attempt - 1, 60))
        drawn = [wait_s(attempt, {}, Random(seed)) for seed in range(200)]
        assert all(0 <= one <= most for one in drawn)
        assert min(drawn) < most * 0.1 and max(drawn) > most * 0.9
    assert wait_s(1, {"retry-after": "7"}, Random(1)) == 7 + wait_s(1, {}, Random(1))


def test_a_429_halves_once_for_all_that_were_under_way_and_successes_creep_up() -> None:
    async def tried() -> None:
        pace = Pace(16)
        async with pace.slot() as first, pace.slot() as second:
            pace.slower(first)
            pace.slower(second)
        assert pace.limit == 8
        async with pace.slot() as third:
            pace.slower(third)
        assert pace.limit == 4
        for _ in range(4):
            pace.faster()
        assert 4.8 < pace.limit < 5
        for _ in range(1_000):
            pace.faster()
        assert pace.limit == 16
        for _ in range(10):
            async with pace.slot() as one:
                pace.slower(one)
        assert pace.limit == 1

    asyncio.run(tried())


def test_slots_are_given_in_order_and_one_that_is_not_wanted_any_more_goes_on_to_the_next() -> None:
    async def tried() -> list[int]:
        pace = Pace(1)
        order: list[int] = []

        async def take(n: int) -> None:
            async with pace.slot():
                order.append(n)
                await asyncio.sleep(0)

        async with pace.slot():
            tasks = [asyncio.ensure_future(take(n)) for n in range(4)]
            await asyncio.sleep(0)
            tasks[1].cancel()
        # The first has its slot and has not run yet.
        tasks[0].cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert pace.taken == 0
        return order

    assert asyncio.run(tried()) == [2, 3]
