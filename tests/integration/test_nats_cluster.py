"""A society on a cluster of three servers, of which one is gone, then two."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from moot.channels.bus import Receipt
from moot.channels.errors import NatsUnavailable, StorageError
from moot.channels.nats.bus import NatsBus
from moot.channels.nats.connection import NatsConnection
from tests.doubles.command_line import moot
from tests.doubles.nats import NatsCluster, following, leading, running
from tests.doubles.tiny import Ticks, TinyAdmission, decode, said


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[NatsCluster]:
    found = NatsCluster(tmp_path / "nats")
    try:
        found.start()
        yield found
    finally:
        found.kill()


async def publish(bus: NatsBus, keys: range) -> list[Receipt]:
    return await asyncio.gather(*(bus.publish(said(f"k{key}", "x")) for key in keys))


async def refused_orders(cluster: NatsCluster) -> None:
    """Wait until the server that is left has noticed that it is alone."""
    async with asyncio.timeout(90):
        while True:
            try:
                await (await NatsConnection.open(cluster.address("desk"))).close()
            except NatsUnavailable as fault:
                if "takes no orders: start more of its servers" in str(fault):
                    return
            await asyncio.sleep(0.1)


def test_one_server_may_go_and_with_two_gone_everybody_waits_until_one_is_back(
    cluster: NatsCluster, tmp_path: Path
) -> None:
    address = cluster.address("desk")
    a, b = tmp_path / "a", tmp_path / "b"

    async def scenario() -> None:
        async with (
            leading(address, a, TinyAdmission(), Ticks(), replicas=3) as bus,
            following(address, b) as follower,
        ):
            follower.follow()
            await publish(bus, range(50))
            first = await asyncio.to_thread(cluster.leader, address.stream)
            first.kill()
            assert await publish(bus, range(50, 100)) == [Receipt(n + 1, f"k{n}") for n in range(50, 100)]
            second = next(server for server in cluster.servers if server.is_running)
            second.kill()
            waiting = asyncio.create_task(publish(bus, range(100, 150)))
            await refused_orders(cluster)
            for code, *words in (
                (1, "doctor", address),
                (2, "up", "--bus", address.where, "--society", "desk", "--data", tmp_path / "c"),
            ):
                result = await asyncio.to_thread(moot, *words)
                assert result.exit_code == code, result.output
                assert "takes no orders: start more of its servers" in " ".join(result.output.split())
                assert "Traceback" not in result.output
            assert not waiting.done() and bus.head.seq == 100
            second.start()
            assert await waiting == [Receipt(n + 1, f"k{n}") for n in range(100, 150)]
            first.start()
            await publish(bus, range(150, 200))
            async for envelope in follower.subscribe(0):
                if envelope.seq == 200:
                    break
            assert follower.head == bus.head and follower.fault is bus.fault is None

    async def main() -> None:
        async with asyncio.timeout(120):
            await scenario()

    asyncio.run(main())
    logs = []
    for directory in (a, b):
        with closing(sqlite3.connect(directory / "log.sqlite")) as db:
            logs.append(db.execute("SELECT * FROM log ORDER BY seq").fetchall())
    assert [row[1] for row in logs[0]] == [f"k{n}" for n in range(200)]
    assert logs[0] == logs[1]


def test_more_replicas_than_servers_are_refused_in_a_line(tmp_path: Path) -> None:
    async def scenario() -> None:
        with running(tmp_path / "nats") as server:
            async with await NatsConnection.open(server.address("desk")) as connection:
                with pytest.raises(StorageError, match="has fewer servers than replicas are asked for"):
                    await NatsBus.open(connection, tmp_path / "a", decode=decode, replicas=3)

    asyncio.run(scenario())
