"""Real time: the system's UTC."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from threading import Lock
from typing import ClassVar, Final

from moot.clock.base import MICROSECOND, Clock, Kind
from moot.clock.hold import Hold
from moot.clock.loop import Events, Port, SocietyLoop
from moot.clock.timers import MICROSECONDS
from moot.clock.wall import monotonic_ns, utc_ns

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


STALL_S: Final = 20.0
"""Seconds that the loop may miss, or that time may be held, without a word; a third of what officers may be late."""

_STALL_NS: Final = int(STALL_S * 1e9)


class RealClock(Clock):
    """Society time is the system's UTC, except that it never runs backwards.

    Timers follow the time of day, too: when the system clock is set forward, or the machine wakes from sleep,
    what became due fires within a second. When the system clock is set back, society time runs at half pace
    until the system has caught up, so nothing repeats and nothing stands still.

    A jump of the system's time of more than `STALL_S` between two looks of the loop is time that nobody could use: the
    process or the machine stood, or somebody set the clock. Society time then goes on from where it stood, `behind` the
    system's, until the society has said so and calls `catch_up` (K6, K7).

    The clock can be read before its run and goes on after it.
    """

    kind: ClassVar[Kind] = "real"
    longest_wait_s: ClassVar[float] = 1.0
    """The loop looks at the clock this often, so that a stall shows, and a timer is this late after one at most."""

    def __init__(
        self,
        *,
        after: datetime | None = None,
        utc_ns: Callable[[], int] = utc_ns,
        monotonic_ns: Callable[[], int] = monotonic_ns,
    ) -> None:
        """Start now; tests put clocks of their own here.

        Args:
            after: Where the society stands by another machine's clock; when the system's is behind it, it is caught up
                with as if it had been set back.
            utc_ns: The system's time of day, in ns since 1970.
            monotonic_ns: A clock that only counts, in ns.
        """
        self._utc_ns = utc_ns
        self._monotonic_ns = monotonic_ns
        self._lock = Lock()
        self._read_ns = monotonic_ns()
        start_us = utc_ns() // 1000
        if after is not None:
            start_us = max(start_us, (after - _EPOCH) // MICROSECOND)
        self._origin_ns = start_us * 1000
        self._elapsed_ns = 0
        self._behind_ns = 0
        self._still = Hold(self._freed)
        super().__init__(_EPOCH + timedelta(microseconds=start_us))

    @property
    def speed(self) -> float:
        return 1.0

    def open_loop(self) -> SocietyLoop:
        # What passed before the run is no stall.
        self.elapsed_us()
        return super().open_loop()

    def still(self) -> Hold:
        return self._still

    @property
    def behind(self) -> timedelta:
        if self._still.count:
            return timedelta(0)
        return timedelta(microseconds=self._behind_ns // 1000)

    def catch_up(self, by: timedelta) -> None:
        with self._lock:
            self._behind_ns = max(self._behind_ns - by // MICROSECOND * 1000, 0)
            self._elapsed_ns += by // MICROSECOND * 1000
        self._wake()

    def elapsed_us(self) -> int:
        has_fallen = False
        with self._lock:
            read_ns, utc_ns = self._monotonic_ns(), self._utc_ns()
            elapsed_ns = utc_ns - self._origin_ns - self._behind_ns
            jump_ns = elapsed_ns - self._elapsed_ns
            if self._loop is not None and (self._still.count or jump_ns > _STALL_NS):
                if not self._is_beating:
                    return self._elapsed_ns // 1000
                self._behind_ns = max(self._behind_ns + jump_ns, 0)
                has_fallen = not self._still.count
            else:
                if jump_ns < 0 < self._behind_ns:
                    # Set forward and then back: it is less behind.
                    less_ns = min(self._behind_ns, read_ns - self._read_ns - jump_ns)
                    self._behind_ns -= less_ns
                    elapsed_ns += less_ns
                self._elapsed_ns = max(
                    elapsed_ns, self._elapsed_ns + min(read_ns - self._read_ns, _STALL_NS) // 2
                )
            self._read_ns = read_ns
            now_us = self._elapsed_ns // 1000
        if has_fallen:
            self._tell()
        return now_us

    def _freed(self) -> None:
        """Let time pass again: a short while is caught up with at once, a long one is told."""
        with self._lock:
            is_short = self._behind_ns <= _STALL_NS
            if is_short:
                self._elapsed_ns += self._behind_ns
                self._behind_ns = 0
        if not is_short:
            self._tell()

    def _tell(self) -> None:
        loop = self._loop
        if loop is not None and self.on_behind is not None:
            loop.call_soon_threadsafe(self.on_behind)

    def idle(self, due_us: int | None, port: Port) -> Events:
        if due_us is None:
            return port.wait(self.longest_wait_s)
        wait_s = (due_us - self.elapsed_us()) / MICROSECONDS
        return port.wait(min(max(wait_s, 0.0), self.longest_wait_s))
