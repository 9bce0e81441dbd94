"""Running a society wherever the caller is: in a script, beside a loop that runs already, or awaited.

A society has an event loop of its own, in its own time. Where a loop runs already, in a notebook or in a coroutine, it
gets a thread of its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from contextvars import copy_context
from datetime import datetime
from threading import Thread
from typing import TypeVar

from moot.clock import VirtualClock

T = TypeVar("T")

Work = Callable[[VirtualClock], T]
"""What runs a society on a clock, and returns when it has ended."""


def run(work: Work[T], start: datetime) -> T:
    """Run a society from a function; while it runs, nothing else happens in this thread.

    Ctrl-C, or a notebook's stop button, ends it.

    Args:
        work: The society.
        start: Where its time begins.
    """
    clock = VirtualClock(start)
    if not _is_loop_running():
        return work(clock)
    future = _started(work, clock)
    try:
        return future.result()
    except BaseException:
        clock.cancel()
        future.exception()  # the society closes its files first
        raise


async def arun(work: Work[T], start: datetime) -> T:
    """Run a society from a coroutine, whose loop goes on meanwhile; cancelling it ends the society."""
    clock = VirtualClock(start)
    future = asyncio.wrap_future(_started(work, clock))
    try:
        await asyncio.wait([future])
    except asyncio.CancelledError:
        clock.cancel()
        await asyncio.wait([future])
        future.exception()
        raise
    return future.result()


def _is_loop_running() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _started(work: Work[T], clock: VirtualClock) -> Future[T]:
    """Start a society on a thread of its own, in the caller's context."""
    future: Future[T] = Future()
    context = copy_context()

    def live() -> None:
        try:
            future.set_result(context.run(work, clock))
        except BaseException as error:
            future.set_exception(error)

    # A daemon, so that a mind that never returns cannot keep the process from ending.
    Thread(target=live, name="moot", daemon=True).start()
    return future
