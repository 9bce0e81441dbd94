"""A KV bucket of a society: small values under keys, each of which can be changed by compare-and-set."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from moot.channels.nats.connection import NatsConnection

if TYPE_CHECKING:
    from nats.js.kv import KeyValue


class Bucket:
    """A bucket; every method raises `StorageError` when the server does not answer."""

    def __init__(self, connection: NatsConnection, kv: KeyValue) -> None:
        """Take what `open` found."""
        self._connection = connection
        self._kv = kv

    @classmethod
    async def open(cls, connection: NatsConnection, what: str, *, keep_s: float | None = None) -> Self:
        """Open a bucket, made when it is missing, with as many replicas as the log has.

        Args:
            connection: To the servers.
            what: Its name within the society, such as `lease`.
            keep_s: Seconds after which a value is forgotten; None: never.
        """
        from nats.js.errors import APIError

        if (found := await cls.find(connection, what)) is not None:
            return found
        name = connection.address.bucket(what)
        with connection.errors():
            replicas = await replicas_of(connection)
            try:
                kv = await connection.js.create_key_value(bucket=name, ttl=keep_s, replicas=replicas)
            except APIError:
                # Another host was first, and asked for other replicas.
                kv = await connection.js.key_value(name)
            return cls(connection, kv)

    @classmethod
    async def find(cls, connection: NatsConnection, what: str) -> Self | None:
        """Open a bucket that is there; None where it is missing."""
        from nats.js.errors import BucketNotFoundError

        with connection.errors():
            try:
                return cls(connection, await connection.js.key_value(connection.address.bucket(what)))
            except BucketNotFoundError:
                return None

    async def get(self, key: str) -> tuple[bytes, int]:
        """Return value and revision, b"" while there is none, and 0 where nobody deleted one."""
        from nats.js.errors import KeyNotFoundError

        async def work() -> tuple[bytes, int]:
            try:
                entry = await self._kv.get(key)
            except KeyNotFoundError as gone:
                return b"", gone.entry.revision or 0 if gone.entry is not None else 0
            return entry.value or b"", entry.revision or 0

        return await self._connection.ask(work())

    async def set(self, key: str, value: bytes, last: int) -> int | None:
        """Write a value if the key still has this revision; return the new one, None when it has another."""
        from nats.js.errors import KeyWrongLastSequenceError

        async def work() -> int | None:
            try:
                return await self._kv.update(key, value, last=last)
            except KeyWrongLastSequenceError:
                return None

        return await self._connection.ask(work())

    async def put(self, key: str, value: bytes) -> int:
        """Write a value whatever was there; return its revision."""
        with self._connection.errors():
            return await self._kv.put(key, value)

    async def all(self) -> dict[str, bytes]:
        """Return every value there is, by key."""
        from nats.js.errors import NoKeysError

        with self._connection.errors():
            try:
                keys = await self._kv.keys()
            except NoKeysError:
                return {}
        return {key: (await self.get(key))[0] for key in keys}


async def replicas_of(connection: NatsConnection) -> int:
    """Return on how many servers the log is kept, 1 while there is none."""
    from nats.js.errors import NotFoundError

    with connection.errors():
        try:
            info = await connection.js.stream_info(connection.address.stream)
        except NotFoundError:
            return 1
    return info.config.num_replicas or 1
