"""A connection on a thread of its own, whose loop counts in wall seconds: a society's may run 120 times as fast."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import Final, Self, TypeVar

from moot.channels.errors import BusClosed, NatsUnavailable
from moot.channels.nats.address import NatsAddress
from moot.channels.nats.connection import NatsConnection

T = TypeVar("T")

CLOSE_S: Final = 5.0
"""A server that does not answer keeps nobody from ending for longer."""
AGAIN_S: Final = 0.2
WAIT_S: Final = 20.0
"""How long who blocks waits for an answer; the connection itself gives up before."""


class NatsThread:
    """Runs coroutines over one connection; may be called from any thread and any loop. Close it (K25).

    Attributes:
        address: Where the connection leads.
    """

    def __init__(self, address: NatsAddress, *, name: str = "moot") -> None:
        """Connect; blocks until a server has answered.

        Args:
            address: Where to.
            name: What the server's own lists call the connection.

        Raises:
            BadInput: A file that the address names is not what it should be.
            NatsUnavailable: No server answers, or it refuses.
        """
        self.address = address
        self._name = name
        self._stop = asyncio.Event()
        self._lock = threading.Lock()
        self._is_closed = False
        self._working: set[asyncio.Task[object]] = set()
        started: Future[tuple[asyncio.AbstractEventLoop, NatsConnection]] = Future()
        # A daemon, so that a coroutine that blocks for ever cannot keep the process from ending.
        self._thread = threading.Thread(target=self._run, args=(started,), name="nats", daemon=True)
        self._thread.start()
        self._loop, self._connection = started.result()

    def run(self, work: Callable[[NatsConnection], Awaitable[T]]) -> Future[T]:
        """Start some work on the thread; cancelling the future cancels it.

        Raises:
            BusClosed: The connection is closed.
        """
        with self._lock:
            if self._is_closed:
                raise BusClosed(f"the connection to {self.address.where} is closed")
            return asyncio.run_coroutine_threadsafe(self._worked(work), self._loop)

    def wait(self, work: Callable[[NatsConnection], Awaitable[T]], within_s: float = WAIT_S) -> T:
        """Do some work on the thread and block until it is done; not on a loop that has other things to do.

        Raises:
            NatsUnavailable: It was not done in time.
            BusClosed: The connection is closed.
        """
        doing = self.run(work)
        try:
            return doing.result(within_s)
        except TimeoutError:
            doing.cancel()
            raise NatsUnavailable(f"{self.address.where} does not answer") from None

    def close(self) -> None:
        """Cancel what is under way and hang up; blocks until then. Safe to call twice."""
        with self._lock:
            if not self._is_closed:
                self._is_closed = True
                with suppress(RuntimeError):
                    self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(CLOSE_S)

    def __enter__(self) -> Self:
        """Return the thread."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    def _run(self, started: Future[tuple[asyncio.AbstractEventLoop, NatsConnection]]) -> None:
        try:
            asyncio.run(self._live(started))
        except BaseException as error:
            if started.done():
                raise
            started.set_exception(error)
        finally:
            with self._lock:
                self._is_closed = True

    async def _live(self, started: Future[tuple[asyncio.AbstractEventLoop, NatsConnection]]) -> None:
        async with await NatsConnection.open(self.address, name=self._name) as connection:
            started.set_result((asyncio.get_running_loop(), connection))
            await self._stop.wait()
            while self._working:
                # In Python 3.11 `asyncio.wait_for`, which the library uses, may swallow a cancellation.
                for task in self._working:
                    task.cancel()
                await asyncio.wait(self._working, timeout=AGAIN_S)

    async def _worked(self, work: Callable[[NatsConnection], Awaitable[T]]) -> T:
        task = asyncio.current_task()
        assert task is not None
        self._working.add(task)
        try:
            return await work(self._connection)
        finally:
            self._working.discard(task)
