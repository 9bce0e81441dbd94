"""A gateway process for tests: `python -m tests.doubles.gateway_process OPTIONS`, OPTIONS as JSON.

{"data_dir": …, "surfaces": {name: [dotted, options]}, "admins": [user id, …], "first_s": 0.005, "nice": 0,
"nats": the society's address on NATS, where it is one of several hosts'}
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import structlog

from moot.channels.backoff import Backoff
from moot.channels.gateway.process import Mirroring, run_gateway
from moot.channels.nats.address import NatsAddress
from moot.channels.nats.outbox import outboxes
from moot.channels.nats.thread import NatsThread
from moot.channels.surface import load_surface
from moot.protocols.kernel.seats import ADMIN, VIEWER


def mirroring(dotted: str, options: dict[str, Any]) -> Mirroring:
    return Mirroring(build=lambda: load_surface(dotted, options))


async def main(options: dict[str, Any]) -> None:
    admins = set(options.get("admins", ()))
    where = options.get("nats")
    nats = None if where is None else NatsThread(NatsAddress.parse(where), name="gateway")
    await run_gateway(
        None,
        {name: mirroring(*how) for name, how in options["surfaces"].items()},
        data_dir=Path(options["data_dir"]),
        authority=lambda _platform, user_id: ADMIN if user_id in admins else VIEWER,
        stop=asyncio.Event(),
        backoff=Backoff(first_s=options.get("first_s", 0.005), most_s=0.05),
        shared=None if nats is None else outboxes(nats),
    )


if __name__ == "__main__":
    structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))
    given = json.loads(sys.argv[1])
    os.nice(given.get("nice", 0))
    asyncio.run(main(given))
