"""How many requests an endpoint gets at once: half as many after each 429, and slowly more again."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Pace:
    """Slots of one endpoint, given in the order in which they were asked for.

    Attributes:
        most: Slots there are at most, and at first.
        limit: Slots there are now; a share of one counts when it is whole.
    """

    def __init__(self, most: int) -> None:
        """Begin with all slots."""
        self.most = most
        self.limit = float(most)
        self._taken = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._round = 0

    @property
    def taken(self) -> int:
        """Return how many slots are taken."""
        return self._taken

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[int]:
        """Wait for a slot and hold it; yields the round it belongs to, for `slower`."""
        await self._take()
        try:
            yield self._round
        finally:
            self._taken -= 1
            self._give()

    def slower(self, began: int) -> None:
        """Halve after a 429; requests that were under way together halve once.

        Args:
            began: The round of the request's slot.
        """
        if began == self._round:
            self._round += 1
            self.limit = max(1.0, self.limit / 2)

    def faster(self) -> None:
        """Creep up after a success: by one slot in about as many successes as there are slots."""
        self.limit = min(float(self.most), self.limit + 1 / self.limit)
        self._give()

    async def _take(self) -> None:
        if not self._waiting and self._taken < int(self.limit):
            self._taken += 1
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                # It had its slot already, and does not want it any more.
                self._taken -= 1
                self._give()
            raise

    def _give(self) -> None:
        while self._waiting and self._taken < int(self.limit):
            turn = self._waiting.popleft()
            if not turn.done():
                self._taken += 1
                turn.set_result(None)
