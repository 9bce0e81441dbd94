"""Running a society wherever the caller is: in a script, beside a loop that runs already, or awaited.

A society has an event loop of its own, in its own time. Where a loop runs already, in a notebook or in a coroutine, it
gets a thread of its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextvars import copy_context
from datetime import datetime
from functools import wraps
from inspect import signature
from threading import Thread
from typing import Any, Generic, NamedTuple, ParamSpec, TypeVar

from moot.clock import VirtualClock

T = TypeVar("T")
P = ParamSpec("P")

Work = Callable[[VirtualClock], T]
"""What runs a society on a clock, and returns when it has ended."""


class Prepared(NamedTuple, Generic[T]):
    """A society that can be run, all that was given checked.

    Attributes:
        work: It.
        start: Where its time begins.
    """

    work: Work[T]
    start: datetime


def twins(
    prepare: Callable[P, Prepared[T]],
) -> tuple[Callable[P, T], Callable[P, Coroutine[Any, Any, T]]]:
    """Make a function and its twin for `await`; `prepare` has their arguments, and their documentation."""
    name = prepare.__name__.lstrip("_")
    prepare.__qualname__ = name  # Python names it where an argument is unknown

    @wraps(prepare)
    def here(*args: P.args, **kwargs: P.kwargs) -> T:
        return run(*prepare(*args, **kwargs))

    @wraps(prepare)
    async def awaited(*args: P.args, **kwargs: P.kwargs) -> T:
        return await arun(*await asyncio.to_thread(prepare, *args, **kwargs))

    gives = signature(prepare)
    gives = gives.replace(
        return_annotation=str(gives.return_annotation).removeprefix("Prepared[").removesuffix("]")
    )
    for made, called in ((here, name), (awaited, f"a{name}")):
        made.__name__ = made.__qualname__ = called
        setattr(made, "__signature__", gives)  # noqa: B010  # typing knows no such attribute
    awaited.__doc__ = f"Do as `{name}` does, on a thread of its own, while the caller's loop goes on."
    return here, awaited


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
