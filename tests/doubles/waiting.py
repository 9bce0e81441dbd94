"""Waiting in wall time for something to become true."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


async def until(is_true: Callable[[], object], *, within_s: float = 20.0, look_s: float = 0.002) -> None:
    """Return as soon as `is_true()` is; fail with what it last was when that takes too long."""
    loop = asyncio.get_running_loop()
    end = loop.time() + within_s
    while not (last := is_true()):
        if loop.time() > end:
            raise AssertionError(f"still {last!r} after {within_s:g} s")
        await asyncio.sleep(look_s)
