"""A small Discord over real sockets: REST v10, the gateway, interactions, limits, and trouble on command.

It runs on a thread with a loop of its own, so the code under test may be in this process or in another one.
What it knows survives `stop` and `start`. It enforces what Discord enforces, and answers in Discord's shapes::

    discord_state         what it knows             discord_routes, _hooks, _interactions   what REST does
    discord_limits        50035                     discord_http                            who may call what
    discord_buckets       429                       discord_gateway                         sessions and events
    discord_faults        trouble on command        discord_people, _text                   people, and what they see
    discord_handle        what tests hold

Use it as `with DiscordServer() as server`, or `python -m tests.doubles.discord_server PORT` by hand.
"""

from __future__ import annotations

import asyncio
import logging
import sys
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Any, TypeVar

from aiohttp import web

from tests.doubles.discord_buckets import Buckets
from tests.doubles.discord_faults import Faults
from tests.doubles.discord_gateway import Gateway
from tests.doubles.discord_handle import GuildHandle, PeopleHandle, TroubleHandle
from tests.doubles.discord_http import LARGEST_REQUEST, Http
from tests.doubles.discord_people import People
from tests.doubles.discord_state import Clock, World
from tests.doubles.loops import ServerLoop

T = TypeVar("T")
TOKEN = "MTIzNDU2Nzg5MDEyMzQ1Njc4.G4bcde.not_a_real_token_but_of_that_shape_0123"


class DiscordServer(GuildHandle, PeopleHandle, TroubleHandle):
    """The handle that tests hold; every method may be called from any thread.

    Args:
        rate_scale: What Discord's rate-limit windows are multiplied with; 1.0 is Discord.
        heartbeat_s: The heartbeat interval that clients are told.
        callback_s: How long an interaction waits for its first answer.
    """

    def __init__(
        self, *, rate_scale: float = 0.05, heartbeat_s: float = 41.25, callback_s: float = 3.0
    ) -> None:
        self.token = TOKEN
        self.clock = Clock()
        self.faults = Faults()
        self.world = World(token=self.token, clock=self.clock)
        self.world.callback_s = callback_s
        self.buckets = Buckets(rate_scale)
        self._gateway = Gateway(self.world, self.faults, heartbeat_s)
        self._http = Http(self.world, self.faults, self.buckets)
        self._people = People(self.world, lambda: self._http.base)
        self._loop = ServerLoop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="discord double", daemon=True)
        self._runner: web.AppRunner | None = None
        self.port = 0

    # life

    def __enter__(self) -> DiscordServer:
        self._thread.start()
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
        asyncio.run_coroutine_threadsafe(self._rest(), self._loop).result(30)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def start(self) -> None:
        """Listen again, on the same port as before."""
        asyncio.run_coroutine_threadsafe(self._start(), self._loop).result(30)

    def stop(self) -> None:
        """Cut every connection and refuse new ones; what is known stays, sessions too."""
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result(30)

    def restart(self, *, forget_sessions: bool = False) -> None:
        self.stop()
        if forget_sessions:
            self._call(self._gateway.sessions.clear)
        self.start()

    async def _start(self) -> None:
        if self._runner is not None:
            return
        self._gateway.is_stopping = False
        app = web.Application(client_max_size=LARGEST_REQUEST)
        self._http.add_routes(app)
        for path in ("/gateway", "/gateway/", "/resume", "/resume/"):
            app.router.add_get(path, self._gateway.serve)
        runner = web.AppRunner(
            app, access_log=None, shutdown_timeout=0.1, logger=logging.getLogger("discord double")
        )
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", self.port, reuse_address=True)
        await site.start()
        self.port = runner.addresses[0][1]
        self._http.base = f"http://127.0.0.1:{self.port}"
        self._gateway.resume_url = f"ws://127.0.0.1:{self.port}/resume"
        self._runner = runner

    async def _stop(self) -> None:
        if self._runner is None:
            return
        runner, self._runner = self._runner, None
        self._gateway.is_stopping = True
        for site in list(runner.sites):
            await site.stop()
        await self._cut_all()
        await runner.cleanup()
        await self._cut_all()

    async def _cut_all(self) -> None:
        # Only this server's connections live on this loop; those accepted a moment ago need some turns to be there.
        for _ in range(5):
            await asyncio.sleep(0)
        for transport in list(getattr(self._loop, "_transports", {}).values()):
            transport.abort()

    async def _rest(self) -> None:
        """End what still runs, such as requests that were cut off."""
        await self._cut_all()
        tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._cut_all()
        # A transport that was closed lets go of its socket in a later turn of the loop.
        for _ in range(10):
            await asyncio.sleep(0)

    def _call(self, work: Callable[..., T], *args: Any, **more: Any) -> T:
        """Do something on the server's loop, where nothing else moves meanwhile."""

        async def do() -> T:
            return work(*args, **more)

        return asyncio.run_coroutine_threadsafe(do(), self._loop).result(30)


def main() -> None:
    server = DiscordServer()
    server.port = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    with server:
        print(f"api = {server.api!r}  gateway = {server.gateway!r}  guild = {server.guild_id!r}", flush=True)
        print(f"MOOT_DISCORD_TOKEN={server.token}", flush=True)
        threading.Event().wait()


if __name__ == "__main__":
    main()
