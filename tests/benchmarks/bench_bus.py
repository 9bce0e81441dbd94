"""How fast the buses are. Run as a script: a table of medians of five."""

from __future__ import annotations

import asyncio
import sys
from datetime import UTC, datetime
from statistics import median
from time import perf_counter

from channels.inmemory import InMemoryBus
from protocols.kernel.envelope import Draft
from protocols.kernel.seats import Seat
from tests.doubles.tiny import Said, TinyAdmission

SUBSCRIBERS = 6


def _clock() -> datetime:
    return datetime.now(UTC)


def _draft(n: int) -> Draft:
    body = Said(text="the gap between train and validation is wide: halve the size, stop at 5 %", weight=0.25)
    return Draft(channel="#open", author=Seat.CRITIC, body=body, key=f"case_20260223_1030/round-1/critic/{n}")


async def _deliver(messages: int, burst: int) -> float:
    bus = InMemoryBus(admission=TinyAdmission(), now=_clock)

    async def listen() -> int:
        heard = 0
        async for _ in bus.subscribe():
            heard += 1
        return heard

    listeners = [asyncio.create_task(listen()) for _ in range(SUBSCRIBERS)]
    await asyncio.sleep(0)
    began = perf_counter()
    for n in range(messages):
        await bus.publish(_draft(n))
        if burst and not n % burst:
            await asyncio.sleep(0)
    await bus.close()
    heard = await asyncio.gather(*listeners)
    took = perf_counter() - began
    assert heard == [messages] * SUBSCRIBERS
    return sum(heard) / took


def inmemory_deliveries_per_s(*, burst: int = 0, messages: int = 20_000) -> float:
    """One publisher that awaits each publish, six subscribers in their own tasks; validated messages."""
    return median(asyncio.run(_deliver(messages, burst)) for _ in range(5))


def main() -> None:
    print(f"in memory, each awaited   {inmemory_deliveries_per_s():>10,.0f} deliveries/s")
    print(f"in memory, turn after each {inmemory_deliveries_per_s(burst=1):>10,.0f} deliveries/s")


if __name__ == "__main__":
    sys.exit(main())
