"""Cases: what every run of a protocol has in common, and what remains of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple, TypeVar

from moot.protocols.kernel.obligation import Obligation


class Decision(NamedTuple):
    """What a RULING says: its outcome, its reason code and the rule it applies."""

    outcome: str
    reason: str
    rule: str


@dataclass(frozen=True, kw_only=True)
class CaseState:
    """State of one run of a protocol; protocols extend it. Change it with `evolve`.

    Attributes:
        case_id: The opener's case id (K9).
        kind: Which kind of case it is.
        phase: A phase of that kind's table.
        parent: The case it was opened in, if any.
        opened_seq: Seq of its opener.
        anchor_at: The instant its budgets count from; outages shift it (K6).
        owed: Open obligations.
        outcome: How it ended; None while it is open.
    """

    case_id: str
    kind: str
    phase: str
    parent: str | None = None
    opened_seq: int = 0
    anchor_at: datetime
    owed: tuple[Obligation, ...] = ()
    outcome: str | None = None


S = TypeVar("S", bound=CaseState)

_blank = object.__new__
_set = object.__setattr__


def evolve(state: S, /, **changes: Any) -> S:
    """Return the state with some fields changed, as `dataclasses.replace` does, several times as fast.

    Raises:
        TypeError: A field does not exist.
    """
    return changed(state, changes)


def changed(state: S, changes: Mapping[str, Any], phase: str = "") -> S:
    """Return the state with the fields changed that a mapping names, in another phase if one is given; see `evolve`.

    Raises:
        TypeError: A field does not exist.
    """
    before = state.__dict__
    fields = before.copy()
    fields.update(changes)
    if phase:
        fields["phase"] = phase
    if len(fields) != len(before):
        raise TypeError(f"{type(state).__name__} has no field {', '.join(changes.keys() - before.keys())}")
    new = _blank(state.__class__)
    _set(new, "__dict__", fields)
    return new


def owing(new: S, owed: tuple[Obligation, ...]) -> S:
    """Say what is owed in a state that `changed` has just made and nobody has seen, without another copy."""
    new.__dict__["owed"] = owed
    return new


class Ended(NamedTuple):
    """What remains of an ended case in the docket (K18)."""

    case_id: str
    kind: str
    outcome: str
    opened_seq: int
    seq: int


def shifted(state: CaseState, gap: timedelta) -> CaseState:
    """Move all that a case counts from by an outage (K6)."""
    owed = tuple(replace(o, due_at=o.due_at + gap, outage=o.outage + gap) for o in state.owed)
    return evolve(state, owed=owed, anchor_at=state.anchor_at + gap)
