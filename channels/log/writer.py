"""Group commit: what waits is written as one statement, at most two of them on their way (K17)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from moot.channels.bus import Head, Receipt
from moot.channels.errors import BusClosed, Refused
from moot.channels.log.batching import Batching
from moot.channels.log.pending import Pending, Waiter, answered, fail
from moot.channels.log.sequencer import Entry, Known, Sequencer
from moot.channels.log.table import Table, Unwritten
from moot.protocols.kernel.discretion import discreet
from moot.protocols.kernel.envelope import Draft

HEAD_EVERY: Final = 64
"""The file `head` is written after the first batch and then after every so many."""


class Writer:
    """The queue between the sequencer and the disk.

    A draft is sequenced when it arrives. Two lanes take what waits, in order, one thread hop and one
    statement a batch: while SQLite writes the batch of one lane, the other's publishers are served. A batch
    names the seq before it, so it writes nothing when the batch before it failed.

    Cancellation: a publisher that is cancelled leaves its draft in the queue; it is logged.

    Failure: the sequencer goes back to what is durable; publishers of the failed batch get `StorageError`,
    everybody behind them is sequenced anew and notices nothing. An id that is older than the sequencer's
    memory shows as a constraint error: it is looked up, and the batch goes again without it.

    Args:
        table: Where batches go.
        sequencer: Stands at the durable head.
        deliver: Called for each durable entry in seq order, before its publisher hears of it (K13).
        wake: Called after each delivered batch.
        tell: Told once what stopped the writing for good.
        note_head: Writes the file `head`.
    """

    def __init__(
        self,
        table: Table,
        sequencer: Sequencer,
        *,
        deliver: Callable[[Entry], None],
        wake: Callable[[], None],
        tell: Callable[[Exception], None],
        note_head: Callable[[], Awaitable[None]],
    ) -> None:
        self.head = sequencer.head
        self.last_sent_at = sequencer.last_sent_at
        self.fault: Exception | None = None
        self._stopping = False
        self._table = table
        self._sequencer = sequencer
        self._deliver = deliver
        self._wake = wake
        self._tell = tell
        self._note_head = note_head
        self._loop = asyncio.get_running_loop()
        self._queue: list[Pending] = []
        self._submitted = 0
        self._in_flight = 0
        self._batching = Batching()
        self._back_at = self._loop.time()
        self._failure: Unwritten | None = None
        self._parked: list[Waiter] = []
        self._resting: list[asyncio.Future[None]] = []
        self._called = False
        self._since_head = HEAD_EVERY - 1

    def append(self, draft: Draft) -> asyncio.Future[Receipt]:
        """Put a draft into the queue.

        Returns:
            A future of its receipt, which fails with what `Bus.publish` raises.

        Raises:
            Refused: The admission refused it.
            BusClosed: Nothing more is taken.
        """
        if self._stopping:
            raise BusClosed("the bus is closed") from self.fault
        future: asyncio.Future[Receipt] = self._loop.create_future()
        if self._failure is None:
            self._place(draft, future)
        else:
            self._parked.append((draft, future))
        return future

    async def publish(self, draft: Draft) -> Receipt:
        """Append a draft and wait for its receipt; raises what `Bus.publish` raises.

        Lets others run at least once, whatever comes of it.
        """
        try:
            future = self.append(draft)
        except Refused:
            await asyncio.sleep(0)
            raise
        if future.done():
            await asyncio.sleep(0)
        return await future

    def _place(self, draft: Draft, future: asyncio.Future[Receipt]) -> None:
        receipt, entry = self._sequencer.take(draft)
        if entry is not None:
            self._queue.append(Pending(entry, receipt, future))
            if not self._called:
                self._call()
        elif receipt.seq > self.head.seq:
            self._queue[receipt.seq - self.head.seq - 1].twins += ((discreet(draft), receipt, future),)
        elif not future.done():
            future.set_result(receipt)

    def _call(self) -> None:
        if self._resting:
            self._called = True
            self._resting.pop().set_result(None)

    async def run(self) -> None:
        """Write until `stop` was called and nothing is left, or until the log cannot go on."""
        try:
            async with asyncio.TaskGroup() as lanes:
                lanes.create_task(self._lane())
                lanes.create_task(self._lane())
        finally:
            self._stopping = True
            self._abandon("the bus stopped before the outcome was known: try again with the same id")

    def stop(self) -> None:
        """Take nothing more; `run` returns when what is under way is written."""
        self._stopping = True
        self._call_all()

    async def look(self) -> None:
        """Stop for good if another host has taken over."""
        if self.fault is None and (fault := await self._table.successor()) is not None:
            self.end(fault)

    def _call_all(self) -> None:
        while self._resting:
            self._resting.pop().set_result(None)

    async def _lane(self) -> None:
        try:
            await self._write_batches()
        except Exception as bug:
            self.end(bug)

    async def _write_batches(self) -> None:
        back_at = self._loop.time()
        while self.fault is None:
            batch = self._cut()
            if batch:
                self._in_flight += 1
                left_at = self._loop.time()
                self._batching.served(left_at - back_at, len(batch))
                error = await self._table.insert([pending.entry for pending in batch])
                self._in_flight -= 1
                left_at, back_at = max(left_at, self._back_at), self._loop.time()
                self._batching.wrote(back_at - left_at, len(batch))
                self._back_at = back_at
                if self.fault is None:
                    await self._written(batch, error)
            elif self._stopping and self._failure is None:
                return
            else:
                resting = self._loop.create_future()
                self._resting.append(resting)
                await resting
                self._called = False

    def _cut(self) -> list[Pending]:
        """Take the next batch off the queue; none while it pays to wait for more."""
        waiting = len(self._queue) - self._submitted
        if not waiting or self._failure is not None:
            return []
        size = self._batching.size(waiting, len(self._queue), self._in_flight > 0)
        batch = self._queue[self._submitted : self._submitted + size]
        self._submitted += size
        if 0 < size < waiting:
            self._call()
        return batch

    async def _written(self, batch: list[Pending], error: Unwritten | None) -> None:
        """Settle a batch that came back; the lanes' batches come back in the order in which they left."""
        if error is None and self._failure is None:
            self._settle(len(batch))
            self._since_head += 1
            if self._since_head >= HEAD_EVERY:
                self._since_head = 0
                await self._note_head()
            elif not self._batching.is_halving:
                await asyncio.sleep(0)
            return
        if self._failure is None and error is not None:
            self._failure = error
        if not self._in_flight:
            await self._recover()

    def _settle(self, size: int) -> None:
        """Make the first entries of the queue known: fold, wake, then the publishers (K13)."""
        batch = self._queue[:size]
        del self._queue[:size]
        self._submitted -= size
        last = batch[-1].entry
        self.head = Head(last.envelope.seq, last.hash)
        self.last_sent_at = last.envelope.sent_at
        for place, pending in enumerate(batch):
            try:
                self._deliver(pending.entry)
            except Exception as fault:
                if not pending.future.done():
                    pending.future.set_exception(fault)
                self._queue[:0] = batch[place:]
                del batch[place:]
                self.end(fault)
                break
        self._wake()
        for pending in batch:
            pending.resolve()

    async def _recover(self) -> None:
        """Find out what the disk has, give the failed batch its error, and sequence the rest anew."""
        assert self._failure is not None
        failure = self._failure
        await self._settle_stored()
        lost, self._queue, self._submitted = self._queue, [], 0
        self._sequencer.rewind([pending.entry for pending in lost], self.head, self.last_sent_at)
        failed = [pending for pending in lost if pending.entry.envelope.seq <= failure.last]
        if failure.error is None or self.fault is not None:
            self._queue = lost
            self.end(self.fault or await self._table.stranger(self.head.seq))
            return
        again = lost[len(failed) :]
        known: dict[str, Known] = {}
        if failure.may_be_known:
            known = await self._table.known([pending.entry.envelope.id for pending in failed])
        if known:
            again = [pending for pending in lost if not answered(pending, known)]
        else:
            fail(failed, failure.error)
        waiters = [waiter for pending in again for waiter in pending.waiters()] + self._parked
        self._parked, self._failure = [], None
        for draft, future in waiters:
            try:
                self._place(draft, future)
            except Exception as exc:
                if not future.done():
                    future.set_exception(exc)
        self._call_all()

    async def _settle_stored(self) -> None:
        """Settle what the disk has in spite of an error: a failed sync leaves the outcome open."""
        stored = await self._table.hashes_after(self.head.seq)
        if stored and stored != [pending.entry.hash for pending in self._queue[: len(stored)]]:
            self.end(await self._table.stranger(self.head.seq))
        elif stored:
            self._settle(len(stored))

    def end(self, fault: Exception) -> None:
        """Stop for good: the log cannot go on here."""
        if self.fault is None:
            self.fault = fault
            self._tell(fault)
        self.stop()
        self._abandon(f"the bus stopped: {self.fault}")

    def _abandon(self, why: str) -> None:
        waiters = [waiter for pending in self._queue for waiter in pending.waiters()] + self._parked
        self._queue, self._parked = [], []
        for _, future in waiters:
            if not future.done():
                future.set_exception(BusClosed(why))
