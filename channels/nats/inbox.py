"""The guests' inbox of a society on NATS: drafts on a work-queue stream, receipts in a bucket (K3).

A draft is in the stream until the leader has written its receipt: one that is killed in between leaves it to the next
leader, whose log knows the draft's id if the first one got so far. So it is logged exactly once, whoever leads.
A receipt is kept for a day, under the hash of the key and the draft.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Final, NamedTuple, Self

from moot.channels.errors import LeaseHeld
from moot.channels.guests.inbox import InboxReceipt, checked
from moot.channels.nats.bucket import Bucket, replicas_of
from moot.channels.nats.connection import NatsConnection
from moot.channels.nats.thread import NatsThread
from moot.protocols.kernel.canonical import canonical_json

if TYPE_CHECKING:
    from nats.aio.msg import Msg

LOOK_S: Final = 0.05
"""A guest looks for its receipt this often."""
KEEP_S: Final = 86_400.0
"""Receipts that no guest waits for any more are forgotten then; a repeated post still meets its id in the log."""
FETCH_S: Final = 5.0
AGAIN_S: Final = 300.0
"""A draft that the leader took and has not answered for is handed to it again after so long."""
LATER_S: Final = 60.0
"""So is one that it could not take, for a reason that is not the guest's."""

_LEADER: Final = "leader-"


class Posted(NamedTuple):
    """A draft that waits: its key, the draft as JSON, and what says that it is done with."""

    key: str
    text: str
    message: Msg


class NatsInbox:
    """The inbox; every method raises `StorageError` when the server does not answer."""

    def __init__(self, connection: NatsConnection, receipts: Bucket) -> None:
        """Take what `open` found."""
        self._connection = connection
        self._receipts = receipts

    @classmethod
    async def open(cls, connection: NatsConnection) -> Self:
        """Open the inbox of a society, made when it is missing."""
        from nats.js.api import RetentionPolicy
        from nats.js.errors import NotFoundError

        address = connection.address
        with connection.errors():
            try:
                await connection.js.stream_info(address.inbox_stream)
            except NotFoundError:
                await connection.js.add_stream(
                    name=address.inbox_stream,
                    subjects=[address.inbox_subject],
                    retention=RetentionPolicy.WORK_QUEUE,
                    num_replicas=await replicas_of(connection),
                )
        return cls(connection, await Bucket.open(connection, "receipts", keep_s=KEEP_S))

    async def post(self, text: str, key: str) -> tuple[str, int]:
        """Put a draft into the inbox unless it was answered for already; it is kept when this returns.

        Args:
            text: The draft as `checked` returns it.
            key: Its key, the same.

        Returns:
            Under what its receipt will be found, and the revision behind which; for `receipt`.
        """
        name = _name(text, key)
        value, revision = await self._receipts.get(name)
        if _counts(value):
            return name, 0
        payload = canonical_json({"key": key, "draft": text}).encode()
        with self._connection.errors():
            await self._connection.js.publish(
                self._connection.address.inbox_subject,
                payload,
                # One that was refused may be posted anew.
                headers={"Nats-Msg-Id": f"{name}/{revision}"},
            )
        return name, revision

    async def receipt(self, posted: tuple[str, int]) -> InboxReceipt | None:
        """Return the receipt of what was posted, None while it waits."""
        name, revision = posted
        value, found = await self._receipts.get(name)
        return _receipt(value) if value and found > revision else None

    async def answer(self, posted: Posted, receipt: InboxReceipt) -> None:
        """Write a receipt, unless another leader said already that the draft counts; take it out of the inbox."""
        name, text = _name(posted.text, posted.key), canonical_json(receipt).encode()
        while True:
            said, revision = await self._receipts.get(name)
            if _counts(said) or await self._receipts.set(name, text, revision) is not None:
                break
        with self._connection.errors():
            await posted.message.ack_sync()

    async def put_off(self, posted: Posted) -> None:
        """Hand a draft out again later, and others meanwhile."""
        with self._connection.errors():
            await posted.message.nak(delay=LATER_S)

    async def take_over(self, epoch: int) -> AsyncIterator[Posted]:
        """Take drafts out in the order in which they were posted, also those that an earlier leader had in hand.

        Args:
            epoch: The caller's; one of a later leader ends this.

        Raises:
            LeaseHeld: A later leader serves the inbox.
        """
        from nats.errors import TimeoutError as NothingPosted
        from nats.js.api import ConsumerConfig
        from nats.js.errors import NotFoundError

        connection, address, name = self._connection, self._connection.address, f"{_LEADER}{epoch}"
        with connection.errors():
            for other in await connection.js.consumers_info(address.inbox_stream):
                if other.name.startswith(_LEADER) and int(other.name.removeprefix(_LEADER)) > epoch:
                    raise LeaseHeld(f"a later leader serves the inbox of {address.society}")
                with suppress(NotFoundError):
                    await connection.js.delete_consumer(address.inbox_stream, other.name)
            config = ConsumerConfig(durable_name=name, ack_wait=AGAIN_S)
            await connection.js.add_consumer(address.inbox_stream, config)
            subscription = await connection.js.pull_subscribe_bind(name, address.inbox_stream)
        try:
            while True:
                with connection.errors():
                    try:
                        (message,) = await subscription.fetch(1, timeout=FETCH_S)
                    except NothingPosted:
                        # Nobody says so when a later leader has taken the inbox.
                        await connection.js.consumer_info(address.inbox_stream, name)
                        continue
                if (posted := _posted(message)) is not None:
                    yield posted
                else:
                    await message.term()
        finally:
            with suppress(Exception):
                await subscription.unsubscribe()

    async def waiting(self) -> int:
        """Count the drafts that nobody has answered for."""
        with self._connection.errors():
            return (
                await self._connection.js.stream_info(self._connection.address.inbox_stream)
            ).state.messages


