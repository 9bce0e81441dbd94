"""Moving a society between a data directory and NATS: the same bytes, and the evidence that they name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Final

from moot.channels.bus import Head
from moot.channels.errors import StorageError
from moot.channels.log.file import BUSY_S, disk_errors
from moot.channels.log.lease import Lease
from moot.channels.log.reader import connect_to_read
from moot.channels.log.sequencer import Entry
from moot.channels.nats.address import NatsAddress
from moot.channels.nats.connection import NatsConnection
from moot.channels.nats.following import check_end
from moot.channels.nats.objects import Objects
from moot.channels.nats.publishing import Publishing
from moot.channels.nats.stream import NatsStream
from moot.channels.nats.thread import NatsThread
from moot.hosts.mirrored import FILL_S, fill, keep_evidence
from moot.memory.evidence import DirectoryEvidence
from moot.place import EVIDENCE, LOG_NAME
from moot.protocols.codec import decode_stored
from moot.protocols.kernel.canonical import canonical_json
from moot.protocols.kernel.envelope import GENESIS

BATCH: Final = 256
"""Messages on their way at once."""


def to_nats(directory: Path, address: NatsAddress, *, replicas: int = 1) -> Head:
    """Put a stopped society's log and evidence on NATS; one that broke off is gone on with. Return the log's end.

    Args:
        directory: Its data directory.
        address: Where to; there is no society there, or the beginning of this one.
        replicas: On how many servers it is kept.

    Raises:
        LeaseHeld: The society runs.
        CorruptLog: Another society is there, or the log is damaged.
        StorageError: The server does not take it.
    """
    with Lease.acquire(directory), NatsThread(address, name="moot import") as nats:
        kept, there = directory / EVIDENCE, Objects(nats)
        here = DirectoryEvidence(kept)
        for path in sorted(kept.glob("*/*.json.gz")):
            ref = str(path.relative_to(kept)).removesuffix(".json.gz")
            there.put(f"{EVIDENCE}/{ref}", canonical_json(here.get(ref)).encode())
        return nats.wait(lambda connection: _publish(connection, directory / LOG_NAME, replicas), FILL_S)


def to_directory(address: NatsAddress, directory: Path) -> Head:
    """Put the log and evidence of a society on NATS into a data directory; return the log's end.

    Raises:
        LeaseHeld: Another process uses the directory.
        CorruptLog: Stream or directory is damaged, or the directory holds something else.
        StorageError: The disk does not take it.
    """

    async def work(connection: NatsConnection) -> Head:
        bus = await fill(connection, directory)
        await bus.close()
        return bus.head

    with NatsThread(address, name="moot import") as nats:
        head = nats.wait(work, FILL_S)
        keep_evidence(nats, directory)
    return head


async def _publish(connection: NatsConnection, path: Path, replicas: int) -> Head:
    stream = NatsStream(connection)
    last = await stream.open(create=True, replicas=replicas)
    head = Head(last, _hash_at(path, last))
    await check_end(stream, head)
    return await _send_all(connection, _entries(path, last)) or head


async def _send_all(connection: NatsConnection, batches: Iterable[Sequence[Entry]]) -> Head | None:
    """Publish entries as they were sealed; return where they end."""
    head = None
    publishing = await Publishing.open(connection, 0)
    try:
        for batch in batches:
            trouble = await (await publishing.send(batch))
            if trouble is not None:
                why = trouble.error or "no answer came"
                last = await NatsStream(connection).last_seq()
                raise StorageError(f"after seq {last}: {why}; import it again to go on")
            head = Head(batch[-1].envelope.seq, batch[-1].hash)
    finally:
        publishing.close()
    return head


def _hash_at(path: Path, seq: int) -> bytes:
    with disk_errors(path), closing(connect_to_read(path, busy_s=BUSY_S)) as db:
        found = db.execute("SELECT hash FROM log WHERE seq = ?", (seq,)).fetchone()
    return bytes(found[0]) if found is not None else GENESIS


def _entries(path: Path, after: int) -> Iterator[Sequence[Entry]]:
    sql = "SELECT digest, json, hash FROM log WHERE seq > ? ORDER BY seq LIMIT ?"
    with disk_errors(path), closing(connect_to_read(path, busy_s=BUSY_S)) as db:
        while rows := db.execute(sql, (after, BATCH)).fetchall():
            yield [
                Entry(decode_stored(text, hash_.hex()), hash_, digest, None) for digest, text, hash_ in rows
            ]
            after += len(rows)
