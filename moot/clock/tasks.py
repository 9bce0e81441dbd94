"""Tasks whose place in a set does not depend on their address.

asyncio keeps tasks in sets (`all_tasks`, `asyncio.wait`, the children of a TaskGroup). A plain task hashes by
its address, so which child an aborting group cancels first differs between two runs of the same program. A
society's task hashes by its creation number, which makes that order a function of the program alone (K2).
"""

import asyncio
from collections.abc import Coroutine, Generator
from typing import Any, TypeVar

T = TypeVar("T")


class SocietyTask(asyncio.Task[T]):
    """A task that hashes by its creation number; it equals itself only, as every task."""

    def __init__(
        self, coro: Generator[Any, None, T] | Coroutine[Any, Any, T], number: int, **options: Any
    ) -> None:
        # First, because the base class puts the new task into a set.
        self._number = number
        super().__init__(coro, **options)

    def __hash__(self) -> int:
        return self._number


class TaskFactory:
    """Numbers the tasks of one loop 1, 2, 3 … in the order of their creation."""

    def __init__(self) -> None:
        self._number = 0

    def __call__(
        self,
        loop: asyncio.AbstractEventLoop,
        coro: Generator[Any, None, T] | Coroutine[Any, Any, T],
        **options: Any,
    ) -> SocietyTask[T]:
        """Make a task; `options` (context, and from Python 3.13 name) go to `asyncio.Task`."""
        self._number += 1
        return SocietyTask(coro, self._number, loop=loop, **options)
