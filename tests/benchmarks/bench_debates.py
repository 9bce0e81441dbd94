"""Whole debates through bus, docket, referee and bots: minds without delay, no backtest."""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections.abc import Callable
from contextlib import nullcontext
from datetime import datetime, timedelta
from pathlib import Path
from statistics import median
from time import perf_counter

from bots.bot import Bot
from bots.officers import timekeeper
from bots.officers.office import Office
from channels.bus import Bus
from channels.inmemory import InMemoryBus
from channels.sqlite import SqliteBus
from memory.inmemory import InMemoryStore
from moot.host import Host
from protocols.codec import decode_stored
from protocols.kernel.docket import Effects
from protocols.kernel.envelope import Envelope
from protocols.kernel.rules import Gate, Rules
from protocols.kernel.seats import SYSTEM_A
from protocols.rulebook import VERSION
from tests.benchmarks.bench_docket import Crowded, crowded
from tests.doubles.canned import CannedMind
from tests.doubles.table import START


class StillClock:
    """A clock that stands at an instant; nothing in the benchmark waits for time."""

    def now(self) -> datetime:
        return START

    async def sleep_until(self, instant: datetime) -> None:
        if instant > START:
            await asyncio.Event().wait()


async def run(debates: int, at_once: int, make_bus: Callable[[Gate], object]) -> float:
    """Hold so many debates, return the seconds that they took."""
    rules: Rules = crowded(debates)
    gate = Gate(rules)
    made = make_bus(gate)
    bus: Bus = await made if asyncio.iscoroutine(made) else made  # type: ignore[assignment]
    host = Host(rules=rules, gate=gate, bus=bus, store=InMemoryStore(), clock=StillClock())
    host.attach()
    calendar = host.docket.house.fold_named("calendar")
    assert isinstance(calendar, Crowded)
    calendar.at_once = at_once  # type: ignore[attr-defined]
    done = asyncio.get_running_loop().create_future()
    ended = 0

    def count(env: Envelope, fx: Effects) -> None:
        nonlocal ended
        ended += sum(1 for state in fx.ended if state.kind == "cycle")
        if ended == debates and not done.done():
            done.set_result(None)

    host.listeners.append(count)
    office = Office(host, StillClock())
    host.office = office
    mind = CannedMind(timedelta(0))
    for seat in sorted(SYSTEM_A):
        host.seat_bot(Bot(seat, mind, host, StillClock()))
    began = perf_counter()
    await host.publish(
        timekeeper.started(
            config={},
            rules_version=VERSION,
            moot_version="bench",
            seed=1,
            data={},
            speed=1.0,
            paused=False,
            clock="virtual",
            durability="none",
            warm_up=False,
            after_seq=0,
        )
    )
    task = asyncio.create_task(office.run())
    waiting = asyncio.wait([done, task], return_when=asyncio.FIRST_COMPLETED)
    await waiting
    if task.done():
        task.result()
    took = perf_counter() - began
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    await host.close_bots()
    await bus.close()
    return took


def in_memory(debates: int = 2_000) -> float:
    """Return debates a second in memory, 64 at once."""
    took = asyncio.run(run(debates, 64, lambda gate: InMemoryBus(admission=gate, now=StillClock().now)))
    return debates / took


def on_sqlite(debates: int, at_once: int) -> float:
    """Return debates a second on the SQLite bus at synchronous NORMAL."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.sqlite"

        def make(gate: Gate) -> object:
            return SqliteBus.open(
                path,
                admission=gate,
                now=StillClock().now,
                decode=decode_stored,
                durability="process",
                hold=nullcontext,
            )

        return debates / asyncio.run(run(debates, at_once, make))


def debates_inmemory_per_s() -> float:
    """Median of 5."""
    return median(in_memory() for _ in range(5))


def debates_sqlite_per_s() -> float:
    """Median of 5, 64 at once."""
    return median(on_sqlite(1_000, 64) for _ in range(5))


def debates_sqlite_sequential_per_s() -> float:
    """Median of 5, one at a time."""
    return median(on_sqlite(200, 1) for _ in range(5))


if __name__ == "__main__":
    if "--profile" in sys.argv:
        import cProfile
        import pstats

        profile = cProfile.Profile()
        profile.runcall(in_memory, 500)
        pstats.Stats(profile).sort_stats("tottime").print_stats(45)
    else:
        print(f"in memory  {in_memory():8.0f} debates/s")
        print(f"sqlite     {on_sqlite(1000, 64):8.0f} debates/s")
        print(f"sequential {on_sqlite(100, 1):8.0f} debates/s")
