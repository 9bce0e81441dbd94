"""When the servers do not answer the leader: the society waits until they do, and nobody is late for that (K6, K17)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import ExitStack
from typing import Final

from moot.channels.nats.connection import NatsConnection
from moot.channels.nats.lease import NatsLease
from moot.channels.nats.thread import NatsThread
from moot.clock import Clock

SILENT_S: Final = 4.0
"""The lease is renewed every second: after so long without an answer, nobody there answers."""
LOOK_S: Final = 0.25


class Waiting:
    """Lets society time stand still while the servers are away; a real clock says afterwards what it lost."""

    def __init__(self, nats: NatsThread, lease: NatsLease, clock: Clock, tell: Callable[[str], None]) -> None:
        """Watch from now on; on the society's loop.

        Args:
            nats: The connection.
            lease: The leader's, whose renewals show whether somebody answers.
            clock: The society's.
            tell: Told in one line that the society waits, and that it goes on.
        """
        self._lease = lease
        self._clock = clock
        self._tell = tell
        self._where = nats.address.where
        self._loop = asyncio.get_running_loop()
        self._still = ExitStack()
        self._is_closed = False
        self.is_on = False
        self._watching: Future[None] = nats.run(self._watch)

    def close(self) -> None:
        """Watch no more, and let time pass; safe to call twice."""
        self._is_closed = True
        self._watching.cancel()
        self._still.close()

    async def _watch(self, _connection: NatsConnection) -> None:
        was_on = False
        while True:
            is_on = asyncio.get_running_loop().time() - self._lease.answered_s > SILENT_S
            if is_on != was_on:
                was_on = is_on
                try:
                    self._loop.call_soon_threadsafe(self._set, is_on)
                except RuntimeError:
                    return
            await asyncio.sleep(LOOK_S)

    def _set(self, is_on: bool) -> None:
        if self._is_closed:
            return
        self.is_on = is_on
        if is_on:
            self._still.enter_context(self._clock.still())
            self._tell(f"{self._where} does not answer: the society waits until it does")
        else:
            self._still.close()
            self._tell(f"{self._where} answers again: the society goes on")