async def deliver(
    connection: NatsConnection, draft: Mapping[str, object] | str, key: str, wait_s: float
) -> InboxReceipt | None:
    """Post a draft as a guest, and wait for its receipt; see `post`."""
    text, key = checked(draft, key)
    inbox = await NatsInbox.open(connection)
    posted = await inbox.post(text, key)
    until = asyncio.get_running_loop().time() + wait_s
    while (receipt := await inbox.receipt(posted)) is None:
        if asyncio.get_running_loop().time() >= until:
            return None
        await asyncio.sleep(LOOK_S)
    return receipt


def post(
    nats: NatsThread, draft: Mapping[str, object] | str, key: str, wait_s: float = 15.0
) -> InboxReceipt | None:
    """Post a draft as a guest from any machine, and wait for its receipt; as `guests.inbox.post` does beside a log.

    Args:
        nats: The connection.
        draft: As `guests.drafts` writes it, JSON text or what it stands for.
        key: The idempotency key, at most 500 characters.
        wait_s: How long to wait, in wall time; a failover takes some seconds.

    Returns:
        The receipt, or None: the draft waits for a leader.

    Raises:
        Refused: The key or the draft is too long, or no JSON; nothing was posted.
        StorageError: The server did not take it.
    """
    return nats.wait(lambda connection: deliver(connection, draft, key, wait_s), wait_s + 20.0)


def _posted(message: Msg) -> Posted | None:
    try:
        said = json.loads(message.data)
        key, text = said["key"], said["draft"]
    except (ValueError, KeyError, TypeError):
        return None
    return Posted(key, text, message) if isinstance(key, str) and isinstance(text, str) else None


def _name(text: str, key: str) -> str:
    return hashlib.sha256(f"{key}\0{text}".encode()).hexdigest()


def _counts(value: bytes) -> bool:
    """Say whether a receipt is the last word; what was refused may be corrected and posted anew."""
    return bool(value) and _receipt(value)["status"] != "refused"


def _receipt(value: bytes) -> InboxReceipt:
    receipt: InboxReceipt = json.loads(value)
    return receipt
