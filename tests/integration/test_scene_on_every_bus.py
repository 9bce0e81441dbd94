"""A scene says the same, byte for byte, whatever its log is kept in, and a week holds every rule on NATS too."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Iterator
from contextlib import AsyncExitStack, closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from moot.channels.bus import Bus
from moot.channels.log.lease import Lease
from moot.channels.nats.address import NatsAddress
from moot.channels.nats.bus import NatsBus
from moot.channels.nats.connection import NatsConnection
from moot.clock import Clock
from moot.folding import Folding
from moot.logs import open_log
from moot.memory.inmemory import InMemoryStore
from moot.plan import Plan
from moot.protocols.codec import decode_stored
from moot.protocols.kernel.rules import Gate
from moot.protocols.rulebook import rules
from moot.simulation import scene as scenes
from moot.simulation import simulate as weeks
from moot.verify import verify
from tests.doubles.nats import NatsServer, running

SCENE = Path("docs/tutorial/first-debate.yaml")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NatsServer]:
    with running(tmp_path_factory.mktemp("nats")) as found:
        yield found


class Alone:
    """Leads a society on NATS that no other host wants: nothing travels, and nothing of it is in the log."""

    def __init__(self, address: NatsAddress, plan: Plan) -> None:
        self.address = address
        rulebook = rules(plan.settings.viewers.viewers())
        self.folding = Folding(rules=rulebook, gate=Gate(rulebook), store=InMemoryStore())

    async def bus(
        self, directory: Path, gate: Gate, clock: Clock, lease: Lease | None, exits: AsyncExitStack
    ) -> Bus:
        connection = await NatsConnection.open(self.address, ping_s=None, hold=clock.hold)
        exits.push_async_callback(connection.close)
        bus = await NatsBus.open(connection, directory, decode=decode_stored, lease=lease)
        exits.push_async_callback(bus.close)
        await bus.lead(gate, clock.now, epoch=1)
        return bus

    def evidence(self, here: Any) -> Any:
        return here

    def bodies(self, here: Any) -> Any:
        return here

    async def stream_limits(self, _bus: Bus) -> str:
        return ""

    def as_log(self) -> dict[str, Any]:
        return {}


def rows(directory: Path) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(directory / "log.sqlite")) as db:
        return db.execute("SELECT * FROM log ORDER BY seq").fetchall()


def said(directory: Path) -> list[str]:
    """Return the texts; SOCIETY_STARTED says what the log is kept in, so that is left out."""
    texts: list[str] = [text for _, _, _, text, _ in rows(directory)]
    started = json.loads(texts[0])
    assert started["body"].pop("durability") and isinstance(started["body"]["data"].pop("leader", {}), dict)
    return [json.dumps(started), *texts[1:]]


async def mirror(address: NatsAddress, directory: Path) -> None:
    """Fill a fresh mirror from the stream."""
    async with (
        await NatsConnection.open(address) as connection,
        await NatsBus.open(connection, directory, decode=decode_stored, create=False),
    ):
        pass


def test_a_scene_is_equal_on_memory_sqlite_and_nats(
    server: NatsServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    of_scene = scenes.plan_of
    address = server.address()
    kept: dict[str, Any] = {"memory": {}, "sqlite": {"bus": "sqlite"}, "nats": {"bus": "nats"}}
    for name, how in kept.items():

        def plan_of(*args: Any, how: dict[str, Any] = how) -> Plan:
            plan = of_scene(*args)
            return replace(plan, led=Alone(address, plan) if how.get("bus") == "nats" else None, **how)

        monkeypatch.setattr(scenes, "plan_of", plan_of)
        scenes.run_scene(scenes.load_scene(SCENE), tmp_path / name)
    memory, sqlite, nats = (said(tmp_path / name) for name in kept)
    assert len(memory) > 10
    assert memory == sqlite == nats

    asyncio.run(mirror(address, tmp_path / "mirror"))
    assert rows(tmp_path / "mirror") == rows(tmp_path / "nats"), "the stream itself holds these bytes"
    with open_log(tmp_path / "mirror") as source:
        assert verify(source, evidence=False).ok


def test_a_week_on_nats_verifies(server: NatsServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    of_week, address = weeks.plan_of, server.address()

    def plan_of(options: weeks.SimulateOptions) -> Plan:
        plan = of_week(options)
        return replace(plan, bus="nats", led=Alone(address, plan))

    monkeypatch.setattr(weeks, "plan_of", plan_of)
    lived = weeks.simulate(weeks.SimulateOptions(days=7, seed=3, out=tmp_path / "week"))
    assert lived.messages > 1_000
    asyncio.run(mirror(address, tmp_path / "mirror"))
    with open_log(tmp_path / "mirror") as source:
        found = verify(source, evidence=False)
    assert found.ok and found.messages == lived.messages
