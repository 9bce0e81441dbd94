"""Accelerated time: the wall's pace times a speed that may change at any moment."""

import math
from collections.abc import Callable
from datetime import datetime
from threading import Lock
from typing import ClassVar, Final

from moot.clock.base import Clock, Kind
from moot.clock.hold import Hold
from moot.clock.loop import Events, Port, SocietyLoop
from moot.clock.timers import MICROSECONDS
from moot.clock.wall import monotonic_ns

BEAT_S: Final = 0.25
"""The loop looks at the clock this often, in wall seconds, so that a stall shows."""

STALL_S: Final = 1.0
"""Wall seconds between two looks of the loop from which on they are a stall, and stop society time (K6)."""

_STALL_NS: Final = int(STALL_S * 1e9)


class PacedClock(Clock):
    """Society time that runs `speed` times as fast as the wall, from a given instant on.

    Time begins to pass with the run, at `start` exactly: a society that resumes at its last `sent_at` does
    not jump over the time it was down (K7). Speed, pause and step take effect at once and on timers already
    set; `now()` neither jumps nor runs backwards when they do. All of them may be called from any thread. The
    clock announces nothing: whoever changes it posts CLOCK_SET (K7, K8).

    It passes while the loop lives: of the wall time between two of its looks at the clock a second counts at most.

    Timers fire up to a millisecond of wall time late, which is what the system's selector resolves; that is
    `speed` milliseconds of society time.
    """

    kind: ClassVar[Kind] = "accelerated"

    def __init__(
        self, start: datetime, speed: float, *, monotonic_ns: Callable[[], int] = monotonic_ns
    ) -> None:
        """Set where and how fast to run.

        Args:
            start: The society time at which the run begins.
            speed: Society seconds per wall second.
            monotonic_ns: Wall nanoseconds that never run backwards; tests put their own here.

        Raises:
            ValueError: `start` is naive, or `speed` is not a positive finite number.
        """
        super().__init__(start)
        self._speed = _positive(speed)
        self._monotonic_ns = monotonic_ns
        self._lock = Lock()
        self._is_running = False
        self._is_paused = False
        self._still = Hold(self._held_or_freed, self._held_or_freed)
        self._steps = 0
        # Society time is a line through the anchor; moving the anchor is what keeps it continuous.
        self._anchor_us = 0
        self._anchor_ns = 0
        self._us_per_ns = 0.0
        self._beat_ns = 0

    @property
    def speed(self) -> float:
        return self._speed

    @property
    def paused(self) -> bool:
        return self._is_paused

    def set_speed(self, speed: float) -> None:
        """Run at another speed from now on; a paused clock stays paused and resumes at it.

        Raises:
            ValueError: `speed` is not a positive finite number.
        """
        speed = _positive(speed)
        with self._lock:
            self._speed = speed
            self._anchor()
        self._wake()

    def pause(self) -> None:
        """Stop society time; tasks that are ready still run. Harmless when paused."""
        with self._lock:
            self._is_paused = True
            self._anchor()
        self._wake()

    def resume(self) -> None:
        """Let society time pass again, from where it stands. Harmless when it passes."""
        with self._lock:
            self._is_paused = False
            self._steps = 0
            self._anchor()
        self._wake()

    def still(self) -> Hold:
        return self._still

    def _held_for_thread(self) -> Hold:
        return self._still

    def _held_or_freed(self) -> None:
        with self._lock:
            self._anchor()
        self._wake()

    def step(self) -> None:
        """Pause, and move society time to the next timer as soon as nothing is ready and nobody holds it.

        Returns at once. Steps add up: each runs everything that is ready, then moves to one timer. A step
        that finds no timer is dropped.
        """
        with self._lock:
            self._is_paused = True
            self._steps += 1
            self._anchor()
        self._wake()

    def elapsed_us(self) -> int:
        with self._lock:
            return self._elapsed_us()

    def idle(self, due_us: int | None, port: Port) -> Events:
        if self._steps and not self._hold.count and not self._still.count:
            events = port.wait(0)
            if not events:
                self._take_step(due_us)
            return events
        return port.wait(self._wall_s_until(due_us))

    def open_loop(self) -> SocietyLoop:
        loop = super().open_loop()
        self._set_running(True)
        return loop

    def close_loop(self) -> None:
        self._set_running(False)
        super().close_loop()

    def _elapsed_us(self) -> int:
        return self._anchor_us + int((self._look() - self._anchor_ns) * self._us_per_ns)

    def _look(self) -> int:
        """Look at the wall; what lies beyond a stall's first second is taken out of the line, or not seen yet."""
        now_ns = self._monotonic_ns()
        seen_ns = self._beat_ns + _STALL_NS
        if not self._is_beating:
            # Before and after the run there is no loop that could stall.
            return min(now_ns, seen_ns) if self._is_running else now_ns
        if now_ns > seen_ns:
            self._anchor_ns += now_ns - max(seen_ns, self._anchor_ns)
        self._beat_ns = now_ns
        return now_ns

    def _anchor(self) -> None:
        """Continue from here, with what `_speed`, `_is_paused`, `_still` and `_is_running` now say."""
        now_ns = max(self._look(), self._anchor_ns)
        self._anchor_us += int((now_ns - self._anchor_ns) * self._us_per_ns)
        self._anchor_ns = now_ns
        is_moving = self._is_running and not self._is_paused and not self._still.count
        self._us_per_ns = self._speed * MICROSECONDS / 1e9 if is_moving else 0.0

    def _set_running(self, is_running: bool) -> None:
        with self._lock:
            self._beat_ns = self._monotonic_ns()
            self._is_running = is_running
            self._anchor()

    def _take_step(self, due_us: int | None) -> None:
        with self._lock:
            if due_us is None:
                self._steps = 0
            elif self._steps:
                self._steps -= 1
                self._anchor_us = due_us

    def _wall_s_until(self, due_us: int | None) -> float | None:
        with self._lock:
            if not self._us_per_ns:
                return None
            if due_us is None:
                return BEAT_S
            wall_ns = (due_us - self._elapsed_us()) / self._us_per_ns
        return min(max(wall_ns, 0.0) / 1e9, BEAT_S)


def _positive(speed: float) -> float:
    if not (math.isfinite(speed) and speed > 0):
        raise ValueError(f"a speed is a positive number, not {speed!r}")
    return float(speed)
