"""Reading the log of a data directory, whether a society runs on it or not."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import datetime
from pathlib import Path

from moot.channels.errors import CorruptLog
from moot.protocols.codec import decode_stored
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.errors import Violation


def stored_envelopes(directory: Path, first: int = 1, *, case_id: str = "") -> Iterator[Envelope]:
    """Read the stored log from `first` on, in order; with a case, only what belongs to it.

    Raises:
        CorruptLog: A row is no envelope, or the file is none of ours.
    """
    path = directory / "log.sqlite"
    try:
        with closing(_open(path)) as db:
            sql = "SELECT seq, json, hash FROM log WHERE seq >= ? AND instr(json, ?) ORDER BY seq"
            rows = db.execute(sql, (first, f'"case_id":"{case_id}"' if case_id else ""))
            for seq, text, digest in rows:
                try:
                    yield decode_stored(text, digest.hex() if isinstance(digest, bytes) else digest)
                except Violation as exc:
                    raise CorruptLog(f"{path}: not an envelope: {exc}", seq=seq) from exc
    except sqlite3.Error as exc:
        raise CorruptLog(f"{path}: cannot be read: {exc}") from exc


def last_envelope(directory: Path) -> Envelope | None:
    """Return the last stored message, None where there is no log.

    Raises:
        CorruptLog: The file is none of ours.
    """
    path = directory / "log.sqlite"
    if not path.exists():
        return None
    try:
        with closing(_open(path)) as db:
            if not db.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]:
                # Killed before it wrote anything.
                return None
            found = db.execute("SELECT max(seq) FROM log").fetchone()
    except sqlite3.Error as exc:
        raise CorruptLog(f"{path}: cannot be read: {exc}") from exc
    if found is None or found[0] is None:
        return None
    return next(stored_envelopes(directory, found[0]))


def last_of_type(directory: Path, kind: str) -> Envelope | None:
    """Return the last stored message of a type, None where there is none.

    Raises:
        CorruptLog: The file is none of ours.
    """
    path = directory / "log.sqlite"
    sql = "SELECT seq FROM log WHERE instr(json, ?) ORDER BY seq DESC LIMIT 1"
    try:
        with closing(_open(path)) as db:
            found = db.execute(sql, (f'"type":"{kind}"',)).fetchone()
    except sqlite3.Error as exc:
        raise CorruptLog(f"{path}: cannot be read: {exc}") from exc
    return None if found is None else next(stored_envelopes(directory, found[0]))


def hash_at(directory: Path, seq: int) -> str | None:
    """Return the stored hash at a seq as hex, None where there is no such row."""
    try:
        with closing(_open(directory / "log.sqlite")) as db:
            found = db.execute("SELECT hash FROM log WHERE seq = ?", (seq,)).fetchone()
    except sqlite3.Error:
        return None
    if found is None:
        return None
    return found[0].hex() if isinstance(found[0], bytes) else str(found[0])


def first_envelope(directory: Path) -> Envelope | None:
    """Return the first stored message, None where there is no log."""
    if not (directory / "log.sqlite").exists():
        return None
    return next(stored_envelopes(directory), None)


def last_sent_at(directory: Path) -> datetime | None:
    """Return the society's instant in a directory, None where there is no log."""
    last = last_envelope(directory)
    return last.sent_at if last is not None else None


def _open(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"file:{path}?mode=ro", uri=True, isolation_level=None)
