"""A real society whose clock stands still, with guests on its gateway socket: everything happens, no time passes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from moot.bots.officers import timekeeper
from moot.bots.officers.duty_runner import DutyRunner
from moot.channels.gateway.bridge import BusBridge
from moot.channels.gateway.guest import GuestHost
from moot.channels.gateway.server import GatewayServer
from moot.channels.log.inmemory import InMemoryBus
from moot.config.settings import Settings
from moot.door import Door
from moot.host import Host
from moot.memory.inmemory import InMemoryStore
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.rules import Gate
from moot.protocols.rulebook import VERSION, rules
from moot.reception import Reception
from tests.doubles.table import START


class StillClock:
    """A clock that stands at an instant."""

    def now(self) -> datetime:
        return START

    async def sleep_until(self, instant: datetime) -> None:
        if instant > START:
            await asyncio.Event().wait()


@asynccontextmanager
async def still_society(directory: Path, settings: Settings) -> AsyncIterator[list[Envelope]]:
    """Host a society without bots: its officers do what they owe at once; yields the log as it grows."""
    rulebook = rules()
    gate = Gate(rulebook)
    bus = InMemoryBus(admission=gate, now=StillClock().now)
    host = Host(rules=rulebook, gate=gate, bus=bus, store=InMemoryStore(), clock=StillClock())  # type: ignore[arg-type]
    log: list[Envelope] = []
    host.listeners.append(lambda env, _fx: log.append(env))
    host.attach()
    await host.publish(
        timekeeper.started(
            society_id="test",
            config={"schedules": {}, "desk": {"enabled": True}},
            rules_version=VERSION, moot_version="test", seed=1, data={}, speed=1.0, paused=False,
            clock="virtual", durability="none", warm_up=False, after_seq=0,
        )
    )  # fmt: skip
    host.duty_runner = DutyRunner(host, host.clock)
    door, reception = Door(host, settings.owned({"console": "owner", "cli": "owner"})), Reception(host)
    bridge = BusBridge(bus, asyncio.get_running_loop())

    async def report(event: Any) -> None:
        await reception.report(event)

    guests = GuestHost(
        log_id=log[0].hash, source=bridge, publish=door.publish_json, ask=reception.ask, report=report
    )
    tasks = [
        asyncio.create_task(work)
        for work in (host.duty_runner.run(), bridge.run(), GatewayServer(guests, data_dir=directory).serve())
    ]
    try:
        yield log
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await bus.close()
