"""Ending a loop of a server double: what it accepted in its last turn is closed by hand."""

from __future__ import annotations

import asyncio
import gc
from asyncio import selector_events


def close_loop(loop: asyncio.AbstractEventLoop) -> None:
    """Close a loop that has stopped, and every socket that it still holds.

    A connection that is accepted while the server shuts down may get its transport after the last look; its
    client has been told nothing either way, and nobody but the collector would close it.
    """
    for one in gc.get_objects():
        if isinstance(one, selector_events._SelectorTransport) and one._loop is loop:
            sock, one._sock = one._sock, None
            if sock is not None:
                sock.close()
    loop.close()
