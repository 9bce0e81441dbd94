"""Moving a society between a data directory and NATS: the same bytes, and the evidence and bodies that they name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, suppress
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
from moot.hosts.copying import Copies
from moot.hosts.mirrored import FILL_S, fill
from moot.hosts.travelling import send_body
from moot.memory.bodies_file import CALLS_NAME, StoredBodiesFile
from moot.memory.errors import UnknownEvidence
from moot.memory.evidence import DirectoryEvidence
from moot.place import EVIDENCE, LOG_NAME
from moot.protocols.calls.messages import CallReserved
from moot.protocols.codec import decode_stored
from moot.protocols.kernel.canonical import canonical_json
from moot.protocols.kernel.envelope import GENESIS
from moot.stored import stored_envelopes

BATCH: Final = 256
"""Messages on their way at once."""


def to_nats(directory: Path, address: NatsAddress, *, replicas: int | None = None) -> Head:
    """Put a stopped society with evidence and bodies on NATS; one that broke off is gone on with. Return the log's end.

    Args:
        directory: Its data directory.
        address: Where to; there is no society there, or the beginning of this one.
        replicas: On how many servers it is kept; None: on one, where it is made.

    Raises:
        BadInput: It is kept there on another number of servers.
        LeaseHeld: The society runs.
        CorruptLog: Another society is there, or the log is damaged.
        StorageError: The server does not take it.
    """
    with Lease.acquire(directory), NatsThread(address, name="moot import") as nats:
        # First of all, for what stands beside it is kept on as many servers.
        nats.wait(lambda connection: NatsStream(connection).open(create=True, replicas=replicas))
        there = Objects(nats)
        _send_evidence(directory / EVIDENCE, there)
        _send_bodies(directory, there)
        return nats.wait(lambda connection: _publish(connection, directory / LOG_NAME), FILL_S)


def to_directory(address: NatsAddress, directory: Path) -> Head:
    """Put the log, evidence and bodies of a society on NATS into a data directory; return the log's end.

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
        with Copies(Objects(nats), directory) as copies:
            copies.catch_up()
    return head


def _send_evidence(kept: Path, there: Objects) -> None:
    here = DirectoryEvidence(kept)
    for path in sorted(kept.glob("*/*.json.gz")):
        ref = str(path.relative_to(kept)).removesuffix(".json.gz")
        there.put(f"{EVIDENCE}/{ref}", canonical_json(here.get(ref)).encode())


def _send_bodies(directory: Path, there: Objects) -> None:
    """Put on the servers what models were asked and answered; what is missing here is left for `moot verify` to say."""
    if not (directory / CALLS_NAME).exists():
        return
    with StoredBodiesFile(directory / CALLS_NAME) as here:
        for env in stored_envelopes(directory):
            if type(env.body) is not CallReserved:
                continue
            with suppress(UnknownEvidence):
                send_body(there, here.get(env.body.request_sha256))
            if (reply := here.reply_of(env.body.call_id)) is not None:
                send_body(there, reply, env.body.call_id)


async def _publish(connection: NatsConnection, path: Path) -> Head:
    stream = NatsStream(connection)
    last = await stream.last_seq()
    head = Head(last, _hash_at(path, last))
    await check_end(stream, head)
    epoch = (await stream.at(last)).epoch if last else 0
    return await _send_all(connection, _entries(path, last), epoch) or head


async def _send_all(
    connection: NatsConnection, batches: Iterable[Sequence[Entry]], epoch: int = 0
) -> Head | None:
    """Publish entries as they were sealed, with the epoch of those before them; return where they end."""
    head = None
    publishing = await Publishing.open(connection, epoch)
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
