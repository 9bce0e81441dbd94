"""The readable end of the log, held in memory, and those who wait at it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Final

from moot.channels.bus import Subscription
from moot.channels.errors import BusClosed
from moot.protocols.kernel.envelope import Envelope

FAIR: Final = 256
"""A subscriber that has plenty to read lets the others run after this many envelopes."""

Page = Callable[[int], Awaitable[Sequence[Envelope]]]
"""Fetch some envelopes from a seq on, at least one; for what lies before the window."""


class Feed:
    """A window on the last envelopes; readers hold a seq in it, never a queue of messages (K13).

    Delivery: a reader that is behind is served without suspending; one that caught up waits on a future of
    its own, and all who wait are woken once per append, in the order in which they began to wait.

    Args:
        base: Seq of the last envelope before the window.
        window: How many envelopes are kept at least; None: all.
        page: How readers get at what the window no longer holds.
    """

    def __init__(self, base: int = 0, *, window: int | None = None, page: Page | None = None) -> None:
        self.base = base
        self.items: list[Envelope] = []
        self.closed = False
        self._window = window
        self._page = page
        self._waiting: dict[asyncio.Future[None], None] = {}

    def append(self, envelope: Envelope) -> None:
        """Put the next envelope at the end; call `wake` after it."""
        self.items.append(envelope)
        if self._window is not None and len(self.items) > 2 * self._window:
            dropped = len(self.items) - self._window
            del self.items[:dropped]
            self.base += dropped

    def wake(self) -> None:
        """Wake everybody who waits."""
        if self._waiting:
            for future in self._waiting:
                if not future.done():
                    future.set_result(None)
            self._waiting.clear()

    def close(self) -> None:
        """End the feed: readers get what is in memory, then their iteration ends."""
        self.closed = True
        self.wake()

    async def wait(self) -> None:
        """Wait for the next `wake`."""
        future = asyncio.get_running_loop().create_future()
        self._waiting[future] = None
        try:
            await future
        finally:
            self._waiting.pop(future, None)

    async def page(self, first: int) -> Sequence[Envelope]:
        """Fetch some envelopes from `first` on, which lies before the window.

        Raises:
            BusClosed: There is nowhere to fetch them from.
        """
        if self._page is None:
            raise BusClosed(f"nothing holds seq {first}")
        return await self._page(first)


class Reader(Subscription):
    """A cursor into a feed.

    Raises:
        ValueError: The cursor is negative.
    """

    def __init__(self, feed: Feed, cursor: int = 0) -> None:
        if cursor < 0:
            raise ValueError(f"a cursor is 0 or a seq, not {cursor}")
        self.cursor = cursor
        self._feed = feed
        self._open = True
        self._page: Sequence[Envelope] = ()
        self._page_base = 0

    def __aiter__(self) -> AsyncIterator[Envelope]:
        return self

    async def __anext__(self) -> Envelope:
        cursor = self.cursor
        if self._open and cursor % FAIR:
            place = cursor - self._feed.base
            if place >= 0:
                shelf: Sequence[Envelope] = self._feed.items
            else:
                shelf = self._page
                place = cursor - self._page_base
            if 0 <= place < len(shelf):
                self.cursor = cursor + 1
                return shelf[place]
        return await self._next()

    async def _next(self) -> Envelope:
        """Hand out the next envelope where `__anext__` cannot do so at once."""
        feed = self._feed
        if self.cursor < feed.base + len(feed.items):
            await asyncio.sleep(0)
        while self._open:
            place = self.cursor - feed.base
            if place < 0:
                envelope = await self._from_page()
            elif place < len(feed.items):
                envelope = feed.items[place]
            elif feed.closed:
                break
            else:
                await feed.wait()
                continue
            if envelope is not None and self._open:
                self.cursor += 1
                return envelope
        raise StopAsyncIteration

    async def _from_page(self) -> Envelope | None:
        """Return the envelope after the cursor, from the page at hand or from a new one."""
        place = self.cursor - self._page_base
        if not 0 <= place < len(self._page):
            base = self.cursor
            try:
                self._page = await self._feed.page(base + 1)
            except BusClosed:
                self.close()
                return None
            self._page_base = base
            place = 0
        return self._page[place]

    def close(self) -> None:
        if self._open:
            self._open = False
            self._page = ()
            self._feed.wake()
