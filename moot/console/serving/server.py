"""Serves the console on a port of the running loop, until cancelled."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import os
import socket
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, NoReturn

import structlog
import uvicorn
from fastapi import FastAPI

from moot.channels.gateway.client import Requests
from moot.channels.gateway.link import FindAddress
from moot.config.settings import Settings
from moot.console.binding import QUEUE, bind
from moot.console.errors import CannotServe
from moot.console.model.interface import OWNER, VIEWER
from moot.console.model.live import Live
from moot.console.options import HOST, ConsoleOptions
from moot.console.reading.courtesy import Attending
from moot.console.reading.health import LogHealth
from moot.console.serving.access import NAME, Access
from moot.console.serving.allowance import Allowances
from moot.console.serving.api import TITLE, add_api, person_of
from moot.console.serving.front import Front, ask_for_files
from moot.console.serving.guard import Guard
from moot.console.serving.metrics import Metrics
from moot.console.watching import Watching
from moot.version import MOOT_VERSION

FAREWELL_S: Final = 0.5
"""How long open connections have to end: sockets and streams do so at once, a long poll or half a request never."""

LOOK_S: Final = 0.25
"""How often the file of tokens is looked at, in wall time, beside every request."""

AT_ONCE: Final = 64
"""Connections that are taken in before those that have come are looked at: of too many, the oldest go in between."""

Tell = Callable[[str, str], None]
"""Told the address with the owner's token and the one with the viewers', once people can come."""


def print_line(line: str) -> None:
    """Print a line; whoever started us passes it on to its terminal."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


async def serve(
    console: ConsoleOptions,
    directory: Path,
    settings: Settings,
    requests: Requests | None,
    find: FindAddress,
    *,
    tell: Tell | None = None,
    remark: Callable[[str], None] = print_line,
) -> None:
    """Watch a society and serve it until cancelled (K25).

    Args:
        console: How.
        directory: Its data directory.
        settings: Who is an admin, what viewers read.
        requests: The way to the society, kept running by the caller; None: nobody can act.
        find: Where the society's socket is.
        tell: Told the addresses, once people can come.
        remark: Told in a line what the owner should hear of the tokens.

    Raises:
        CannotServe: The port is in use, or it would be open to others without tokens of the owner's choice.
    """
    watching = Watching(directory, settings, requests=None if console.is_read_only else requests, find=find)
    ask_for_files()
    access = open_access(console, directory, watching)
    if access.remark:
        remark(access.remark)
    bound = bind(console)
    try:
        port = bound.getsockname()[1]
        model = Live(watching)
        health = LogHealth(directory)
        metrics = Metrics(model, health)
        watching.hears.append(metrics.hear)
        watching.publishing = metrics.publishing
        app = application(console, model, watching, metrics, health)
        guard = guarded(Attending(app, watching.courtesy), access, console, port, watching.allowances)
        if tell is not None:
            base = console.public_url.rstrip("/") or f"http://{_name(console.host)}:{port}"
            tell(_address(base, access, OWNER), _address(base, access, VIEWER))
        front = Front()
        turning_out = asyncio.create_task(_turn_out(access, front), name="console access")
        try:
            await _serve(guard, bound, watching, metrics, health, front)
        finally:
            turning_out.cancel()
    finally:
        bound.close()


async def _turn_out(access: Access, front: Front) -> NoReturn:
    """Close the pages and streams of whoever may not come in any more."""
    seen = access.generation
    while True:
        await asyncio.sleep(LOOK_S)
        access.refresh()
        if access.generation != seen:
            seen = access.generation
            front.turn_out(access.holds)


def open_access(console: ConsoleOptions, directory: Path, watching: Watching) -> Access:
    """Read the tokens, or make them where only this machine can reach the console.

    Raises:
        CannotServe: The console would be open to others without a `token_file`, or the file is not usable.
    """
    if console.token_file is not None:
        return Access.load(console.token_file.expanduser(), watching.authority)
    if not is_loopback(console.host):
        raise CannotServe(
            f"{console.host} can be reached by others: name a token_file of your own in [console],"
            f" or bind it to {HOST}"
        )
    fresh = os.urandom  # noqa: TID251  # a token is chance, and nothing in the log depends on it
    return Access.load(directory / NAME, watching.authority, fresh=fresh)


def is_loopback(host: str) -> bool:
    """Say whether only this machine reaches a host."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def application(
    console: ConsoleOptions, model: Live, watching: Watching, metrics: Metrics, health: LogHealth
) -> FastAPI:
    """Assemble the routes: the API, and the page after it."""
    app = FastAPI(
        title=TITLE, version=MOOT_VERSION, docs_url=None, redoc_url=None, openapi_url="/api/openapi.json"
    )
    add_api(app, model, watching.hub, metrics, health)
    if console.has_page:
        from moot.console.page.mount import mount

        mount(app, model, person_of)
    return app


def guarded(
    app: Any, access: Access, console: ConsoleOptions, port: int, allowances: Allowances | None = None
) -> Guard:
    """Put the guard before the routes."""
    names = {f"{name}:{port}" for name in ("127.0.0.1", "localhost", "[::1]", _name(console.host))}
    return Guard(
        app,
        access,
        allowances=allowances,
        names=names,
        is_public=not is_loopback(console.host),
        port=port,
        origin=console.public_url,
    )


class _Server(uvicorn.Server):
    """Uvicorn without signal handlers: the process it is a guest of has its own."""

    def __init__(self, config: uvicorn.Config, bound: socket.socket) -> None:
        super().__init__(config)
        self._bound = bound

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        # Asyncio takes one number for how many may wait and for how many are taken in at once.
        self._bound.listen(QUEUE)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


async def _serve(
    app: Any, bound: socket.socket, watching: Watching, metrics: Metrics, health: LogHealth, front: Front
) -> None:
    http, socket_of = front.protocols
    config = uvicorn.Config(
        app,
        http=http,
        ws=socket_of,
        backlog=AT_ONCE,
        # What strangers send is no news, and an address may hold a token; the guard says what fails.
        log_level="critical",
        proxy_headers=False,
        log_config=None,
        access_log=False,
        server_header=False,
        lifespan="on",
        ws_max_size=1_048_576,
        ws_ping_interval=20.0,
        timeout_graceful_shutdown=FAREWELL_S,  # type: ignore[arg-type]  # it is only waited for
    )
    server = _Server(config, bound)
    tasks = [
        asyncio.create_task(watching.run(), name="console watching"),
        asyncio.create_task(metrics.watch_loop(), name="console loop lag"),
        asyncio.create_task(health.watch(), name="console log health"),
        asyncio.create_task(server.serve(sockets=[bound]), name="console server"),
    ]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        # Streams end with the hub, so that the server need not wait for them.
        watching.hub.close()
        watching.courtesy.end()
        server.should_exit = True
        await asyncio.shield(asyncio.ensure_future(_end(tasks)))


async def _end(tasks: list[asyncio.Task[None]]) -> None:
    watching, lag, health, server = tasks
    for task in (lag, health, watching):
        task.cancel()
    found = await asyncio.gather(server, lag, health, watching, return_exceptions=True)
    for fault in found:
        if isinstance(fault, Exception):
            structlog.get_logger("moot.console").warning("console ended", why=str(fault))


def _address(base: str, access: Access, user_id: str) -> str:
    token = access.token_of(user_id)
    return f"{base}/?token={token}" if token else ""


def _name(host: str) -> str:
    """Write a host as it stands in an address."""
    return f"[{host}]" if ":" in host else host
