"""Binding of the console's port, and the search for a free one."""

from __future__ import annotations

import errno
import socket
from dataclasses import replace
from typing import Final

from moot.console.errors import CannotServe
from moot.console.options import ConsoleOptions

QUEUE: Final = 4_096
"""Connections that wait to be accepted, so that a client that opens many does not hold up others."""
MAX_PORTS_TRIED: Final = 100
"""Ports above a busy one that are tried."""
LAST_PORT: Final = 65_535


def bind(console: ConsoleOptions) -> socket.socket:
    """Bind the console's port.

    Raises:
        CannotServe: It is in use, or the host is not this machine.
    """
    try:
        found = socket.getaddrinfo(
            console.host, console.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        family, kind, protocol, _, where = found[0]
        bound = socket.socket(family, kind, protocol)
    except (OSError, UnicodeError) as exc:
        raise CannotServe(f"{console.host} is no address of this machine: {exc}") from exc
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(where)
        # Who comes from now on waits until the server takes over, instead of being turned away.
        bound.listen(QUEUE)
    except OSError as exc:
        bound.close()
        if exc.errno == errno.EADDRINUSE:
            raise CannotServe(
                f"port {console.port} on {console.host} is in use: choose another with --port"
            ) from exc
        raise CannotServe(f"{console.host}:{console.port}: {exc.strerror or exc}") from exc
    bound.setblocking(False)
    return bound


def usable_port(console: ConsoleOptions, *, is_chosen: bool) -> int:
    """Return the port that the console can take, the next free one above a busy one.

    Args:
        console: Where it is to be served.
        is_chosen: Whether a person asked for just this port.

    Raises:
        CannotServe: The chosen port is in use, or no port near it is free.
    """
    last = console.port if is_chosen or not console.port else min(console.port + MAX_PORTS_TRIED, LAST_PORT)
    for port in range(console.port, last + 1):
        try:
            bind(replace(console, port=port)).close()
        except CannotServe as exc:
            # Another reason than a busy port holds for every port, and the gateway says it.
            if not isinstance(exc.__cause__, OSError) or exc.__cause__.errno != errno.EADDRINUSE:
                return console.port
            if port == last:
                raise
        else:
            return port
    return console.port
