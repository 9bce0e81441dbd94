"""A thread that belongs to one mind: one answer after another, each within a limit of wall time."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections import deque
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from typing import Any, Final

from moot.clock.errors import WallTimeout

MOST_HUNG: Final = 3
"""So many answers may be hanging on threads that were given up; then nothing more is asked."""


class StillHanging(Exception):
    """Too many earlier answers never returned, so this one was not asked for."""


class _Call:
    def __init__(self, fn: Callable[[], Any], what: str, limit_s: float) -> None:
        self.fn = fn
        self.what = what
        self.limit_s = limit_s
        self.done: Future[Any] = Future()
        self.task: asyncio.Task[Any] | None = None
        self.is_over = False


class MindThread:
    """Calls functions one at a time, in the order in which they were submitted.

    The thread is a daemon, so that a function that never returns cannot keep the process from ending. One that
    overruns its limit is given up together with its thread: those that wait behind it go on on a new one. What a
    function returns may be awaited on an event loop that lives as long as the thread.
    """

    def __init__(self, name: str) -> None:
        """Start nothing yet: the thread comes with the first call."""
        self._name = name
        self._lock = threading.Condition()
        self._waiting: deque[_Call] = deque()
        self._current: _Call | None = None
        self._hung = 0
        self._is_alive = False
        self._is_closed = False

    def submit(self, fn: Callable[[], Any], what: str, limit_s: float) -> Future[Any]:
        """Have a function called when those before it are done.

        Args:
            fn: It; an awaitable that it returns is awaited.
            what: What it is, for the error.
            limit_s: Wall seconds that it may take once it is called.

        Returns:
            What it gives. Raises `WallTimeout` after the limit, `StillHanging` when it was not called at all, and
            whatever the function raises. Cancelled, it is not called if it has not been yet.
        """
        call = _Call(fn, what, limit_s)
        with self._lock:
            if self._is_closed:
                call.done.cancel()
            elif self._hung >= MOST_HUNG:
                call.done.set_exception(StillHanging(f"{self._hung} earlier answers never returned"))
            else:
                self._waiting.append(call)
                self._start()
                self._lock.notify_all()
        return call.done

    def close(self) -> None:
        """Call nothing more and let the thread end; one that hangs is left to the end of the process."""
        with self._lock:
            self._is_closed = True
            left, current = [*self._waiting], self._current
            self._waiting.clear()
            self._lock.notify_all()
        for call in left:
            call.done.cancel()
        if current is not None:
            _cancel(current)

    def _start(self) -> None:
        if not self._is_alive:
            self._is_alive = True
            threading.Thread(target=self._work, name=self._name, daemon=True).start()

    def _work(self) -> None:
        with asyncio.Runner() as runner:
            while (call := self._next()) is not None:
                if not self._carry_out(call, runner):
                    return

    def _next(self) -> _Call | None:
        with self._lock:
            while not self._waiting and not self._is_closed:
                self._lock.wait()
            if not self._waiting:
                self._is_alive = False
                return None
            self._current = self._waiting.popleft()
            return self._current

    def _carry_out(self, call: _Call, runner: asyncio.Runner) -> bool:
        """Call a function and hand over what it gives; False once this thread was given up meanwhile."""
        if not call.done.set_running_or_notify_cancel():
            with self._lock:
                self._current = None
            return True
        watch = threading.Timer(call.limit_s, self._give_up, (call,))
        watch.daemon = True
        watch.start()
        given: Any = None
        fault: Exception | None = None
        try:
            given = call.fn()
            if inspect.isawaitable(given):
                given = runner.run(_awaited(given, call))
        except BaseException as exc:
            # SystemExit or a cancellation of its own would end the society that waits.
            fault = exc if isinstance(exc, Exception) else _as_error(exc)
        finally:
            watch.cancel()
        with self._lock:
            if self._current is not call:
                self._hung -= 1
                return False
            self._current = None
        if fault is None:
            call.done.set_result(given)
        else:
            call.done.set_exception(fault)
        return True

    def _give_up(self, call: _Call) -> None:
        """Tell whoever waits that the limit is over, and go on with the next call on another thread."""
        with self._lock:
            if self._current is not call:
                return
            self._current = None
            self._hung += 1
            self._is_alive = False
            refused: list[_Call] = []
            if self._hung >= MOST_HUNG:
                refused, self._waiting = [*self._waiting], deque()
            elif self._waiting:
                self._start()
            hung = self._hung
        _cancel(call)
        call.done.set_exception(WallTimeout(call.what, call.limit_s))
        for one in refused:
            if one.done.set_running_or_notify_cancel():
                one.done.set_exception(StillHanging(f"{hung} earlier answers never returned"))


def _as_error(exc: BaseException) -> Exception:
    return RuntimeError(f"{type(exc).__name__} {exc}".strip()).with_traceback(exc.__traceback__)


async def _awaited(given: Awaitable[Any], call: _Call) -> Any:
    call.task = asyncio.current_task()
    if call.is_over:
        if inspect.iscoroutine(given):
            given.close()
        raise asyncio.CancelledError
    return await given


def _cancel(call: _Call) -> None:
    """Cancel what is awaited, if anything is: a coroutine can be stopped, a blocked thread cannot."""
    call.is_over = True  # for one that begins to be awaited only now
    task = call.task
    if task is not None:
        try:
            task.get_loop().call_soon_threadsafe(task.cancel)
        except RuntimeError:
            return  # its loop is closed: it is over
