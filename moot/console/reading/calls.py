"""The calls of models in the console's side file: one row a call, made of its reservation and of its settlement.

The index is filled from both ends, so either may come first. A reservation that was superseded stays without a
settlement.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from moot.call_history.listing import NO_ROOM, UNDER_WAY

SCHEMA: Final = """
CREATE TABLE call(
    call_id TEXT PRIMARY KEY, reserved_seq INTEGER, at TEXT, seat TEXT, case_id TEXT, obligation TEXT, model TEXT,
    settled_seq INTEGER, outcome TEXT, cost INTEGER, tokens INTEGER, latency_ms INTEGER
) WITHOUT ROWID;
CREATE INDEX call_reserved ON call(reserved_seq);
CREATE INDEX call_obligation ON call(obligation);
"""

_OF_TYPE: Final = """
FROM entry AS e CROSS JOIN log.log AS l ON l.seq = e.seq
WHERE e.seq BETWEEN ? AND ? AND +e.type = '{}' AND json_type(l.json, '$.body.call_id') = 'text'
"""

TAKE: Final = (
    f"""
INSERT INTO call(call_id, reserved_seq, at, seat, case_id, obligation, model)
SELECT json_extract(l.json, '$.body.call_id'), e.seq, json_extract(l.json, '$.sent_at'),
    json_extract(l.json, '$.body.seat'), json_extract(l.json, '$.body.case'),
    json_extract(l.json, '$.body.obligation'), json_extract(l.json, '$.body.model')
{_OF_TYPE.format("CALL_RESERVED")}
ON CONFLICT DO UPDATE SET reserved_seq = excluded.reserved_seq, at = excluded.at, seat = excluded.seat,
    case_id = excluded.case_id, obligation = excluded.obligation, model = excluded.model
""",
    f"""
INSERT INTO call(call_id, settled_seq, outcome, cost, tokens, latency_ms)
SELECT json_extract(l.json, '$.body.call_id'), e.seq, json_extract(l.json, '$.body.outcome'),
    json_extract(l.json, '$.body.cost'), json_extract(l.json, '$.body.tokens'),
    json_extract(l.json, '$.body.latency_ms')
{_OF_TYPE.format("CALL_SETTLED")}
ON CONFLICT DO UPDATE SET settled_seq = excluded.settled_seq, outcome = excluded.outcome, cost = excluded.cost,
    tokens = excluded.tokens, latency_ms = excluded.latency_ms
""",
    f"""
