"""Which rows of the machines' tables a world took, and how often."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Final

from moot.protocols.kernel.docket import Docket, Effects
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.machine import Machine, Row, rows
from moot.protocols.kernel.officers import Ruling
from moot.protocols.kernel.seats import OFFICERS
from moot.protocols.kernel.steps import ENDED
from moot.protocols.rulebook import rules

SEP: Final = " | "


def name_of(kind: str, row: Row) -> str:
    """Name a row: its case's kind, its phase ("any" for all), what makes the move."""
    return SEP.join((kind, str(row.phase) or "any", row.event))


@cache
def all_rows() -> tuple[str, ...]:
    """Return the names of all rows of all machines, in the tables' order."""
    return tuple(dict.fromkeys(name_of(kind, row) for kind, one in _machines().items() for row in rows(one)))


@cache
def _machines() -> Mapping[str, Machine]:
    return rules().types


@cache
def _known() -> frozenset[str]:
    return frozenset(all_rows())


@cache
def _refusing() -> frozenset[str]:
    """Return the rows that say why a message is refused: they lead nowhere."""
    return frozenset(
        name_of(kind, row) for kind, one in _machines().items() for row in rows(one) if not row.move.to
    )


def _parent(env: Envelope) -> str | None:
    """Return the case in which a message opens one."""
    opener = rules().openers.get(env.body.type)
    return None if opener is None or opener.parent_of is None else opener.parent_of(env.body)


class Coverage:
    """Counts rows from what folds changed; it asks no machine.

    Attributes:
        rows: How often each row was taken, by `name_of`.
    """

    def __init__(self) -> None:
        """Begin before the first message."""
        self.rows: Counter[str] = Counter()
        self._phases: dict[str, tuple[str, str]] = {}

    def take(self, env: Envelope, fx: Effects, docket: Docket) -> None:
        """Count the rows that a message took; `docket` is as it left it."""
        phases = self._phases
        if fx.violation is not None:
            kind, phase = phases.get(env.case_id or "") or phases.get(_parent(env) or "", ("", ""))
            if not fx.violation.rule.startswith("K"):
                for event in (f"{env.body.type} unowed", "any other message unowed"):
                    if SEP.join((kind, phase, event)) in _refusing():
                        self._count(kind, phase, event)
        elif fx.is_in_effect:
            for case_id, event, any_phase in self._events(env, fx):
                kind, phase = phases.get(case_id, ("", ""))
                self._count(kind, "any" if any_phase else phase, event)
        for state in fx.started:
            phases[state.case_id] = (state.kind, str(state.phase))
        parents = [one.parent or "" for one in (*fx.started, *fx.ended)]
        for case_id in dict.fromkeys((env.case_id or "", *parents)):
            state_now = docket.cases.get(case_id)
            if state_now is not None:
                before = phases.get(case_id)
                phases[case_id] = (state_now.kind, str(state_now.phase))
                self._dry(before, phases[case_id])
        for state in fx.ended:
            before = phases.pop(state.case_id, None)
            self._dry(before, (state.kind, ENDED))

    def _events(self, env: Envelope, fx: Effects) -> Iterator[tuple[str, str, bool]]:
        """Yield what moved which case, and whether its row is of any phase."""
        kind, case_id = env.body.type, env.case_id or ""
        if fx.voided is not None:
            yield fx.voided.case_id, f"{fx.voided.rule} missed", False
        elif fx.settled is not None:
            name = f"{kind} {fx.settled.rule}" if isinstance(env.body, Ruling) else kind
            yield fx.settled.case_id, name, False
        elif isinstance(env.body, Ruling) and fx.decision is not None:
            due = next((one for one in fx.closed if one.id == env.obligation_id), None)
            reason = "stop" if fx.decision.outcome == "stop" else fx.decision.reason
            yield case_id, f"RULING {reason if due is None else due.rule}", due is None
        elif env.author not in OFFICERS and (parent := _parent(env)) in self._phases:
            yield str(parent), f"{kind} unowed", False
        elif case_id in self._phases:
            owed = SEP.join((*self._phases[case_id], kind))
            is_fact = f"{owed} unowed" in _known() or owed not in _known()
            yield case_id, f"{kind} unowed" if is_fact else kind, False
            yield case_id, "any other message unowed", False
        for state in fx.ended:
            if state.parent is not None:
                yield state.parent, f"its {state.kind} ended", False

    def _count(self, kind: str, phase: str, event: str) -> None:
        name = SEP.join((kind, phase, event))
        if name in _known():
            self.rows[name] += 1

    def _dry(self, before: tuple[str, str] | None, after: tuple[str, str]) -> None:
        """Count the move that is made when nothing is owed any more, where one leads to where the case is now."""
        if before is None or before == after:
            return
        kind, now = after
        for phase, move in _machines()[kind].dry.items():
            if now in move.to and str(phase) != now:
                self._count(kind, str(phase), "nothing is owed any more")
