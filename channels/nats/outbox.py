"""The writes of an outbox on a stream that all hosts share, so that whoever takes over knows what was posted.

One gateway at a time can write: each write names the one before it, and the server refuses whoever missed one (K3).
"""

from __future__ import annotations

import asyncio
import json
import zlib
from collections.abc import Callable, Sequence
from typing import Final

from moot.channels.errors import StorageError
from moot.channels.nats.bucket import replicas_of
from moot.channels.nats.connection import NatsConnection
from moot.channels.nats.thread import NatsThread
from moot.channels.outbox.shared import Statement

PAGE: Final = 256
FETCH_S: Final = 5.0

_WRONG_END: Final = (10071, 10164)


class NatsOutbox:
    """The shared writes of one surface; for any loop."""

    def __init__(self, nats: NatsThread, surface: str) -> None:
        """Share the writes of a surface over a connection; the stream is made when it is first used."""
        self._nats = nats
        self._subject = nats.address.outbox_subject(surface)
        self._stream = nats.address.outbox_stream

    async def after(self, n: int) -> list[tuple[int, list[Statement]]]:
        """Return the writes after a number, oldest first.

        Raises:
            StorageError: The server does not answer.
        """

        async def work(connection: NatsConnection) -> list[tuple[int, list[Statement]]]:
            from nats.errors import TimeoutError as NothingCame
            from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy
            from nats.js.errors import NotFoundError

            await self._made(connection)
            found: list[tuple[int, list[Statement]]] = []
            with connection.errors():
                try:
                    last = (await connection.js.get_last_msg(self._stream, self._subject)).seq or 0
                except NotFoundError:
                    last = 0
                if last <= n:
                    return []
                config = ConsumerConfig(
                    deliver_policy=DeliverPolicy.BY_START_SEQUENCE,
                    opt_start_seq=n + 1,
                    ack_policy=AckPolicy.NONE,
                )
                subscription = await connection.js.subscribe(
                    self._subject, stream=self._stream, config=config
                )
                try:
                    while not found or found[-1][0] < last:
                        message = await subscription.next_msg(FETCH_S)
                        found.append((message.metadata.sequence.stream, _read(message.data)))
                except NothingCame as exc:
                    raise StorageError(f"{connection.address.where} does not answer") from exc
                finally:
                    await subscription.unsubscribe()
            return found

        return await asyncio.wrap_future(self._nats.run(work))

    async def append(self, statements: Sequence[Statement], n: int) -> int | None:
        """Keep a write, if none has come after the number `n`; return its own number, None when one has.

        Raises:
            StorageError: The server did not take it.
        """
        data = zlib.compress(json.dumps(list(statements)).encode())

        async def work(connection: NatsConnection) -> int | None:
            from nats.js.errors import APIError

            with connection.errors():
                headers = {"Nats-Expected-Last-Subject-Sequence": str(n)}
                try:
                    return (await connection.js.publish(self._subject, data, headers=headers)).seq
                except APIError as exc:
                    if exc.err_code in _WRONG_END:
                        return None
                    raise

        return await asyncio.wrap_future(self._nats.run(work))

    async def _made(self, connection: NatsConnection) -> None:
        from nats.js.errors import NotFoundError

        with connection.errors():
            try:
                await connection.js.stream_info(self._stream)
            except NotFoundError:
                await connection.js.add_stream(
                    name=self._stream,
                    subjects=[connection.address.outbox_subject("*")],
                    num_replicas=await replicas_of(connection),
                )


def outboxes(nats: NatsThread) -> Callable[[str], NatsOutbox]:
    """Return what gives the shared writes of each surface."""
    return lambda surface: NatsOutbox(nats, surface)


def _read(data: bytes) -> list[Statement]:
    return [(sql, rows) for sql, rows in json.loads(zlib.decompress(data))]
