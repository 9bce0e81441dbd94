"""The stream that is a society's log: its configuration, its end, its messages one by one."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

from moot.channels.errors import CorruptLog, EmptyLog, NotALog
from moot.channels.log.reader import Row
from moot.channels.log.sequencer import Entry
from moot.channels.nats.connection import NatsConnection
from moot.protocols.kernel.errors import BadInput

if TYPE_CHECKING:
    from nats.js.api import RawStreamMsg, StreamConfig, StreamInfo

VERSION: Final = 1
"""Of how a message is stored; a newer Moot may write another one."""
DUPLICATES_S: Final = 120.0
"""How long the server itself knows an id again; who leads knows all of them."""
MOST_REPLICAS: Final = 5

HASH: Final = "Moot-Hash"
DIGEST: Final = "Moot-Digest"
EPOCH: Final = "Moot-Epoch"
ID: Final = "Nats-Msg-Id"
EXPECTED: Final = "Nats-Expected-Last-Sequence"

_NO_STREAM: Final = 10059
_NO_MESSAGE: Final = 10037
_PURPOSE: Final = "A society's log, version "


class StreamRow(NamedTuple):
    """A message of the stream.

    Attributes:
        row: What a `log.sqlite` holds of it; its id is None, for it stands in the text.
        digest: The hash of the draft as it was sent (K1).
        epoch: That of the lease under which it was written.
    """

    row: Row
    digest: str
    epoch: int


class NatsStream:
    """The stream of a society, as it is on the servers.

    Args:
        connection: To the servers.
    """

    def __init__(self, connection: NatsConnection) -> None:
        self.connection = connection
        self.address = connection.address

    async def open(self, *, create: bool, replicas: int | None = None) -> int:
        """Check that the stream is a society's log that this Moot can read; return its last seq.

        Args:
            create: Make it where it is missing.
            replicas: On how many servers it is kept; None: on one where it is made, else on as many as it is.

        Raises:
            BadInput: It is kept on another number of servers.
            EmptyLog: It is missing.
            NotALog: It is another one, or a newer Moot's.
            NatsUnavailable: No server answers.
            StorageError: The server does not make it.
        """
        info = await self.info()
        if info is None and create:
            await self._create(replicas or 1)
            info = await self.info()
        if info is None:
            raise EmptyLog(f"{self.address} holds no society: moot up --bus {self.address} starts one there")
        purpose = info.config.description or ""
        version = purpose.removeprefix(_PURPOSE).partition(":")[0]
        if not purpose.startswith(_PURPOSE) or not version.isdecimal():
            raise NotALog(f"the stream {self.address.stream} on {self.address.where} is no society's log")
        if int(version) > VERSION:
            raise NotALog(f"{self.address} has version {version}, this Moot knows {VERSION}: upgrade Moot")
        if list(info.config.subjects or ()) != [self.address.subject]:
            raise NotALog(
                f"the stream {self.address.stream} is the log of another society than {self.address}"
            )
        if (info.state.messages and info.state.first_seq != 1) or info.state.messages != info.state.last_seq:
            raise CorruptLog(
                f"{self.address} holds {info.state.messages} messages up to seq {info.state.last_seq}: "
                "the stream has gaps",
                seq=info.state.last_seq,
            )
        kept = info.config.num_replicas or 1
        if replicas is not None and kept != replicas:
            servers = "1 server" if kept == 1 else f"{kept} servers"
            raise BadInput(
                f"{self.address} is kept on {servers}: leave out --replicas {replicas}, or change that first by "
                f"nats stream edit {self.address.stream} --replicas {replicas}"
            )
        return int(info.state.last_seq)

    async def last_seq(self) -> int:
        """Return the seq of the last message, 0 of an empty stream.

        Raises:
            CorruptLog: The stream is gone.
            NatsUnavailable: No server answers.
        """
        info = await self.info()
        if info is None:
            raise CorruptLog(f"the stream of {self.address} is gone", seq=1)
        return int(info.state.last_seq)

    async def info(self) -> StreamInfo | None:
        """Return what the server says of the stream, None where there is none."""
        return await self.connection.ask(self._info())

    async def at(self, seq: int) -> StreamRow:
        """Return one message.

        Raises:
            CorruptLog: There is none, or it is none of a log.
            NatsUnavailable: No server answers.
        """
        message = await self.connection.ask(self._message(seq))
        if message is None:
            raise CorruptLog(f"{self.address} lacks the message", seq=seq)
        return row_of(seq, message.data or b"", message.headers or {})

    async def between(self, first: int, last: int) -> list[StreamRow]:
        """Return some messages, in order; for a few, as after a failure."""
        return list(await asyncio.gather(*(self.at(seq) for seq in range(first, last + 1))))

    async def _message(self, seq: int) -> RawStreamMsg | None:
        import nats.js.errors

        try:
            return await self.connection.js.get_msg(self.address.stream, seq)
        except nats.js.errors.NotFoundError:
            return None

    async def _info(self) -> StreamInfo | None:
        import nats.js.errors

        try:
            return await self.connection.js.stream_info(self.address.stream)
        except nats.js.errors.NotFoundError:
            return None

    async def _create(self, replicas: int) -> None:
        from nats.js import api

        with self.connection.errors():
            await self.connection.js.add_stream(
                api.StreamConfig(
                    name=self.address.stream,
                    description=f"{_PURPOSE}{VERSION}: {self.address.society}",
                    subjects=[self.address.subject],
                    retention=api.RetentionPolicy.LIMITS,
                    discard=api.DiscardPolicy.NEW,
                    storage=api.StorageType.FILE,
                    num_replicas=replicas,
                    duplicate_window=DUPLICATES_S,
                    deny_delete=True,
                    deny_purge=True,
                    allow_direct=True,
                )
            )


LIMITS_ADVICE: Final = "nats stream edit takes the limits away"
"""Advice for limits that `limits_of` reports."""


def limits_of(config: StreamConfig) -> str:
    """Return what in a stream's configuration discards or refuses messages of a log, in one line; "" for nothing."""
    from nats.js import api

    bounds = {
        name: value
        for name in ("max_msgs", "max_bytes", "max_msgs_per_subject")
        if (value := getattr(config, name, None)) and value > 0
    }
    found = []
    if config.max_age and config.max_age > 0:
        found.append(f"messages are discarded when they are older than max_age, {config.max_age:g} s")
    if bounds:
        named = " and ".join(f"{name} {int(value):,}" for name, value in bounds.items())
        is_new = config.discard == api.DiscardPolicy.NEW
        what = "nothing more can be published" if is_new else "the oldest messages are discarded"
        found.append(f"at {named} {what}")
    if config.retention not in (None, api.RetentionPolicy.LIMITS):
        kind = str(getattr(config.retention, "value", config.retention))
        found.append(f"retention {kind} discards messages once they are consumed")
    return "; ".join(found)


def headers_of(entry: Entry, epoch: int) -> dict[str, str]:
    """Return what goes before the text of an entry."""
    seq = entry.envelope.seq
    return {
        ID: _plain(entry.envelope.id),
        EXPECTED: str(seq - 1),
        HASH: entry.hash.hex(),
        DIGEST: entry.digest,
        EPOCH: str(epoch),
    }


def row_of(seq: int, data: bytes, headers: Mapping[str, str]) -> StreamRow:
    """Read a message of the stream.

    Raises:
        CorruptLog: It is none of a log.
    """
    try:
        row = Row(seq, None, data.decode(), bytes.fromhex(headers[HASH]))
        return StreamRow(row, headers[DIGEST], int(headers[EPOCH]))
    except (KeyError, ValueError) as exc:
        raise CorruptLog("the message of the stream is none of a log", seq=seq) from exc


def _plain(text: str) -> str:
    """Return an id as a header takes it: printable ASCII without spaces, and no two ids alike."""
    if text.isascii() and text.isprintable() and " " not in text and "%" not in text:
        return text
    from urllib.parse import quote

    return quote(text, safe="")
