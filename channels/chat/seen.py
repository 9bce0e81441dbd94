"""What was heard lately: a bounded memory of ids, for platforms that deliver a thing more than once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

KEEP_S: Final = 3_600.0
"""Platforms repeat themselves after 1 and 5 minutes, some after an hour."""

MOST: Final = 50_000
"""Ids that are kept; the oldest go first."""


class Seen:
    """Ids heard in the last `keep_s` seconds."""

    def __init__(self, clock: Callable[[], float], *, keep_s: float = KEEP_S, most: int = MOST) -> None:
        """Start empty.

        Args:
            clock: Seconds that never go back, for example a loop's `time`.
            keep_s: How long an id is known after it was last heard.
            most: How many ids are known at a time.

        Raises:
            ValueError: It would know nothing.
        """
        if keep_s <= 0 or most < 1:
            raise ValueError("a memory keeps at least one id for some time")
        self._clock = clock
        self._keep_s = keep_s
        self._most = most
        self._heard: dict[str, float] = {}  # oldest first

    def __len__(self) -> int:
        """Count what is known."""
        return len(self._heard)

    def __contains__(self, id: str) -> bool:
        """Say whether this is known."""
        return id in self._heard

    def first_time(self, id: str) -> bool:
        """Say whether this is new, and know it from now on."""
        now = self._clock()
        heard = self._heard
        while heard and now - heard[next(iter(heard))] > self._keep_s:
            del heard[next(iter(heard))]
        is_new = heard.pop(id, None) is None
        heard[id] = now
        while len(heard) > self._most:
            del heard[next(iter(heard))]
        return is_new

    def forget(self, id: str) -> None:
        """Take an id for new again, because what it stood for was not dealt with."""
        self._heard.pop(id, None)
