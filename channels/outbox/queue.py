"""What goes next in a channel: the pace's rules, asked of the outbox's file.

Every choice is a handful of index look-ups, so it takes as long with ten messages waiting as with a million.
"""

from __future__ import annotations

import json
import sqlite3
from functools import cache
from itertools import groupby
from typing import Final, NamedTuple

from moot.channels.outbox.pacing import Pace, is_routine
from moot.protocols.rulebook import Rulebook, rulebook

MOST_FOLDED: Final = 256 * 1024
"""Characters of the lines that one post stands for; platforms take no attachment of any size."""

_COLUMNS: Final = "seq, type, case_id, nonce, crashes, line"
_OPEN: Final = "FROM posts WHERE log = ?1 AND channel = ?2 AND state IN ('waiting', 'intent')"


class Lane(NamedTuple):
    """One channel of one log."""

    log: int
    channel: str


class Waiting(NamedTuple):
    """A message that is not posted for certain.

    Attributes:
        nonce: Set once it was about to be posted: it may have arrived.
        crashes: How often the surface broke over it.
    """

    seq: int
    type: str
    case_id: str | None
    nonce: str | None
    crashes: int
    line: str


class NextUp(NamedTuple):
    """What one post says.

    Attributes:
        items: The message, then those that are folded into it; empty when nothing waits.
        has_urgent: Whether something urgent waits in the channel, it may be this.
    """

    items: list[Waiting]
    has_urgent: bool


def size(db: sqlite3.Connection, lane: Lane, most: int) -> int:
    """Count what waits, up to `most`."""
    (n,) = db.execute(f"SELECT count(*) FROM (SELECT 1 {_OPEN} LIMIT ?3)", (*lane, most)).fetchone()
    return int(n)


def interrupted(db: sqlite3.Connection, lane: Lane) -> list[list[Waiting]]:
    """Return what was about to be posted when the outbox stopped, in groups as it was folded."""
    rows = db.execute(f"SELECT {_COLUMNS} {_OPEN} AND state = 'intent' ORDER BY nonce, seq", lane)
    groups = [list(group) for _, group in groupby(map(Waiting._make, rows), key=lambda item: item.nonce)]
    for group in groups:
        group.sort(key=lambda item: not (item.nonce or "").endswith(f":{item.seq}"))
    return sorted(groups)


def next_up(db: sqlite3.Connection, lane: Lane, pace: Pace) -> NextUp:
    """Choose what one post says.

    The oldest message, but in a backlog the oldest urgent one; and what follows a routine one in its case goes with
    it. What may have arrived already is never folded: it is looked up by the nonce that it had.
    """
    urgent = _first_urgent(db, lane)
    is_backlog = pace.backlog > 0 and size(db, lane, pace.backlog + 1) > pace.backlog
    if is_backlog and urgent is not None:
        return NextUp([_row(db, lane, urgent)], True)
    (first,) = db.execute(f"SELECT min(seq) {_OPEN}", lane).fetchone()
    if first is None:
        return NextUp([], False)
    items = [_row(db, lane, first)]
    if is_backlog and pace.fold_most > 1 and _may_fold(items[0]):
        items += _following(db, lane, items[0], pace.fold_most - 1)
    return NextUp(items, urgent is not None)


@cache
def _urgent(book: Rulebook) -> str:
    return json.dumps(sorted(book.urgent))


def _may_fold(item: Waiting) -> bool:
    return is_routine(item.type, item.case_id) and item.nonce is None and not item.crashes


def _first_urgent(db: sqlite3.Connection, lane: Lane) -> int | None:
    # One look-up a type: an IN would have all urgent messages sorted.
    each = f"SELECT (SELECT min(seq) {_OPEN} AND type = value) AS seq FROM json_each(?3)"
    (seq,) = db.execute(f"SELECT min(seq) FROM ({each})", (*lane, _urgent(rulebook()))).fetchone()
    return None if seq is None else int(seq)


def _following(db: sqlite3.Connection, lane: Lane, first: Waiting, most: int) -> list[Waiting]:
    rows = db.execute(
        f"SELECT seq, length(line), nonce {_OPEN} AND case_id = ?3 AND seq > ?4"
        f" AND type NOT IN (SELECT value FROM json_each(?5)) ORDER BY seq LIMIT ?6",
        (*lane, first.case_id, first.seq, _urgent(rulebook()), most),
    )
    found: list[Waiting] = []
    room = MOST_FOLDED - len(first.line)
    for seq, length, nonce in rows.fetchall():
        room -= length
        # What follows one that is not folded stays behind it: a case is told in order.
        if room < 0 or nonce is not None:
            break
        found.append(_row(db, lane, seq))
    return found


def _row(db: sqlite3.Connection, lane: Lane, seq: int) -> Waiting:
    return Waiting._make(db.execute(f"SELECT {_COLUMNS} {_OPEN} AND seq = ?3", (*lane, seq)).fetchone())
