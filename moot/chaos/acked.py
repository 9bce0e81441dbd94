"""The bus as its publishers know it: it refuses while the disk does, and what it acknowledged is remembered."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import datetime

from moot.channels.bus import Bus, Head, OnAppend, OnFault, Receipt, Subscription
from moot.channels.errors import StorageError
from moot.chaos.files import Disk
from moot.chaos.striking import Striking
from moot.protocols.kernel.envelope import Draft, Envelope
from moot.protocols.kernel.seats import OFFICERS


class StruckBus(Bus):
    """Hands what the disk takes to the bus behind it."""

    def __init__(self, bus: Bus, striking: Striking, *, waits: bool = False) -> None:
        """Stand before a bus.

        Args:
            bus: The bus.
            striking: The spells.
            waits: Whether officers are struck, too: their society waits for its disk (`moot.outage`), where another's
                would come late through no fault of theirs.
        """
        self._bus = bus
        self._striking = striking
        self._waits = waits
        self._tries = 0

    @property
    def on_append(self) -> OnAppend | None:
        return self._bus.on_append

    @on_append.setter
    def on_append(self, called: OnAppend | None) -> None:
        self._bus.on_append = called

    @property
    def on_fault(self) -> OnFault | None:
        return self._bus.on_fault

    @on_fault.setter
    def on_fault(self, called: OnFault | None) -> None:
        self._bus.on_fault = called

    @property
    def head(self) -> Head:
        return self._bus.head

    @property
    def last_sent_at(self) -> datetime | None:
        return self._bus.last_sent_at

    async def publish(self, draft: Draft) -> Receipt:
        self._tries += 1
        if self._may_be_struck(draft) and self._striking.strikes(
            "store.error", draft.author, self.head.seq, self._tries
        ):
            raise StorageError("the disk does not take it, on purpose")
        return await self._bus.publish(draft)

    def _may_be_struck(self, draft: Draft) -> bool:
        # A society that cannot say that it begins does not begin.
        return draft.body.type != "SOCIETY_STARTED" and (self._waits or draft.author not in OFFICERS)

    def subscribe(self, cursor: int = 0) -> Subscription:
        return self._bus.subscribe(cursor)

    def read(self, first: int = 1, last: int | None = None) -> AsyncIterator[Envelope]:
        return self._bus.read(first, last)

    async def seq_of(self, envelope_id: str) -> int | None:
        return await self._bus.seq_of(envelope_id)

    async def look(self) -> None:
        await self._bus.look()

    async def close(self) -> None:
        await self._bus.close()


class AckedBus(StruckBus):
    """One that notes each receipt, of a world whose disk may be full.

    Attributes:
        acked: The seq that each id was acknowledged with.
    """

    def __init__(
        self, bus: Bus, acked: dict[str, int], striking: Striking, disk: Disk, *, waits: bool
    ) -> None:
        """Stand before a bus."""
        super().__init__(bus, striking, waits=waits)
        self.acked = acked
        self._disk = disk

    async def publish(self, draft: Draft) -> Receipt:
        self._disk.be_full(self._may_be_struck(draft) and any(self._striking.under("store.full")))
        try:
            receipt = await super().publish(draft)
        except StorageError:
            if self._disk.is_full:
                self._striking.happened["store.full"] += 1
            raise
        self.acked[receipt.id] = receipt.seq
        return receipt
