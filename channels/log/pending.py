"""What waits for the disk: an entry, its publisher, and those who sent its id again meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping

from moot.channels.bus import Receipt
from moot.channels.log.sequencer import Entry, Known, receipt_of
from moot.protocols.kernel.envelope import Draft

Waiter = tuple[Draft, "asyncio.Future[Receipt]"]


class Pending:
    """An entry on its way to the disk. A publisher that was cancelled is passed over, its entry is not."""

    __slots__ = ("entry", "future", "receipt", "twins")

    def __init__(self, entry: Entry, receipt: Receipt, future: asyncio.Future[Receipt]) -> None:
        self.entry = entry
        self.receipt = receipt
        self.future = future
        self.twins: tuple[tuple[Draft, Receipt, asyncio.Future[Receipt]], ...] = ()

    def resolve(self) -> None:
        """Hand out the receipts."""
        if not self.future.done():
            self.future.set_result(self.receipt)
        for _, receipt, future in self.twins:
            if not future.done():
                future.set_result(receipt)

    def waiters(self) -> Iterator[Waiter]:
        """Yield everybody who waits for it, the publisher first."""
        assert self.entry.draft is not None
        yield self.entry.draft, self.future
        for draft, _, future in self.twins:
            yield draft, future


def answered(pending: Pending, known: Mapping[str, Known]) -> bool:
    """Hand out the receipts of a draft whose id stands in the log; return whether it does."""
    envelope_id = pending.entry.envelope.id
    if envelope_id not in known:
        return False
    for draft, future in pending.waiters():
        if not future.done():
            future.set_result(receipt_of(envelope_id, known[envelope_id], draft.digest()))
    return True


def fail(batch: Iterable[Pending], error: Exception) -> None:
    """Give everybody who waits for a batch its error."""
    for pending in batch:
        for _, future in pending.waiters():
            if not future.done():
                future.set_exception(error)
