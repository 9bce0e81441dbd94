"""Reading the log of a data directory, whether a society runs on it or not."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from moot.channels.errors import ChannelError, CorruptLog, EmptyLog
from moot.channels.log.file import LOG_NAME, reading
from moot.channels.log.reader import Row
from moot.channels.log.sequencer import Entry
from moot.protocols.codec import decode_stored
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.errors import Violation


def stored_envelopes(directory: Path, first: int = 1) -> Iterator[Envelope]:
    """Read the stored log from `first` on, in order.

    Raises:
        CorruptLog: A row is no envelope, or the file is damaged.
        ChannelError: The file cannot be read, or is none of ours.
    """
    path = directory / LOG_NAME
    with reading(path) as rows:
        for row in rows.walk(first):
            yield _envelope(path, row)


def stored_entries(directory: Path) -> list[Entry]:
    """Return the stored log as a bus in memory goes on with it.

    Raises:
        CorruptLog: A row is no envelope, or the file is damaged.
        ChannelError: The file cannot be read, or is none of ours.
    """
    path = directory / LOG_NAME
    with reading(path) as rows:
        found = [(_envelope(path, row), row.hash) for row in rows.walk()]
        digests = rows.digests()
        return [
            Entry(envelope, digest, of_draft, None)
            for (envelope, digest), of_draft in zip(found, digests, strict=True)
        ]


def first_envelope(directory: Path) -> Envelope | None:
    """Return the first stored message, None where there is no log; raises as `stored_envelopes` does."""
    return next(stored_envelopes(directory), None) if (directory / LOG_NAME).exists() else None


def last_envelope(directory: Path) -> Envelope | None:
    """Return the last stored message, None where there is none.

    Raises:
        CorruptLog: It is no envelope, or the file is damaged.
        ChannelError: The file cannot be read, or is none of ours.
    """
    path = directory / LOG_NAME
    if not path.exists():
        return None
    try:
        with reading(path) as rows:
            found = rows.newest()
    except EmptyLog:
        # Killed before it wrote anything.
        return None
    return None if found is None else _envelope(path, found)


def last_sent_at(directory: Path) -> datetime | None:
    """Return the society's instant in a directory, None where there is no log."""
    last = last_envelope(directory)
    return last.sent_at if last is not None else None


def hash_at(directory: Path, seq: int) -> str | None:
    """Return the stored hash at a seq as hex, None where there is no such row or it cannot be read."""
    try:
        with reading(directory / LOG_NAME) as rows:
            found = rows.at(seq)
    except ChannelError:
        return None
    if found is None:
        return None
    return found.hash.hex() if isinstance(found.hash, bytes) else str(found.hash)


def _envelope(path: Path, row: Row) -> Envelope:
    try:
        return decode_stored(row.text, row.hash.hex())
    except (Violation, TypeError, AttributeError) as exc:
        raise CorruptLog(f"{path}: not an envelope: {exc}", seq=row.seq) from exc
