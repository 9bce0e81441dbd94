"""Token buckets: what lets posts through at the pace of a platform (`moot.channels.outbox.pacing`)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from moot.channels.outbox.pacing import Budget

ENOUGH = 1 - 1e-9
"""Of a token; a timer that fires a rounding error early must not wait for the rest."""


class Bucket:
    """Tokens that come at a steady rate, up to a burst of them; full at first."""

    def __init__(self, budget: Budget | None, clock: Callable[[], float]) -> None:
        """Fill it.

        Args:
            budget: The pace; None: everything goes at once.
            clock: Seconds that never go back, for example a loop's `time`.
        """
        self._budget = budget
        self._clock = clock
        self._tokens = 0.0 if budget is None else float(budget.burst)
        self._counted_at = clock()

    def delay_s(self) -> float:
        """Return the seconds until there is a token, 0 when there is one."""
        if self._budget is None:
            return 0.0
        now = self._clock()
        self._tokens = min(self._budget.burst, self._tokens + (now - self._counted_at) * self._budget.per_s)
        self._counted_at = now
        return 0.0 if self._tokens >= ENOUGH else (1.0 - self._tokens) / self._budget.per_s

    def take(self) -> None:
        """Take a token; `delay_s` was 0."""
        if self._budget is not None:
            self._tokens -= 1.0

    def give_back(self) -> None:
        """Return a token that was not used."""
        if self._budget is not None:
            self._tokens = min(self._budget.burst, self._tokens + 1.0)


@dataclass(eq=False, slots=True)
class _Waiter:
    turn: asyncio.Future[None]
    is_urgent: Callable[[], bool]


class Turnstile:
    """One bucket for many who wait: who is urgent goes first, the others as they came."""

    def __init__(self, budget: Budget | None, clock: Callable[[], float]) -> None:
        """Fill the bucket; as `Bucket`."""
        self._bucket = Bucket(budget, clock)
        self._waiting: list[_Waiter] = []
        self._timer: asyncio.TimerHandle | None = None

    async def wait(self, is_urgent: Callable[[], bool]) -> None:
        """Return when it is the caller's turn, and take a token for it.

        Args:
            is_urgent: Asked at every token, so that who waits can become urgent.
        """
        if not self._waiting and self._bucket.delay_s() <= 0:
            self._bucket.take()
            return
        waiter = _Waiter(asyncio.get_running_loop().create_future(), is_urgent)
        self._waiting.append(waiter)
        self._let_through()
        try:
            await waiter.turn
        except asyncio.CancelledError:
            if waiter in self._waiting:
                self._waiting.remove(waiter)
            elif not waiter.turn.cancelled():
                self._bucket.give_back()
                self._let_through()
            raise

    def _let_through(self) -> None:
        while self._waiting and (delay := self._bucket.delay_s()) <= 0:
            waiter = next((one for one in self._waiting if one.is_urgent()), self._waiting[0])
            self._waiting.remove(waiter)
            if not waiter.turn.done():  # cancelled, and not yet told
                self._bucket.take()
                waiter.turn.set_result(None)
        if self._waiting and self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(delay, self._on_time)

    def _on_time(self) -> None:
        self._timer = None
        self._let_through()
