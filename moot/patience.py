"""Patience with people: an accelerated society waits at 1x while a person owes an answer (K8)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from datetime import timedelta
from typing import Final

import structlog

from moot.channels.errors import BusClosed, StorageError
from moot.channels.showing.wording import seat_name
from moot.clock import PacedClock
from moot.protocols.kernel.docket import Effects
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.officers import WAITING, ClockSet
from moot.society import Society

UNSEEN_WALL_S: Final = 60.0
"""Wall seconds that are kept for an answer to an escalation of the warm-up that nobody has been shown yet."""
UNSEEN_POLL_S: Final = 0.25
"""Wall seconds between two looks at how long such an escalation stays open."""

_log = structlog.get_logger("moot.patience")


class Patience:
    """Slows the clock while a human-held seat owes or a page holds an escalation open, for a bounded time.

    An escalation that nobody has been shown yet is held open too, once little time is left for its answer.
    Both changes of speed are CLOCK_SET messages. The bound is wall time; at 1x that is society time too. A
    person who sets the speed meanwhile decides: it stays as they set it.
    """

    def __init__(self, society: Society, *, wall_s: float, unseen: Iterable[str] = ()) -> None:
        """Watch a society on a paced clock.

        Args:
            society: The society; a person may owe in it already.
            wall_s: The longest wait; 0: never wait.
            unseen: Ids of open escalations that are held open until a page or a command has displayed them.
        """
        self._society = society
        self._wall = timedelta(seconds=wall_s)
        self._full_speed: float | None = None
        self._is_spent = False
        self._held: set[str] = set()
        self._unseen = set(unseen)
        self._timer: asyncio.Task[None] | None = None
        self._change: asyncio.Task[None] | None = None
        self._set_to: float | None = None
        self._reason = ""
        society.host.listeners.append(self._look)
        self._watch = asyncio.create_task(self._watch_unseen(), name="unseen escalations")
        self._decide()

    @property
    def is_waiting(self) -> bool:
        """Say whether the society waits for a person."""
        return self._full_speed is not None

    def hold_open(self, escalation_id: str, is_open: bool) -> None:
        """Note that a page holds an escalation, or the case of a person's duty, open, or no longer does."""
        if is_open and escalation_id in self._unseen:
            self.note_shown(escalation_id)
        (self._held.add if is_open else self._held.discard)(escalation_id)
        self._decide()

    def note_shown(self, escalation_id: str) -> None:
        """Note that a page or a command has displayed an escalation; the next wait is as long as any."""
        if escalation_id in self._unseen:
            self._unseen.discard(escalation_id)
            if self._full_speed is not None:
                self._stop_timer()
                self._timer = asyncio.create_task(self._give_up(), name="patience")
            self._decide()

    def note_person(self) -> None:
        """Note that a person is there: nothing is held open any more for want of somebody to see it."""
        for escalation_id in sorted(self._unseen):
            self.note_shown(escalation_id)

    def _look(self, env: Envelope, fx: Effects) -> None:
        if isinstance(env.body, ClockSet):
            if self._full_speed is not None and env.body.reason != self._reason and env.body.speed != 1:
                self._full_speed = None
                self._is_spent = True
        elif fx.opened or fx.closed or fx.ended or env.body.type in ("SEAT_TAKEN", "SEAT_RELEASED"):
            self._decide()

    def _awaited(self) -> str:
        """Say who is waited for, "" for nobody."""
        docket = self._society.host.docket
        holders = docket.context.holders
        if owed := next((o for o in docket.open.values() if o.seat in holders), None):
            return f"{holders[owed.seat].user_id} in the seat of the {seat_name(owed.seat)}"
        shown = min(self._held & docket.cases.keys(), default="")
        if shown:
            return f"an answer to {shown}, which a page shows"
        unseen = min((one for one in self._unseen if self._is_nearly_due(one)), default="")
        return f"somebody to see {unseen}" if unseen else ""

    def _is_nearly_due(self, escalation_id: str) -> bool:
        """Return whether less than `UNSEEN_WALL_S` is left for an answer at full speed."""
        clock = self._society.clock
        speed = self._full_speed or clock.speed
        return any(
            (o.due_at - clock.now()).total_seconds() < UNSEEN_WALL_S * speed
            for o in self._society.host.docket.open.values()
            if o.case_id == escalation_id and o.step == "answer"
        )

    async def _watch_unseen(self) -> None:
        """Look whether an escalation nobody has been shown comes near its end."""
        while self._unseen:
            await asyncio.sleep(UNSEEN_POLL_S * self._society.clock.speed)
            self._unseen &= self._society.host.docket.cases.keys()
            if self._full_speed is None:
                self._decide()

    def _decide(self) -> None:
        clock = self._society.clock
        if not isinstance(clock, PacedClock) or not self._wall:
            return
        awaited = self._awaited()
        if not awaited:
            self._is_spent = False
            self._go_on("nobody is waited for")
        elif self._full_speed is None and not self._is_spent:
            # A change under way has not reached the clock yet.
            speed = clock.speed if self._set_to is None else self._set_to
            if speed > 1:
                self._full_speed = speed
                self._set(1.0, f"{WAITING} {awaited}, {self._most()} at most")
                self._stop_timer()
                self._timer = asyncio.create_task(self._give_up(), name="patience")

    def _go_on(self, reason: str) -> None:
        if self._full_speed is not None:
            speed, self._full_speed = self._full_speed, None
            self._set(speed, reason)

    async def _give_up(self) -> None:
        await asyncio.sleep(self._wall.total_seconds())
        if self._full_speed is not None:
            self._is_spent = True
            self._go_on(f"waited {self._wall.total_seconds():g} s for a person")

    def _most(self) -> str:
        seconds = self._wall.total_seconds()
        return f"{seconds / 60:g} min" if seconds >= 60 else f"{seconds:g} s"

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _set(self, speed: float, reason: str) -> None:
        previous = self._change
        self._set_to = speed

        async def change() -> None:
            if previous is not None:
                await asyncio.gather(previous, return_exceptions=True)
            self._reason = reason
            try:
                await self._society.set_clock(speed=speed, reason=reason)
            except (BusClosed, StorageError) as fault:
                _log.error("clock set unsaid", speed=speed, error=str(fault))
            if self._change is asyncio.current_task():
                self._set_to = None

        self._change = asyncio.create_task(change(), name="clock set")

    async def close(self) -> None:
        """Stop watching."""
        self._society.host.listeners.remove(self._look)
        tasks = [task for task in (self._timer, self._change, self._watch) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
