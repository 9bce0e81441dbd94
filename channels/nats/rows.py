"""Reading the stream that is a log: rows in order, from any seq on, and live; through servers that go and come."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from moot.channels.errors import CorruptLog, StorageError
from moot.channels.nats.connection import NatsConnection

if TYPE_CHECKING:
    pass

HASH: Final = "Moot-Hash"
DIGEST: Final = "Moot-Digest"
ID: Final = "Nats-Msg-Id"
PAGE: Final = 512
QUIET_S: Final = 1.0
"""When nothing has come for so long, it is looked whether there is something: a server forgets whom it delivers to."""
AGAIN_S: Final = 0.3


class StoredRow(NamedTuple):
    """A message of the stream: the columns of the table `log`, unjudged."""

    seq: int
    id: str
    digest: str
    text: str
    hash: bytes


async def last_seq(connection: NatsConnection) -> int:
    """Return the last seq of the stream, 0 while it is empty or not there.

    Raises:
        StorageError: The server does not answer.
    """
    from nats.js.errors import NotFoundError

    with connection.errors():
        try:
            return (await connection.js.stream_info(connection.address.stream)).state.last_seq
        except NotFoundError:
            return 0


async def row_at(connection: NatsConnection, seq: int) -> StoredRow | None:
    """Return the row at a seq, None where there is none.

    Raises:
        StorageError: The server does not answer.
    """
    from nats.js.errors import NotFoundError

    with connection.errors():
        try:
            found = await connection.js.get_msg(connection.address.stream, seq)
        except NotFoundError:
            return None
    return _row(seq, found.data or b"", found.headers or {})


async def rows(connection: NatsConnection, after: int = 0) -> AsyncIterator[Sequence[StoredRow]]:
    """Yield the rows after a seq in order, as many at once as have come; waits for more, without end.

    Raises:
        CorruptLog: The stream has a gap, or a message that is no row.
    """
    while True:
        try:
            async for page in _delivered(connection, after):
                yield page
                after = page[-1].seq
        except StorageError:
            await asyncio.sleep(AGAIN_S)


async def _delivered(connection: NatsConnection, after: int) -> AsyncIterator[Sequence[StoredRow]]:
    """Yield what one consumer delivers, until it delivers no more though there is more."""
    from nats.errors import TimeoutError as NothingCame
    from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy

    config = ConsumerConfig(
        deliver_policy=DeliverPolicy.BY_START_SEQUENCE,
        opt_start_seq=after + 1,
        ack_policy=AckPolicy.NONE,
    )
    address = connection.address
    with connection.errors():
        subscription = await connection.js.subscribe(address.subject, stream=address.stream, config=config)
    try:
        while True:
            with connection.errors():
                try:
                    found = [await subscription.next_msg(QUIET_S)]
                except NothingCame:
                    if await last_seq(connection) > after:
                        return
                    continue
                for _ in range(min(subscription.pending_msgs, PAGE - 1)):
                    found.append(await subscription.next_msg(QUIET_S))
            page = [
                _row(message.metadata.sequence.stream, message.data, message.headers or {})
                for message in found
            ]
            if [row.seq for row in page] != list(range(after + 1, after + 1 + len(page))):
                # The library throws away what is not fetched from it in time.
                if await row_at(connection, after + 1) is None:
                    raise CorruptLog(f"{address} has a gap", seq=after + 1)
                return
            yield page
            after = page[-1].seq
    finally:
        with suppress(Exception):
            await subscription.unsubscribe()


def _row(seq: int, data: bytes, headers: Any) -> StoredRow:
    try:
        return StoredRow(
            seq, headers[ID], headers.get(DIGEST, ""), data.decode(), bytes.fromhex(headers[HASH])
        )
    except (KeyError, ValueError, TypeError) as exc:
        raise CorruptLog("a message of the stream is no row of a log", seq=seq) from exc