INSERT OR IGNORE INTO call(call_id, reserved_seq, at, seat, case_id, obligation, model, settled_seq, outcome)
SELECT json_extract(l.json, '$.body.call_id'), e.seq, json_extract(l.json, '$.sent_at'),
    json_extract(l.json, '$.body.seat'), json_extract(l.json, '$.body.case'),
    json_extract(l.json, '$.body.obligation'), json_extract(l.json, '$.body.model'), e.seq, '{NO_ROOM}'
{_OF_TYPE.format("CALL_REFUSED")}
""",
)
"""Take in the calls of some messages."""

BY: Final = {"seat": "seat", "case": "case_id", "model": "model"}
"""What calls can be told apart and added up by, with its column."""

UNSETTLED: Final = "unsettled"
"""Stands for the states of calls that have not ended: under way, or not sent."""

MOST_HOURS: Final = 49
"""Spend is shown by the hour where it lies within so many hours, else by the day."""


class CallRow(NamedTuple):
    """One call.

    Attributes:
        call_id: Its id.
        seq: Its reservation.
        at: When that was logged, RFC 3339.
        seat: For which seat.
        case_id: In which case; None outside cases.
        obligation: For which answer.
        model: The configured name of the model.
        settled_seq: Its settlement, None while there is none.
        state: How it ended; `under_way` also for what was not sent, which a docket knows.
        cost: Micro-USD booked, None when the price is unknown.
        tokens: Tokens booked.
        latency_ms: Wall milliseconds that it took.
    """

    call_id: str
    seq: int
    at: str
    seat: str
    case_id: str | None
    obligation: str
    model: str
    settled_seq: int | None
    state: str
    cost: int | None
    tokens: int | None
    latency_ms: int | None


class Sum(NamedTuple):
    """Settled calls that have something in common.

    Attributes:
        name: What they have in common: a seat, a case, a model, an hour or a day; "" for no case.
        calls: How many.
        answered: How many of them were answered.
        cost: Micro-USD booked.
        unpriced: How many have no price.
        tokens: Tokens booked.
        latency_ms: Wall milliseconds of one, on the average.
    """

    name: str
    calls: int
    answered: int
    cost: int
    unpriced: int
    tokens: int
    latency_ms: int


class Kind(NamedTuple):
    """Which calls are asked for; "" for any.

    Attributes:
        seat: Of this seat.
        case: In this case.
        model: Of this model.
        state: That ended so; `UNSETTLED`: that have not ended.
    """

    seat: str = ""
    case: str = ""
    model: str = ""
    state: str = ""

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> Kind:
        """Read what somebody asks for; what else is in it does not matter."""
        return cls(*(str(told.get(name) or "")[:300] for name in cls._fields))

    def where(self, until: int) -> tuple[str, list[object]]:
        """Return the condition for calls up to a message, and its values."""
        sql, values = "reserved_seq <= ?", [until]  # type: tuple[str, list[object]]
        for name, column in BY.items():
            if value := getattr(self, name):
                sql += f" AND {column} = ?"
                values.append(value)
        if self.state == UNSETTLED:
            sql += " AND (settled_seq IS NULL OR settled_seq > ?)"
            values.append(until)
        elif self.state:
            sql += " AND outcome = ? AND settled_seq <= ?"
            values += [self.state, until]
        return sql, values


def calls_of(
    db: sqlite3.Connection, kind: Kind, *, until: int, before: int | None, limit: int
) -> list[CallRow]:
    """Return the newest calls of a kind, newest first, as they stood after a message.

    Args:
        db: A reading connection.
        kind: Which.
        until: The message.
        before: Only calls that were reserved before this one.
        limit: At most so many.
    """
    where, values = kind.where(until)
    if before is not None:
        where += " AND reserved_seq < ?"
        values.append(before)
    return _rows(db, f"{where} ORDER BY reserved_seq DESC LIMIT ?", [*values, limit], until)


def calls_for(db: sqlite3.Connection, obligation: str, *, until: int) -> list[CallRow]:
    """Return the calls for one obligation, in the order in which they were made."""
    where = "obligation = ? AND reserved_seq <= ? ORDER BY reserved_seq"
    return _rows(db, where, [obligation, until], until)


def call_of(db: sqlite3.Connection, call_id: str, *, until: int) -> CallRow | None:
    """Return a call by its id; None when there is none."""
    return next(iter(_rows(db, "call_id = ? AND reserved_seq <= ?", [call_id, until], until)), None)


def sums_of(db: sqlite3.Connection, kind: Kind, by: str, *, until: int, limit: int) -> list[Sum]:
    """Add up the settled calls of a kind by what `BY` names, dearest first, then by tokens."""
    return _sums(db, kind, BY[by], until, f"cost DESC, tokens DESC, 1 LIMIT {int(limit)}")


def spend_of(db: sqlite3.Connection, kind: Kind, *, until: int, limit: int) -> list[Sum]:
    """Add up the settled calls of a kind by the hour or the day of their reservation, oldest first."""
    by_day = _sums(db, kind, "substr(at, 1, 10)", until, f"1 DESC LIMIT {int(limit)}")[::-1]
    if len(by_day) > 1 + MOST_HOURS // 24:
        return by_day
    by_hour = _sums(db, kind, "substr(at, 1, 13)", until, f"1 DESC LIMIT {MOST_HOURS}")[::-1]
    return by_hour


def _sums(db: sqlite3.Connection, kind: Kind, column: str, until: int, order: str) -> list[Sum]:
    where, values = kind.where(until)
    sql = f"""
SELECT coalesce({column}, ''), count(*), sum(outcome = 'answered'), coalesce(sum(cost), 0) AS cost, sum(cost IS NULL),
    coalesce(sum(tokens), 0) AS tokens, coalesce(cast(avg(latency_ms) AS INTEGER), 0)
FROM call WHERE {where} AND settled_seq <= ? AND outcome <> ? GROUP BY 1 ORDER BY {order}
"""
    return [Sum(*row) for row in db.execute(sql, (*values, until, NO_ROOM))]


def _rows(db: sqlite3.Connection, where: str, values: list[object], until: int) -> list[CallRow]:
    sql = f"""
SELECT call_id, reserved_seq, at, seat, case_id, obligation, model, settled_seq,
    coalesce(outcome, ?), cost, tokens, latency_ms
FROM call WHERE {where}
"""
    found = (CallRow(*row) for row in db.execute(sql, (UNDER_WAY, *values)))
    return [row if row.settled_seq is None or row.settled_seq <= until else _unsettled(row) for row in found]


def _unsettled(row: CallRow) -> CallRow:
    """Return a call as it stood before it was settled."""
    return row._replace(settled_seq=None, state=UNDER_WAY, cost=None, tokens=None, latency_ms=None)
