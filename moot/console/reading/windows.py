"""Stretches of the log by channel, case, type, seat and words: from the index where it reaches, else by looking.

A window never waits for the index. Above and below what is indexed the stored texts are looked through, newest
first and a bounded number of them; where that ends, the window says from where to go on.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from moot.channels.errors import CorruptLog
from moot.channels.log.lines import open_line
from moot.channels.log.reader import LogRows, Row, Where, having
from moot.console.model.interface import Damage
from moot.console.reading.index import Reach
from moot.protocols.codec import decode_stored
from moot.protocols.kernel.envelope import Envelope, with_hash
from moot.protocols.kernel.errors import Violation

LOOK: Final = 5_000
"""Rows that are looked through at a time."""

MOST_LOOKED: Final = 50_000
"""Rows that are looked through for one window."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What messages a window is of; None: any.

    Attributes:
        channels: Only those of these channels, which the reader may see.
        but: None of this channel.
    """

    channel: str | None = None
    case_id: str | None = None
    type: str | None = None
    author: str | None = None
    channels: frozenset[str] | None = None
    but: str | None = None

    def conditions(self, prefix: str = "e.") -> tuple[str, list[object]]:
        """Return conditions over the index, each beginning with AND, and their values."""
        sql, values = "", []
        for name in _FIELDS:
            value = getattr(self, name)
            if value is not None:
                sql += f" AND {prefix}{name} = ?"
                values.append(value)
        if self.channels is not None:
            # The plus keeps SQLite on the order of seq: most channels are read by most people.
            sql += f" AND +{prefix}channel IN ({','.join('?' * len(self.channels))})"
            values += sorted(self.channels)
        if self.but is not None:
            sql += f" AND +{prefix}channel IS NOT ?"
            values.append(self.but)
        return sql, values

    def looking(self) -> Where:
        """Return the same as a condition over the stored text."""
        named = {name: (value,) for name in _FIELDS if (value := getattr(self, name)) is not None}
        found = [having(named)]
        if self.channels is not None:
            found.append(having({"channel": self.channels}))
        if self.but is not None:
            found.append(having({"channel": (self.but,)}, is_not=True))
        return Where("".join(one.sql for one in found), tuple(value for one in found for value in one.values))

    @property
    def is_all(self) -> bool:
        """Say whether every message is wanted."""
        fields = (self.channel, self.case_id, self.type, self.author, self.channels, self.but)
        return all(value is None for value in fields)


_FIELDS: Final = ("channel", "case_id", "type", "author")


class Found(NamedTuple):
    """Rows of a stretch, oldest first.

    Attributes:
        rows: The rows.
        edge: From where to go on in the direction of the search; None when it came to the end.
    """

    rows: list[Row]
    edge: int | None


def stretch(
    db: sqlite3.Connection, reach: Reach, wanted: Wanted, *, low: int, high: int, is_down: bool, limit: int
) -> Found:
    """Find the first `limit` messages from one end of a range of seqs.

    Args:
        db: A reading connection.
        reach: What the index knows.
        wanted: Which messages.
        low: First seq of the range.
        high: Last seq of the range.
        is_down: Begin at `high` and go down; else begin at `low` and go up.
        limit: How many.
    """
    found: list[Row] = []
    left = MOST_LOOKED
    for first, last, is_indexed in _zones(reach, wanted, low, high, is_down):
        blocks = [(first, last)] if is_indexed else _blocks(first, last, is_down)
        for start, end in blocks:
            if not is_indexed and not wanted.is_all:
                if left <= 0:
                    return _ordered(found, end + 1 if is_down else start - 1, is_down)
                left -= end - start + 1
            more = limit + 1 - len(found)
            found += (_indexed if is_indexed else _looked)(db, wanted, start, end, is_down, more)
            if len(found) > limit:
                return _ordered(found[:limit], found[limit - 1].seq, is_down)
    return _ordered(found, None, is_down)


def searched(db: sqlite3.Connection, wanted: Wanted, query: str, *, high: int, limit: int) -> Found:
    """Find the newest messages up to `high` whose sentences match a query of `query_of`."""
    sql, values = wanted.conditions()
    seqs = _seqs(
        db,
        "SELECT said.rowid FROM said CROSS JOIN entry AS e ON e.seq = said.rowid"
        f" WHERE said MATCH ? AND said.rowid <= ?{sql} ORDER BY said.rowid DESC LIMIT ?",
        (query, high, *values, limit + 1),
    )
    rows = LogRows(db, "log").these(seqs[:limit])
    return Found(rows, seqs[limit - 1] if len(seqs) > limit else None)


def counted(db: sqlite3.Connection, wanted: Wanted, query: str, *, high: int, most: int) -> int:
    """Count the messages up to `high` that fit, with words of a query of `query_of` or "" for any, up to `most`."""
    sql, values = wanted.conditions()
    if query:
        found = "said CROSS JOIN entry AS e ON e.seq = said.rowid WHERE said MATCH ? AND said.rowid <= ?"
        given: tuple[object, ...] = (query, high, *values, most)
    else:
        found, given = "entry AS e WHERE e.seq <= ?", (high, *values, most)
    row = db.execute(f"SELECT count(*) FROM (SELECT 1 FROM {found}{sql} LIMIT ?)", given).fetchone()
    return int(row[0])


def query_of(text: str) -> str:
    """Turn what a person types into a full-text query in which nothing has a special meaning; "" for no words."""
    words = [word for word in text.replace("\0", " ").split() if any(map(str.isalnum, word))]
    quoted = ['"' + word.replace('"', '""') + '"' for word in words[:20]]
    return " ".join(quoted) + " *" if quoted else ""


def decoded(rows: Sequence[Row]) -> tuple[tuple[Envelope, ...], tuple[Damage, ...]]:
    """Read rows as envelopes; those that are none are named beside them."""
    envelopes, damaged = [], []
    for row in rows:
        envelope = opened(row)
        if isinstance(envelope, Damage):
            damaged.append(envelope)
        else:
            envelopes.append(envelope)
    return tuple(envelopes), tuple(damaged)


def opened(row: Row) -> Envelope | Damage:
    """Read one row: with a typed body where this version knows the type, else as it stands (K4)."""
    if not isinstance(row.text, str) or not isinstance(row.hash, bytes):
        return Damage(row.seq, "the row holds no text with a hash")
    try:
        return decode_stored(row.text, row.hash.hex())
    except (Violation, ValueError, RecursionError) as exc:
        why = str(exc)
    try:
        return open_line(with_hash(row.text, row.hash.hex()))
    except (CorruptLog, ValueError, RecursionError):
        return Damage(row.seq, f"the line is no message: {why[:300]}")


def opened_line(line: str) -> Envelope | None:
    """Read one line of the live stream in the same way; None for one that is no message."""
    from moot.protocols.codec import decode_envelope

    try:
        return decode_envelope(line)
    except (Violation, ValueError, RecursionError):
        pass
    try:
        return open_line(line)
    except (CorruptLog, ValueError, RecursionError):
        return None


def _zones(reach: Reach, wanted: Wanted, low: int, high: int, is_down: bool) -> list[tuple[int, int, bool]]:
    if wanted.is_all or not reach.size:
        zones = [(low, high, False)]
    else:
        zones = [
            (low, min(high, reach.low - 1), False),
            (max(low, reach.low), min(high, reach.high), True),
            (max(low, reach.high + 1), high, False),
        ]
    zones = [zone for zone in zones if zone[0] <= zone[1]]
    return zones[::-1] if is_down else zones


def _blocks(first: int, last: int, is_down: bool) -> Iterator[tuple[int, int]]:
    if is_down:
        for end in range(last, first - 1, -LOOK):
            yield max(first, end - LOOK + 1), end
    else:
        for start in range(first, last + 1, LOOK):
            yield start, min(last, start + LOOK - 1)


def _indexed(
    db: sqlite3.Connection, wanted: Wanted, low: int, high: int, is_down: bool, limit: int
) -> list[Row]:
    sql, values = wanted.conditions()
    order = "DESC" if is_down else "ASC"
    seqs = _seqs(
        db,
        f"SELECT e.seq FROM entry AS e WHERE e.seq BETWEEN ? AND ?{sql} ORDER BY e.seq {order} LIMIT ?",
        (low, high, *values, limit),
    )
    rows = LogRows(db, "log").these(seqs)
    return rows[::-1] if is_down else rows


def _looked(
    db: sqlite3.Connection, wanted: Wanted, low: int, high: int, is_down: bool, limit: int
) -> list[Row]:
    return LogRows(db, "log").between(low, high, wanted.looking(), is_down=is_down, limit=limit)


def _seqs(db: sqlite3.Connection, sql: str, values: Sequence[object]) -> list[int]:
    return [seq for (seq,) in db.execute(sql, values)]


def _ordered(rows: list[Row], edge: int | None, is_down: bool) -> Found:
    return Found(rows[::-1] if is_down else rows, edge)
