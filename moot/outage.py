"""When the disk does not take the log: the society waits until it does, and nobody is late for that (K6, K17).

Its clock stands still meanwhile (`Clock.still`). Once the disk takes messages again an AUDIT line says how long it was;
a real clock is behind then, and what it lost the society says as after any stall (K6).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Final

import structlog

from moot.channels.bus import Bus
from moot.channels.errors import BusClosed, StorageError
from moot.clock import Clock
from moot.protocols.kernel.envelope import Draft

AGAIN_S: Final = 0.5
"""Wall seconds between two attempts to write: what is not taken leaves nothing, however long it goes on."""

SAME_NS: Final = 2_000_000_000
LONGEST_S: Final = 8.0
"""An outage that follows another within so much wall time is the same, and its attempts are twice as far apart, at most
so many seconds: each end is told, and what tells it takes up room."""

_log = structlog.get_logger("moot.outage")


class Outage:
    """Holds up whoever publishes while the disk takes nothing."""

    def __init__(
        self,
        bus: Bus,
        clock: Clock,
        *,
        audit: Callable[[str], Draft],
        tell: Callable[[str], None] = lambda _line: None,
    ) -> None:
        """Watch a bus.

        Args:
            bus: What writes the log.
            clock: The society's.
            audit: Makes an AUDIT line of what happened.
            tell: Told in one line that the society waits, and that it goes on.
        """
        self._bus = bus
        self._clock = clock
        self._audit = audit
        self.tell = tell
        self.why = ""
        self._is_over = asyncio.Event()
        self._is_over.set()
        self._is_closed = False
        self._pause_s = AGAIN_S
        self._ended_ns = -SAME_NS
        self._waiting: asyncio.Task[None] | None = None

    @property
    def is_on(self) -> bool:
        """Say whether the disk takes nothing now."""
        return not self._is_over.is_set()

    async def over(self) -> None:
        """Wait until messages can be published."""
        await self._is_over.wait()

    def note(self, fault: StorageError) -> bool:
        """Take in that a message was not stored.

        Returns:
            Whether its publisher is to wait with `over` and try again; a society that closes does not wait.
        """
        if self._is_closed:
            return False
        if not self.is_on:
            self.why = str(fault)
            self._is_over.clear()
            self._waiting = asyncio.create_task(self._wait(), name="outage")
        return True

    async def _wait(self) -> None:
        began_ns = self._clock.wall_ns()
        # A disk that is nearly full takes a small message and then refuses a large one: that is one outage.
        is_same = began_ns - self._ended_ns < SAME_NS
        self._pause_s = min(2 * self._pause_s, LONGEST_S) if is_same else AGAIN_S
        if not is_same:
            _log.info("the log cannot be written: the society waits", why=self.why)
            self._say(f"the log cannot be written ({self.why}): the society waits until it can")
        try:
            with self._clock.still():
                while True:
                    await self._clock.wait_wall(self._pause_s)
                    if await self._is_written(began_ns):
                        break
        except BusClosed:
            return
        finally:
            self._ended_ns = self._clock.wall_ns()
            self._is_over.set()
        _log.info("the log can be written again", outage_s=round((self._ended_ns - began_ns) / 1e9, 1))
        self._say("the log can be written again: the society goes on")

    def _say(self, line: str) -> None:
        # Where people read it may be on the same disk.
        with suppress(OSError):
            self.tell(line)

    async def _is_written(self, began_ns: int) -> bool:
        """Try to write what has to be said first; nobody else publishes meanwhile."""
        try:
            wall_s = (self._clock.wall_ns() - began_ns) / 1e9
            await self._bus.publish(
                self._audit(f"the disk did not take the log for {wall_s:.0f} s: {self.why}")
            )
        except StorageError as fault:
            self.why = str(fault)
            return False
        return True

    async def close(self) -> None:
        """Let everybody go: from now on what is not stored fails."""
        self._is_closed = True
        if self._waiting is not None:
            self._waiting.cancel()
            await asyncio.gather(self._waiting, return_exceptions=True)
