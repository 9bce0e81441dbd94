"""Ends a gateway with the society that spawned it, and on SIGTERM or SIGINT (K25).

The sure sign is a pipe: whoever spawns a gateway keeps the writing end of its standard input open and writes
nothing; the kernel closes it however that process ends. Without a pipe, a changed parent process id is asked
for once a second.
"""

from __future__ import annotations

import asyncio
import os
import signal
import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

LOOK_S: Final = 1.0
"""How often the parent is looked for when there is no pipe from it."""


@contextmanager
def ending_with_parent(stop: asyncio.Event, *, lifeline: int | None = 0) -> Iterator[None]:
    """Set `stop` when the parent is gone or a signal says so; for a running loop.

    Args:
        stop: What to set.
        lifeline: The file descriptor that ends with the parent, standard input by default; None: do not watch
            the parent at all.
    """
    loop = asyncio.get_running_loop()
    signals = (signal.SIGTERM, signal.SIGINT) if threading.current_thread() is threading.main_thread() else ()
    for number in signals:
        loop.add_signal_handler(number, stop.set)
    watching: asyncio.Task[None] | None = None
    is_pipe = lifeline is not None and _is_pipe(lifeline)
    if lifeline is not None and is_pipe:
        loop.add_reader(lifeline, _read_on, lifeline, stop)
    elif lifeline is not None:
        watching = asyncio.create_task(_look(os.getppid(), stop))
    try:
        yield
    finally:
        for number in signals:
            loop.remove_signal_handler(number)
        if lifeline is not None and is_pipe:
            loop.remove_reader(lifeline)
        if watching is not None:
            watching.cancel()


def _is_pipe(descriptor: int) -> bool:
    with suppress(OSError):
        mode = os.fstat(descriptor).st_mode
        return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)
    return False


def _read_on(descriptor: int, stop: asyncio.Event) -> None:
    try:
        said = os.read(descriptor, 4096)
    except (BlockingIOError, InterruptedError):
        return
    except OSError:
        said = b""
    if not said:
        asyncio.get_running_loop().remove_reader(descriptor)
        stop.set()


async def _look(parent: int, stop: asyncio.Event) -> None:
    while os.getppid() == parent:  # noqa: ASYNC110  # nothing tells of it
        await asyncio.sleep(LOOK_S)
    stop.set()
