"""The file `calls.sqlite`: bodies on disk, written by one thread, many of them with one sync."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import threading
import zlib
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue
from typing import Final, NamedTuple

from moot.memory.bodies import Bodies, StoredBodies, check_length, is_sha256, unknown, unpacked
from moot.memory.errors import CorruptStore, StoreClosed, StoreUnavailable, UnknownEvidence

CALLS_NAME: Final = "calls.sqlite"
"""The file's name in a data directory."""
APPLICATION_ID: Final = 0x4D6F4361
"""Marks the file as ours ("MoCa")."""
SCHEMA_VERSION: Final = 1
BATCH: Final = 256
"""At most so many bodies are written with one sync."""
BATCH_BYTES: Final = 8 * 1024 * 1024
"""No batch is made longer than this by another body."""
BUSY_S: Final = 30.0

_SCHEMA: Final = f"""
BEGIN IMMEDIATE;
PRAGMA application_id = {APPLICATION_ID};
PRAGMA user_version = {SCHEMA_VERSION};
CREATE TABLE body (n INTEGER PRIMARY KEY, sha256 BLOB NOT NULL UNIQUE, zlib BLOB NOT NULL);
CREATE TABLE reply (n INTEGER PRIMARY KEY, call_id TEXT NOT NULL, sha256 BLOB NOT NULL);
CREATE INDEX reply_of ON reply (call_id);
CREATE INDEX reply_named ON reply (sha256);
CREATE TRIGGER body_stays BEFORE UPDATE ON body BEGIN SELECT RAISE(ABORT, 'bodies are never changed'); END;
CREATE TRIGGER body_remains BEFORE DELETE ON body BEGIN SELECT RAISE(ABORT, 'bodies are never deleted'); END;
CREATE TRIGGER reply_stays BEFORE UPDATE ON reply BEGIN SELECT RAISE(ABORT, 'replies are never changed'); END;
CREATE TRIGGER reply_remains BEFORE DELETE ON reply BEGIN SELECT RAISE(ABORT, 'replies are never deleted'); END;
COMMIT;
"""
_PUT: Final = "INSERT INTO body (sha256, zlib) VALUES (?, ?) ON CONFLICT (sha256) DO NOTHING"
_GET: Final = (
    "SELECT zlib, (SELECT call_id FROM reply WHERE reply.sha256 = body.sha256) FROM body WHERE sha256 = ?"
)
_REPLY: Final = "INSERT INTO reply (call_id, sha256) VALUES (?, ?)"
_REPLY_OF: Final = "SELECT sha256 FROM reply WHERE call_id = ? ORDER BY n DESC LIMIT 1"


class StoredBodiesFile(StoredBodies):
    """The bodies of a data directory, read beside whoever writes them.

    Attributes:
        path: The file.
    """

    def __init__(self, path: Path) -> None:
        """Open the file to read.

        Raises:
            UnknownEvidence: There is no such file.
            CorruptStore: It is damaged, or not a file of bodies.
            StoreUnavailable: It cannot be read.
        """
        self.path = path
        if not path.exists():
            raise UnknownEvidence(f"{path} is not there")
        with _errors(path):
            self._db = _connect_to_read(path)
        try:
            with _errors(path):
                _check_ours(self._db, path)
        except BaseException:
            self._db.close()
            raise
        self._lock = threading.Lock()

    def get(self, sha256: str) -> bytes:
        if not is_sha256(sha256):
            raise unknown(sha256)
        with self._lock, _errors(self.path):
            row = self._db.execute(_GET, (bytes.fromhex(sha256),)).fetchone()
        if row is None:
            raise unknown(sha256)
        packed, call_id = row
        return unpacked(packed, sha256, call_id or "")

    def reply_of(self, call_id: str) -> bytes | None:
        with self._lock, _errors(self.path):
            row = self._db.execute(_REPLY_OF, (call_id,)).fetchone()
        return None if row is None else self.get(row[0].hex())

    def close(self) -> None:
        with self._lock:
            self._db.close()


class _Item(NamedTuple):
    data: bytes
    call_id: str
    done: Future[str]


