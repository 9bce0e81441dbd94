"""What gateways on several hosts share: each one's writes, in one order, before they are written anywhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

Statement = tuple[str, Sequence[Sequence[object]]]
"""SQL, and the values of each time that it is run."""


class SharedWrites(Protocol):
    """The writes of all gateways that ever ran a surface; each has a number that only grows."""

    async def after(self, n: int) -> list[tuple[int, list[Statement]]]:
        """Return the writes after a number, oldest first."""
        ...

    async def append(self, statements: Sequence[Statement], n: int) -> int | None:
        """Keep a write, if none has come after the number `n`; return its own number, None when one has."""
        ...
