"""The bot: one task per obligation of its seat, bounded; it asks its mind and posts what that says (K13, K20)."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Final

import structlog

from moot.bots.minds.mind import Mind, Reply, View
from moot.bots.port import Clock, Port
from moot.channels.errors import BusClosed, Refused, StorageError
from moot.protocols.kernel.envelope import BOT, Draft
from moot.protocols.kernel.minds import STAND_IN
from moot.protocols.kernel.obligation import Obligation
from moot.protocols.kernel.seats import Seat

AT_ONCE: Final = 64
"""Minds of one seat that think at the same time."""
ATTEMPTS: Final = 5
"""After so many illegal answers to one obligation the bot stays silent (K21)."""
SECOND_THOUGHT: Final = timedelta(seconds=1)
"""A corrected answer takes at least this long, so that the violation stands in the log before it."""
TRIES: Final = 3
"""So often is a mind asked again after it failed, or a draft published again after the disk did."""

_log = structlog.get_logger("moot.bot")


class Bot:
    """Waits for what its seat owes, asks the mind, publishes. It holds neither docket nor stores (K12).

    Cancellation: closing an obligation cancels its task; a publish under way is finished by the bus, and its
    id makes a repetition harmless (K1).
    """

    def __init__(self, seat: Seat, mind: Mind, port: Port, clock: Clock) -> None:
        """Fill a seat with a mind."""
        self.seat = seat
        self.mind = mind
        self._port = port
        self._clock = clock
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._slots = asyncio.Semaphore(AT_ONCE)
        self._is_open = True

    @property
    def busy(self) -> int:
        """Return how many obligations have a task."""
        return len(self._tasks)

    def opened(self, obligation: Obligation) -> None:
        """Start a task for an obligation; also called again after an illegal answer."""
        self.closed(obligation)
        if not self._is_open:
            return
        self._tasks[obligation.id] = asyncio.create_task(self._see_to(obligation))

    def closed(self, obligation: Obligation) -> None:
        """End the task of an obligation that was settled, voided or overtaken."""
        task = self._tasks.pop(obligation.id, None)
        if task is not None and task is not asyncio.current_task():
            task.cancel()

    async def _see_to(self, obligation: Obligation) -> None:
        """Answer an obligation, then forget the task; without a callback, which would cost a turn of the loop."""
        obligation_id = obligation.id
        try:
            await self._answer(obligation)
        except Exception as fault:
            _log.error("bot task failed", seat=self.seat, obligation=obligation_id, error=repr(fault))
        finally:
            # Closed by its own answer it is gone already, and another attempt may stand in its place.
            task = self._tasks.get(obligation_id)
            if task is not None and task is asyncio.current_task():
                del self._tasks[obligation_id]

    async def close(self) -> None:
        """End all tasks."""
        self._is_open = False
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _answer(self, obligation: Obligation) -> None:
        view = await self._port.view(self.seat, obligation)
        if view is None or view.attempt >= ATTEMPTS:
            return
        delay = self.mind.consider(view)
        if delay is None:
            return
        answers_at = obligation.opened_at + delay
        if view.attempt:
            answers_at = max(answers_at, view.now + SECOND_THOUGHT)
        is_ahead = self.mind.begins_at_once(view)
        begins_at = obligation.opened_at if is_ahead else answers_at
        waits = begins_at > view.now
        if waits:
            await self._clock.sleep_until(begins_at)
        async with self._slots:
            if waits:
                view = await self._port.view(self.seat, obligation)
            if view is None:
                return
            reply = await self._think(view, 1 if is_ahead else TRIES)
            if reply is None:
                return
            if not is_ahead:
                await self._post(view, reply)
                return
        # Others may think while this answer, which is there already, waits for its time.
        if answers_at > self._clock.now():
            await self._clock.sleep_until(answers_at)
        await self._post(view, reply)

    async def _think(self, view: View, tries: int) -> Reply | None:
        """Ask the mind, so often if it fails; then the seat stays silent."""
        for attempt in range(1, tries + 1):
            try:
                return await self.mind.answer(view)
            except Exception as fault:
                _log.error(
                    "mind failed",
                    seat=self.seat,
                    obligation=view.obligation.id,
                    attempt=attempt,
                    error=repr(fault),
                    exc_info=True,
                )
        return None

    async def _post(self, view: View, reply: Reply) -> None:
        draft = self._port.answer_draft(view, reply.body)
        if draft is None:
            return
        if reply.is_stand_in and draft.actor == BOT:
            draft = replace(draft, actor=STAND_IN)
        for n, aside in enumerate(reply.asides, 1):
            body = aside.body
            await self._publish(
                replace(
                    draft,
                    channel=aside.channel,
                    body=body,
                    case_id=(getattr(body, body.case_field) if body.case_field else "") or draft.case_id,
                    obligation_id=None,
                    key=f"{draft.obligation_id}/{draft.attempt}/aside-{n}",
                )
            )
        await self._publish(draft)

    async def _publish(self, draft: Draft) -> None:
        for attempt in range(1, TRIES + 1):
            try:
                await self._port.publish(draft)
                return
            except Refused as refused:
                _log.warning("refused", seat=self.seat, type=draft.body.type, why=str(refused))
                return
            except BusClosed:
                return
            except StorageError as fault:
                _log.error("not stored", seat=self.seat, attempt=attempt, error=str(fault))
