"""Messages on their way into the stream, many at once, and what the server answers to each."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Final, NamedTuple, Self

from moot.channels.errors import ChannelError
from moot.channels.log.sequencer import Entry
from moot.channels.nats.complaints import FULL
from moot.channels.nats.connection import NatsConnection
from moot.channels.nats.stream import headers_of

if TYPE_CHECKING:
    from nats.aio.msg import Msg

LOOK_S: Final = 3.0
"""Where an answer is missing for so long, it is looked what the stream holds."""

_UNAVAILABLE: Final = 503
_UNSETTLED: Final = (10071, 10070, 10164, 10158)
"""What the server says when the stream does not end where a message begins, or when a copy of it is on its way."""


class Trouble(NamedTuple):
    """Why not all of some messages were acknowledged.

    Attributes:
        error: The server does not take them; None: whoever wants to know must look what the stream holds.
        known_at: Where the server knows an id of them already, 0 when that is not the trouble.
    """

    error: ChannelError | None = None
    known_at: int = 0


UNKNOWN = Trouble()


class _Batch:
    """Messages of which the answers come one by one."""

    __slots__ = ("done", "left", "timer")

    def __init__(self, size: int, loop: asyncio.AbstractEventLoop) -> None:
        self.left = size
        self.done: asyncio.Future[Trouble | None] = loop.create_future()
        self.timer = loop.call_later(LOOK_S, self.end, UNKNOWN)

    def end(self, trouble: Trouble | None) -> None:
        if not self.done.done():
            self.timer.cancel()
            self.done.set_result(trouble)


class Publishing:
    """The way into the stream of one who leads.

    Args:
        connection: To the servers.
        epoch: The epoch of the lease, which every message carries.
        inbox: Where the server's answers come.
    """

    def __init__(self, connection: NatsConnection, epoch: int, inbox: str) -> None:
        self._connection = connection
        self._client = connection.client
        self._subject = connection.address.subject
        self._epoch = epoch
        self._inbox = inbox
        self._loop = asyncio.get_running_loop()
        self._sending = asyncio.Lock()
        self._batches: dict[int, _Batch] = {}
        self._number = 0
        self._exits = ExitStack()

    @classmethod
    async def open(cls, connection: NatsConnection, epoch: int) -> Self:
        """Listen for answers.

        Raises:
            NatsUnavailable: No server answers.
        """
        inbox = connection.client.new_inbox()
        opened = cls(connection, epoch, inbox)
        with connection.errors():
            await connection.client.subscribe(f"{inbox}.*", cb=opened._answered)
        opened._exits.enter_context(connection.when_back(opened.forget))
        return opened

    def close(self) -> None:
        """Wait for no answer any more; safe to call twice."""
        self._exits.close()
        self.forget()

    async def send(self, entries: Sequence[Entry]) -> asyncio.Future[Trouble | None]:
        """Send entries one behind the other; the future says what came of them, and never fails."""
        import nats.errors

        self._number += 1
        number = self._number
        batch = self._batches[number] = _Batch(len(entries), self._loop)
        batch.done.add_done_callback(lambda _: self._batches.pop(number, None))
        reply = f"{self._inbox}.{number}"
        try:
            async with self._sending:
                for entry in entries:
                    await self._client.publish(
                        self._subject, entry.envelope.json.encode(), reply, headers_of(entry, self._epoch)
                    )
        except (nats.errors.Error, OSError):
            batch.end(UNKNOWN)
        return batch.done

    def forget(self) -> None:
        """Wait for no answer any more: the connection was lost, or nobody wants to know."""
        for batch in [*self._batches.values()]:
            batch.end(UNKNOWN)

    async def _answered(self, message: Msg) -> None:
        batch = self._batches.get(int(message.subject.rpartition(".")[2]))
        if batch is None:
            return
        trouble = self._trouble(message)
        if trouble is not None:
            batch.end(trouble)
            return
        batch.left -= 1
        if not batch.left:
            batch.end(None)

    def _trouble(self, message: Msg) -> Trouble | None:
        """Read an answer."""
        if b'"error"' not in message.data and b'"duplicate"' not in message.data and message.data:
            return None
        from nats.js.errors import APIError

        answer = json.loads(message.data) if message.data else {}
        error = answer.get("error")
        if answer.get("duplicate"):
            return Trouble(known_at=answer["seq"])
        if error is None or error.get("err_code") in _UNSETTLED:
            return UNKNOWN
        if error.get("code") == _UNAVAILABLE and error.get("err_code") not in FULL:
            return UNKNOWN
        said = self._connection.error(
            APIError(
                code=error.get("code"), description=error.get("description"), err_code=error.get("err_code")
            )
        )
        return Trouble(said if isinstance(said, ChannelError) else None)
