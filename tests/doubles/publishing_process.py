"""A host that publishes until it is killed; it prints the seq of what was acknowledged, a line each.

Arguments: data directory, durability, publishers, prefix of the ids.
"""

from __future__ import annotations

import asyncio
import os
import sys
from datetime import UTC, datetime
from pathlib import Path

from moot.channels.log.sqlite import SqliteBus
from tests.doubles.tiny import TinyAdmission, decode, said


async def main(directory: str, durability: str, publishers: str, prefix: str) -> None:
    bus = await SqliteBus.open(
        Path(directory) / "log.sqlite",
        admission=TinyAdmission(),
        now=lambda: datetime.now(UTC),
        decode=decode,
        durability="power" if durability == "power" else "process",
    )

    async def publish(who: int) -> None:
        n = 0
        while True:
            receipt = await bus.publish(said(f"{prefix}/{who}/{n}", "x" * (n * 37 % 900)))
            os.write(1, f"{receipt.seq} {receipt.id}\n".encode())
            n += 1

    async with bus, asyncio.TaskGroup() as group:
        for who in range(int(publishers)):
            group.create_task(publish(who))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
