"""Waiting for something to become true: on an ordinary loop, and on a society's while its time stands."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable


async def until(is_true: Callable[[], object], *, within_s: float = 60.0, look_s: float = 0.002) -> None:
    """Return as soon as `is_true()` is; fail with what it last was when that takes too long.

    It counts in the loop's time: on a society's loop that may stand still (`until_though_time_stands`).
    """
    loop = asyncio.get_running_loop()
    end = loop.time() + within_s
    while not (last := is_true()):
        if loop.time() > end:
            raise AssertionError(f"still {last!r} after {within_s:g} s")
        await asyncio.sleep(look_s)


async def until_though_time_stands(is_true: Callable[[], object], *, within_s: float = 60.0) -> None:
    """Do as `until` does, in wall time, on a loop whose own time may stand still for ever."""
    end = time.monotonic() + within_s
    while not (last := is_true()):
        if time.monotonic() > end:
            raise AssertionError(f"still {last!r} after {within_s:g} s")
        await asyncio.to_thread(time.sleep, 0.01)