class BodiesFile(Bodies):
    """Bodies in a file, appended to by one thread; what waits when it has time is written with one sync.

    A kill at any moment leaves every body that was said to be kept.

    Attributes:
        path: The file; its write-ahead log stands beside it.
    """

    def __init__(self, path: Path) -> None:
        """Open or create the file.

        Raises:
            CorruptStore: It is damaged, or not a file of bodies.
            StoreUnavailable: It cannot be opened.
        """
        self.path = path
        with _errors(path):
            self._db = _connect(path)
        try:
            with _errors(path):
                _prepare(self._db, path)
            self._stored = StoredBodiesFile(path)
        except BaseException:
            self._db.close()
            raise
        self._lock = threading.Lock()
        self._is_closed = False
        self._queue: SimpleQueue[_Item | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="bodies writer", daemon=True)
        self._thread.start()

    def put(self, data: bytes, *, call_id: str = "") -> Future[str]:
        check_length(data)
        item = _Item(data, call_id, Future())
        # Under the lock, so that nothing can be queued behind the end and be lost.
        with self._lock:
            if self._is_closed:
                raise StoreClosed(f"{self.path} is closed")
            self._queue.put(item)
        return item.done

    def get(self, sha256: str) -> bytes:
        return self._stored.get(sha256)

    def reply_of(self, call_id: str) -> bytes | None:
        return self._stored.reply_of(call_id)

    def close(self) -> None:
        """Write what is left, then close the file; blocks until then. Safe to call twice."""
        # Who closes last folds the write-ahead log into the file, which a reader cannot.
        self._stored.close()
        with self._lock:
            if not self._is_closed:
                self._is_closed = True
                self._queue.put(None)
        self._thread.join()

    def _run(self) -> None:
        try:
            while batch := self._next_batch():
                self._write(batch)
        finally:
            self._db.close()

    def _next_batch(self) -> list[_Item]:
        """Wait for bodies and take what is there; empty at the end."""
        item = self._queue.get()
        if item is None:
            return []
        batch, size = [item], len(item.data)
        while len(batch) < BATCH and size < BATCH_BYTES and not self._queue.empty():
            item = self._queue.get()
            if item is None:
                self._queue.put(None)
                break
            batch.append(item)
            size += len(item.data)
        return batch

    def _write(self, batch: Sequence[_Item]) -> None:
        """Write a batch, whole or not at all, and tell those who wait for it."""
        # Whoever cancelled before now does not want it kept.
        batch = [item for item in batch if item.done.set_running_or_notify_cancel()]
        hashes = [hashlib.sha256(item.data).digest() for item in batch]
        rows = [(digest, zlib.compress(item.data)) for digest, item in zip(hashes, batch, strict=True)]
        replies = [(item.call_id, digest) for digest, item in zip(hashes, batch, strict=True) if item.call_id]
        try:
            with _errors(self.path):
                try:
                    self._db.execute("BEGIN IMMEDIATE")
                    self._db.executemany(_PUT, rows)
                    self._db.executemany(_REPLY, replies)
                    self._db.execute("COMMIT")
                except BaseException:
                    if self._db.in_transaction:
                        self._db.execute("ROLLBACK")
                    raise
        except Exception as exc:
            # Whatever it is, nobody may wait for ever.
            for item in batch:
                item.done.set_exception(exc)
        else:
            for digest, item in zip(hashes, batch, strict=True):
                item.done.set_result(digest.hex())


def _connect(path: Path) -> sqlite3.Connection:
    db = sqlite3.connect(path, isolation_level=None, timeout=BUSY_S, check_same_thread=False)
    try:
        _check_ours(db, path, may_be_empty=True)
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = FULL")
    except BaseException:
        db.close()
        raise
    return db


def _prepare(db: sqlite3.Connection, path: Path) -> None:
    """Make the tables of a new file, and its name durable."""
    if not db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
        db.executescript(_SCHEMA)
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _connect_to_read(path: Path) -> sqlite3.Connection:
    """Open the file to read; on a medium that takes no side files, as one that nobody writes."""
    uri = f"{path.absolute().as_uri()}?mode=ro"
    for more in ("", "&immutable=1"):
        db = sqlite3.connect(
            uri + more, uri=True, isolation_level=None, timeout=BUSY_S, check_same_thread=False
        )
        try:
            db.execute("SELECT count(*) FROM sqlite_master")
        except sqlite3.OperationalError as exc:
            db.close()
            if more or exc.sqlite_errorcode & 0xFF not in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN):
                raise
        except BaseException:
            db.close()
            raise
        else:
            return db
    raise AssertionError("the second attempt raises or returns")


def _check_ours(db: sqlite3.Connection, path: Path, *, may_be_empty: bool = False) -> None:
    (tables,) = db.execute("SELECT count(*) FROM sqlite_master").fetchone()
    (application,) = db.execute("PRAGMA application_id").fetchone()
    (version,) = db.execute("PRAGMA user_version").fetchone()
    if not tables and not application:
        if may_be_empty:
            return
        # Whoever makes it is not done.
        raise UnknownEvidence(f"{path} is not there")
    if application != APPLICATION_ID:
        raise CorruptStore(f"{path} holds no calls of models, but something else: move it away")
    if version > SCHEMA_VERSION:
        raise CorruptStore(f"{path} has schema {version}, this Moot knows {SCHEMA_VERSION}: upgrade Moot")


@contextmanager
def _errors(path: Path) -> Iterator[None]:
    """Rename what the driver and the system raise, damage apart from disks that do not take it."""
    try:
        yield
    except sqlite3.Error as exc:
        code = getattr(exc, "sqlite_errorcode", 0) & 0xFF
        if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            raise CorruptStore(f"{path} is damaged: {exc}") from exc
        raise StoreUnavailable(f"{path}: {exc}") from exc
    except OSError as exc:
        raise StoreUnavailable(f"{path}: {exc.strerror or exc}") from exc
