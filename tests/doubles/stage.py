"""A small society on an in-memory bus in virtual time, with minds of the test's choice."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from moot.bots.bot import Bot
from moot.bots.minds.mind import Mind
from moot.bots.models.caller import Caller
from moot.bots.officers import timekeeper
from moot.bots.officers.duty_runner import DutyRunner
from moot.channels.log.inmemory import InMemoryBus
from moot.clock import Clock, VirtualClock
from moot.config.budget import BudgetSettings
from moot.host import Host
from moot.memory.inmemory import InMemoryStore
from moot.model_service import ModelService, model_service
from moot.model_start import ModelSeats
from moot.protocols.kernel.envelope import Draft, Envelope
from moot.protocols.kernel.rules import Gate
from moot.protocols.kernel.seats import Seat
from moot.protocols.rulebook import VERSION, rules
from tests.doubles.table import START


@dataclass
class Stage:
    """A running society and its parts."""

    clock: Clock
    bus: InMemoryBus
    host: Host
    duty_runner: DutyRunner
    calls: ModelService | None = None
    bots: dict[Seat, Bot] = field(default_factory=dict)

    @property
    def log(self) -> list[Envelope]:
        """Return everything logged so far."""
        return self.bus._feed.items  # type: ignore[return-value]

    async def post(self, draft: Draft) -> Any:
        """Publish as the host does."""
        return await self.host.publish(draft)

    async def wait(self, **delta: float) -> None:
        """Let time pass."""
        await self.clock.sleep(timedelta(**delta))


def _first(clock: Clock, start: datetime) -> list[datetime]:
    """Return when the first cycle is due; in real time soon, and should that be missed, soon after."""
    if clock.kind == "virtual":
        return [start]
    return [clock.now() + timedelta(seconds=seconds) for seconds in (1, 10, 30, 60)]


NO_MODELS = ModelSeats(models={}, temperatures={}, budget=BudgetSettings())


def play(
    minds: Mapping[Seat, Mind] | Callable[[Callable[[str], Caller]], Mapping[Seat, Mind]],
    script: Callable[[Stage], Awaitable[None]],
    *,
    start: datetime = START,
    schedules: dict[str, Any] | None = None,
    config: dict[str, Any] | None = None,
    models: ModelSeats | None = None,
    directory: Path | None = None,
    clock: Clock | None = None,
) -> list[Envelope]:
    """Run a script against a society with these minds and return the log.

    Args:
        minds: Who sits where; those that ask models are made of what gives a caller by a model's name.
        script: What happens.
        start: When it begins, in virtual time.
        schedules: When cycles are due.
        config: More of the logged configuration.
        models: Models that may be asked.
        directory: Where their bodies are kept.
        clock: Which clock it lives by; None: a virtual one.
    """
    kept: list[Envelope] = []

    async def main(clock: Clock) -> None:
        async with model_service(models or NO_MODELS, clock, directory, None) as calls:
            await perform(clock, calls)

    async def perform(clock: Clock, calls: ModelService | None) -> None:
        rulebook = rules()
        gate = Gate(rulebook)
        bus = InMemoryBus(admission=gate, now=clock.now)
        host = Host(rules=rulebook, gate=gate, bus=bus, store=InMemoryStore(), clock=clock)
        host.attach()
        host.listeners.append(lambda env, _fx: kept.append(env))
        await host.publish(
            timekeeper.started(
                society_id="test",
                config={
                    "schedules": schedules
                    or {"micro": {"at": [one.isoformat() for one in _first(clock, start)]}},
                    "admins": {"test": ["ann"]},
                    **({"models": calls.as_log()} if calls is not None else {}),
                    **(config or {}),
                },
                rules_version=VERSION,
                moot_version="test",
                seed=1,
                data={},
                speed=1.0,
                paused=False,
                clock=clock.kind,
                durability="none",
                warm_up=False,
                after_seq=0,
            )
        )
        duty_runner = DutyRunner(host, clock)
        host.duty_runner = duty_runner
        task = asyncio.create_task(duty_runner.run())
        faults: list[Exception] = []
        stage = Stage(clock, bus, host, duty_runner, calls)
        if calls is not None:
            await calls.serve(host, faults.append)
        seated = minds if isinstance(minds, Mapping) else minds(calls.caller) if calls is not None else {}
        for seat, mind in seated.items():
            stage.bots[seat] = Bot(seat, mind, host, clock)
            host.seat_bot(stage.bots[seat])
        try:
            await script(stage)
            if task.done():
                task.result()
            if faults:
                raise faults[0]
        finally:
            await host.close_bots()
            if calls is not None:
                await calls.settle()
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            await bus.close()

    (clock or VirtualClock(start)).run(main)
    return kept
