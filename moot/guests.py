"""Guests of a society: the gateway's socket, which streams the log to them and takes what they post (K22)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from contextlib import AsyncExitStack, suppress
from functools import partial
from pathlib import Path
from typing import Any, Final

import structlog

from moot.channels.gateway.bridge import BusBridge
from moot.channels.gateway.guest import GuestHost
from moot.channels.gateway.protocol import HungUp
from moot.channels.gateway.server import GatewayServer
from moot.clock import Clock, IoThread
from moot.clock.errors import IoThreadClosed
from moot.ports import Posting
from moot.reception import Reception
from moot.society import Society

LOOK_S: Final = 1.0
"""So often, in wall time, a society looks whether it was fenced out."""
FEED_PAUSE_S: Final = 1.0
"""How long after a fault messages are handed to guests again."""

_log = structlog.get_logger("moot.guests")


async def serve_guests(
    exits: AsyncExitStack,
    directory: Path,
    clock: Clock,
    society: Society,
    door: Posting,
    reception: Reception,
) -> Callable[[bool], None]:
    """Open the gateway's socket, on a thread of its own, until `exits` is closed.

    Args:
        exits: Closed before the society is.
        directory: Where the socket, or the note where it is, is put.
        clock: The society's.
        society: The society.
        door: Takes in what guests post.
        reception: Answers what they ask.

    Returns:
        What cuts all guests off, or lets them in again.
    """
    io = IoThread(clock)
    exits.push_async_callback(io.aclose)
    io_loop = await io.call(_running_loop, wall_timeout_s=5.0)
    bridge = BusBridge(society.bus, io_loop)

    async def pause() -> None:
        # On this loop it would be society time, which may stand still.
        await asyncio.wrap_future(io.spawn(partial(asyncio.sleep, FEED_PAUSE_S)))

    feeding = asyncio.create_task(keep_feeding(bridge, pause), name="gateway bridge")
    io.spawn(partial(_keep_looking, bridge, society))

    async def publish(draft: Any, key: str) -> Any:
        return await bridge.on_society(lambda: door.publish_json(draft, key))

    async def ask(question: str, args: Any) -> str:
        return await bridge.on_society(lambda: reception.ask(question, args))

    async def report(event: Any) -> None:
        await bridge.on_society(lambda: reception.report(event))

    async def left(guest: str) -> None:
        await bridge.on_society(lambda: reception.left(guest))

    first = [envelope async for envelope in society.bus.read(1, 1)]
    guests = GuestHost(
        log_id=first[0].hash, source=bridge, publish=publish, ask=ask, report=report, left=left
    )
    server = GatewayServer(guests, data_dir=directory)
    io.spawn(server.serve).add_done_callback(_serving_ended)

    def cut_off(is_cut: bool) -> None:
        # Who ends meanwhile has nobody to cut off.
        if not io_loop.is_closed():
            io_loop.call_soon_threadsafe(server.cut_off, is_cut)

    async def end() -> None:
        feeding.cancel()
        await asyncio.gather(feeding, return_exceptions=True)

    exits.push_async_callback(end)
    return cut_off


async def keep_feeding(bridge: BusBridge, pause: Callable[[], Awaitable[None]]) -> None:
    """Run a bridge until its bus closes; after a fault anew, from where it was."""
    while True:
        try:
            return await bridge.run()
        except Exception as exc:
            _log.exception("guests get no messages: starting anew", why=f"{type(exc).__name__}: {exc}")
        await pause()


async def _keep_looking(bridge: BusBridge, society: Society) -> None:
    """Look for another host of the log, on the I/O thread: society time may stand still."""
    with suppress(HungUp):
        while True:
            await asyncio.sleep(LOOK_S)
            await bridge.on_society(society.bus.look)


def _serving_ended(serving: Future[None]) -> None:
    """Say so when the gateway's socket could not be opened; the society goes on without it."""
    if serving.cancelled() or (fault := serving.exception()) is None:
        return
    # Being closed with the society is how serving ends.
    if not isinstance(fault, IoThreadClosed):
        _log.error("no gateway socket: chat platforms stay dark", why=str(fault))


async def _running_loop() -> asyncio.AbstractEventLoop:
    return asyncio.get_running_loop()
