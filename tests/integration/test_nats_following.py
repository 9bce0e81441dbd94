"""Hosts that begin and end to follow, on a real server of NATS."""

from __future__ import annotations

import asyncio
from pathlib import Path

from tests.doubles.nats import following, leading, running
from tests.doubles.tiny import Ticks, TinyAdmission, said


def test_a_host_that_begins_and_ends_to_follow_again_and_again_is_never_stuck(tmp_path: Path) -> None:
    async def main() -> None:
        with running(tmp_path / "nats") as server:
            address = server.address()
            async with leading(address, tmp_path / "leader", TinyAdmission(), Ticks()) as leader:
                for n in range(3):
                    await leader.publish(said(f"m{n}", "x"))
                for n in range(40):
                    async with following(address, tmp_path / f"host-{n}") as host:
                        assert host.head == leader.head
                        host.follow()

    asyncio.run(main())
