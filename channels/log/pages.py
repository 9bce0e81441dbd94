"""Reading the log in pages: rows that are checked, for the host; rows as they stand, for everybody else."""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Final

from channels.bus import Decode
from channels.errors import CorruptLog, NotALog
from channels.log.file import BUSY_S, Row, check_row, check_schema, disk_errors
from protocols.kernel.envelope import GENESIS, Envelope, with_hash
from protocols.kernel.errors import Violation

PAGE: Final = 256
"""Rows of one read."""

SELECT_PAGE: Final = "SELECT seq, json, hash FROM log WHERE seq BETWEEN ? AND ? ORDER BY seq"


def envelopes(rows: Sequence[Row], first: int, decode: Decode) -> list[Envelope]:
    """Turn the rows of a page into envelopes, checking seq, chain and text.

    Args:
        rows: What `SELECT_PAGE` yields from `first - 1` on, that row included, for its hash.
        first: Seq of the first envelope wanted, from 1.
        decode: Reads one stored line.

    Raises:
        CorruptLog: A row is missing or not what was written.
    """
    previous, wanted = GENESIS, first
    if first > 1 and rows and rows[0][0] == first - 1:
        previous, rows = rows[0][2], rows[1:]
    elif first > 1:
        raise CorruptLog("the row is missing", seq=first - 1)
    found = []
    for seq, text, digest in rows:
        if seq != wanted:
            raise CorruptLog("the row is missing", seq=wanted)
        check_row(seq, text, digest, previous)
        try:
            envelope = decode(text, digest.hex())
        except (Violation, ValueError, KeyError, TypeError) as exc:
            raise CorruptLog(f"no envelope: {exc}", seq=seq) from exc
        if envelope.seq != seq:
            raise CorruptLog(f"the text names seq {envelope.seq}", seq=seq)
        found.append(envelope)
        previous, wanted = digest, seq + 1
    return found


def read_lines(path: Path, first: int = 1, last: int | None = None) -> Iterator[tuple[int, str]]:
    """Read (seq, line) from a log, hosted or not, trusting nothing in it; for followers, export, verify.

    Reads in pages and holds no transaction between them, so it never keeps the host from its checkpoints. A
    page that shows a gap is read as it stands: the reader judges.

    Args:
        path: The file.
        first: Seq to begin with.
        last: Seq to end with, None for the end as it is when the reading gets there.

    Raises:
        NotALog: There is no log, or it is of another application or a newer Moot.
        CorruptLog: The file is damaged.
    """
    if not path.exists():
        raise NotALog(f"there is no log in {path.parent}")
    with disk_errors(path), closing(sqlite3.connect(path, isolation_level=None, timeout=BUSY_S)) as db:
        db.execute("PRAGMA query_only=ON")
        check_schema(db, path)
        seq, end = first, sys.maxsize if last is None else last
        while rows := db.execute(f"{SELECT_PAGE} LIMIT {PAGE}", (seq, end)).fetchall():
            for number, text, digest in rows:
                yield number, with_hash(text, digest.hex())
            seq = rows[-1][0] + 1
