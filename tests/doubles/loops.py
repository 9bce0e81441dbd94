"""The loop of a server double: it knows its connections, and ends them all when it closes."""

from __future__ import annotations

import asyncio
import socket
import weakref
from typing import Any


class ServerLoop(asyncio.SelectorEventLoop):
    """A loop that lets no socket outlive it.

    A connection that is accepted while the server shuts down may get its transport after the server's last look,
    and one that is closing is closed in a turn that never comes. Its client has been told nothing either way, and
    only the collector would close it, in the middle of some other test.
    """

    def __init__(self) -> None:
        super().__init__()
        self._made: weakref.WeakSet[asyncio.Transport] = weakref.WeakSet()

    def _make_socket_transport(self, sock: socket.socket, *given: Any, **more: Any) -> asyncio.Transport:
        made: asyncio.Transport = super()._make_socket_transport(sock, *given, **more)  # type: ignore[misc]
        self._made.add(made)
        return made

    async def _accept_connection2(
        self,
        factory: Any,
        conn: socket.socket,
        extra: Any,
        sslcontext: Any = None,
        server: Any = None,
        *more: Any,
    ) -> None:
        # A server that has been closed would make a transport and forget it.
        if server is not None and not server.is_serving():
            conn.close()
            return
        await super()._accept_connection2(factory, conn, extra, sslcontext, server, *more)  # type: ignore[misc]

    def close(self) -> None:
        for one in list(self._made):
            held, one._sock = one._sock, None  # type: ignore[attr-defined]
            if held is not None:
                held.close()
        super().close()
