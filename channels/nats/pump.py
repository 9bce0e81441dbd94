"""The pump of an inbox on NATS: has the leader publish what guests of any host posted (K3)."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import AbstractContextManager, nullcontext
from typing import Final

import structlog

from moot.channels.errors import BusClosed, ChannelError, LeaseHeld
from moot.channels.guests.drafts import DecodeBody
from moot.channels.guests.inbox import InboxReceipt
from moot.channels.guests.pump import Publisher, published
from moot.channels.nats.connection import NatsConnection
from moot.channels.nats.inbox import NatsInbox, Posted
from moot.channels.nats.thread import NatsThread

AGAIN_S: Final = 0.5
"""The pause after something went wrong."""

_log = structlog.get_logger(__name__)


class NatsPump:
    """Publishes drafts in the order in which they were posted, each after the one before is folded.

    Args:
        nats: The connection, on whose thread it waits.
        epoch: The leader's.
        bus: Where the drafts go, on the running loop: the bus, or a door before it.
        decode_body: Reads a body.
        hold: Keeps virtual time still while `close` waits.
    """

    def __init__(
        self,
        nats: NatsThread,
        epoch: int,
        bus: Publisher,
        decode_body: DecodeBody,
        *,
        hold: Callable[[], AbstractContextManager[object]] = nullcontext,
    ) -> None:
        self._epoch = epoch
        self._bus = bus
        self._decode_body = decode_body
        self._hold = hold
        self._loop = asyncio.get_running_loop()
        self._closing = threading.Event()
        self._serving: Future[None] = nats.run(self._serve)

    async def close(self) -> None:
        """Stop; what is in hand is left to the next leader. Safe to call twice."""
        self._closing.set()
        self._serving.cancel()
        with self._hold():
            await asyncio.wait([asyncio.wrap_future(self._serving)])

    async def _serve(self, connection: NatsConnection) -> None:
        while not self._closing.is_set():
            try:
                inbox = await NatsInbox.open(connection)
                async for posted in inbox.take_over(self._epoch):
                    if self._closing.is_set():
                        return
                    try:
                        receipt = await self._publish(posted)
                    except ChannelError:
                        raise
                    except Exception as exc:
                        _log.error("posted draft put off", key=posted.key, why=repr(exc))
                        await inbox.put_off(posted)
                    else:
                        await inbox.answer(posted, receipt)
            except LeaseHeld as fault:
                _log.info("the inbox is served elsewhere", why=str(fault))
                return
            except BusClosed:
                return
            except ChannelError as fault:
                _log.warning("inbox not served", why=str(fault))
            await asyncio.sleep(AGAIN_S)

    async def _publish(self, posted: Posted) -> InboxReceipt:
        """Have the society's loop publish a draft."""

        async def work() -> InboxReceipt:
            return await published(self._bus, posted.key, posted.text, self._decode_body)

        doing = work()
        try:
            handed = asyncio.run_coroutine_threadsafe(doing, self._loop)
        except RuntimeError:
            doing.close()
            raise BusClosed("the society has ended") from None
        return await asyncio.wrap_future(handed)
