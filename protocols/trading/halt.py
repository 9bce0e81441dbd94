"""A halt of the desk: from HALT to a confirmed RESUME (R-B5, R-B13)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from protocols.kernel.case import CaseState, CaseType, Decision, evolve
from protocols.kernel.envelope import Envelope
from protocols.kernel.errors import Violation
from protocols.kernel.house import House
from protocols.kernel.obligation import Obligation
from protocols.kernel.seats import Seat
from protocols.kernel.table import Duty, illegal
from protocols.kernel.times import minutes
from protocols.trading.briefing import desk_brief, session_of
from protocols.trading.messages import Halt, RiskAlert

KIND: Final = "halt"
RESUMED: Final = "resumed"

HALTED, RESUMING, ENDED = "halted", "resuming", "ended"

CONFIRMED_WITHIN: Final = minutes(10)
GRACE: Final = minutes(10)

UNCONFIRMED: Final = Decision("void", "timeout", "R-B13")
"""What the Guardian's silence leads to: the desk stays halted until the next RESUME."""


@dataclass(frozen=True, kw_only=True)
class HaltState(CaseState):
    """State of a halt; it stands until a RESUME is confirmed, even a human STOP does not lift it (R-B5).

    Attributes:
        by: The seat that halted the desk.
        resumes: RESUMEs so far.
    """

    by: Seat
    resumes: int = 0


def open_halt(env: Envelope, house: House, parent: CaseState | None) -> HaltState:
    """Open a halt with a HALT, or with a RISK_ALERT of level HALT.

    Raises:
        Violation: The desk is halted already (R-B5), or the Operator halts it while the Guardian is not silent, which
            shows in that nothing makes the Operator owe a HALT (R-B13).
    """
    body = env.body
    assert isinstance(body, Halt | RiskAlert)
    book = house.fold_named("book")
    if book.halted:
        raise Violation("R-B5", f"the desk is halted already, by {book.halt_id}")
    if env.author is Seat.OPERATOR and not _is_owed(house, env.author, body.type):
        raise Violation("R-B13", "the Operator halts the desk only while the Guardian is silent")
    return HaltState(
        case_id=body.halt_id if isinstance(body, Halt) else body.alert_id,
        kind=KIND,
        phase=HALTED,
        parent=parent.case_id if parent is not None else None,
        opened_seq=env.seq,
        anchor_at=env.sent_at,
        by=env.author,
    )


def _is_owed(house: House, seat: Seat, kind: str) -> bool:
    return any(o.seat is seat and kind in o.expects for state in house.cases.values() for o in state.owed)


def step(state: HaltState, env: Envelope, house: House) -> HaltState:
    """Apply a RESUME or its confirmation.

    Raises:
        Violation: The phase does not allow it.
    """
    kind = env.body.type
    if (state.phase, kind) == (HALTED, "RESUME"):
        n = state.resumes + 1
        duty = Duty(
            Seat.GUARDIAN, ("RESUME_CONFIRMED",), "#b-risk", CONFIRMED_WITHIN, GRACE, f"confirmation-{n}"
        )
        return evolve(state, phase=RESUMING, resumes=n, owed=(duty.owed(state.case_id, env),))
    if (state.phase, kind) == (RESUMING, "RESUME_CONFIRMED"):
        return evolve(state, phase=ENDED, owed=(), outcome=RESUMED)
    if kind == "RESUME_CONFIRMED":
        raise Violation("R-B5", "nobody asked to resume: RESUME comes first")
    raise illegal(state, env, "R-B5")


def otherwise(state: HaltState, obligation: Obligation, house: House) -> Decision:
    """Say what the referee rules when the confirmation is missed."""
    return UNCONFIRMED


def rule(
    state: HaltState, decision: Decision, env: Envelope, house: House, obligation: Obligation | None
) -> HaltState:
    """Apply a ruling: the desk is halted as before, a human STOP included."""
    return evolve(state, phase=HALTED, owed=())


def brief(state: HaltState, obligation: Obligation, house: House) -> dict[str, Any]:
    """Tell the Guardian what it is to confirm."""
    return {"subject": state.case_id, "halted_by": state.by.value, "desk": desk_brief(house)}


HALT: Final = CaseType(
    kind=KIND,
    openers=("HALT",),
    open=open_halt,
    step=step,
    otherwise=otherwise,
    rule=rule,
    parent_of=session_of,
    brief=brief,
    system="B",
)
