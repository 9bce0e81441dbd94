"""Cases, obligations and escalations as plain views: from the docket where they are open, else from the index."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final, NamedTuple

from moot.channels.log.reader import LogRows
from moot.channels.showing.duties import position
from moot.console.model.interface import (
    EscalationView,
    Lateness,
    ObligationView,
    OptionView,
    PhaseStep,
)
from moot.console.reading.index import Reach
from moot.console.reading.stories import CASE, LATE, OWED, PHASE
from moot.console.reading.windows import Wanted, decoded, stretch
from moot.protocols.escalation.case import KIND
from moot.protocols.escalation.messages import (
    Escalation,
    EscalationAck,
    EscalationAnswer,
    EscalationPaged,
    EscalationResolved,
)
from moot.protocols.kernel.docket import Docket
from moot.protocols.kernel.duties import context_and_silence
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.obligation import Obligation
from moot.protocols.kernel.seats import PEOPLE, Seat
from moot.protocols.kernel.times import parse_instant

MOST_OF_ONE: Final = 60
"""Messages of an escalation that are looked at: at most 5 pages, acknowledgements and answers of people."""


class Story(NamedTuple):
    """Rows of a case as the index has them: itself, phases, closed obligations, lateness, children."""

    case: list[Any]
    phases: list[Any]
    owed: list[Any]
    late: list[Any]
    children: list[Any]

    def with_news(self, rows: Mapping[str, Sequence[Sequence[Any]]], until: int) -> Story:
        """Add what is told and not written yet."""
        cases = [row for row in rows[CASE] if row[3] <= until]
        phases = {seq: (phase, seq, at) for _, seq, phase, at in rows[PHASE] if seq <= until}
        owed = {row[1]: row for row in rows[OWED] if row[8] <= until}
        late = {
            (seq, step): (seat, step, how, seq, by_s)
            for _, seq, seat, step, how, by_s in rows[LATE]
            if seq <= until
        }
        return Story(
            cases[-1:] or self.case,
            [*(row for row in self.phases if row[1] not in phases), *phases.values()],
            [*(row for row in self.owed if row[1] not in owed), *owed.values()],
            [*(row for row in self.late if (row[3], row[1]) not in late), *late.values()],
            self.children,
        )


def obligation_view(docket: Docket, o: Obligation) -> ObligationView:
    """Return an open obligation."""
    holder = docket.context.holders.get(o.seat)
    return ObligationView(
        id=o.id,
        case_id=o.case_id,
        step=o.step,
        seat=o.seat,
        held_by=holder.user_id if holder is not None else None,
        held_on=holder.platform if holder is not None else None,
        expects=o.expects,
        channel=o.channel,
        opened_at=o.opened_at,
        due_at=o.due_at,
        void_at=docket.deadlines.void_at(o),
        attempt=docket.attempts.get(o.id, 0),
        position=position(o.subject),
        **_of_person(docket, o),
    )


def _of_person(docket: Docket, o: Obligation) -> dict[str, Any]:
    """Return what a person is shown of a duty, and what silence leads to (R-G16)."""
    state = docket.cases.get(o.case_id)
    if o.seat not in PEOPLE or state is None or state.kind == KIND:
        return {}
    context, silence = context_and_silence(docket, o)
    return {"context": context, "silence": silence}


def story_of(db: sqlite3.Connection, case_id: str, until: int) -> Story:
    """Read what folding told of a case up to a message."""
    return Story(
        db.execute("SELECT * FROM cases WHERE case_id = ? AND opened_seq <= ?", (case_id, until)).fetchall(),
        db.execute(
            "SELECT phase, seq, at FROM phases WHERE case_id = ? AND seq <= ? ORDER BY seq", (case_id, until)
        ).fetchall(),
        db.execute(
            "SELECT * FROM owed WHERE case_id = ? AND closed_seq <= ? ORDER BY opened_at, id",
            (case_id, until),
        ).fetchall(),
        db.execute(
            "SELECT seat, step, how, seq, by_s FROM late WHERE case_id = ? AND seq <= ? ORDER BY seq",
            (case_id, until),
        ).fetchall(),
        db.execute(
            "SELECT case_id FROM cases WHERE parent = ? AND opened_seq <= ? ORDER BY opened_seq LIMIT 500",
            (case_id, until),
        ).fetchall(),
    )


def closed_view(row: Sequence[Any]) -> ObligationView:
    """Return a closed obligation as the index has it."""
    case_id, identity, seat, expects, channel, opened_at, due_at, void_at, seq, closed_at, how = row
    return ObligationView(
        id=identity,
        case_id=case_id,
        step=identity[len(case_id) + 1 :].rsplit("/", 1)[0],
        seat=Seat(seat),
        held_by=None,
        expects=tuple(json.loads(expects)),
        channel=channel,
        opened_at=parse_instant(opened_at),
        due_at=parse_instant(due_at),
        void_at=parse_instant(void_at),
        closed_seq=seq,
        closed_at=parse_instant(closed_at),
        how=how,
    )


def path_of(rows: Iterable[Sequence[Any]]) -> tuple[PhaseStep, ...]:
    """Return the phases that a case went through."""
    return tuple(PhaseStep(phase, seq, parse_instant(at)) for phase, seq, at in rows)


def lateness_of(rows: Iterable[Sequence[Any]]) -> tuple[Lateness, ...]:
    """Return who was late in a case."""
    return tuple(Lateness(seat, step, how, seq, by_s) for seat, step, how, seq, by_s in rows)


def escalations_of(
    db: sqlite3.Connection, reach: Reach, *, high: int, limit: int, also: Mapping[str, int]
) -> list[EscalationView]:
    """Return the last escalations and what became of them, by their messages alone.

    Args:
        db: A reading connection.
        reach: What the index knows; messages below it are left out while it is being made.
        high: The last message that counts.
        limit: How many.
        also: Further ones that are open, with the seq of their first message.
    """
    low = reach.low if reach.size else max(1, high - 20_000)
    found = stretch(db, reach, Wanted(type="ESCALATION"), low=low, high=high, is_down=True, limit=limit)
    raised = {env.seq: env for env in decoded(found.rows)[0]}
    for seq in also.values():
        if seq not in raised:
            raised |= {env.seq: env for env in decoded(LogRows(db, "log").between(seq, seq))[0]}
    views = []
    for seq, env in sorted(raised.items(), reverse=True):
        if isinstance(env.body, Escalation):
            wanted = Wanted(case_id=env.body.escalation_id)
            rows = stretch(db, reach, wanted, low=seq, high=high, is_down=False, limit=MOST_OF_ONE).rows
            marks = ",".join("?" * len(rows))
            flawed = {
                row[0]
                for row in db.execute(
                    f"SELECT seq FROM flaw WHERE seq IN ({marks}) AND found_seq <= ?",
                    [*(row.seq for row in rows), high],
                )
            }
            views.append(_escalation(env, env.body, decoded(rows)[0], flawed))
    return views


def _escalation(
    env: Envelope, body: Escalation, said: Iterable[Envelope], flawed: set[int]
) -> EscalationView:
    view = EscalationView(
        escalation_id=body.escalation_id,
        seq=env.seq,
        level=body.level,
        code=body.trigger_code,
        trigger=body.trigger,
        context=body.context,
        options=tuple(OptionView(option.n, option.label, option.effect) for option in body.options),
        raised_at=env.sent_at,
        answer_by=env.sent_at + body.within,
        default=body.default_option.n,
        state="open",
    )
    for other in said:
        if other.seq in flawed or not view.is_open:
            continue
        view = _after(view, other)
    return view


def _after(view: EscalationView, env: Envelope) -> EscalationView:
    body = env.body
    if isinstance(body, EscalationPaged):
        if body.added:
            return replace(view, context=f"{view.context}; {body.added}")
        return replace(view, pages=body.n)
    if isinstance(body, EscalationAck) and view.acknowledged_by is None:
        return replace(view, acknowledged_by=env.actor.user_id, state="acknowledged")
    if isinstance(body, EscalationAnswer) and view.answered_by is None:
        said = body.option if body.option is not None else body.text
        return replace(view, answered_by=env.actor.user_id, answer=said, state="answered")
    if isinstance(body, EscalationResolved):
        return replace(view, state=body.how, effect=body.effect, ended_at=env.sent_at)
    return view


def with_dues(views: Iterable[EscalationView], docket: Docket) -> list[EscalationView]:
    """Take the instants of open escalations from the docket, which outages shift (K6)."""
    due: dict[str, datetime] = {
        o.case_id: o.due_at for o in docket.open.values() if o.step in ("answer", "answer-acked", "expire")
    }
    return [replace(view, answer_by=due.get(view.escalation_id, view.answer_by)) for view in views]


def open_escalations(docket: Docket) -> dict[str, int]:
    """Return the open escalations with their first messages."""
    return {s.case_id: s.opened_seq for s in docket.cases.values() if s.kind == KIND}
