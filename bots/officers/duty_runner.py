"""Post the officers' duties as the docket derives them, when they fall due (K9)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime
from typing import Final, Protocol

import structlog

from moot.bots.port import Clock
from moot.channels.bus import Receipt
from moot.channels.errors import BusClosed, StorageError
from moot.protocols.kernel.envelope import Draft
from moot.protocols.kernel.errors import OfficerFault

AGAIN_AFTER_S: Final = 1.0
"""Society seconds from a duty that the disk did not take to the next look."""

_log = structlog.get_logger("moot.duty_runner")


class Duties(Protocol):
    """Where the duty runner learns what is due."""

    def due(self, now: datetime) -> Sequence[Draft]:
        """Return the duties of this instant, most urgent first."""
        ...

    def next_instant(self) -> datetime | None:
        """Return when something next falls due."""
        ...

    async def publish(self, draft: Draft) -> Receipt:
        """Publish a duty."""
        ...

    def mute(self, draft: Draft) -> bool:
        """Drop a duty that is already in the log; return False if asking for it again is a fault of the tables."""
        ...


class DutyRunner:
    """Referee and timekeeper at work.

    Their messages have derived ids, so posting one twice is harmless, and what they say is derived, so any
    other runner would say the same.
    """

    def __init__(self, duties: Duties, clock: Clock) -> None:
        """Start with nothing posted."""
        self._duties = duties
        self._clock = clock
        self._woken = asyncio.Event()
        self._sleeper: asyncio.Task[None] | None = None
        self._until: datetime | None = None
        self._stuck: dict[str, int] = {}

    def wake(self) -> None:
        """Look again: the log has grown."""
        self._woken.set()

    def wants_waking(self, instant: datetime) -> bool:
        """Say whether something that falls due then needs an earlier look than planned."""
        return self._until is None or instant < self._until

    async def run(self) -> None:
        """Post duties until cancelled or the bus closes.

        Raises:
            OfficerFault: A duty stands in the log and is due all the same: the tables contradict themselves.
        """
        try:
            while True:
                self._woken.clear()
                now = self._clock.now()
                drafts = self._duties.due(now)
                if not drafts:
                    self._until = self._duties.next_instant()
                    await self._wait(now)
                    continue
                await self._post(drafts)
        except BusClosed:
            return
        finally:
            if self._sleeper is not None:
                self._sleeper.cancel()

    async def _post(self, drafts: Sequence[Draft]) -> None:
        if len(drafts) == 1:
            receipts = [await self._try(drafts[0])]
        else:
            receipts = list(await asyncio.gather(*map(self._try, drafts)))
        for draft, receipt in zip(drafts, receipts, strict=True):
            if isinstance(receipt, StorageError):
                _log.error("not stored", type=draft.body.type, case_id=draft.case_id, error=str(receipt))
            elif isinstance(receipt, Exception):
                raise receipt
            elif receipt.status == "accepted":
                self._stuck.clear()
            else:
                self._note_stuck(draft, receipt)
        if any(isinstance(receipt, StorageError) for receipt in receipts):
            await asyncio.sleep(AGAIN_AFTER_S)

    async def _try(self, draft: Draft) -> Receipt | Exception:
        """Publish a duty; a failure is returned, so that the duties beside it are seen through."""
        try:
            return await self._duties.publish(draft)
        except Exception as fault:
            return fault

    def _note_stuck(self, draft: Draft, receipt: Receipt) -> None:
        times = self._stuck.get(receipt.id, 0) + 1
        self._stuck[receipt.id] = times
        if times > 3 and not self._duties.mute(draft):
            raise OfficerFault(
                f"{draft.author} owes {draft.body.type} {receipt.id}, which stands in the log",
                seq=receipt.seq,
            )

    async def _wait(self, now: datetime) -> None:
        """Wait until something is due or the log grows; `now` is when nothing was due."""
        if self._woken.is_set():
            return
        if self._until is not None and self._until > now:
            self._sleeper = asyncio.create_task(self._sleep(self._until), name="duty runner timer")
        await self._woken.wait()
        if self._sleeper is not None:
            self._sleeper.cancel()
            self._sleeper = None

    async def _sleep(self, until: datetime) -> None:
        await self._clock.sleep_until(until)
        self._woken.set()
