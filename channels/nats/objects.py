"""What is too long for a message: bodies in an object store, each under a name that follows from its bytes."""

from __future__ import annotations

import asyncio
from base64 import urlsafe_b64decode
from typing import TYPE_CHECKING, Final

from moot.channels.errors import NatsUnavailable, StorageError
from moot.channels.nats.bucket import replicas_of
from moot.channels.nats.connection import NatsConnection
from moot.channels.nats.thread import NatsThread

if TYPE_CHECKING:
    from nats.js.object_store import ObjectStore

FETCH_S: Final = 15.0
"""How long a body may take to arrive: the library itself waits for ever."""


class Objects:
    """The bodies of a society; calls block, and may come from any thread but the connection's."""

    def __init__(self, nats: NatsThread) -> None:
        """Keep bodies over a connection; the store is made when it is first used."""
        self._nats = nats
        self._store: ObjectStore | None = None

    def put(self, name: str, data: bytes) -> None:
        """Keep a body; when this returns the servers have it. One that is there is left as it is.

        Raises:
            StorageError: The server did not take it.
        """

        async def work(connection: NatsConnection) -> None:
            from nats.js.errors import ObjectNotFoundError

            store = await self._open(connection)
            with connection.errors():
                try:
                    await store.get_info(name)
                except ObjectNotFoundError:
                    await store.put(name, data)

        self._nats.wait(work, FETCH_S)

    def get(self, name: str) -> bytes | None:
        """Return a body, None where there is none of this name.

        Raises:
            StorageError: The server did not give it, or not as it was kept.
        """

        async def work(connection: NatsConnection) -> bytes | None:
            from nats.js.errors import DigestMismatchError, ObjectNotFoundError

            store = await self._open(connection)
            with connection.errors():
                try:
                    async with asyncio.timeout(FETCH_S):
                        return (await store.get(name)).data or b""
                except ObjectNotFoundError:
                    return None
                except DigestMismatchError as exc:
                    raise StorageError(f"{connection.address.where} holds other bytes as {name}") from exc
                except TimeoutError as exc:
                    raise NatsUnavailable(f"{connection.address.where} does not answer") from exc

        return self._nats.wait(work, 2 * FETCH_S)

    def after(self, seq: int) -> tuple[int, str] | None:
        """Return place and name of the body that was kept next after a place, 0 for the first; None: there is none yet.

        Where nothing was ever kept, nothing is made.

        Raises:
            StorageError: The server did not say.
        """

        async def work(connection: NatsConnection) -> tuple[int, str] | None:
            from nats.js.errors import NotFoundError

            bucket = connection.address.bucket("objects")
            entries = f"$O.{bucket}.M."
            with connection.errors():
                try:
                    found = await connection.js.get_msg(
                        f"OBJ_{bucket}", seq=seq + 1, subject=f"{entries}>", next=True
                    )
                except NotFoundError:
                    return None
            name = (found.subject or "").removeprefix(entries)
            return found.seq or 0, urlsafe_b64decode(name).decode()

        return self._nats.wait(work)

    async def _open(self, connection: NatsConnection) -> ObjectStore:
        if self._store is None:
            from nats.js.errors import APIError, BucketNotFoundError

            name = connection.address.bucket("objects")
            with connection.errors():
                try:
                    self._store = await connection.js.object_store(name)
                except BucketNotFoundError:
                    replicas = await replicas_of(connection)
                    try:
                        self._store = await connection.js.create_object_store(name, replicas=replicas)
                    except APIError:
                        # Another host was first, and asked for other replicas.
                        self._store = await connection.js.object_store(name)
        return self._store
