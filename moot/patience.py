"""Patience with people: an accelerated society waits at 1x while a person owes an answer (K8)."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import structlog

from moot.clock import PacedClock
from moot.society import Society
from protocols.kernel.docket import Effects
from protocols.kernel.envelope import Envelope

_log = structlog.get_logger("moot.patience")


class Patience:
    """Slows the clock while a human-held seat owes or a page holds an escalation open, for a bounded time.

    Both changes of speed are CLOCK_SET messages. The bound is wall time; at 1x that is society time too.
    """

    def __init__(self, society: Society, *, wall_s: float) -> None:
        """Watch a society on a paced clock."""
        self._society = society
        self._wall = timedelta(seconds=wall_s)
        self._full_speed: float | None = None
        self._is_spent = False
        self._held: set[str] = set()
        self._timer: asyncio.Task[None] | None = None
        self._change: asyncio.Task[None] | None = None
        society.host.listeners.append(self._look)

    @property
    def is_waiting(self) -> bool:
        """Say whether the society waits for a person."""
        return self._full_speed is not None

    def hold_open(self, escalation_id: str, is_open: bool) -> None:
        """Note that a page holds an escalation open, or no longer does."""
        (self._held.add if is_open else self._held.discard)(escalation_id)
        self._decide()

    def _look(self, env: Envelope, fx: Effects) -> None:
        if fx.opened or fx.closed or fx.ended or env.body.type in ("SEAT_TAKEN", "SEAT_RELEASED"):
            self._decide()

    def _wanted(self) -> bool:
        docket = self._society.host.docket
        holders = docket.house.holders
        return bool(self._held & docket.cases.keys()) or any(o.seat in holders for o in docket.open.values())

    def _decide(self) -> None:
        clock = self._society.clock
        if not isinstance(clock, PacedClock):
            return
        if not self._wanted():
            self._is_spent = False
            if self._full_speed is not None:
                speed, self._full_speed = self._full_speed, None
                self._set(speed, "nobody is waited for")
        elif self._full_speed is None and not self._is_spent and clock.speed > 1:
            self._full_speed = clock.speed
            self._set(1.0, "waiting for a person")
            if self._timer is not None:
                self._timer.cancel()
            self._timer = asyncio.create_task(self._give_up(), name="patience")

    async def _give_up(self) -> None:
        await asyncio.sleep(self._wall.total_seconds())
        if self._full_speed is not None:
            speed, self._full_speed = self._full_speed, None
            self._is_spent = True
            self._set(speed, f"waited {self._wall.total_seconds():.0f} s for a person")

    def _set(self, speed: float, reason: str) -> None:
        previous = self._change

        async def change() -> None:
            if previous is not None:
                await asyncio.gather(previous, return_exceptions=True)
            await self._society.set_clock(speed=speed, reason=reason)

        self._change = asyncio.create_task(change(), name="clock set")

    async def close(self) -> None:
        """Stop watching."""
        self._society.host.listeners.remove(self._look)
        tasks = [task for task in (self._timer, self._change) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
