"""The stream as the writer sees it: batches go in pipelined, and are there for certain or not at all."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, TypeVar

from moot.channels.errors import ChannelError, CorruptLog, LeaseHeld, NatsUnavailable, StorageError
from moot.channels.log.sequencer import Entry, Known
from moot.channels.log.table import Table, Unwritten
from moot.channels.nats.address import NatsAddress
from moot.channels.nats.following import PAUSE_S, lost
from moot.channels.nats.mirror import Mirror
from moot.channels.nats.publishing import Publishing, Trouble
from moot.channels.nats.stream import NatsStream, headers_of

T = TypeVar("T")

_HEADER_BYTES: Final = 40
"""What the headers' lines have beside names and values."""


class NatsTable(Table):
    """What the writer asks of the stream.

    An outcome is certain: where an answer is missing, the same messages are sent again until the stream shows
    what became of them. Each names the seq before it, so none is stored twice, and a copy that is late is refused.

    Args:
        stream: The stream.
        publishing: The way into it.
        mirror: Knows the ids of the log.
        epoch: The epoch of this host's lease.
    """

    def __init__(self, stream: NatsStream, publishing: Publishing, mirror: Mirror, epoch: int) -> None:
        self._stream = stream
        self._publishing = publishing
        self._mirror = mirror
        self._epoch = epoch
        self._hold = stream.connection.hold
        self._most = stream.connection.client.max_payload
        self._before: asyncio.Future[bool] | None = None
        self._gone = asyncio.Event()

    def give_up(self) -> None:
        """Wait for no outcome any more: this host no longer leads."""
        self._gone.set()
        self._publishing.forget()

    async def insert(self, entries: Sequence[Entry]) -> Unwritten | None:
        before = None if self._before is None or self._before.done() else self._before
        self._before = mine = asyncio.get_running_loop().create_future()
        outcome: Unwritten | None = Unwritten(entries[-1].envelope.seq)
        try:
            with self._hold():
                outcome = await self._insert(entries, before)
                await self._mirror.keep_up()
        except ChannelError as exc:
            outcome = Unwritten(entries[-1].envelope.seq, exc)
        finally:
            mine.set_result(outcome is None)
        return outcome

    async def _insert(
        self, entries: Sequence[Entry], before: asyncio.Future[bool] | None
    ) -> Unwritten | None:
        last = entries[-1].envelope.seq
        outcome: Unwritten | None = None
        if self._mirror.known([entry.envelope.id for entry in entries]):
            outcome, entries = _known(last), ()
        fitting = self._fitting(entries)
        sent = await self._publishing.send(fitting) if fitting else None
        if before is not None and not await before:
            return Unwritten(last)
        trouble = await sent if sent is not None else None
        if trouble is not None:
            outcome = await self._settle(fitting, trouble)
        if outcome is None and len(fitting) < len(entries):
            return Unwritten(entries[len(fitting)].envelope.seq, self._too_large(entries[len(fitting)]))
        return outcome

    async def _settle(self, entries: Sequence[Entry], trouble: Trouble) -> Unwritten | None:
        """Find out what became of messages that had no answer, and send again what is not stored."""
        last = entries[-1].envelope.seq
        while not self._gone.is_set():
            first = entries[0].envelope.seq
            if trouble.error is not None:
                return Unwritten(last, trouble.error)
            if 0 < trouble.known_at < first:
                return _known(last)
            try:
                end = await self._stream.last_seq()
                found = await self._stream.between(first, min(end, last))
            except NatsUnavailable:
                await self._pause()
                continue
            except CorruptLog:
                return Unwritten(last)
            if end < first - 1 or any(
                row.row.hash != entry.hash for row, entry in zip(found, entries, strict=False)
            ):
                return Unwritten(last)
            entries = entries[len(found) :]
            if not entries:
                return None
            more = await (await self._publishing.send(entries))
            if more is None:
                return None
            trouble = more
            await self._pause()
        return Unwritten(last)

    async def hashes_after(self, seq: int) -> list[bytes]:
        async def look() -> list[bytes]:
            return [
                row.row.hash for row in await self._stream.between(seq + 1, await self._stream.last_seq())
            ]

        try:
            return await self._surely(look) or []
        except ChannelError:
            return []

    async def known(self, ids: Sequence[str]) -> dict[str, Known]:
        with self._hold():
            await self._mirror.all_written()
        return self._mirror.known(ids)

    async def successor(self) -> LeaseHeld | None:
        async def look() -> LeaseHeld | None:
            last = await self._stream.last_seq()
            newest = (await self._stream.at(last)).epoch if last else 0
            return led_by_another(self._stream.address) if newest > self._epoch else None

        try:
            return await look()
        except ChannelError:
            return None

    async def stranger(self, head: int) -> Exception:
        address = self._stream.address

        async def look() -> Exception:
            last = await self._stream.last_seq()
            if last < head:
                return lost(self._stream.address, last, head)
            if (fault := await self.successor()) is not None:
                return fault
            if last > head and (not head or (await self._stream.at(head)).epoch < self._epoch):
                return StorageError(f"whoever led {address} before spoke once more")
            return CorruptLog(f"{address} was changed behind its host", seq=head)

        try:
            return await self._surely(look) or led_by_another(address)
        except ChannelError as exc:
            return exc

    async def _surely(self, look: Callable[[], Awaitable[T]]) -> T | None:
        """Ask until a server answers, or nobody wants to know any more."""
        with self._hold():
            while not self._gone.is_set():
                try:
                    return await look()
                except NatsUnavailable:
                    await self._pause()
        return None

    async def _pause(self) -> None:
        try:
            await asyncio.wait_for(self._gone.wait(), PAUSE_S)
        except TimeoutError:
            return

    def _fitting(self, entries: Sequence[Entry]) -> Sequence[Entry]:
        """Return the entries before the first that the server would not take."""
        for place, entry in enumerate(entries):
            if len(entry.envelope.json) * 4 + 1024 > self._most and self._size(entry) > self._most:
                return entries[:place]
        return entries

    def _size(self, entry: Entry) -> int:
        headers = headers_of(entry, self._epoch)
        lines = sum(len(name) + len(value) + 4 for name, value in headers.items())
        return len(entry.envelope.json.encode()) + lines + _HEADER_BYTES

    def _too_large(self, entry: Entry) -> StorageError:
        return StorageError(
            f"a message of {self._size(entry)} bytes: {self._stream.address.where} takes {self._most} at most; "
            "raise its max_payload"
        )


def _known(last: int) -> Unwritten:
    return Unwritten(last, StorageError("an id of the batch stands in the log"), may_be_known=True)


def led_by_another(address: NatsAddress) -> LeaseHeld:
    """Return what a host is told whose place another one has taken."""
    return LeaseHeld(f"another host leads {address}: this one is fenced out and ends")
