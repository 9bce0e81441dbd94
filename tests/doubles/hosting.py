"""A log hosted on the gateway socket of a data directory, and somebody who asks it things."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from moot.channels.backoff import Backoff
from moot.channels.gateway import address
from moot.channels.gateway.client import Requests
from moot.channels.gateway.guest import GuestHost
from moot.channels.gateway.server import GatewayServer
from tests.doubles.small_log import SmallLog

QUICK = Backoff(first_s=0.001, most_s=0.005)


@asynccontextmanager
async def serving(host: GuestHost, data_dir: Path) -> AsyncIterator[None]:
    """Serve guests until the end of the block."""
    ready = asyncio.Event()
    task = asyncio.create_task(GatewayServer(host, data_dir=data_dir).serve(lambda _path: ready.set()))
    await ready.wait()
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@asynccontextmanager
async def hosting(data_dir: Path, log: SmallLog | None = None, **options: Any) -> AsyncIterator[SmallLog]:
    """Host a log; yields the log.

    Args:
        data_dir: Where the socket is to be.
        log: The log, a new one when left out.
        options: Of `GuestHost`, instead of its log's own.
    """
    log = log or SmallLog()
    async with serving(
        GuestHost(**{"log_id": "log", "source": log, "publish": log.publish, **options}), data_dir
    ):
        yield log


@asynccontextmanager
async def asking(data_dir: Path) -> AsyncIterator[Requests]:
    """Keep a way to whoever hosts a directory."""
    requests = Requests(lambda: address.find(data_dir), backoff=QUICK)
    task = asyncio.create_task(requests.run())
    try:
        yield requests
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
