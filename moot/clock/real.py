"""Real time: the system's UTC."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from threading import Lock
from typing import ClassVar, Final

from moot.clock.base import Clock, Kind
from moot.clock.loop import Events, Port
from moot.clock.timers import MICROSECONDS
from moot.clock.wall import monotonic_ns, utc_ns

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)

_LONGEST_WAIT_S: Final = 1.0
"""How late a timer can be after the system clock was set forward or the machine slept."""


class RealClock(Clock):
    """Society time is the system's UTC, except that it never runs backwards.

    Timers follow the time of day, too: when the system clock is set forward, or the machine wakes from sleep,
    what became due fires within a second. When the system clock is set back, society time runs at half pace
    until the system has caught up, so nothing repeats and nothing stands still.

    The clock can be read before its run and goes on after it.
    """

    kind: ClassVar[Kind] = "real"

    def __init__(
        self, *, utc_ns: Callable[[], int] = utc_ns, monotonic_ns: Callable[[], int] = monotonic_ns
    ) -> None:
        """Start now; tests put clocks of their own here."""
        self._utc_ns = utc_ns
        self._monotonic_ns = monotonic_ns
        self._lock = Lock()
        self._read_ns = monotonic_ns()
        start_us = utc_ns() // 1000
        self._origin_ns = start_us * 1000
        self._elapsed_ns = 0
        super().__init__(_EPOCH + timedelta(microseconds=start_us))

    @property
    def speed(self) -> float:
        return 1.0

    def elapsed_us(self) -> int:
        with self._lock:
            read_ns = self._monotonic_ns()
            half_pace_ns = self._elapsed_ns + (read_ns - self._read_ns) // 2
            self._elapsed_ns = max(self._utc_ns() - self._origin_ns, half_pace_ns)
            self._read_ns = read_ns
            return self._elapsed_ns // 1000

    def idle(self, due_us: int | None, port: Port) -> Events:
        if due_us is None:
            return port.wait(None)
        wait_s = (due_us - self.elapsed_us()) / MICROSECONDS
        return port.wait(min(max(wait_s, 0.0), _LONGEST_WAIT_S))
