"""The host's end of the gateway socket: streams the log to guests and takes their drafts (K3, K22).

It runs on the society's I/O thread, never on its own loop. A guest is a cursor: nothing is queued for it, so
a slow or stuck one costs a few hundred kilobytes and delays nobody.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Final

import structlog

from moot.channels.gateway import address
from moot.channels.gateway.guest import Guest, GuestHost
from moot.channels.gateway.protocol import GatewayError
from moot.channels.turns import settle

FAREWELL_S: Final = 0.5
"""How long a guest has to read the last words."""


class GatewayServer:
    """Serves guests on a local socket; `serve` is its whole life."""

    def __init__(self, host: GuestHost, *, data_dir: Path) -> None:
        """Prepare.

        Args:
            host: What guests get.
            data_dir: Where the socket, or the note where it is, is put; its lease is ours.
        """
        self._host = host
        self._data_dir = data_dir
        self._guests: set[asyncio.Task[None]] = set()
        # Held here, for the loop holds us and not the task that waits: it must not be collected.
        self._never = asyncio.Event()
        self._is_over = False
        self._is_cut_off = False
        self._log = structlog.get_logger()

    async def serve(self, ready: Callable[[Path], None] = lambda _path: None) -> None:
        """Listen until cancelled, then hang up on everybody and remove the socket (K25).

        Args:
            ready: Called with the socket's path once guests can connect.

        Raises:
            OSError: The data directory cannot be written.
        """
        bound, path = address.listen(self._data_dir)
        ours = address.mark(path)
        try:
            server = await asyncio.start_unix_server(self._greet, sock=bound)
            ready(path)
            try:
                await self._never.wait()
            finally:
                self._is_over = True
                # A server that is closed forgets whom it was just accepting: they are greeted first, and let go.
                asyncio.get_running_loop().remove_reader(bound)
                await settle()
                server.close()
                for task in self._guests:
                    task.cancel()
                await asyncio.gather(*self._guests, return_exceptions=True)
                await settle()
        finally:
            # A host that took over listens at the same path. The socket is open yet, so its mark is nobody else's; from
            # Python 3.13 on the closed server has removed its file, so that there is none.
            is_ours = address.mark(address.find(self._data_dir)) in {ours, None}
            bound.close()
            if is_ours:
                address.forget(self._data_dir)

    def cut_off(self, is_cut: bool) -> None:
        """Hang up on everybody and let nobody in, until told otherwise; in a rehearsal."""
        self._is_cut_off = is_cut
        if is_cut:
            for task in self._guests:
                task.cancel()

    def _greet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._is_over or self._is_cut_off:
            writer.transport.abort()
            return
        # A task of our own: one that asyncio makes for a coroutine is not ours to cancel and await.
        task = asyncio.create_task(self._serve_guest(reader, writer))
        self._guests.add(task)
        task.add_done_callback(lambda done: self._gone(done, writer))

    def _gone(self, task: asyncio.Task[None], writer: asyncio.StreamWriter) -> None:
        self._guests.discard(task)
        # A task that is cancelled before its first step hangs up on nobody.
        if not writer.is_closing():
            writer.transport.abort()

    async def _serve_guest(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await Guest(self._host, reader, writer).serve()
        except (GatewayError, OSError) as exc:
            self._log.info("guest left", why=str(exc))
        except Exception as exc:
            self._log.error("guest dropped", why=f"{type(exc).__name__}: {exc}")
        finally:
            await _hang_up(writer)


async def _hang_up(writer: asyncio.StreamWriter) -> None:
    writer.close()
    is_closed = False
    try:
        async with asyncio.timeout(FAREWELL_S):
            await writer.wait_closed()
        is_closed = True
    except OSError:
        pass
    finally:
        # A guest that does not read would keep the connection open for ever; a closed one cannot be aborted.
        if not is_closed:
            writer.transport.abort()
