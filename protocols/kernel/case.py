"""Cases: what every run of a protocol has in common, and the contract of a case type."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple, TypeVar

from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.errors import Violation
from moot.protocols.kernel.message import Message
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
        kind: Which case type it is.
        phase: A phase of that type's table.
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


def changed(state: S, changes: dict[str, Any]) -> S:
    """Return the state with the fields changed that a dict names; see `evolve`.

    Raises:
        TypeError: A field does not exist.
    """
    before = state.__dict__
    fields = before.copy()
    fields.update(changes)
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


RuleContext = Any
"""The society's folds that rules may read, see `context.RuleContext`; typed loosely so the kernel knows no protocol."""

Step = Callable[[Any, Envelope, RuleContext], Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseType:
    """The rules of one kind of case; pure functions and data.

    Attributes:
        kind: Its name.
        openers: Message types that open it.
        parent_of: Returns the parent case id that an opener names, or None.
        open: (opener, context, parent state) -> first state; raises Violation.
        step: (state, envelope, context) -> next state; raises Violation and changes nothing.
        otherwise: (state, obligation, context) -> what the referee rules when it is missed (K5).
        rule: (state, decision, ruling envelope, context, obligation or None) -> state after a RULING.
        discharge: (state, obligation, context) -> body that an officer owes for its obligation.
        brief: (state, obligation, context) -> figures the rules hold the answer to, shown to the mind.
        child_ended: (state, child state, envelope, context) -> parent's next state.
        after_end: (ended, envelope) -> the violation of a message that comes after the end.
        system: "A", "B" or "".
        machine: The `machine.Machine` that all of this follows from, None while it is written by hand.
    """

    kind: str
    openers: tuple[str, ...]
    open: Callable[[Envelope, RuleContext, Any], Any]
    step: Step
    otherwise: Callable[[Any, Obligation, RuleContext], Decision]
    rule: Callable[[Any, Decision, Envelope, RuleContext, Obligation | None], Any]
    discharge: Callable[[Any, Obligation, RuleContext], Message] | None = None
    child_ended: Callable[[Any, Any, Envelope, RuleContext], Any] | None = None
    parent_of: Callable[[Message], str | None] | None = None
    brief: Callable[[Any, Obligation, RuleContext], dict[str, Any]] | None = None
    after_end: Callable[[Ended, Envelope], Violation] | None = None
    system: str = ""
    machine: Any = None


def shifted(state: CaseState, gap: timedelta) -> CaseState:
    """Move all that a case counts from by an outage (K6)."""
    owed = tuple(o._replace(due_at=o.due_at + gap, outage=o.outage + gap) for o in state.owed)
    return evolve(state, owed=owed, anchor_at=state.anchor_at + gap)
