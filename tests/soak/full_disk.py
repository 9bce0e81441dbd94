"""A server of NATS on a disk that is really full: it stops answering, and nothing is lost for that.

A test for `make soak` only: once in about a hundred runs the publishers still waited when its time was up.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from moot.channels.bus import Receipt
from moot.channels.nats import connection as connecting
from tests.doubles.command_line import moot
from tests.doubles.nats import NatsServer, leading
from tests.doubles.small_disk import fill, mounted
from tests.doubles.tiny import Ticks, TinyAdmission, said

LARGE = "x" * 20_000


def test_publishers_wait_until_the_server_has_room_and_is_started_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scenario(server: NatsServer, disk: Path) -> None:
        address = server.address("desk")
        async with leading(address, tmp_path / "a", TinyAdmission(), Ticks()) as bus:
            for n in range(20):
                await bus.publish(said(f"k{n}", "x"))
            ballast = fill(disk)
            waiting = [asyncio.create_task(bus.publish(said(f"m{n}", LARGE))) for n in range(40)]
            monkeypatch.setattr(connecting, "ANSWER_S", 1.0)
            result = await asyncio.to_thread(moot, "doctor", address)
            assert result.exit_code == 1 and f"{address.where} does not answer" in result.stdout
            assert not all(task.done() for task in waiting) and bus.fault is None
            await asyncio.to_thread(server.kill)
            ballast.unlink()
            await asyncio.to_thread(server.start)
            receipts = await asyncio.gather(*waiting)
            assert receipts == [Receipt(21 + n, f"m{n}") for n in range(40)]
            assert bus.head.seq == 60 and bus.fault is None

    async def main(server: NatsServer, disk: Path) -> None:
        async with asyncio.timeout(120):
            await scenario(server, disk)

    with mounted(tmp_path / "disk") as disk:
        server = NatsServer(tmp_path / "nats", jetstream="max_file_store: 1GB")
        server.store = disk / "store"
        try:
            server.start()
            asyncio.run(main(server, disk))
        finally:
            server.kill()
