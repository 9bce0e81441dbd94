"""What folding tells of cases: their phases, what was owed and how it ended, who was late.

The docket forgets an ended case but for its outcome (K18), so what a case view shows of it is written down
while the log is folded. Rows wait here in a bounded buffer for the thread that writes the index.
"""

from __future__ import annotations

import json
import threading
from typing import Final

from moot.console.reading.index import Statement
from moot.protocols.kernel.case import CaseState
from moot.protocols.kernel.docket import Docket, Effects
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.errors import Late
from moot.protocols.kernel.obligation import Obligation
from moot.protocols.kernel.seats import OFFICERS
from moot.protocols.kernel.times import rfc3339

MOST_WAITING: Final = 20_000
"""Rows that wait; a thread that folds the past waits for room."""

MOST_KEPT: Final = 200_000
"""Rows that are kept while no disk takes them; then the rest is told after the next start."""

WITHIN_GRACE: Final = "within the grace"
AFTER_RULING: Final = "after the ruling, it changed nothing"

CASE: Final = "INSERT OR REPLACE INTO cases VALUES (?, ?, ?, ?, ?, ?, ?)"
PHASE: Final = "INSERT OR REPLACE INTO phases VALUES (?, ?, ?, ?)"
OWED: Final = "INSERT OR REPLACE INTO owed VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
LATE: Final = "INSERT OR REPLACE INTO late VALUES (?, ?, ?, ?, ?, ?)"

TABLES: Final = (CASE, PHASE, OWED, LATE)

_TOLD: Final = "INSERT OR REPLACE INTO meta VALUES (?, ?)"


class Stories:
    """Turns effects into rows, for one docket; another one may be folded beside it into another `Stories`.

    Attributes:
        name: What the index notes as how far it came; "" for none.
        is_broken: Whether rows were given up because no disk took them.
    """

    def __init__(self, name: str) -> None:
        """Start with nothing told."""
        self.name = name
        self.is_broken = False
        self._rows: dict[str, list[tuple[object, ...]]] = {sql: [] for sql in TABLES}
        self._leaving: dict[str, list[tuple[object, ...]]] = {}
        self._count = 0
        self._seq = 0
        self._written = 0
        self._phases: dict[str, str] = {}
        self._room = threading.Condition()

    def take(self, env: Envelope, fx: Effects, docket: Docket) -> None:
        """Take in one message; on whatever thread folds."""
        rows: list[tuple[str, tuple[object, ...]]] = []
        touched: dict[str, CaseState | None] = {}
        if env.case_id is not None:
            touched[env.case_id] = None
        for closed in fx.closed:
            touched[closed.case_id] = None
        for state in (*fx.started, *fx.ended):
            if state.parent is not None:
                touched.setdefault(state.parent, None)
        for obligation in fx.opened:
            touched.setdefault(obligation.case_id, None)
        for state in (*fx.started, *fx.ended):
            touched[state.case_id] = state
        for case_id, last in touched.items():
            now = docket.cases.get(case_id, last)
            if now is not None:
                rows += self._moved(now, env)
        gone = {o.id: o for o in (*fx.closed, *((fx.voided,) if fx.voided is not None else ()))}
        rows += [(OWED, _closed(o, env, fx)) for o in gone.values()]
        rows += [(LATE, row) for row in _lateness(env, fx)]
        with self._room:
            self._seq = env.seq
            if self.is_broken:
                return
            for sql, row in rows:
                self._rows[sql].append(row)
            self._count += len(rows)
            if self._count > MOST_KEPT:
                # No disk takes them. They are told again after a restart, for nothing says that they were.
                self.is_broken, self.name = True, ""
                self._rows, self._count = {sql: [] for sql in TABLES}, 0

    def wait_for_room(self, timeout_s: float) -> bool:
        """Wait while too much waits to be written; returns whether there is room. Not for the loop."""
        with self._room:
            return self._room.wait_for(lambda: self._count < MOST_WAITING, timeout_s)

    @property
    def is_full(self) -> bool:
        """Say whether too much waits to be written."""
        return self._count >= MOST_WAITING

    @property
    def seq(self) -> int:
        """Return the last message that was told."""
        return self._seq

    @property
    def is_written(self) -> bool:
        """Say whether all that was told is written."""
        return self._written >= self._seq

    def waiting(self) -> tuple[int, list[Statement]]:
        """Take out what waits: how far it goes, and the statements that write it; nothing when nothing waits."""
        with self._room:
            if self._written >= self._seq:
                return self._seq, []
            rows, self._rows = self._rows, {sql: [] for sql in TABLES}
            self._leaving = rows
            self._count = 0
            seq = self._seq
            self._room.notify_all()
        statements: list[Statement] = [(sql, found) for sql, found in rows.items() if found]
        if self.name:
            statements.append((_TOLD, [(self.name, str(seq))]))
        return seq, statements

    def note_as(self, name: str) -> None:
        """From now on, note how far it came under this name; at once, also when nothing waits."""
        with self._room:
            if not self.is_broken:
                self.name = name
                self._written = min(self._written, self._seq - 1)

    def written(self, seq: int) -> None:
        """Note that what was taken out is in the index."""
        with self._room:
            self._written = max(self._written, seq)
            self._leaving = {}

    def about(self, case_id: str) -> dict[str, list[tuple[object, ...]]]:
        """Return what is told of a case and not in the index yet, by statement, oldest first."""
        with self._room:
            return {
                sql: [
                    row
                    for rows in (self._leaving.get(sql, ()), self._rows[sql])
                    for row in rows
                    if row[0] == case_id
                ]
                for sql in TABLES
            }

    def put_back(self, statements: list[Statement]) -> None:
        """Take back what could not be written, in front of what came since."""
        with self._room:
            for sql, rows in statements:
                if sql in self._rows and not self.is_broken:
                    self._rows[sql][:0] = [tuple(row) for row in rows]
            self._leaving = {}
            self._count = sum(map(len, self._rows.values()))

    def _moved(self, state: CaseState, env: Envelope) -> list[tuple[str, tuple[object, ...]]]:
        phase = str(state.phase)
        is_over = state.outcome is not None
        if self._phases.get(state.case_id) == phase and not is_over:
            return []
        is_entered = self._phases.get(state.case_id) != phase
        if is_over:
            self._phases.pop(state.case_id, None)
        else:
            self._phases[state.case_id] = phase
        ended = env.seq if is_over else None
        case = (state.case_id, state.kind, state.parent, state.opened_seq, phase, state.outcome, ended)
        rows: list[tuple[str, tuple[object, ...]]] = [(CASE, case)]
        if is_entered:
            rows.append((PHASE, (state.case_id, env.seq, phase, rfc3339(env.sent_at))))
        return rows

    def know(self, docket: Docket) -> None:
        """Begin in the middle: these phases are known already."""
        self._phases = {case_id: str(state.phase) for case_id, state in docket.cases.items()}
        self._seq = self._written = docket.seq


