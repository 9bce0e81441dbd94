"""What every clock promises to society code."""

from abc import ABC, abstractmethod
from asyncio import CancelledError, Future, Task, current_task, to_thread, wrap_future
from collections.abc import Callable, Coroutine
from concurrent.futures import Future as ConcurrentFuture
from datetime import UTC, datetime, timedelta
from threading import get_ident
from time import sleep
from typing import Any, ClassVar, Final, Literal, Self, TypeVar

from moot.clock.hold import Hold
from moot.clock.loop import Events, Port, SocietyLoop
from moot.clock.runner import run
from moot.clock.wall import monotonic_ns

T = TypeVar("T")

Kind = Literal["virtual", "accelerated", "real"]

MICROSECOND: Final = timedelta(microseconds=1)


class Clock(ABC):
    """The society's time, and the event loop that lives in it.

    One clock is one run: `clock.run(main)` makes an event loop whose every second is a society second, runs
    `main(clock)` on it and closes it. A clock can be read before and after its run.

    Time that the process could not use is nobody's (K6): after a stall (a stopped process, a machine that slept, a
    callback that never ended) society time goes on from where it stood.

    Attributes:
        on_behind: Called on the loop when a real clock has fallen behind for good, until `catch_up`.

    Promises, under every kind of clock:
        * `now()` never runs backwards.
        * `sleep_until(instant)` returns with `now() >= instant`, never earlier.
        * Timers of one instant fire in the order in which they were set (K2).
        * `now()`, `speed` and `paused` may be read from any thread.
    """

    kind: ClassVar[Kind]

    def __init__(self, start: datetime) -> None:
        """Set the society time at which the run begins (K7).

        Raises:
            ValueError: `start` is naive.
        """
        self._start = _utc(start)
        self._now = (0, self._start)
        self._hold = Hold(self._on_free)
        self._loop: SocietyLoop | None = None
        self._thread: int | None = None
        self._has_run = False
        self._main: Task[Any] | None = None
        self._is_cancelled = False
        self.on_behind: Callable[[], None] | None = None

    @property
    def start(self) -> datetime:
        """The society time at which the run begins, in UTC."""
        return self._start

    @property
    @abstractmethod
    def speed(self) -> float:
        """Society seconds per wall second while time is not paused; infinite under virtual time."""

    @property
    def paused(self) -> bool:
        """Whether a person stopped society time."""
        return False

    def now(self) -> datetime:
        """Tell the society time: aware, UTC, in whole microseconds."""
        elapsed_us = self.elapsed_us()
        known_us, instant = self._now
        if elapsed_us != known_us:
            instant = self._start + timedelta(microseconds=elapsed_us)
            self._now = (elapsed_us, instant)
        return instant

    async def sleep(self, duration: timedelta) -> None:
        """Sleep for so much society time; a duration of zero or less only lets others run."""
        await self._sleep_until_us(self.elapsed_us() + duration // MICROSECOND)

    async def sleep_until(self, instant: datetime) -> None:
        """Sleep until the society time is `instant` or later; an instant in the past only lets others run.

        Under virtual time with nothing else going on, `now()` is then exactly `instant`.

        Raises:
            ValueError: `instant` is naive.
        """
        await self._sleep_until_us((_utc(instant) - self._start) // MICROSECOND)

    def hold(self) -> Hold:
        """Keep virtual time still, as in `with clock.hold(): await thread_or_socket` (K2).

        Every await on a thread, a process or a socket needs it. It is counted and re-entrant, and it takes
        effect at once where it is entered on the loop's thread. Paced and real time pass all the same; only a
        step waits for it. Never await society time inside (`sleep`, `asyncio.timeout`): virtual time cannot
        reach it.
        """
        return self._hold

    async def from_thread(self, work: ConcurrentFuture[T]) -> T:
        """Await what a thread works on, while virtual and paced time stand still (K2).

        Under a virtual clock it comes when nothing else is ready and nobody else holds the clock, in the order in
        which it was awaited: how fast threads are does not change the order of events.

        Cancelling ends the wait; work that has begun goes on, and what it gives is dropped.

        Raises:
            Exception: Whatever the work raises.
        """
        with self._held_for_thread():
            return await wrap_future(work)

    def _held_for_thread(self) -> Hold:
        return self.hold()

    def still(self) -> Hold:
        """Keep society time still, under whatever clock, as in `with clock.still(): ...` (K6).

        For what nobody can help: a disk that takes nothing, a society that is not ready yet. It is counted, like
        `hold`, and may be entered and left from any thread. Virtual and paced time go on from where they stood, and
        there is nothing to be said. Real time falls `behind`, which is told to `on_behind` once nobody holds it.
        """
        return self._hold

    async def wait_wall(self, seconds: float) -> None:
        """Wait so many seconds of the wall, which pass while society time stands, too."""
        # On the loop it would be society time.
        await to_thread(sleep, seconds)

    def wall_ns(self) -> int:
        """Tell the nanoseconds of the wall; they never run backwards."""
        return monotonic_ns()

    @property
    def behind(self) -> timedelta:
        """How far the society's time is behind the one that it should follow; always zero but for a real clock."""
        return timedelta(0)

    def catch_up(self, by: timedelta) -> None:
        """Jump forward by so much of `behind`: the society has said that this time was nobody's (K6, K7)."""
        assert not by, "only a real clock falls behind"

    def run(self, main: Callable[[Self], Coroutine[Any, Any, T]]) -> T:
        """Run `main(clock)` in this clock's time, clean up and return its result: see `moot.clock.run`."""
        return run(main, clock=self)

    def cancel(self) -> None:
        """End the run, from whatever thread this is: `main` is cancelled, and `run` raises CancelledError."""
        self._is_cancelled = True
        self._wake(self._cancel_main)

    # What follows is for the event loop and the runner only.

    async def live(self, main: Callable[[Self], Coroutine[Any, Any, T]]) -> T:
        """Be the task that `cancel` ends."""
        self._main = current_task()
        try:
            if self._is_cancelled:
                raise CancelledError
            return await main(self)
        finally:
            self._main = None

    def _cancel_main(self) -> None:
        if self._main is not None:
            self._main.cancel()

    @abstractmethod
    def elapsed_us(self) -> int:
        """Society microseconds since `start`; never less than before."""

    @abstractmethod
    def idle(self, due_us: int | None, port: Port) -> Events:
        """Let time pass while nothing is ready, as `Timeline.idle`."""

    @property
    def has_run(self) -> bool:
        """Whether the one run of this clock has begun."""
        return self._has_run

    def open_loop(self) -> SocietyLoop:
        """Make the event loop of the one run; time passes from here on."""
        self._has_run = True
        self._thread = get_ident()
        self._loop = SocietyLoop(self, self._hold)
        return self._loop

    def close_loop(self) -> None:
        """Let go of the loop, which the runner has closed."""
        self._loop = None
        self._thread = None

    def _wake(self, callback: Callable[[], None] | None = None) -> None:
        """Have the loop look at the clock again, from whatever thread this is."""
        loop = self._loop
        if loop is None:
            return
        try:
            loop.call_soon_threadsafe(callback or _nothing)
        except RuntimeError:
            if not loop.is_closed():
                raise

    @property
    def _is_beating(self) -> bool:
        """Whether this is the loop's thread, in its run: the one whose looks at the clock show that it lives."""
        return self._thread == get_ident()

    def _on_free(self) -> None:
        # On its own thread the loop is running a callback, and looks at the clock after it.
        if self._thread != get_ident():
            self._wake()

    async def _sleep_until_us(self, due_us: int) -> None:
        loop = self._loop
        if loop is None:
            raise RuntimeError("this clock is not running")
        woken = loop.create_future()
        timer = loop.call_at_us(due_us, _wake_sleeper, woken)
        try:
            await woken
        finally:
            timer.cancel()


def _utc(instant: datetime) -> datetime:
    if instant.utcoffset() is None:
        raise ValueError(f"an instant needs a time zone: {instant.isoformat()}")
    return instant.astimezone(UTC)


def _wake_sleeper(woken: Future[None]) -> None:
    if not woken.done():
        woken.set_result(None)


def _nothing() -> None:
    """The wake-up itself is the message."""
