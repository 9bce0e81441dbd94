"""One thread with an ordinary event loop, for the society's request/response I/O (K22).

Network libraries set timeouts on the loop they run on. On a society's loop those would fire 120 times too
early, or never, so sockets live here and the society awaits them under `hold()`.
"""

import asyncio
import concurrent.futures
import threading
from collections.abc import Callable, Coroutine, Iterable
from types import TracebackType
from typing import Any, Final, Self, TypeVar

from moot.clock.base import Clock
from moot.clock.errors import IoThreadClosed, WallTimeout, describe
from moot.clock.threads import in_thread

T = TypeVar("T")

CLOSE_S: Final = 10.0
"""Default patience with a closing thread, in wall seconds."""


class IoThread:
    """Runs coroutines in wall time, on one thread of its own, for a society that awaits them (K22).

    The thread starts here and ends with `close`, which the owner calls on every exit path (K25); `with` and
    `async with` do it. Everything that runs here shares one ordinary loop: a coroutine must not block it, and
    what one call made (sessions, connections) may be used by the next.
    """

    def __init__(self, clock: Clock, *, name: str = "moot-io") -> None:
        """Start the thread; `clock` is held during calls."""
        self._clock = clock
        self._lock = threading.Lock()
        self._is_closed = False
        self._stop = asyncio.Event()
        self._calls: set[asyncio.Task[Any]] = set()
        started: concurrent.futures.Future[asyncio.AbstractEventLoop] = concurrent.futures.Future()
        # A daemon, so that a coroutine that blocks for ever cannot keep the process from ending.
        self._thread = threading.Thread(target=self._serve, args=(started,), name=name, daemon=True)
        self._thread.start()
        self._loop = started.result()

    async def call(self, coro_factory: Callable[[], Coroutine[Any, Any, T]], *, wall_timeout_s: float) -> T:
        """Run a coroutine on the I/O thread and await its result while virtual time stands still (K2).

        Cancelling cancels the coroutine and does not wait for it. The limit is of wall time, under any clock;
        a coroutine that blocks the thread cannot be stopped by it.

        Args:
            coro_factory: Makes the coroutine, on the I/O thread.
            wall_timeout_s: Limit in wall seconds.

        Raises:
            WallTimeout: The limit has passed; the coroutine has been cancelled and has ended.
            IoThreadClosed: The thread was closed before or meanwhile.
            Exception: Whatever the coroutine raises.
        """
        with self._clock.hold():
            return await asyncio.wrap_future(self.spawn(coro_factory, wall_timeout_s=wall_timeout_s))

    def spawn(
        self, coro_factory: Callable[[], Coroutine[Any, Any, T]], *, wall_timeout_s: float | None = None
    ) -> concurrent.futures.Future[T]:
        """Start a coroutine on the I/O thread, for work the society does not wait for; nothing is held.

        Cancelling the future cancels the coroutine.

        Raises:
            IoThreadClosed: The thread is closed.
        """
        # Under the lock, so that no call can be queued behind the stop signal and be lost.
        with self._lock:
            if self._is_closed:
                raise IoThreadClosed("the I/O thread is closed")
            return asyncio.run_coroutine_threadsafe(self._limited(coro_factory, wall_timeout_s), self._loop)

    def close(self, *, wall_timeout_s: float = CLOSE_S) -> None:
        """Cancel what runs, let it clean up, end the thread and close its loop; harmless when closed.

        Blocks the caller; on a society's loop use `aclose`.

        Raises:
            WallTimeout: The thread did not end in time.
            RuntimeError: Called on the I/O thread.
        """
        with self._lock:
            if not self._is_closed:
                self._is_closed = True
                self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(wall_timeout_s)
        if self._thread.is_alive():
            raise WallTimeout("closing the I/O thread", wall_timeout_s)

    async def aclose(self) -> None:
        """Close as `close` does, without blocking the loop, while virtual time stands still."""
        await in_thread(self._clock, self.close)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    def _serve(self, started: concurrent.futures.Future[asyncio.AbstractEventLoop]) -> None:
        try:
            asyncio.run(self._live(started))
        except BaseException as error:
            if started.done():
                raise
            started.set_exception(error)
        finally:
            with self._lock:
                self._is_closed = True

    async def _live(self, started: concurrent.futures.Future[asyncio.AbstractEventLoop]) -> None:
        started.set_result(asyncio.get_running_loop())
        await self._stop.wait()
        # A server that ends greets whom asyncio is just accepting: a task of asyncio's that is cancelled before its
        # first step would leave the socket open.
        await _ended(self._calls)
        await _ended(asyncio.all_tasks() - {_this_task()})

    async def _limited(
        self, coro_factory: Callable[[], Coroutine[Any, Any, T]], wall_timeout_s: float | None
    ) -> T:
        limit = asyncio.timeout(wall_timeout_s)
        self._calls.add(task := _this_task())
        task.add_done_callback(self._calls.discard)
        try:
            async with limit:
                return await coro_factory()
        except TimeoutError as error:
            if limit.expired() and wall_timeout_s is not None:
                raise WallTimeout(describe(coro_factory), wall_timeout_s) from error
            raise
        except asyncio.CancelledError:
            if self._is_closed:
                raise IoThreadClosed("the I/O thread was closed during the call") from None
            raise


async def _ended(tasks: Iterable[asyncio.Task[Any]]) -> None:
    """Cancel tasks, and wait until they have cleaned up."""
    ending = list(tasks)
    for task in ending:
        task.cancel()
    await asyncio.gather(*ending, return_exceptions=True)


def _this_task() -> asyncio.Task[Any]:
    task = asyncio.current_task()
    assert task is not None, "called in a task"
    return task
