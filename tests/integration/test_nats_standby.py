"""A host that follows, in this process: what it does when the lease falls to it."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path

from moot.channels.log.lease import Lease
from moot.channels.nats.connection import NatsConnection
from moot.channels.nats.lease import NatsLease
from moot.channels.nats.thread import NatsThread
from moot.config.settings import load_settings
from moot.hosts import moving
from moot.hosts.standby import Standby
from moot.plan import Plan
from moot.simulation.scene import parse_scene, run_scene
from tests.doubles.nats import running

STOPPED = {
    "start": "2026-02-23T10:00:00Z",
    "until": "10m",
    "seed": 1,
    "systems": ["A"],
    "inject": [
        {
            "after": "3m",
            "seat": "admin",
            "channel": "#admin",
            "body": {"type": "STOP", "scope": "society", "why": "enough"},
        }
    ],
}


def test_who_gets_the_lease_of_a_society_that_a_person_stopped_does_not_lead(tmp_path: Path) -> None:
    lived = tmp_path / "lived"
    run_scene(parse_scene(STOPPED), lived)
    told: list[str] = []
    with running(tmp_path / "nats") as server, NatsThread(server.address("desk")) as nats:

        def stand() -> NatsLease:
            # The leader says its last words and gives the lease back before this host has looked once.
            async def last_words(connection: NatsConnection) -> None:
                await moving._send_all(connection, moving._entries(lived / "log.sqlite", 0))

            lease = NatsLease(nats, name="heir", token="heir", since=lambda: "")
            lease.gained.result(60)
            nats.wait(last_words)
            return lease

        async def follow() -> object:
            start = datetime(2026, 2, 23, 10, tzinfo=UTC)
            plan = Plan(
                settings=load_settings(), seed=1, start=start, directory=tmp_path / "heir", bus="nats"
            )
            with Lease.acquire(tmp_path / "heir") as lease:
                standby = Standby(plan, lease, nats, "heir", stand)
                return await standby.follow(asyncio.Event(), told.append)

        assert asyncio.run(follow()) is None
    assert told == ["a person stopped the society: enough"]
