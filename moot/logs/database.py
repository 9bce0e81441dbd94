"""The file `log.sqlite` as a source of lines: read-only, while a society writes it or when none does."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from json.encoder import encode_basestring
from pathlib import Path
from typing import Final, Self

from moot.channels.bus import Head
from moot.channels.errors import CorruptLog, NotALog
from moot.channels.log.file import BUSY_S, LOG_NAME, check_schema, disk_error
from moot.channels.log.head import read_head
from moot.logs.errors import Damaged, LogError
from moot.logs.source import Line, LogSource

PAGE: Final = 512
"""Rows of one read; no transaction is held between them, so a writer's checkpoints are not kept waiting."""

SELECT: Final = "SELECT seq, id, json, hash FROM log WHERE seq > ? ORDER BY seq LIMIT ?"

_NO_SIDE_FILES: Final = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN)


class Database(LogSource):
    """The rows of a log file; their number is the `seq` under which they are stored."""

    def __init__(self, name: str, db: sqlite3.Connection, path: Path, head: Head | None) -> None:
        """Take an open connection."""
        super().__init__(name, "directory", head)
        self._db = db
        self._path = path

    @classmethod
    def open(cls, name: str, path: Path) -> Self:
        """Open a log file without writing to it.

        The head is read first, so the log reaches at least as far, even while it grows.

        Raises:
            Damaged: The file, or the file `head`, is damaged.
            LogError: It is no log, or the file does not let itself be opened.
        """
        if not path.exists():
            raise LogError(name, f"is a directory without {LOG_NAME}: no society was ever started in it")
        try:
            head = read_head(path.parent) if path.name == LOG_NAME else None
        except CorruptLog as exc:
            raise Damaged(name, str(exc)) from exc
        try:
            db = _connect(path)
        except sqlite3.Error as exc:
            raise _told(name, path, exc) from exc
        try:
            if check_schema(db, path) == 0:
                raise LogError(name, f"{path} is empty: no society was ever started in it")
        except NotALog as exc:
            db.close()
            raise LogError(name, str(exc)) from exc
        except sqlite3.Error as exc:
            db.close()
            raise _told(name, path, exc) from exc
        except BaseException:
            db.close()
            raise
        return cls(name, db, path, head)

    def lines(self) -> Iterator[Line]:
        seq = -(2**62)
        number = 0
        try:
            while rows := self._db.execute(SELECT, (seq, PAGE)).fetchall():
                for seq, identity, text, digest in rows:
                    number = seq
                    self._check(seq, identity, text, digest)
                    yield Line(seq, text, digest.hex())
        except sqlite3.Error as exc:
            raise Damaged(self.name, str(disk_error(self._path, exc)), line=number + 1) from exc

    def _check(self, seq: int, identity: object, text: object, digest: object) -> None:
        """Check what only the table shows: the types of its cells, and that `id` is the text's own."""
        if not isinstance(text, str) or not isinstance(digest, bytes):
            raise Damaged(self.name, f"row {seq} holds no text with a hash", line=seq)
        if not isinstance(identity, str) or f'"id":{encode_basestring(identity)},"channel":' not in text:
            raise Damaged(self.name, f"row {seq} is stored under another id than its text names", line=seq)

    def close(self) -> None:
        self._db.close()


def _told(name: str, path: Path, exc: sqlite3.Error) -> LogError:
    """Tell damage, which is the log's fault, from a file that cannot be opened now."""
    why = disk_error(path, exc)
    return (Damaged if isinstance(why, CorruptLog) else LogError)(name, str(why))


def _connect(path: Path) -> sqlite3.Connection:
    """Open read-only; a log on a medium that takes no side files is read as a file that nobody writes."""
    db = _open(path, "mode=ro")
    try:
        db.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.Error as exc:
        db.close()
        wal = path.with_name(path.name + "-wal")
        if getattr(exc, "sqlite_errorcode", 0) & 0xFF not in _NO_SIDE_FILES or wal.exists():
            raise
        return _open(path, "mode=ro&immutable=1")
    return db


def _open(path: Path, how: str) -> sqlite3.Connection:
    return sqlite3.connect(
        f"{path.absolute().as_uri()}?{how}",
        uri=True,
        isolation_level=None,
        timeout=BUSY_S,
        check_same_thread=False,
    )
