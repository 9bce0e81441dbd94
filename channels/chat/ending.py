"""Ending: what a surface that works waits for, and how it is given up over what only a person can put right."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Generator
from contextlib import contextmanager
from typing import Any

from moot.channels.surface import SurfaceConfigError, SurfaceDown


class Ending:
    """Ends `Surface.watch`."""

    def __init__(self) -> None:
        """Begin; needs a running loop."""
        self._given_up: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    @contextmanager
    def over_trouble(self) -> Generator[None]:
        """End the surface over what calling again would not help; the message waits.

        Raises:
            SurfaceDown: In place of a `SurfaceConfigError`, which is told by `wait`.
        """
        try:
            yield
        except SurfaceConfigError as exc:
            if not self._given_up.done():
                self._given_up.set_exception(exc)
                # Where nobody waits, the loop is not to complain.
                self._given_up.exception()
            raise SurfaceDown(str(exc), maybe_posted=False) from None

    async def wait(
        self, *works: asyncio.Task[None], watching: Coroutine[Any, Any, None] | None = None
    ) -> None:
        """Return never while all goes on; raise what ended first.

        Args:
            works: What the surface does; goes on when this is cancelled.
            watching: What else ends it; ends with this.
        """
        ends: list[asyncio.Future[None]] = [self._given_up, *works]
        watch = asyncio.create_task(watching, name="watching") if watching is not None else None
        if watch is not None:
            ends.append(watch)
        try:
            done, _ = await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            for end in ends:
                if end in done:
                    end.result()
        finally:
            if watch is not None:
                watch.cancel()
                await asyncio.gather(watch, return_exceptions=True)

    def close(self) -> None:
        """Let go; safe to call twice."""
        self._given_up.cancel()
