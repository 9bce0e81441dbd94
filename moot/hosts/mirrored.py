"""A society on NATS as a directory that commands can read: a mirror that lasts as long as the command."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from moot.channels.errors import StorageError
from moot.channels.nats.address import NatsAddress
from moot.channels.nats.bus import NatsBus
from moot.channels.nats.connection import NatsConnection
from moot.channels.nats.objects import Objects
from moot.channels.nats.thread import NatsThread
from moot.hosts.copying import KINDS, Copies
from moot.hosts.noted import note_hosts
from moot.hosts.presence import hosts_json
from moot.place import EVIDENCE
from moot.protocols.codec import decode_stored
from moot.protocols.kernel.canonical import canonical_json

FILL_S: Final = 3600.0
"""How long the stream may take to arrive."""


@dataclass(frozen=True, slots=True)
class Mirrored:
    """A mirror of a society.

    Attributes:
        directory: Where it is.
        nats: The connection.
    """

    directory: Path
    nats: NatsThread

    def ask_who_leads(self) -> bool:
        """Note in the directory which hosts there are; return whether one leads.

        Whoever may not know that, or gets no answer, sees a society that nobody leads.
        """
        try:
            hosts = self.nats.wait(hosts_json)
        except StorageError:
            return False
        note_hosts(self.directory, canonical_json(hosts))
        return hosts["leader"] is not None

    def __str__(self) -> str:
        """Return the society's address."""
        return str(self.nats.address)


@contextmanager
def mirrored(text: str, *, bodies: bool = False, serves: bool = False) -> Iterator[Mirrored]:
    """Yield a mirror with log and evidence of a society; what is said meanwhile arrives there too.

    Args:
        text: The address, `nats://HOST:PORT/NAME`.
        bodies: Whether what models were asked and answered is wanted too.
        serves: Whether guests may connect to the directory, as to that of a host.

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
        directory, exits = Path(place), AsyncExitStack()
        bus = nats.wait(lambda connection: fill(connection, directory), FILL_S)

        async def follow(_: NatsConnection) -> None:
            exits.push_async_callback(bus.close)
            bus.follow()
            if serves:
                from moot.hosts.forwarding import serve_beside

                await serve_beside(exits, nats, directory, bus)

        async def close(_: NatsConnection) -> None:
            await exits.aclose()

        try:
            nats.wait(follow)
            with Copies(Objects(nats), directory) as copies:
                copies.catch_up(KINDS if bodies else {EVIDENCE})
            yield Mirrored(directory, nats)
        finally:
            nats.wait(close)


async def fill(connection: NatsConnection, directory: Path) -> NatsBus:
    """Bring a directory's log up to the stream's end; the bus holds its lease until it is closed."""
    return await NatsBus.open(connection, directory, decode=decode_stored, create=False)