def _closed(o: Obligation, env: Envelope, fx: Effects) -> tuple[object, ...]:
    if fx.voided is not None and fx.voided.id == o.id:
        how = f"ruled {fx.decision.outcome}" if fx.decision is not None else "ruled void"
    elif fx.settled is not None and fx.settled.id == o.id:
        how = "answered late" if env.sent_at > o.due_at else "answered"
    else:
        how = "withdrawn"
    return (
        o.case_id,
        o.id,
        o.seat,
        json.dumps(o.expects),
        o.channel,
        rfc3339(o.opened_at),
        rfc3339(o.due_at),
        rfc3339(o.void_at),
        env.seq,
        rfc3339(env.sent_at),
        how,
    )


def _lateness(env: Envelope, fx: Effects) -> list[tuple[object, ...]]:
    rows: list[tuple[object, ...]] = []
    answered, ruled = fx.settled, fx.voided
    if answered is not None and answered.seat not in OFFICERS:
        over = (env.sent_at - answered.due_at).total_seconds()
        if over > 0:
            rows.append((answered.case_id, env.seq, answered.seat, answered.step, WITHIN_GRACE, over))
    if ruled is not None:
        over = (env.sent_at - ruled.due_at).total_seconds()
        outcome = fx.decision.outcome if fx.decision is not None else "void"
        rows.append((ruled.case_id, env.seq, ruled.seat, ruled.step, f"silent, ruled {outcome}", over))
    if isinstance(fx.violation, Late) and env.case_id is not None:
        rows.append((env.case_id, env.seq, str(env.author), env.body.type, AFTER_RULING, 0.0))
    return rows
