"""The bridge: the society's bus, readable on the I/O thread without ever delaying the society (K22).

New envelopes go over in batches: the society's loop appends to a list and wakes the other thread only when
that had nothing to do. Guests that are up to date are served from a ring of recent lines there. One that is
behind asks the society's loop for a page at a time, so the cost to the society is one bounded slice per page,
whatever the guest's speed. Nothing is queued without a bound: what a full ring loses, the log keeps.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from itertools import islice
from typing import Any, Final, TypeVar

from moot.channels.bus import Bus
from moot.channels.gateway.protocol import HungUp
from moot.protocols.kernel.envelope import Envelope

T = TypeVar("T")

RING: Final = 4_096
"""Recent lines that are kept on the I/O side."""

BURST: Final = 512
"""Lines that are taken over at a time, so that the I/O thread's other work goes on."""

LULL_S: Final = 0.002
"""How long after taking over something the I/O thread looks again."""

PAGE: Final = 128
"""Lines that a guest who is behind gets at a time."""


class BusBridge:
    """A `Source` for the gateway server over a bus on another thread's loop.

    It is made on the society's loop, where `run` runs for as long as guests are to be served. The rest
    belongs to the I/O thread's loop.
    """

    def __init__(
        self, bus: Bus, io_loop: asyncio.AbstractEventLoop, *, ring: int = RING, page: int = PAGE
    ) -> None:
        """Connect the two loops.

        Args:
            bus: The society's bus; the running loop is the society's.
            io_loop: The loop on which guests are served.
            ring: How many recent lines are kept there.
            page: How many lines a guest who is behind gets at a time.
        """
        self._bus = bus
        self._society = asyncio.get_running_loop()
        self._io_loop = io_loop
        self._page_size = page
        # Written by the society's thread, drained by the other; both ends of a deque are safe to use so.
        self._arriving: deque[Envelope] = deque(maxlen=ring)
        self._handed = bus.head.seq
        self._is_told = False
        self._ring: deque[str] = deque(maxlen=ring)
        self._head = bus.head.seq
        self._news: asyncio.Future[None] | None = None

    @property
    def head(self) -> int:
        """Return the seq of the last line that arrived on the I/O side."""
        return self._head

    async def run(self) -> None:
        """Hand over what the bus appends, until cancelled or the bus closes; called again it goes on where it was."""
        subscription = self._bus.subscribe(self._handed)
        try:
            async for envelope in subscription:
                self._arriving.append(envelope)
                self._handed = envelope.seq
                if not self._is_told:
                    self._is_told = True
                    self._io_loop.call_soon_threadsafe(self._arrive)
        except RuntimeError:
            if not self._io_loop.is_closed():
                raise
        finally:
            subscription.close()

    async def subscribe(self, cursor: int) -> AsyncGenerator[Sequence[str], None]:
        """Yield the lines after `cursor` in order, in batches; for the I/O loop."""
        while True:
            behind = self._head - cursor
            if behind <= 0:
                await self._wait()
                continue
            if behind <= len(self._ring):
                start = len(self._ring) - behind
                lines: Sequence[str] = list(islice(self._ring, start, start + self._page_size))
            else:
                first, last = cursor + 1, min(self._head, cursor + self._page_size)
                lines = await self.on_society(lambda: self._read(first, last))  # noqa: B023  # awaited here
            cursor += len(lines)
            yield lines

    async def on_society(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Run a coroutine on the society's loop and await its result on this one.

        Raises:
            HungUp: The society's loop is closed.
            Exception: Whatever the coroutine raises.
        """
        coroutine = work()
        try:
            future = asyncio.run_coroutine_threadsafe(coroutine, self._society)
        except RuntimeError as exc:
            coroutine.close()
            raise HungUp("the society has ended") from exc
        return await asyncio.wrap_future(future)

    async def _read(self, first: int, last: int) -> list[str]:
        return [envelope.line async for envelope in self._bus.read(first, last)]

    def _arrive(self) -> None:
        if self._take_over():
            if self._news is not None and not self._news.done():
                self._news.set_result(None)
            # While messages flow, look again by ourselves: waking us costs the society a system call, and
            # with it the interpreter lock for as long as we run.
            self._io_loop.call_later(LULL_S, self._arrive)
            return
        self._is_told = False
        if self._arriving:  # came between the last look and that
            self._is_told = True
            self._io_loop.call_soon(self._arrive)

    def _take_over(self) -> int:
        for n in range(BURST):
            try:
                envelope = self._arriving.popleft()
            except IndexError:
                return n
            if envelope.seq != self._head + 1:
                self._ring.clear()  # the arriving side overflowed; the log has what is missing
            self._ring.append(envelope.line)
            self._head = envelope.seq
        return BURST

    async def _wait(self) -> None:
        if self._news is None or self._news.done():
            self._news = self._io_loop.create_future()
        await asyncio.shield(self._news)
