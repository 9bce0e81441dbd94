"""Whole debates through bus, docket, referee and bots: minds without delay, no backtest.

A short debate is six messages, a whole cycle that ends by the second criterion of 1.4 (the Critic is sure of its
rating): CYCLE_TRIGGER, HYPOTHESIS, RISK_ASSESSMENT with a confidence above 0.85, VERDICT (REJECT), REFLECTION,
MICRO_CYCLE_REPORT. A full debate is eight, it ends by the first criterion (two rounds): CYCLE_TRIGGER, HYPOTHESIS,
RISK_ASSESSMENT, REBUTTAL, RISK_ASSESSMENT, VERDICT (REJECT), REFLECTION, MICRO_CYCLE_REPORT.

The minds have their bodies ready, validated beforehand, and put the ids and figures of the case into a copy. All else
is as in a society: the duty runner posts the trigger, bots are woken and shown views, drafts are admitted, told from
duplicates, numbered, written, chained, folded into docket, ledger and memory.
"""

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

from moot.bots.bot import Bot
from moot.bots.minds.mind import Mind, Reply, View
from moot.bots.officers import timekeeper
from moot.bots.officers.duty_runner import DutyRunner
from moot.channels.bus import Bus
from moot.channels.log.inmemory import InMemoryBus
from moot.channels.log.sqlite import SqliteBus
from moot.host import Host
from moot.memory.inmemory import InMemoryStore
from moot.protocols.codec import decode_stored
from moot.protocols.kernel.docket import Effects
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.message import Message, changed
from moot.protocols.kernel.obligation import Obligation
from moot.protocols.kernel.rules import Gate, Rules
from moot.protocols.research.messages import Reflection
from moot.protocols.research.seats import SYSTEM_A
from moot.protocols.rulebook import VERSION
from tests.benchmarks.bench_docket import Crowded, crowded
from tests.doubles import bodies
from tests.doubles.table import START

SHORT = 6
"""Messages of a debate that the Critic's confidence ends in the first round."""
FULL = 8
"""Messages of a debate of two rounds."""

AT_ONCE = timedelta(0)


class StillClock:
    """A clock that stands at an instant; nothing in the benchmark waits for time."""

    def now(self) -> datetime:
        return START

    async def sleep_until(self, instant: datetime) -> None:
        if instant > START:
            await asyncio.Event().wait()


class ReadyMind(Mind):
    """Answers at once with a copy of a body that is ready, for the case that it is asked about."""

    def __init__(self, messages: int) -> None:
        """Prepare the bodies of a debate of so many messages."""
        self._hypothesis = bodies.hypothesis("a cycle")
        self._entry = bodies.entry(at=START)
        self._reflection = Reflection(record=self._entry)
        self._ready = {
            "assessment-1": Reply(bodies.assessment(1, confidence=0.9 if messages == SHORT else 0.6)),
            "rebuttal-2": Reply(bodies.rebuttal()),
            "assessment-2": Reply(bodies.assessment(2)),
            "verdict": Reply(bodies.verdict("REJECT", 0.7)),
        }

    def consider(self, view: View) -> timedelta | None:
        return AT_ONCE

    async def answer(self, view: View) -> Reply | None:
        owed = view.obligation
        return self._ready.get(owed.step) or Reply(self._body_of(owed, view))

    def _body_of(self, owed: Obligation, view: View) -> Message:
        match owed.expects[0]:
            case "HYPOTHESIS":
                return changed(self._hypothesis, "cycle_id", owed.case_id)
            case "REFLECTION":
                entry = changed(self._entry, "hypothesis_id", owed.case_id)
                return changed(self._reflection, "record", entry)
            case _:
                return bodies.report(dict(view.brief), owed.case_id)


async def run(
    debates: int, at_once: int, make_bus: Callable[[Gate], object], *, messages: int = SHORT
) -> float:
    """Hold so many debates of so many messages, return the seconds that they took."""
    rules: Rules = crowded(debates)
    gate = Gate(rules)
    made = make_bus(gate)
    bus: Bus = await made if asyncio.iscoroutine(made) else made  # type: ignore[assignment]
    host = Host(rules=rules, gate=gate, bus=bus, store=InMemoryStore(), clock=StillClock())
    host.attach()
    calendar = host.docket.context.fold_named("calendar")
    assert isinstance(calendar, Crowded)
    calendar.at_once = at_once  # type: ignore[attr-defined]
    done = asyncio.get_running_loop().create_future()
    ended = 0

    def count(env: Envelope, fx: Effects) -> None:
        nonlocal ended
        for state in fx.ended:
            if state.kind == "cycle":
                ended += 1
                if ended == debates and not done.done():
                    done.set_result(None)

    host.listeners.append(count)
    duty_runner = DutyRunner(host, StillClock())
    host.duty_runner = duty_runner
    mind = ReadyMind(messages)
    for seat in sorted(SYSTEM_A):
        host.seat_bot(Bot(seat, mind, host, StillClock()))
    began = perf_counter()
    await host.publish(
        timekeeper.started(
            society_id="test",
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
    task = asyncio.create_task(duty_runner.run())
    waiting = asyncio.wait([done, task], return_when=asyncio.FIRST_COMPLETED)
    await waiting
    if task.done():
        task.result()
    took = perf_counter() - began
    # A few messages more are about the society itself: SOCIETY_STARTED, a HEALTH_CHECK.
    assert 1 <= host.docket.seq - debates * messages <= 3, host.docket.seq
    assert len(host.docket.ended) == 2 * debates
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    await host.close_bots()
    await bus.close()
    return took


def in_memory(debates: int = 2_000, *, messages: int = SHORT) -> float:
    """Return debates a second in memory, 64 at once."""

    def make(gate: Gate) -> object:
        return InMemoryBus(admission=gate, now=StillClock().now)

    return debates / asyncio.run(run(debates, 64, make, messages=messages))


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
    """Short debates, median of 5, 64 at once."""
    return median(in_memory() for _ in range(5))


def debates_full_inmemory_per_s() -> float:
    """Full debates of two rounds, median of 5, 64 at once."""
    return median(in_memory(messages=FULL) for _ in range(5))


def debates_sqlite_per_s() -> float:
    """Short debates, median of 5, 64 at once."""
    return median(on_sqlite(1_000, 64) for _ in range(5))


def debates_sqlite_sequential_per_s() -> float:
    """Short debates, median of 5, one at a time."""
    return median(on_sqlite(200, 1) for _ in range(5))


if __name__ == "__main__":
    if "--profile" in sys.argv:
        import cProfile
        import pstats

        profile = cProfile.Profile()
        profile.runcall(in_memory, 500)
        pstats.Stats(profile).sort_stats("tottime").print_stats(45)
    else:
        print(f"in memory         {in_memory():8.0f} debates/s")
        print(f"in memory, full   {in_memory(messages=FULL):8.0f} debates/s")
        print(f"sqlite            {on_sqlite(1000, 64):8.0f} debates/s")
        print(f"sqlite, one by one {on_sqlite(100, 1):7.0f} debates/s")
