"""How fast the buses are; every figure is the median of five runs."""

from __future__ import annotations

import asyncio
import sqlite3
import tempfile
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

from moot.channels.log.file import SCHEMA
from moot.channels.log.inmemory import InMemoryBus
from moot.channels.log.sqlite import Durability, SqliteBus
from moot.protocols.kernel.envelope import Draft
from moot.protocols.research.seats import CRITIC
from tests.doubles.tiny import Said, TinyAdmission, decode

SUBSCRIBERS = 6
PUBLISHERS = 64
EACH = 200
ROUNDS = 5


def wall() -> datetime:
    return datetime.now(UTC)


def a_draft(n: int) -> Draft:
    body = Said(text="the gap between train and validation is wide: halve the size, stop at 5 %", weight=0.25)
    return Draft(channel="#open", author=CRITIC, body=body, key=f"case_20260223_1030/round-1/critic/{n}")


async def _deliver(messages: int, burst: int) -> float:
    bus = InMemoryBus(admission=TinyAdmission(), now=wall)

    async def listen() -> int:
        heard = 0
        async for _ in bus.subscribe():
            heard += 1
        return heard

    listeners = [asyncio.create_task(listen()) for _ in range(SUBSCRIBERS)]
    await asyncio.sleep(0)
    began = perf_counter()
    for n in range(messages):
        await bus.publish(a_draft(n))
        if burst and n % burst == 0:
            await asyncio.sleep(0)
    await bus.close()
    heard = await asyncio.gather(*listeners)
    took = perf_counter() - began
    assert heard == [messages] * SUBSCRIBERS
    return sum(heard) / took


def inmemory_deliveries_per_s(*, burst: int = 0, messages: int = 20_000) -> float:
    """One publisher that makes, validates and awaits each message, six subscribers in tasks of their own.

    Args:
        burst: The publisher lets the loop turn after so many messages as well; 1 is the worst case, in which
            every subscriber falls asleep and is woken for every message.
        messages: How many are published.
    """
    return median(asyncio.run(_deliver(messages, burst)) for _ in range(ROUNDS))


async def _publish(path: Path, durability: Durability, publishers: int, each: int) -> float:
    bus = await SqliteBus.open(
        path, admission=TinyAdmission(), now=wall, decode=decode, durability=durability
    )
    async with bus:
        drafts = [[a_draft(who * each + n) for n in range(each)] for who in range(publishers)]

        async def one(mine: list[Draft]) -> None:
            for draft in mine:
                await bus.publish(draft)

        began = perf_counter()
        await asyncio.gather(*map(one, drafts))
        took = perf_counter() - began
        assert bus.head.seq == publishers * each
    return publishers * each / took


def _executemany(path: Path, durability: Durability, rows: Sequence[tuple[Any, ...]]) -> float:
    """Write the same rows into the same table with sqlite3 alone, in batches of 64."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA journal_mode=WAL")
        db.execute(f"PRAGMA synchronous={'FULL' if durability == 'power' else 'NORMAL'}")
        db.executescript(SCHEMA)
        began = perf_counter()
        for start in range(0, len(rows), 64):
            db.execute("BEGIN")
            db.executemany("INSERT INTO log VALUES (?, ?, ?, ?, ?)", rows[start : start + 64])
            db.execute("COMMIT")
        return len(rows) / (perf_counter() - began)


def _pair(durability: Durability) -> tuple[float, float]:
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "log.sqlite"
        ours = asyncio.run(_publish(path, durability, PUBLISHERS, EACH))
        with closing(sqlite3.connect(path)) as db:
            rows = db.execute("SELECT * FROM log ORDER BY seq").fetchall()
        return ours, _executemany(Path(name) / "raw.sqlite", durability, rows)


def sqlite_ratio(durability: Durability = "power") -> float:
    """64 publishers at once against sqlite3's executemany: same rows, table, sync level and minute."""
    return median(ours / raw for ours, raw in (_pair(durability) for _ in range(ROUNDS)))


def sqlite_publishes_per_s(
    durability: Durability = "power", *, publishers: int = PUBLISHERS, each: int = EACH
) -> float:
    """So many publishers at once, each awaiting its receipt before the next draft; drafts made beforehand."""
    rates = []
    for _ in range(ROUNDS):
        with tempfile.TemporaryDirectory() as name:
            rates.append(asyncio.run(_publish(Path(name) / "log.sqlite", durability, publishers, each)))
    return median(rates)


def main() -> None:
    print(f"in memory, each awaited          {inmemory_deliveries_per_s():>10,.0f} deliveries/s")
    print(f"in memory, a turn after each     {inmemory_deliveries_per_s(burst=1):>10,.0f} deliveries/s")
    for durability in ("power", "process"):
        print(
            f"sqlite {durability:7}, 64 publishers    {sqlite_publishes_per_s(durability):>10,.0f} publishes/s"
        )
        lone = sqlite_publishes_per_s(durability, publishers=1, each=2000)
        print(f"sqlite {durability:7}, alone            {lone:>10,.0f} publishes/s")
        print(f"sqlite {durability:7}, of executemany   {sqlite_ratio(durability):>10.2f}")


if __name__ == "__main__":
    main()
