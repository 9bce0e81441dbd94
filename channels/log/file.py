"""The file `log.sqlite`: its tables, its connections, and what is checked when it is opened."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from moot.channels.bus import Head
from moot.channels.errors import CorruptLog, EmptyLog, NotALog, StorageError
from moot.channels.log.head import read_head
from moot.channels.log.reader import LogRows, Row, connect_to_read
from moot.protocols.kernel.envelope import GENESIS, link
from moot.protocols.kernel.times import parse_instant

LOG_NAME: Final = "log.sqlite"
APPLICATION_ID: Final = 0x4D4F4F54
"""`MOOT` in ASCII; `file` and this code tell the log by it."""
SCHEMA_VERSION: Final = 1
BUSY_S: Final = 30.0
"""How long a writer waits for the one before it."""
TAIL: Final = 100
"""How many rows the opening checks by their hash."""

SCHEMA: Final = """
CREATE TABLE log(
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    digest TEXT NOT NULL,
    json TEXT NOT NULL,
    hash BLOB NOT NULL
);
CREATE TABLE fence(one INTEGER PRIMARY KEY CHECK (one = 1), epoch INTEGER NOT NULL);
CREATE TABLE inbox(
    n INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL UNIQUE, draft TEXT NOT NULL, receipt TEXT
);
CREATE INDEX inbox_waiting ON inbox(n) WHERE receipt IS NULL;
INSERT INTO fence VALUES (1, 0);
"""


_DAMAGE: Final = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


class End(NamedTuple):
    """What the opening of a log found: where it ends, its last `sent_at` as text, the fencing epoch."""

    head: Head
    sent_at: str | None
    epoch: int


@cache
def insert_sql(rows: int) -> str:
    """Return the INSERT of a batch (K17), which a stranger's write in between turns into nothing.

    Its parameters: five a row, then the fencing epoch, then the seq before the batch. It writes no row when
    another host raised the epoch, or when the log does not end where the batch begins.
    """
    values = ",".join(["(?,?,?,?,?)"] * rows)
    return (
        f"INSERT INTO log SELECT * FROM (VALUES {values}) WHERE (SELECT epoch FROM fence) = ? "
        "AND (SELECT coalesce(max(seq), 0) FROM log) = ?"
    )


@contextmanager
def disk_errors(path: Path) -> Iterator[None]:
    """Rename what sqlite3 raises: `CorruptLog` for damage, else `StorageError`."""
    try:
        yield
    except sqlite3.Error as exc:
        raise disk_error(path, exc) from exc


def disk_error(path: Path, exc: sqlite3.Error) -> CorruptLog | StorageError:
    """Return the error of this package for one of sqlite3."""
    code = getattr(exc, "sqlite_errorcode", 0)
    if code & 0xFF in _DAMAGE or code == sqlite3.SQLITE_IOERR_SHORT_READ or "decode to UTF-8" in str(exc):
        return CorruptLog(f"{path} is damaged: {exc}")
    return StorageError(f"{path}: {exc}")


def connect(path: Path, *, durability: str = "power", create: bool = False) -> sqlite3.Connection:
    """Open the file for writing, in autocommit."""
    uri = f"{path.absolute().as_uri()}?mode={'rwc' if create else 'rw'}"
    db = sqlite3.connect(uri, uri=True, isolation_level=None, timeout=BUSY_S)
    try:
        for pragma in pragmas(durability):
            db.execute(pragma)
    except BaseException:
        db.close()
        raise
    return db


def pragmas(durability: str) -> tuple[str, ...]:
    """Return the pragmas of a writing connection.

    A sync a commit only against power cuts; checkpoints and cache sized for ids that arrive in no order.
    """
    return (
        "PRAGMA journal_mode=WAL",
        f"PRAGMA synchronous={'FULL' if durability == 'power' else 'NORMAL'}",
        "PRAGMA wal_autocheckpoint=4000",
        "PRAGMA cache_size=-8192",
    )


def open_log(path: Path, *, epoch: int) -> End:
    """Create or check the log, and fence out everybody who opened it before.

    Checked: the schema's version, density by count, the last row's own seq, the hashes of the last 100 rows,
    and that the log reaches as far as the file `head` says.

    Args:
        path: The file.
        epoch: The epoch of the caller's lease, the least that is put into the log.

    Raises:
        CorruptLog: The log is not what was written.
        NotALog: The file belongs to another application, or to a newer Moot.
        StorageError: The disk does not let it be opened for writing.
    """
    stored_head = read_head(path.parent)
    with disk_errors(path), closing(connect(path, create=True)) as db:
        _migrate(db, path)
        rows = LogRows(db).tail(TAIL + 1)
        head = _check_end(db, rows)
        if stored_head is not None:
            _check_head(LogRows(db), stored_head, head)
        sent_at = json.loads(rows[-1].text)["sent_at"] if rows else None
        db.execute("UPDATE fence SET epoch = max(epoch + 1, ?)", (epoch,))
        (raised,) = db.execute("SELECT epoch FROM fence").fetchone()
    return End(head, sent_at, raised)


@contextmanager
def reading(path: Path) -> Iterator[LogRows]:
    """Open the file for reading only, beside whoever writes it.

    Raises:
        CorruptLog: It is damaged; also while rows are read inside.
        EmptyLog: No society was ever started in it.
        NotALog: It belongs to another application, or to a newer Moot.
        StorageError: The disk does not let it be read.
    """
    with disk_errors(path), closing(connect_to_read(path, busy_s=BUSY_S)) as db:
        if check_schema(db, path) == 0:
            raise EmptyLog(f"{path} is empty: no society was ever started in it")
        yield LogRows(db)


def check_schema(db: sqlite3.Connection, path: Path) -> int:
    """Return the schema version of a log file, 0 for an empty file.

    Raises:
        NotALog: It is another application's, or a newer Moot's.
    """
    (application,) = db.execute("PRAGMA application_id").fetchone()
    (version,) = db.execute("PRAGMA user_version").fetchone()
    (tables,) = db.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if not tables and not version:
        return 0
    if application != APPLICATION_ID:
        raise NotALog(f"{path} is a database of another application")
    if version > SCHEMA_VERSION:
        raise NotALog(f"{path} has schema {version}, this Moot knows {SCHEMA_VERSION}: upgrade Moot")
    return int(version)


def _migrate(db: sqlite3.Connection, path: Path) -> None:
    if check_schema(db, path) == 0:
        db.executescript(
            f"BEGIN IMMEDIATE; PRAGMA application_id={APPLICATION_ID}; PRAGMA user_version={SCHEMA_VERSION};"
            f"{SCHEMA} COMMIT;"
        )


def _check_end(db: sqlite3.Connection, rows: Sequence[Row]) -> Head:
    if not rows:
        return Head()
    last = rows[-1].seq
    (count,) = db.execute("SELECT count(*) FROM log").fetchone()
    (first,) = db.execute("SELECT min(seq) FROM log").fetchone()
    if count != last or first != 1:
        raise CorruptLog(f"{count} rows up to seq {last}: the log has gaps", seq=last)
    previous = GENESIS if rows[0].seq == 1 else rows[0].hash
    for row in rows if rows[0].seq == 1 else rows[1:]:
        check_row(row, previous)
        previous = row.hash
    try:
        if json.loads(rows[-1].text)["seq"] != last:
            raise CorruptLog("the text names another seq", seq=last)
        parse_instant(json.loads(rows[-1].text)["sent_at"])
    except (ValueError, KeyError, TypeError) as exc:
        raise CorruptLog(f"no envelope: {exc}", seq=last) from exc
    return Head(last, rows[-1].hash)


def _check_head(rows: LogRows, stored: Head, head: Head) -> None:
    if stored.seq > head.seq:
        raise CorruptLog(f"the tail is cut: the file head knows seq {stored.seq}, the log ends at {head.seq}")
    row = rows.at(stored.seq)
    if (GENESIS if row is None else row.hash) != stored.hash:
        raise CorruptLog("the hash is not the one in the file head", seq=stored.seq)


def check_row(row: Row, previous: bytes) -> None:
    """Check that a row's text and hash continue the chain.

    Raises:
        CorruptLog: They do not.
    """
    if (
        not isinstance(row.text, str)
        or not isinstance(row.hash, bytes)
        or link(previous, row.text) != row.hash
    ):
        raise CorruptLog("the hash does not fit the text", seq=row.seq)
