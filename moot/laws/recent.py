"""Memory that cannot grow without end."""

from __future__ import annotations

from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Recent(dict[K, V], Generic[K, V]):
    """A dict of the keys that came last: one more than `most` drops the oldest."""

    def __init__(self, most: int = 4096) -> None:
        """Begin empty."""
        super().__init__()
        self._most = most

    def __setitem__(self, key: K, value: V) -> None:
        """Keep a value, and forget the oldest key where there are too many."""
        super().__setitem__(key, value)
        if len(self) > self._most:
            del self[next(iter(self))]
