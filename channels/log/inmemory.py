"""The bus in memory: for simulations and tests, with the promises of the one on disk but durability."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from datetime import datetime
from typing import Final

from moot.channels.bus import Admission, Bus, Head, Receipt, Subscription
from moot.channels.errors import BusClosed
from moot.channels.log.feed import FAIR, Feed, Reader
from moot.channels.log.sequencer import Entry, Sequencer
from moot.protocols.kernel.envelope import Draft, Envelope

BURST: Final = 64
"""After this many publishes the publisher lets everybody else run."""


class InMemoryBus(Bus):
    """A list of envelopes.

    Order and delivery: `publish` appends, calls `on_append` and `on_entry` and wakes the subscribers before
    its first suspension. It suspends at every 64th call only, so that a publisher which never waits starves
    nobody.

    Cancellation: a publisher that has begun has published.

    Args:
        past: What an earlier bus held, as its `on_entry` took it: a crash is a cut at any of them.
        admission: The rules.
        now: The injected clock.
        on_entry: Takes each entry after `on_append`, in seq order, to write the log out behind a simulation
            (K2), for example `LogWriter.write`.
    """

    def __init__(
        self,
        *,
        admission: Admission,
        now: Callable[[], datetime],
        on_entry: Callable[[Entry], None] | None = None,
        past: Sequence[Entry] = (),
    ) -> None:
        # Entries that are written out carry their digests.
        self._sequencer = Sequencer(admission, now, keeps_drafts=on_entry is None)
        self._feed = Feed()
        self._sequencer.resume(past)
        for entry in past:
            self._feed.append(entry.envelope)
        self._on_entry = on_entry
        self._fault: Exception | None = None
        self._since_turn = 0

    @property
    def head(self) -> Head:
        return self._sequencer.head

    @property
    def last_sent_at(self) -> datetime | None:
        return self._sequencer.last_sent_at

    async def publish(self, draft: Draft) -> Receipt:
        if self._feed.closed:
            raise BusClosed("the bus is closed") from self._fault
        self._since_turn += 1
        try:
            receipt, entry = self._sequencer.take(draft)
            if entry is not None:
                self._append(entry)
            return receipt
        finally:
            if self._since_turn >= BURST:
                self._since_turn = 0
                await asyncio.sleep(0)

    def _append(self, entry: Entry) -> None:
        self._feed.append(entry.envelope)
        try:
            if self.on_append is not None:
                self.on_append(entry.envelope)
            if self._on_entry is not None:
                self._on_entry(entry)
        except Exception as fault:
            self._fault = fault
            self._feed.close()
            if self.on_fault is not None:
                self.on_fault(fault)
            raise
        self._feed.wake()

    def subscribe(self, cursor: int = 0) -> Subscription:
        return Reader(self._feed, cursor)

    async def read(self, first: int = 1, last: int | None = None) -> AsyncIterator[Envelope]:
        end = self.head.seq if last is None else min(last, self.head.seq)
        for seq in range(max(first, 1), end + 1):
            if not seq % FAIR:
                await asyncio.sleep(0)
            yield self._feed.items[seq - 1]

    async def seq_of(self, envelope_id: str) -> int | None:
        return self._sequencer.seq_of(envelope_id)

    async def close(self) -> None:
        self._feed.close()
