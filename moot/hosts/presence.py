"""Which hosts there are, who leads, and how far each one is: said by each of them every two seconds."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any, Final, Self

import structlog

from moot.channels.errors import BusClosed, StorageError
from moot.channels.nats.bucket import Bucket
from moot.channels.nats.connection import NatsConnection
from moot.channels.nats.lease import KEY, leader_of
from moot.channels.nats.stream import NatsStream
from moot.channels.nats.thread import NatsThread
from moot.hosts.noted import note_hosts
from moot.protocols.kernel.canonical import canonical_json

SAY_S: Final = 2.0
GONE_S: Final = 10.0
"""A host that has said nothing for so long, by the server's clock, is not listed."""

_log = structlog.get_logger(__name__)


class Presence:
    """Says how far this host is, and writes down what all of them say."""

    def __init__(self, nats: NatsThread, directory: Path, name: str, seq: Callable[[], int]) -> None:
        """Say so from now on, every two seconds.

        Args:
            nats: The connection.
            directory: The host's data directory.
            name: What it is called.
            seq: Returns the last message that it has folded; called on the connection's thread.
        """
        self._directory = directory
        self._name = name
        self._seq = seq
        self._closing = threading.Event()
        self._saying: Future[None] = nats.run(self._say)

    def close(self) -> None:
        """Say nothing more; safe to call twice."""
        self._closing.set()
        self._saying.cancel()

    def __enter__(self) -> Self:
        """Return it."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    async def _say(self, connection: NatsConnection) -> None:
        while not self._closing.is_set():
            try:
                bucket = await Bucket.open(connection, "hosts", keep_s=GONE_S)
                while not self._closing.is_set():
                    seq = self._seq()
                    said = {"seq": seq, "behind": max(0, await _head(connection) - seq)}
                    await bucket.put(self._name, canonical_json(said).encode())
                    note_hosts(self._directory, canonical_json(await hosts_json(connection)))
                    await asyncio.sleep(SAY_S)
            except StorageError as fault:
                _log.info("the hosts are not told how far this one is", why=str(fault))
            except BusClosed:
                return
            await asyncio.sleep(SAY_S)


async def hosts_json(connection: NatsConnection) -> dict[str, Any]:
    """Return who leads since when, and every host's last message and how many it was behind, two seconds old at most.

    Raises:
        StorageError: The server does not answer.
    """
    lease, hosts = [await Bucket.find(connection, what) for what in ("lease", "hosts")]
    found = {} if hosts is None else await hosts.all()
    head = await _head(connection)
    leader = None if lease is None else leader_of((await lease.get(KEY))[0])
    return {
        "society": str(connection.address),
        "head": head,
        "leader": None if leader is None else leader._asdict(),
        "hosts": [{"name": name, **json.loads(said)} for name, said in sorted(found.items()) if said],
    }


async def _head(connection: NatsConnection) -> int:
    info = await NatsStream(connection).info()
    return 0 if info is None else int(info.state.last_seq)
