"""The hub: what is new, for any number of pages, without a queue for any of them."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Sequence
from contextlib import suppress
from itertools import islice
from typing import Final

from moot.console.model.interface import Batch
from moot.protocols.kernel.envelope import Envelope

RING: Final = 2_048
"""Recent messages that are kept for pages."""

MOST_BATCH: Final = 200
"""Messages of one batch; a page that is further behind reloads its window."""


class Hub:
    """Keeps the newest messages and wakes whoever waits for more.

    A page is a cursor. It is woken once, however much came meanwhile, and takes what is there.

    Attributes:
        head: Seq of the newest message.
        generation: Grows when the log is replaced by another one.
        readers: How many pages and streams listen.
    """

    def __init__(self, ring: int = RING) -> None:
        """Start before the first message."""
        self.head = 0
        self.generation = 0
        self.readers = 0
        self._stirred = 0
        self._ring: deque[Envelope] = deque(maxlen=ring)
        self._news: asyncio.Future[None] | None = None
        self._is_closed = False

    def start_at(self, head: int) -> None:
        """Begin with a log that is so long; whoever listens must reload."""
        self.head = head
        self.generation += 1
        self._ring.clear()
        self.wake()

    def put(self, envelopes: Sequence[Envelope], head: int) -> None:
        """Add new messages.

        Args:
            envelopes: In order; a line that is no message is left out.
            head: The log's end with them.
        """
        self._ring.extend(envelopes)
        self.head = head
        self.wake()

    def after(self, seq: int) -> list[Envelope] | None:
        """Return the kept messages after a seq; None when some that came after it are not kept any more."""
        behind = self.head - seq
        if behind <= 0:
            return []
        ring = self._ring
        if not ring or ring[0].seq > seq + 1:
            return None
        return [env for env in islice(ring, max(0, len(ring) - behind), None) if env.seq > seq]

    def stir(self) -> None:
        """Give everybody an empty batch: something else than the log has changed."""
        self._stirred += 1
        self.wake()

    def wake(self) -> None:
        """Let everybody look whether there is something for them."""
        news, self._news = self._news, None
        if news is not None and not news.done():
            news.set_result(None)

    async def reached(self, seq: int, within_s: float) -> None:
        """Wait until the log is known up to a message, or until that takes too long."""
        generation = self.generation
        with suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                while self.head < seq and generation == self.generation and not self._is_closed:
                    await self._wait()

    def close(self) -> None:
        """End all `changes`."""
        self._is_closed = True
        self.wake()

    async def changes(self, cursor: int) -> AsyncGenerator[Batch, None]:
        """Yield what comes after `cursor` in batches, until the hub is closed."""
        generation, stirred = self.generation, self._stirred
        self.readers += 1
        try:
            while not self._is_closed:
                if generation != self.generation or cursor > self.head:
                    generation, cursor = self.generation, self.head
                    yield Batch((), cursor, must_reload=True)
                elif cursor < self.head:
                    found = self.after(cursor) if self.head - cursor <= MOST_BATCH else None
                    cursor = self.head
                    yield Batch((), cursor, True) if found is None else Batch(tuple(found), cursor)
                elif stirred != self._stirred:
                    stirred = self._stirred
                    yield Batch((), cursor)
                else:
                    await self._wait()
        finally:
            self.readers -= 1

    async def _wait(self) -> None:
        if self._news is None or self._news.done():
            self._news = asyncio.get_running_loop().create_future()
        await asyncio.shield(self._news)
