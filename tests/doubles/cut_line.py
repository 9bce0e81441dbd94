"""A line to a server that can be cut as a network is: nothing arrives any more, and nobody is told."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any, Self

READ_BYTES = 65_536


class CutLine:
    """Forwards connections from a port of its own; `with` opens and closes it."""

    def __init__(self, port: int) -> None:
        """Prepare a line to a port of this machine."""
        self.port = 0
        self._to = port
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), name="line")

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(60)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(60)

    def cut(self, *, there: bool = True, back: bool = True) -> None:
        """Let nothing through from now on, there or back or both; what is sent meanwhile waits on the way."""
        for is_cut, way in ((there, self._there), (back, self._back)):
            if is_cut:
                self._loop.call_soon_threadsafe(way.clear)

    def mend(self) -> None:
        """Let everything through again, also what was on its way."""
        for way in (self._there, self._back):
            self._loop.call_soon_threadsafe(way.set)

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stop, self._there, self._back = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self._there.set()
        self._back.set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._writers: list[asyncio.StreamWriter] = []
        server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._stop.wait()
        server.close()
        for task in [*self._tasks]:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for writer in self._writers:
            writer.transport.abort()
            with suppress(OSError):
                await writer.wait_closed()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.append(writer)
        # Not this task, of which asyncio itself takes care.
        self._begin(self._carry(reader, writer))

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            await self._there.wait()
            other_reader, other_writer = await asyncio.open_connection("127.0.0.1", self._to)
            self._writers.append(other_writer)
            self._begin(self._pump(reader, other_writer, self._there))
            self._begin(self._pump(other_reader, writer, self._back))

    async def _pump(
        self, source: asyncio.StreamReader, sink: asyncio.StreamWriter, way: asyncio.Event
    ) -> None:
        with suppress(OSError):
            while data := await source.read(READ_BYTES):
                await way.wait()
                sink.write(data)
                await sink.drain()
        sink.close()
