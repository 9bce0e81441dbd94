"""Following the stream: its messages from a seq on, in order, none left out and none twice."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from moot.channels.bus import Head
from moot.channels.errors import CorruptLog, NatsUnavailable
from moot.channels.nats.address import NatsAddress
from moot.channels.nats.stream import NatsStream, StreamRow, row_of
from moot.protocols.kernel.envelope import link

if TYPE_CHECKING:
    from nats.aio.msg import Msg

HEARTBEAT_S: Final = 1.0
"""How often a silent server says that it has nothing; after two that are missing the consumer is made anew."""
PAUSE_S: Final = 0.2
"""Between two attempts at a server that is away."""
KEPT_S: Final = 30.0
"""How long a server keeps a consumer whose host has gone."""

_CONTROL: Final = "100"
_OLD_FIELDS: Final = 9


class Following:
    """A consumer of the stream that is made anew wherever something was left out.

    Every message is checked against the one before it (K15), and each time the server is reached anew it must
    still hold what was taken before.

    Args:
        stream: The stream.
        head: The end of what is there already; from here on messages are taken.
        take: Called for each message, in order.
    """

    def __init__(self, stream: NatsStream, head: Head, take: Callable[[StreamRow], None]) -> None:
        self.head = head
        self.epoch = 0
        self._stream = stream
        self._take = take
        self._client = stream.connection.client
        self._inbox = ""
        self._expected = 0
        self._is_alive = True
        self._is_over = False
        self._fault: Exception | None = None
        self._broken = asyncio.Event()
        self._waiting: list[tuple[int, asyncio.Future[None]]] = []

    async def run(self) -> None:
        """Follow until cancelled.

        Raises:
            CorruptLog: The stream is not what it was, or its chain is broken.
            ChannelError: What `take` raises.
        """
        with self._stream.connection.when_back(self._broken.set):
            while not self._is_over:
                self._broken.clear()
                try:
                    await check_end(self._stream, self.head)
                    await self._consume()
                except NatsUnavailable:
                    if not self._is_over:
                        await asyncio.sleep(PAUSE_S)

    async def end(self, running: asyncio.Task[None]) -> None:
        """End the task that runs it, and wait until it has."""
        # In Python 3.11 `asyncio.wait_for`, which the library uses, may swallow a cancellation.
        self._is_over = True
        self._broken.set()
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running

    async def reached(self, seq: int) -> None:
        """Wait until the message of a seq was taken, while `run` runs."""
        if self.head.seq < seq:
            future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append((seq, future))
            await future

    async def _consume(self) -> None:
        """Take what one consumer delivers, until it breaks off."""
        from nats.js import api

        connection = self._stream.connection
        self._inbox = self._client.new_inbox()
        self._expected = 1
        with connection.errors():
            subscription = await self._client.subscribe(self._inbox, cb=partial(self._hear, self._inbox))
        name = ""
        try:
            config = api.ConsumerConfig(
                deliver_policy=api.DeliverPolicy.BY_START_SEQUENCE,
                opt_start_seq=self.head.seq + 1,
                deliver_subject=self._inbox,
                ack_policy=api.AckPolicy.NONE,
                max_deliver=1,
                idle_heartbeat=HEARTBEAT_S,
                flow_control=True,
                inactive_threshold=KEPT_S,
                num_replicas=1,
                mem_storage=True,
            )
            with connection.errors():
                name = (await connection.js.add_consumer(self._stream.address.stream, config)).name
            while not self._broken.is_set():
                self._is_alive = False
                try:
                    await asyncio.wait_for(self._broken.wait(), 2 * HEARTBEAT_S + 1)
                except TimeoutError:
                    if not self._is_alive:
                        break
            if self._fault is not None:
                raise self._fault
        finally:
            self._inbox = ""
            await self._forget(subscription, name)

    async def _forget(self, subscription: Any, name: str) -> None:
        """Let go of a consumer; the server forgets one by itself that it cannot be told of."""
        import nats.errors

        if not self._client.is_connected:
            return
        try:
            await subscription.unsubscribe()
            if name:
                await self._stream.connection.js.delete_consumer(self._stream.address.stream, name)
        except (nats.errors.Error, TimeoutError, OSError):
            return

    async def _hear(self, inbox: str, message: Msg) -> None:
        """Take a message, or answer what the server asks in between."""
        if inbox != self._inbox or self._broken.is_set():
            return
        self._is_alive = True
        headers = message.headers or {}
        if headers.get("Status") == _CONTROL:
            stalled = headers.get("Nats-Consumer-Stalled")
            if message.reply or stalled:
                await self._client.publish(message.reply or stalled or "")
            elif int(headers.get("Nats-Last-Consumer", self._expected - 1)) != self._expected - 1:
                self._broken.set()
            return
        try:
            self._got(message)
        except Exception as fault:
            self._fault = fault
            self._broken.set()

    def _got(self, message: Msg) -> None:
        # $JS.ACK.<stream>.<consumer>.<delivered>.<seq>.<number>..., and newer servers put two fields before the stream.
        fields = message.reply.split(".")
        seq, number = map(int, fields[5:7] if len(fields) == _OLD_FIELDS else fields[7:9])
        if number != self._expected:
            self._broken.set()
            return
        self._expected += 1
        if seq != self.head.seq + 1:
            raise CorruptLog(f"{self._stream.address} lacks the message", seq=self.head.seq + 1)
        found = row_of(seq, message.data, message.headers or {})
        if link(self.head.hash, found.row.text) != found.row.hash:
            raise CorruptLog(f"{self._stream.address}: the hash does not fit the text", seq=found.row.seq)
        if found.epoch < self.epoch:
            raise CorruptLog(
                f"{self._stream.address}: written under a lease that was over", seq=found.row.seq
            )
        self.epoch = found.epoch
        self._take(found)
        self.head = Head(found.row.seq, found.row.hash)
        if self._waiting:
            for seq, future in self._waiting:
                if seq <= self.head.seq and not future.done():
                    future.set_result(None)
            self._waiting = [(seq, future) for seq, future in self._waiting if not future.done()]


async def check_end(stream: NatsStream, head: Head) -> int:
    """Check that the stream still holds what was taken of it; return its last seq.

    Raises:
        CorruptLog: It ends before, or says something else there; names the first seq that is lost.
        NatsUnavailable: No server answers.
    """
    last = await stream.last_seq()
    if last < head.seq:
        raise lost(stream.address, last, head.seq)
    if head.seq and (await stream.at(head.seq)).row.hash != head.hash:
        raise Differs(stream, head)
    return last


def lost(address: NatsAddress, last: int, head: int) -> CorruptLog:
    """Return what is said of a stream that has forgotten what it acknowledged."""
    return CorruptLog(
        f"{address} has lost what it had acknowledged: it ends at seq {last}, and this host has {head}",
        seq=last + 1,
    )


class Differs(CorruptLog):
    """Say that the stream tells another story than this host has."""

    def __init__(self, stream: NatsStream, head: Head, *, seq: int = 0) -> None:
        super().__init__(f"{stream.address} says something else than this host has", seq=seq or head.seq)


async def first_difference(stream: NatsStream, last: int, hash_at: Callable[[int], bytes]) -> int:
    """Return the first seq at which the stream and a mirror differ; at `last` they do.

    Raises:
        NatsUnavailable: No server answers.
    """
    same, differs = 0, last
    while differs - same > 1:
        middle = (same + differs) // 2
        if (await stream.at(middle)).row.hash == hash_at(middle):
            same = middle
        else:
            differs = middle
    return differs
