"""Blocking work in a thread."""

import asyncio
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from moot.clock.base import Clock

P = ParamSpec("P")
T = TypeVar("T")


async def in_thread(clock: Clock, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """Run blocking `fn` in a thread of the loop's executor while virtual time stands still (K2).

    Cancelling ends the wait and the hold, not the thread: `fn` runs to its end and its result is dropped.

    Raises:
        Exception: Whatever `fn` raises.
    """
    with clock.hold():
        return await asyncio.to_thread(fn, *args, **kwargs)
