"""The console's side file `console.sqlite`: which message is of which channel, case, type and seat, and its words.

The log has no index but its seq. This file is a disposable cache beside it: deleting it costs nothing but the
time to make it again. Columns are taken out of the stored text by SQLite itself, so that a million rows never
pass through Python; the sentence of each message is put into a full-text index after that.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from moot.channels.log.file import LOG_NAME
from moot.channels.log.reader import FIELDS, LogRows, attach
from moot.console.reading.calls import SCHEMA as CALLS_SCHEMA
from moot.console.reading.calls import TAKE as TAKE_CALLS

NAME: Final = "console.sqlite"
VERSION: Final = 3
"""Of the tables; a file of another version is made anew."""

BUSY_S: Final = 5.0

COLUMNS: Final = f"""
SELECT seq, json_extract(json, '{FIELDS["channel"]}'), json_extract(json, '{FIELDS["case_id"]}'),
    json_extract(json, '{FIELDS["type"]}'), json_extract(json, '{FIELDS["author"]}'),
    substr(json_extract(json, '{FIELDS["sent_at"]}'), 1, 10) AS day
FROM (
    SELECT seq, CASE WHEN typeof(json) = 'text' THEN CASE WHEN json_valid(json) THEN json END END AS json
    FROM log.log WHERE seq BETWEEN ? AND ?
) WHERE json IS NOT NULL
"""
"""What the log says of some messages; lines that are none are passed over."""

SCHEMA: Final = f"""
BEGIN;
CREATE TABLE meta(name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE reach(name TEXT PRIMARY KEY, low INTEGER NOT NULL, high INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE entry(seq INTEGER PRIMARY KEY, channel TEXT, case_id TEXT, type TEXT, author TEXT, day TEXT);
CREATE INDEX entry_channel ON entry(channel);
CREATE INDEX entry_case ON entry(case_id) WHERE case_id IS NOT NULL;
CREATE INDEX entry_type ON entry(type);
CREATE INDEX entry_author ON entry(author);
CREATE TABLE tally(
    day TEXT, channel TEXT, type TEXT, author TEXT, n INTEGER NOT NULL, last INTEGER NOT NULL,
    PRIMARY KEY (day, channel, type, author)
) WITHOUT ROWID;
CREATE TABLE flaw(
    seq INTEGER, found_seq INTEGER, why TEXT NOT NULL, PRIMARY KEY (seq, found_seq)
) WITHOUT ROWID;
{CALLS_SCHEMA}
CREATE VIRTUAL TABLE said USING fts5(
    text, content='', columnsize=0, tokenize='unicode61 remove_diacritics 2'
);
CREATE TABLE cases(
    case_id TEXT PRIMARY KEY, kind TEXT NOT NULL, parent TEXT, opened_seq INTEGER NOT NULL, phase TEXT NOT NULL,
    outcome TEXT, ended_seq INTEGER
) WITHOUT ROWID;
CREATE INDEX cases_parent ON cases(parent) WHERE parent IS NOT NULL;
CREATE INDEX cases_ended ON cases(kind, ended_seq) WHERE ended_seq IS NOT NULL;
CREATE INDEX cases_over ON cases(ended_seq) WHERE ended_seq IS NOT NULL;
CREATE TABLE phases(
    case_id TEXT, seq INTEGER, phase TEXT NOT NULL, at TEXT NOT NULL, PRIMARY KEY (case_id, seq)
) WITHOUT ROWID;
CREATE TABLE owed(
    case_id TEXT, id TEXT, seat TEXT NOT NULL, expects TEXT NOT NULL, channel TEXT NOT NULL,
    opened_at TEXT NOT NULL, due_at TEXT NOT NULL, void_at TEXT NOT NULL, closed_seq INTEGER NOT NULL,
    closed_at TEXT NOT NULL, how TEXT NOT NULL, PRIMARY KEY (case_id, id)
) WITHOUT ROWID;
CREATE TABLE late(
    case_id TEXT, seq INTEGER, seat TEXT, step TEXT, how TEXT NOT NULL, by_s REAL NOT NULL,
    PRIMARY KEY (case_id, seq, step)
) WITHOUT ROWID;
PRAGMA user_version = {VERSION};
COMMIT;
"""

INSERT_ENTRY: Final = f"INSERT OR IGNORE INTO entry {COLUMNS}"
TALLY: Final = """
INSERT INTO tally SELECT coalesce(day, ''), coalesce(channel, ''), coalesce(type, ''), coalesce(author, ''),
    count(*), max(seq) FROM entry WHERE seq BETWEEN ? AND ? GROUP BY 1, 2, 3, 4
ON CONFLICT DO UPDATE SET n = n + excluded.n, last = max(last, excluded.last)
"""
FLAWS: Final = """
INSERT OR REPLACE INTO flaw
SELECT json_extract(l.json, '$.body.of_seq'), e.seq, json_extract(l.json, '$.body.why')
FROM entry AS e CROSS JOIN log.log AS l ON l.seq = e.seq
WHERE e.seq BETWEEN ? AND ? AND +e.type = 'VIOLATION' AND json_type(l.json, '$.body.of_seq') = 'integer'
    AND json_type(l.json, '$.body.why') = 'text'
"""
INSERT_SAID: Final = "INSERT INTO said(rowid, text) VALUES (?, ?)"
REACH: Final = "INSERT OR REPLACE INTO reach VALUES (?, ?, ?)"

Statement = tuple[str, Sequence[Sequence[object]]]
"""SQL and the rows it is run for."""


class Reach(NamedTuple):
    """From which to which message something has been read; empty while `low` is above `high`."""

    low: int = 1
    high: int = 0

    @property
    def size(self) -> int:
        """Return how many messages that is."""
        return max(0, self.high - self.low + 1)


class Index:
    """The writing end of the side file; for one thread. Others read through `readers.Readers`.

    Attributes:
        path: Where it is: in the data directory, or in a temporary one where that is not to be had.
        why_elsewhere: Why it is not in the data directory; "" when it is.
        rows: How far columns have been read.
        texts: How far sentences have been read.
    """

    def __init__(self, directory: Path) -> None:
        """Remember where; `open` does the work."""
        self.path = directory / NAME
        self.why_elsewhere = ""
        self.rows = Reach()
        self.texts = Reach()
        self._directory = directory
        self._elsewhere: Path | None = None
        self._db: sqlite3.Connection | None = None
        self._lock_fd = -1

    def open(self, log_id: str, head: int) -> None:
        """Open or make the file; one of another log, of another version or that is damaged is made anew.

        Args:
            log_id: Names the log: the hash of its first message.
            head: Where the log ends.

        Raises:
            sqlite3.Error: No disk takes it.
            OSError: The same.
        """
        try:
            self._own()
            self._open_here(log_id, head)
        except (OSError, sqlite3.Error) as exc:
            self._let_go()
            self.why_elsewhere = str(exc)
            self._elsewhere = Path(tempfile.mkdtemp(prefix="moot-console-"))
            self.path = self._elsewhere / NAME
            self._open_here(log_id, head)

    def close(self) -> None:
        """Close it; one in a temporary directory goes. Safe to call twice (K25)."""
        self._let_go()
        if self._elsewhere is not None:
            shutil.rmtree(self._elsewhere, ignore_errors=True)

    @property
    def is_open(self) -> bool:
        """Say whether it can be written."""
        return self._db is not None

    @property
    def db(self) -> sqlite3.Connection:
        """Return the writing connection.

        Raises:
            sqlite3.ProgrammingError: It is closed.
        """
        if self._db is None:
            raise sqlite3.ProgrammingError("the index is closed")
        return self._db

    def add_rows(self, low: int, high: int) -> None:
        """Take in the columns of some messages next to those that are known, in one transaction."""
        reach = (
            Reach(min(low, self.rows.low), max(high, self.rows.high)) if self.rows.size else Reach(low, high)
        )
        self.write(
            [
                (INSERT_ENTRY, [(low, high)]),
                (TALLY, [(low, high)]),
                (FLAWS, [(low, high)]),
                *((sql, [(low, high)]) for sql in TAKE_CALLS),
                (REACH, [("rows", *reach)]),
            ]
        )
        self.rows = reach

    def texts_of(self, low: int, high: int) -> list[tuple[int, Any]]:
        """Return the stored texts of some messages."""
        return [(row.seq, row.text) for row in LogRows(self.db, "log").between(low, high)]

    def add_texts(self, low: int, high: int, said: Iterable[tuple[int, str]]) -> None:
        """Take in sentences of messages next to those that are known, in one transaction."""
        known = self.texts
        reach = Reach(min(low, known.low), max(high, known.high)) if known.size else Reach(low, high)
        self.write([(INSERT_SAID, list(said)), (REACH, [("texts", *reach)])])
        self.texts = reach

    def write(self, statements: Sequence[Statement]) -> None:
        """Run statements as one transaction."""
        db = self.db
        with db:
            db.execute("BEGIN IMMEDIATE")
            for sql, rows in statements:
                db.executemany(sql, rows)

    def meta(self, name: str) -> str:
        """Return a noted text, "" when there is none."""
        found = self.db.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
        return "" if found is None else str(found[0])

    def _own(self) -> None:
        """Take the file for this process: two consoles on a directory would count twice.

        Raises:
            OSError: Another process has it, or the directory cannot be written.
        """
        self._lock_fd = os.open(
            self._directory / f"{NAME}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600
        )
        try:
            fcntl.flock(self._lock_fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as exc:
            raise OSError("another console has the index") from exc

    def _open_here(self, log_id: str, head: int) -> None:
        try:
            self._prepare(log_id, head)
        except sqlite3.Error:
            # Damaged, of another log or another version: it is a cache.
            self._shut()
            for suffix in ("", "-wal", "-shm"):
                self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)
            self._prepare(log_id, head)

    def _prepare(self, log_id: str, head: int) -> None:
        # A cache of what people may not all read belongs to its owner.
        os.close(os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        db = sqlite3.connect(
            self.path.absolute().as_uri(),
            uri=True,
            isolation_level=None,
            check_same_thread=False,
            timeout=BUSY_S,
        )
        self._db = db
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = NORMAL")
        db.execute("PRAGMA cache_size = -16384")
        (version,) = db.execute("PRAGMA user_version").fetchone()
        if version == 0:
            db.executescript(SCHEMA)
            db.execute("INSERT INTO meta VALUES ('log', ?)", (log_id,))
        elif version != VERSION or self.meta("log") != log_id:
            raise sqlite3.DatabaseError("of another log or version")
        attach(db, self._directory / LOG_NAME, busy_s=BUSY_S)
        for name, low, high in db.execute("SELECT name, low, high FROM reach").fetchall():
            if high > head:
                raise sqlite3.DatabaseError("it knows more than the log")
            setattr(self, name, Reach(low, high))

    def _shut(self) -> None:
        db, self._db = self._db, None
        self.rows = self.texts = Reach()
        if db is not None:
            db.close()

    def _let_go(self) -> None:
        self._shut()
        if self._lock_fd >= 0:
            os.close(self._lock_fd)
            self._lock_fd = -1
