"""A society on NATS as a directory that commands can read: a mirror that lasts as long as the command."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from moot.channels.nats.address import NatsAddress
from moot.channels.nats.bus import NatsBus
from moot.channels.nats.connection import NatsConnection
from moot.channels.nats.objects import Objects
from moot.channels.nats.thread import NatsThread
from moot.hosts.copying import Copies
from moot.protocols.codec import decode_stored

FILL_S: Final = 3600.0
"""How long the stream may take to arrive."""


@contextmanager
def mirrored(text: str) -> Iterator[Path]:
    """Yield a directory with log, evidence and bodies of a society; what is said meanwhile arrives there too.

    Args:
        text: The address, `nats://HOST:PORT/NAME`.

    Raises:
        BadInput: It is none.
        NatsUnavailable: No server answers, or it refuses.
        EmptyLog: There is no such society.
        CorruptLog: Its stream is damaged.
        StoreUnavailable: The servers do not give what they keep beside the log.
    """
    address = NatsAddress.parse(text, environ=os.environ)
    with (
        tempfile.TemporaryDirectory(prefix="moot-") as place,
        NatsThread(address, name="moot reader") as nats,
    ):
        directory = Path(place)
        bus = nats.wait(lambda connection: fill(connection, directory), FILL_S)

        async def follow(_: NatsConnection) -> None:
            bus.follow()

        async def close(_: NatsConnection) -> None:
            await bus.close()

        try:
            nats.wait(follow)
            with Copies(Objects(nats), directory) as copies:
                copies.catch_up()
            yield directory
        finally:
            nats.wait(close)


async def fill(connection: NatsConnection, directory: Path) -> NatsBus:
    """Bring a directory's log up to the stream's end; the bus holds its lease until it is closed."""
    return await NatsBus.open(connection, directory, decode=decode_stored, create=False)
