"""Holding time: how work that takes wall time keeps virtual time still (K2)."""

import threading
from collections.abc import Callable
from types import TracebackType
from typing import Self


class Hold:
    """A counted, re-entrant context manager; time is held while anyone is inside it (K2).

    One instance belongs to one clock and is handed to everybody who asks. It may be entered and left in any
    order, by any number of tasks and from any thread, with `with` or `async with`.
    """

    __slots__ = ("_count", "_lock", "_on_free", "_on_held")

    def __init__(self, on_free: Callable[[], None], on_held: Callable[[], None] | None = None) -> None:
        """Start free.

        Args:
            on_free: Called, in the releasing thread, whenever the last hold is left.
            on_held: Called, in the holding thread, whenever the first is taken.
        """
        self._count = 0
        self._lock = threading.Lock()
        self._on_free = on_free
        self._on_held = on_held

    @property
    def count(self) -> int:
        """How many holds are open."""
        return self._count

    def __enter__(self) -> Self:
        with self._lock:
            self._count += 1
            is_first = self._count == 1
        if is_first and self._on_held is not None:
            self._on_held()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            if not self._count:
                raise RuntimeError("a hold was left that nobody had taken")
            self._count -= 1
            is_free = not self._count
        if is_free:
            self._on_free()

    async def __aenter__(self) -> Self:
        return self.__enter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.__exit__(kind, error, trace)
