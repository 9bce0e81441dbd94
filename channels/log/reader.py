"""Rows of the log as they are stored: the one place that knows how the table `log` is read.

Whoever reads does so beside the society that writes: through a connection that cannot write, and in pages, so that no
read transaction keeps the write-ahead log from being folded in. What a row says is not judged here.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

PAGE: Final = 512
"""Rows of one read."""

LEAST: Final = -(2**62)
MOST: Final = 2**62
"""Seqs that no row has: a damaged file may name any number."""

FIELDS: Final[Mapping[str, str]] = {
    "channel": "$.channel",
    "case_id": "$.case_id",
    "type": "$.body.type",
    "author": "$.author",
    "sent_at": "$.sent_at",
}
"""Where a stored text has its fields."""

_NO_SIDE_FILES: Final = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN)

Query = tuple[str, Sequence[object]]
"""SQL and its values."""


class Row(NamedTuple):
    """One row, damaged or not.

    Attributes:
        seq: Its place.
        id: The id beside the text; a text.
        text: The envelope as JSON, without its hash; a text.
        hash: The hash beside the text; bytes.
    """

    seq: int
    id: Any
    text: Any
    hash: Any


class Where(NamedTuple):
    """A condition on rows: SQL that begins with AND, or nothing, and its values."""

    sql: str = ""
    values: tuple[object, ...] = ()


EVERY: Final = Where()


def holding(*texts: str) -> Where:
    """Want the rows whose text holds all of these.

    JSON escapes the quotes inside strings, so `"type":"HALT"` is found where a field says it, and nowhere else.
    """
    return Where(" AND instr(json, ?)" * len(texts), texts)


def holding_any(*texts: str) -> Where:
    """Want the rows whose text holds one of these, at least one of which is given."""
    return Where(f" AND ({' OR '.join(['instr(json, ?)'] * len(texts))})", texts)


def having(fields: Mapping[str, Iterable[str]], *, is_not: bool = False) -> Where:
    """Want the rows whose fields, named as in `FIELDS`, have one of these values, or none of them.

    A damaged row has no values; it is wanted in neither case.
    """
    sql, values = "", list[object]()
    for name, wanted in fields.items():
        named = sorted(wanted)
        among = f"{'NOT ' if is_not else ''}IN ({','.join('?' * len(named))})"
        sql += f" AND json_extract(json, '{FIELDS[name]}') {among}"
        values += named
    if not sql:
        return EVERY
    return Where(
        f" AND CASE WHEN typeof(json) = 'text' AND json_valid(json) THEN 1{sql} ELSE 0 END", (*values,)
    )


def between(
    first: int,
    last: int,
    where: Where = EVERY,
    *,
    is_down: bool = False,
    limit: int = -1,
    schema: str = "main",
) -> Query:
    """Ask for the rows from `first` to `last`, at most `limit` of them, from the last one down if `is_down`."""
    order = "DESC" if is_down else "ASC"
    sql = f"SELECT seq, id, json, hash FROM {schema}.log WHERE seq BETWEEN ? AND ?{where.sql} ORDER BY seq {order}"
    return f"{sql} LIMIT ?", (first, last, *where.values, limit)


def by_ids(ids: Sequence[str]) -> Query:
    """Ask for id, seq and digest of the rows with these ids."""
    return f"SELECT id, seq, digest FROM log WHERE id IN ({','.join('?' * len(ids))})", ids


class LogRows:
    """The rows of a log on a connection that its owner opens and closes.

    Args:
        db: The connection.
        schema: Where the log is: `main`, or the name under which it was attached.

    Every method raises `sqlite3.Error` where the file cannot be read.
    """

    def __init__(self, db: sqlite3.Connection, schema: str = "main") -> None:
        self._db = db
        self._schema = schema

    def head(self) -> int:
        """Return the last seq, 0 for an empty log."""
        ((seq,),) = self._db.execute(f"SELECT coalesce(max(seq), 0) FROM {self._schema}.log")
        return int(seq)

    def count(self) -> int:
        """Return how many rows there are."""
        ((rows,),) = self._db.execute(f"SELECT count(*) FROM {self._schema}.log")
        return int(rows)

    def between(
        self, first: int, last: int, where: Where = EVERY, *, is_down: bool = False, limit: int = -1
    ) -> list[Row]:
        """Return rows from one end of a range of seqs; -1: all of them."""
        query = between(first, last, where, is_down=is_down, limit=limit, schema=self._schema)
        return [Row._make(row) for row in self._db.execute(*query).fetchall()]

    def walk(self, first: int = 1, last: int = MOST, where: Where = EVERY) -> Iterator[Row]:
        """Yield rows in order, a page at a time; also those that are written meanwhile."""
        while rows := self.between(first, last, where, limit=PAGE):
            yield from rows
            first = rows[-1].seq + 1

    def texts(self, last: int = MOST) -> Iterator[tuple[int, str]]:
        """Yield seq and text of every row up to a seq whose text is one, in order, a page at a time."""
        first = LEAST
        sql = f"SELECT seq, json FROM {self._schema}.log WHERE seq BETWEEN ? AND ? ORDER BY seq LIMIT {PAGE}"
        while rows := self._db.execute(sql, (first, last)).fetchall():
            yield from ((seq, text) for seq, text in rows if isinstance(text, str))
            first = rows[-1][0] + 1

    def tail(self, most: int, where: Where = EVERY) -> list[Row]:
        """Return the last rows, oldest first."""
        return self.between(LEAST, MOST, where, is_down=True, limit=most)[::-1]

    def newest(self, where: Where = EVERY) -> Row | None:
        """Return the last row, None where there is none."""
        return next(iter(self.tail(1, where)), None)

    def at(self, seq: int) -> Row | None:
        """Return one row, None where there is none."""
        return next(iter(self.between(seq, seq)), None)

    def these(self, seqs: Sequence[int]) -> list[Row]:
        """Return the rows with these seqs, in order."""
        sql = f"SELECT seq, id, json, hash FROM {self._schema}.log WHERE seq IN ({','.join('?' * len(seqs))})"
        return [Row._make(row) for row in self._db.execute(f"{sql} ORDER BY seq", seqs).fetchall()]

    def digests(self) -> Iterator[str]:
        """Yield the hashes of the drafts (K1), in order."""
        for (digest,) in self._db.execute(f"SELECT digest FROM {self._schema}.log ORDER BY seq"):
            yield digest

    def field(self, seq: int, name: str) -> Any:
        """Return a field of one row, named as in `FIELDS`; None where there is no such row, or it is damaged."""
        sql = f"SELECT json_extract(json, ?) FROM {self._schema}.log WHERE seq = ? AND json_valid(json)"
        found = self._db.execute(sql, (FIELDS[name], seq)).fetchone()
        return None if found is None else found[0]


def readable_uri(path: Path, *, busy_s: float) -> str:
    """Return the URI under which a log can be read.

    A log on a medium that takes no side files is read as a file that nobody writes.

    Raises:
        sqlite3.Error: It cannot be read.
    """
    uri = f"{path.absolute().as_uri()}?mode=ro"
    db = sqlite3.connect(uri, uri=True, isolation_level=None, timeout=busy_s)
    try:
        db.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.OperationalError as exc:
        wal = path.with_name(path.name + "-wal")
        if exc.sqlite_errorcode & 0xFF not in _NO_SIDE_FILES or wal.exists():
            raise
        return f"{uri}&immutable=1"
    finally:
        db.close()
    return uri


def connect_to_read(path: Path, *, busy_s: float) -> sqlite3.Connection:
    """Open a log that is read only; any thread may use the connection, one at a time.

    Raises:
        sqlite3.Error: It cannot be read.
    """
    uri = readable_uri(path, busy_s=busy_s)
    return sqlite3.connect(uri, uri=True, isolation_level=None, timeout=busy_s, check_same_thread=False)


def attach(db: sqlite3.Connection, path: Path, *, busy_s: float) -> None:
    """Make a log readable as `log.log` on a connection that was opened with `uri=True`.

    Raises:
        sqlite3.Error: It cannot be read.
    """
    db.execute("ATTACH ? AS log", (readable_uri(path, busy_s=busy_s),))
