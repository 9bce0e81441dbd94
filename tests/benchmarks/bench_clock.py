"""How fast virtual time goes: staggered sleeps per second of wall time."""

import asyncio
import statistics
import time
from datetime import UTC, datetime

from moot.clock import Clock, VirtualClock

TASKS = 500
SLEEPS = 100
ROUNDS = 5


async def sleeper(number: int) -> None:
    for turn in range(SLEEPS):
        await asyncio.sleep(1 + number / 1000 + turn / 7)


async def society(clock: Clock) -> None:
    await asyncio.gather(*(sleeper(number) for number in range(TASKS)))


def virtual_sleeps_per_s() -> float:
    """Measure 500 tasks of 100 staggered `asyncio.sleep` each on a virtual loop; the median of five runs."""
    rates = []
    for _ in range(ROUNDS):
        clock = VirtualClock(datetime(2026, 1, 5, tzinfo=UTC))
        began = time.perf_counter()
        clock.run(society)
        rates.append(TASKS * SLEEPS / (time.perf_counter() - began))
    return statistics.median(rates)


if __name__ == "__main__":
    print(f"{virtual_sleeps_per_s():,.0f} sleeps per second")
