"""The timers of a society's loop: whole microseconds, first set first fired.

The standard library's heap compares float instants only, so timers of the same instant fire in an order that
depends on which others came and went. Here each entry is (due, number, timer): a total order, hence one order
of callbacks per program (K2).
"""

import asyncio
import math
from collections.abc import Callable, Sequence
from contextvars import Context
from heapq import heapify, heappop, heappush
from typing import Any, Final

MICROSECONDS: Final = 1_000_000
"""Microseconds per second."""

NEVER_US: Final = 400_000_000_000 * MICROSECONDS
"""Longer than all of datetime's range: timers as far away as this are accepted and never fire."""

_ROUNDING_US: Final = 0.1
"""Float noise of `time() + delay`, not to be rounded up to a whole microsecond; enough for 14 years."""

_PURGE_FROM: Final = 64
"""Cancelled timers are swept out once they are this many and more than half of all."""

Ready = Callable[..., asyncio.Handle]
"""The loop's `call_soon`."""


def microseconds(seconds: float) -> int:
    """Convert to the first whole microsecond that is not earlier; infinity becomes `NEVER_US`.

    Raises:
        ValueError: `seconds` is not a number.
    """
    return math.ceil(min(seconds, NEVER_US / MICROSECONDS) * MICROSECONDS - _ROUNDING_US)


class SocietyTimer(asyncio.TimerHandle):
    """A timer handle that can be cancelled up to the moment its callback runs."""

    __slots__ = ("call", "queue", "soon")

    call: tuple[Callable[..., object], Sequence[Any], Context] | None  # None once cancelled
    queue: "TimerQueue"
    soon: asyncio.Handle | None  # the ready callback, once due

    def cancel(self) -> None:
        """Keep the callback from running; harmless after it ran."""
        if self.call is not None:
            self.call = None
            if self.soon is None:
                self.queue.on_cancel()
            else:
                self.soon.cancel()
        super().cancel()


class TimerQueue:
    """Timers ordered by due microsecond, then by creation."""

    __slots__ = ("_cancelled", "_heap", "_number")

    def __init__(self) -> None:
        self._heap: list[tuple[int, int, SocietyTimer]] = []
        self._number = 0
        self._cancelled = 0

    def __len__(self) -> int:
        return len(self._heap) - self._cancelled

    def push(self, due_us: int, timer: SocietyTimer) -> None:
        """Add a timer behind all timers of the same microsecond; one that is never due is not kept."""
        if due_us >= NEVER_US:
            return
        self._number += 1
        heappush(self._heap, (due_us, self._number, timer))

    def next_due_us(self) -> int | None:
        """When the next live timer is due, in loop microseconds; None without one."""
        heap = self._heap
        while heap:
            due_us, _, timer = heap[0]
            if timer.call is not None:
                return due_us
            heappop(heap)
            self._cancelled -= 1
        return None

    def fire(self, now_us: int, ready: Ready) -> None:
        """Hand everything due at `now_us` or before to `ready`, in order."""
        heap = self._heap
        while heap and heap[0][0] <= now_us:
            timer = heappop(heap)[2]
            if timer.call is None:
                self._cancelled -= 1
            else:
                callback, args, context = timer.call
                timer.soon = ready(callback, *args, context=context)

    def on_cancel(self) -> None:
        """Note that a waiting timer was cancelled, and sweep when most of the heap is dead."""
        self._cancelled += 1
        if self._cancelled > _PURGE_FROM and self._cancelled * 2 > len(self._heap):
            self._heap = [entry for entry in self._heap if entry[2].call is not None]
            heapify(self._heap)
            self._cancelled = 0

    def clear(self) -> None:
        """Forget every timer."""
        self._heap.clear()
        self._cancelled = 0
