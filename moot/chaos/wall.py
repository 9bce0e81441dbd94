"""A simulated wall: it passes when nobody is busy, jumps while somebody is, and its time of day is set.

A real or accelerated clock on it lives as it would beside a wall, as fast as its work is done, and the same way twice.
"""

from __future__ import annotations

from asyncio import Event
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from heapq import heappop, heappush
from typing import ClassVar, Final

from moot.clock import PacedClock, RealClock
from moot.clock.errors import Stalled
from moot.clock.hold import Hold
from moot.clock.loop import Events, Port
from moot.clock.real import STALL_S

SECOND_NS: Final = 1_000_000_000
BUSY_S: Final = 60.0
"""Real seconds that a thread or socket may take which the loop waits for."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class Wall:
    """Wall time that only this world knows: monotonic nanoseconds and a time of day."""

    def __init__(self, utc: datetime) -> None:
        """Begin at a time of day."""
        self._ns = SECOND_NS
        self._utc_ns = (utc - _EPOCH) // timedelta(microseconds=1) * 1000 - self._ns
        self._events: list[tuple[int, int, Callable[[], None]]] = []
        self._n = 0
        self._jump: tuple[int, int, int] | None = None

    def monotonic_ns(self) -> int:
        """Tell the nanoseconds that have passed; never less than before."""
        self._read()
        return self._ns

    def utc_ns(self) -> int:
        """Tell the time of day in nanoseconds since 1970."""
        self._read()
        return self._ns + self._utc_ns

    def utc(self) -> datetime:
        """Tell the time of day."""
        return _EPOCH + timedelta(microseconds=(self._ns + self._utc_ns) // 1000)

    @property
    def passed_s(self) -> float:
        """How much has passed since the beginning, in seconds."""
        return (self._ns - SECOND_NS) / 1e9

    def at(self, passed_s: float, event: Callable[[], None]) -> None:
        """Have something happen when so many seconds have passed."""
        self._n += 1
        heappush(self._events, (SECOND_NS + int(passed_s * 1e9), self._n, event))

    def set_by(self, seconds: float) -> None:
        """Set the time of day, forward or back."""
        self._utc_ns += int(seconds * 1e9)

    def stall(self, seconds: float, *, reads: int = 0, is_suspended: bool = False) -> None:
        """Stop the process for so long, in the middle of what it does.

        Args:
            seconds: How long.
            reads: After how many more looks at the wall.
            is_suspended: Whether the machine sleeps, so that only the time of day goes on.
        """
        ns = int(seconds * 1e9)
        self._jump = (reads, 0 if is_suspended else ns, ns if is_suspended else 0)

    def forget(self) -> None:
        """Drop what was to happen: nobody is there to see it."""
        self._events.clear()
        self._jump = None

    def sleep(self, seconds: float) -> None:
        """Let time pass while nothing runs."""
        self._ns += int(seconds * 1e9)

    def wait(self, port: Port, hold: Hold, wall_timeout_s: float | None) -> Events:
        """Wait as a port does: for what is really under way, else until the next event at once."""
        if hold.count:
            return port.wait(BUSY_S)
        events = port.wait(0)
        if events or wall_timeout_s == 0:
            return events
        due = self._events[0][0] if self._events else None
        if wall_timeout_s is not None:
            until = self._ns + max(int(wall_timeout_s * 1e9), 1)
            if due is None or until < due:
                self._ns = until
                return events
        if due is None:
            # Nobody sets a time: what is awaited is another thread, as at the end of a file's life.
            if not (events := port.wait(BUSY_S)):
                raise Stalled(BUSY_S, 0)
            return events
        self._ns = max(self._ns, due)
        heappop(self._events)[2]()
        return events

    def _read(self) -> None:
        if self._jump is None:
            return
        reads, ns, utc_ns = self._jump
        if reads:
            self._jump = (reads - 1, ns, utc_ns)
            return
        self._ns += ns
        self._utc_ns += utc_ns
        self._jump = None


class _Windowed:
    """A port whose waits pass on a simulated wall."""

    def __init__(self, wall: Wall, hold: Hold, port: Port) -> None:
        self._wall = wall
        self._hold = hold
        self._port = port

    def wait(self, wall_timeout_s: float | None) -> Events:
        """Wait as `Port.wait`, on the simulated wall."""
        return self._wall.wait(self._port, self._hold, wall_timeout_s)

    def has_io(self) -> bool:
        """Say what the real port says."""
        return self._port.has_io()


class _OnWall:
    """A clock whose wall is simulated."""

    _wall: Wall

    def wall_ns(self) -> int:
        """Tell the nanoseconds of the simulated wall."""
        return self._wall.monotonic_ns()

    async def wait_wall(self, seconds: float) -> None:
        """Wait seconds of the simulated wall."""
        woken = Event()
        self._wall.at(self._wall.passed_s + seconds, woken.set)
        await woken.wait()


class AcceleratedWorld(_OnWall, PacedClock):
    """An accelerated clock on a simulated wall."""

    def __init__(self, start: datetime, speed: float, wall: Wall) -> None:
        """Run from an instant on, `speed` times as fast as a wall."""
        super().__init__(start, speed, monotonic_ns=wall.monotonic_ns)
        self._wall = wall

    def idle(self, due_us: int | None, port: Port) -> Events:
        return super().idle(due_us, _Windowed(self._wall, self._hold, port))


class RealWorld(_OnWall, RealClock):
    """A real clock on a simulated wall."""

    longest_wait_s: ClassVar[float] = STALL_S / 2

    def __init__(self, wall: Wall) -> None:
        """Run from the wall's time of day on."""
        super().__init__(utc_ns=wall.utc_ns, monotonic_ns=wall.monotonic_ns)
        self._wall = wall

    def idle(self, due_us: int | None, port: Port) -> Events:
        return super().idle(due_us, _Windowed(self._wall, self._hold, port))
