"""A thread beside a society's loop: it waits in wall time, and has the loop do what it finds (K2, K25)."""

from __future__ import annotations

import asyncio
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, wait
from contextlib import AbstractContextManager
from typing import Any, Self, TypeVar

T = TypeVar("T")


class LoopEnded(Exception):
    """The loop was closed, or cancelled the work, before it was done."""


class LoopThread(ABC):
    """A daemon thread that never keeps the interpreter alive, for the loop that is running when it is made.

    Subclasses say in `_run` what the thread does until `_stop` is set, and start `_thread` when they are ready for it.
    """

    def __init__(
        self, name: str, *, poll_s: float, hold: Callable[[], AbstractContextManager[object]]
    ) -> None:
        """Prepare; nothing runs yet.

        Args:
            name: The thread's.
            poll_s: Wall seconds between two looks whether the loop is still there.
            hold: Keeps virtual time still while `close` waits for the thread.
        """
        self._poll_s = poll_s
        self._hold = hold
        self._stop = threading.Event()
        self._loop = asyncio.get_running_loop()
        self._task: asyncio.Task[Any] | None = None
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    async def close(self) -> None:
        """Finish what is in hand and stop; safe to call twice."""
        self._stop.set()
        with self._hold():
            await asyncio.to_thread(self._thread.join)

    async def __aenter__(self) -> Self:
        """Return the thread."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close it."""
        await self.close()

    @abstractmethod
    def _run(self) -> None:
        """Do the thread's work until `_stop` is set; in the thread."""

    def _on_loop(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Have the loop do some work in a task of its own, and wait for it; in the thread.

        Returns:
            What the work returned; what it raised is raised.

        Raises:
            LoopEnded: Nobody will do it any more; the thread is to stop.
        """
        box: Future[T] = Future()
        try:
            self._loop.call_soon_threadsafe(self._begin, work, box)
        except RuntimeError:
            box.set_exception(LoopEnded())
        while not wait([box], timeout=self._poll_s).done:
            if self._loop.is_closed() and not box.done():
                box.set_exception(LoopEnded())
        try:
            return box.result()
        except LoopEnded:
            self._stop.set()
            raise

    def _begin(self, work: Callable[[], Coroutine[Any, Any, T]], box: Future[T]) -> None:
        """Start the work; on the loop."""

        def hand_back(task: asyncio.Task[T]) -> None:
            if task.cancelled():
                box.set_exception(LoopEnded())
            elif (error := task.exception()) is not None:
                box.set_exception(error)
            else:
                box.set_result(task.result())

        # Kept, for the loop itself keeps tasks only weakly.
        self._task = self._loop.create_task(work(), name=self._thread.name)
        self._task.add_done_callback(hand_back)
