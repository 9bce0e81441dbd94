"""The event loop that society code runs on: asyncio with another idea of time.

Stock asyncio asks two questions about time: what `loop.time()` is, and how long the selector may wait. Both
are answered here by a `Timeline`, so that every `asyncio.sleep`, `wait_for`, `timeout` and `call_later`
counts in society seconds. Only public hooks of asyncio are used: a selector handed to the constructor,
`time`, `call_at`, `call_later`, `call_soon` and the task factory.
"""

import asyncio
import selectors
from collections.abc import Callable
from contextvars import Context, copy_context
from typing import Protocol, TypeVarTuple, Unpack

from moot.clock.hold import Hold
from moot.clock.tasks import TaskFactory
from moot.clock.timers import MICROSECONDS, Ready, SocietyTimer, TimerQueue, microseconds

Args = TypeVarTuple("Args")
Events = list[tuple[selectors.SelectorKey, int]]


class Port(Protocol):
    """Where real events come in: sockets, pipes, and wake-ups from other threads."""

    def wait(self, wall_timeout_s: float | None) -> Events:
        """Block until something arrives, for so many wall seconds at most; 0 looks only, None is for ever."""

    def has_io(self) -> bool:
        """Whether anything but the loop's own wake-up pipe is registered."""


class Timeline(Protocol):
    """What a loop asks of its clock."""

    def elapsed_us(self) -> int:
        """Society microseconds since the start; never less than before."""

    def idle(self, due_us: int | None, port: Port) -> Events:
        """Let time pass while nothing is ready, until `due_us` or until the port reports something.

        May return early with nothing: the loop then asks again. `due_us` is None without timers.
        """


class SocietySelector(selectors.DefaultSelector):
    """Waits as the timeline says, then readies the timers that are due."""

    def __init__(self, timeline: Timeline, timers: TimerQueue, ready: Ready) -> None:
        super().__init__()
        self._timeline = timeline
        self._timers = timers
        self._ready = ready

    def select(self, timeout: float | None = None) -> Events:
        """Report ready I/O, after letting society time pass if the loop has nothing else to do.

        The loop keeps no timers of its own, so it asks for 0 when callbacks are ready and for None when not.
        """
        timeline, timers = self._timeline, self._timers
        if timeout is None:
            due_us = timers.next_due_us()
            if due_us is None or due_us > timeline.elapsed_us():
                events = timeline.idle(due_us, self)
            else:
                events = self.wait(0)
        else:
            events = self.wait(0)
        timers.fire(timeline.elapsed_us(), self._ready)
        return events

    def wait(self, wall_timeout_s: float | None) -> Events:
        """Block for real I/O, as `Port.wait`."""
        return super().select(wall_timeout_s)

    def has_io(self) -> bool:
        """Whether a socket or pipe is registered, as `Port.has_io`."""
        return len(self.get_map()) > 1


class SocietyLoop(asyncio.SelectorEventLoop):
    """An asyncio event loop in society seconds, which begin at 0.0.

    Timers fire in the order of (due microsecond, creation), never early, and never more than one microsecond
    late on the loop's own count (K2). Delays are rounded up to whole microseconds, so a positive delay always
    lets time pass.
    """

    def __init__(self, timeline: Timeline, hold: Hold) -> None:
        self._timeline = timeline
        self._hold = hold
        self._timers = TimerQueue()
        super().__init__(SocietySelector(timeline, self._timers, self.call_soon))
        self.set_task_factory(TaskFactory())

    def time(self) -> float:
        """Society seconds since the start, to the microsecond."""
        return self._timeline.elapsed_us() / MICROSECONDS

    def call_later(
        self,
        delay: float,
        callback: Callable[[Unpack[Args]], object],
        *args: *Args,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        """Call back after `delay` society seconds, as `asyncio.loop.call_later`."""
        # In integers, so that 0.1 and then 0.2 seconds end when 0.3 seconds do.
        delay_us = max(microseconds(delay), 1) if delay > 0 else 0
        return self.call_at_us(self._timeline.elapsed_us() + delay_us, callback, *args, context=context)

    def call_at(
        self,
        when: float,
        callback: Callable[[Unpack[Args]], object],
        *args: *Args,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        """Call back when `time()` reaches `when`, as `asyncio.loop.call_at`."""
        return self.call_at_us(microseconds(when), callback, *args, context=context)

    def call_at_us(
        self,
        due_us: int,
        callback: Callable[[Unpack[Args]], object],
        *args: *Args,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        """Call back at a whole microsecond since the start, without floats."""
        if self.is_closed():
            raise RuntimeError("Event loop is closed")
        if context is None:
            context = copy_context()
        timer = SocietyTimer(due_us / MICROSECONDS, callback, args, self, context)
        timer.queue = self._timers
        timer.call = (callback, args, context)
        timer.soon = None
        self._timers.push(due_us, timer)
        return timer

    async def shutdown_default_executor(self, timeout: float | None = None) -> None:  # noqa: ASYNC109
        """Wait for the executor's threads while virtual time stands still.

        `timeout`, which asyncio passes from Python 3.12 on, would count in society seconds and is not used.
        """
        with self._hold:
            await super().shutdown_default_executor()

    def close(self) -> None:
        """Close the loop and forget its timers."""
        super().close()
        self._timers.clear()
