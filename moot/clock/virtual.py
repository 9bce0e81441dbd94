"""Virtual time: jumps to the next timer when nobody is busy."""

import math
from asyncio import Future, get_running_loop
from concurrent.futures import Future as ConcurrentFuture
from datetime import datetime
from typing import Any, ClassVar, Final, TypeVar

from moot.clock.base import Clock, Kind
from moot.clock.errors import Stalled
from moot.clock.loop import Events, Port
from moot.clock.wall import monotonic_ns

T = TypeVar("T")

STALL_S: Final = 10.0
"""Default patience, in wall seconds, with a society that nothing can wake."""

HOLD_S: Final = 3600.0
"""Default patience, in wall seconds, with a hold during which nothing at all arrives."""


class VirtualClock(Clock):
    """Society time that moves only when nothing is ready and nobody holds it (K2).

    It moves from timer to timer, so a week of society takes as long as its work does, and the same program
    makes the same callbacks at the same instants, whatever PYTHONHASHSEED and the machine's load are. While
    somebody holds the clock, the loop waits for real I/O and for other threads, and `now()` stays. Ready I/O
    is always served before time moves; I/O that is not held may arrive after any number of jumps.

    Raises:
        Stalled: From `run`, when nothing can move any more. With no hold, no timer, and no socket registered,
        a
            society is given `stall_s` wall seconds: the loop cannot know of a thread that is awaited without
            `hold()`, so a shorter patience would kill slow ones. A hold is given `hold_s`, which catches
            society time awaited under `hold()`; None waits for ever.
    """

    kind: ClassVar[Kind] = "virtual"

    def __init__(
        self, start: datetime, *, stall_s: float | None = STALL_S, hold_s: float | None = HOLD_S
    ) -> None:
        super().__init__(start)
        self._elapsed_us = 0
        self._stall_s = stall_s
        self._hold_s = hold_s
        self._awaited: list[tuple[ConcurrentFuture[Any], Future[None]]] = []

    @property
    def speed(self) -> float:
        return math.inf

    def elapsed_us(self) -> int:
        return self._elapsed_us

    async def from_thread(self, work: ConcurrentFuture[T]) -> T:
        arrives: Future[None] = get_running_loop().create_future()
        waits = (work, arrives)
        self._awaited.append(waits)
        work.add_done_callback(lambda _done: self._wake())
        try:
            with self._hold:
                await arrives
        finally:
            self._awaited.remove(waits)
            work.cancel()
        return work.result()

    def idle(self, due_us: int | None, port: Port) -> Events:
        holds = self._hold.count
        if holds:
            if holds == len(self._awaited) and self._awaited[0][0].done():
                self._awaited[0][1].set_result(None)
                return port.wait(0)
            return _wait(port, self._hold_s, holds)
        if due_us is None:
            return _wait(port, None if port.has_io() else self._stall_s, holds)
        events = port.wait(0)
        if not events:
            self._elapsed_us = due_us
        return events


def _wait(port: Port, patience_s: float | None, holds: int) -> Events:
    began_ns = monotonic_ns()
    events = port.wait(patience_s)
    if patience_s is not None and not events:
        waited_s = (monotonic_ns() - began_ns) / 1e9
        # The selector may come back early, and by a clock tick too early.
        if waited_s > patience_s * 0.99:
            raise Stalled(waited_s, holds)
    return events
