"""The thread on which an in-memory society runs: its time stands still between the calls of whoever uses it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextvars import copy_context
from queue import SimpleQueue
from threading import Thread
from typing import Any, Final, TypeVar

from moot.clock import VirtualClock
from moot.host import Listener
from moot.plan import Plan
from moot.protocols.kernel.errors import BadInput
from moot.society import Society as Host

T = TypeVar("T")
Job = Callable[[Host], Coroutine[Any, Any, Any]]

_STOP: Final = None


class SocietyThread:
    """Runs one society on an event loop of its own, one job after another.

    Between two jobs the loop's thread waits for the next one, so that no society time passes and nothing is said.
    """

    def __init__(self, plan: Plan, *, on_open: Callable[[Host], None], listener: Listener) -> None:
        """Start the thread.

        Args:
            plan: The society.
            on_open: Called on the thread with the society, before its first job.
            listener: Called for every message.
        """
        self._clock = VirtualClock(plan.start)
        self._plan = plan
        self._on_open = on_open
        self._listener = listener
        self._jobs: SimpleQueue[tuple[Job, Future[Any]] | None] = SimpleQueue()
        self._ended: Future[None] = Future()
        self.opened: Future[None] = Future()
        """Done when the society is open; holds the error where it cannot be opened."""
        self._current: asyncio.Task[Any] | None = None
        self._is_closing = False
        context = copy_context()
        # A daemon, so that a society that is never closed cannot keep the process from ending.
        Thread(target=context.run, args=(self._run,), name="moot society", daemon=True).start()

    def submit(self, job: Callable[[Host], Coroutine[Any, Any, T]]) -> Future[T]:
        """Queue a job and return its result to come.

        Raises:
            BadInput: The society is closed.
        """
        if self._is_closing:
            raise BadInput("the society is closed: use it inside its `with` block")
        result: Future[T] = Future()
        self._jobs.put((job, result))
        return result

    def interrupt(self) -> None:
        """Cancel the job that runs."""
        loop, task = getattr(self._clock, "_loop", None), self._current
        if loop is not None and task is not None:
            loop.call_soon_threadsafe(task.cancel)

    def close(self) -> Future[None]:
        """End the society after its last job; safe to call twice."""
        if not self._is_closing:
            self._is_closing = True
            self._jobs.put(_STOP)
        return self._ended

    def _run(self) -> None:
        try:
            self._clock.run(self._live)
        except BaseException as fault:
            if not self.opened.done():
                self.opened.set_exception(fault)
                self._ended.set_result(None)
            else:
                self._ended.set_exception(fault)
        else:
            self._ended.set_result(None)
        finally:
            self._is_closing = True
            while not self._jobs.empty():
                if (left := self._jobs.get()) is not None:
                    left[1].set_exception(BadInput("the society is closed"))

    async def _live(self, clock: VirtualClock) -> None:
        async with await Host.open(self._plan, clock, listener=self._listener) as society:
            self._on_open(society)
            self.opened.set_result(None)
            while (job := self._jobs.get()) is not None:
                await self._do(society, *job)

    async def _do(self, society: Host, job: Job, result: Future[Any]) -> None:
        self._current = asyncio.create_task(job(society), name="job")
        try:
            # A job that was cancelled leaves the society open.
            await asyncio.wait([self._current])
            if self._current.cancelled():
                result.cancel()
            elif (fault := self._current.exception()) is not None:
                result.set_exception(fault)
            elif result.set_running_or_notify_cancel():
                result.set_result(self._current.result())
        finally:
            self._current = None
