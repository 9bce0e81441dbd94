"""The thread, the loop and the listening socket of the fake Slack server."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable, Coroutine
from types import TracebackType
from typing import Any, Self, TypeVar

from aiohttp import web

from tests.doubles.loops import ServerLoop

T = TypeVar("T")


class Life:
    """A web server that can be stopped and started on one port while its state lives on."""

    def __init__(self) -> None:
        self.port = 0
        self._loop = ServerLoop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="slack-server", daemon=True)
        self._runner: web.AppRunner | None = None

    def _routes(self, app: web.Application) -> None:
        raise NotImplementedError

    def _listening(self) -> None:
        raise NotImplementedError

    def _break(self) -> None:
        raise NotImplementedError

    def __enter__(self) -> Self:
        self._thread.start()
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._run(self._close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    @property
    def is_up(self) -> bool:
        return self._runner is not None

    def start(self) -> None:
        """Listen, on the same port as before."""
        self._run(self._start())

    def stop(self) -> None:
        """Refuse connections and break those that are there."""
        self._run(self._stop())

    def restart(self) -> None:
        self.stop()
        self.start()

    async def _start(self) -> None:
        if self._runner is not None:
            return
        app = web.Application(client_max_size=2**26)
        self._routes(app)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        listening = socket.socket()
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(("127.0.0.1", self.port))
        self.port = listening.getsockname()[1]
        self._listening()
        await web.SockSite(runner, listening).start()
        self._runner = runner

    async def _stop(self) -> None:
        if self._runner is None:
            return
        runner, self._runner = self._runner, None
        for site in list(runner.sites):
            await site.stop()
        self._break()
        if runner.server is not None:
            for connection in list(runner.server.connections):
                if connection.transport is not None:
                    connection.transport.abort()
        await runner.cleanup()

    async def _close(self) -> None:
        await self._stop()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(30)

    def _do(self, work: Callable[..., T], *args: Any, **named: Any) -> T:
        """Run a function on the server's loop; in this thread once that is over."""
        if not self._loop.is_running():
            return work(*args, **named)

        async def run() -> T:
            return work(*args, **named)

        return self._run(run())
