"""A halt of the desk: from HALT to a confirmed RESUME (R-B5, R-B13)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from moot.protocols.kernel.case import CaseState, CaseType, Decision, evolve
from moot.protocols.kernel.context import RuleContext
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.errors import Violation
from moot.protocols.kernel.obligation import Obligation
from moot.protocols.kernel.seats import Seat
from moot.protocols.kernel.table import Duty, illegal
from moot.protocols.kernel.times import minutes
from moot.protocols.trading.briefing import desk_brief, session_of
from moot.protocols.trading.messages import Halt, RiskAlert

KIND: Final = "halt"
RESUMED: Final = "resumed"

HALTED, RESUMING, ENDED = "halted", "resuming", "ended"

SILENT_TICKS: Final = 3
"""So many risk checks missed in a row are the Guardian's silence (R-B13, facts 10)."""

LIMIT: Final = minutes(10)
"""Time for a RESUME that is ordered, for its confirmation, and from a missed one until the admin is asked anew."""

RESUME: Final = Decision("void", "resume", "R-B5")
"""What the Referee rules when an admin answers that trading may go on: the Operator owes RESUME."""

MISSED: Final[dict[str, Decision]] = {
    HALTED: Decision("void", "timeout", "R-B5"),
    RESUMING: Decision("void", "timeout", "R-B13"),
}
"""What silence leads to, the Operator's or the Guardian's: the desk stays halted until the next RESUME."""


@dataclass(frozen=True, kw_only=True)
class HaltState(CaseState):
    """State of a halt; it stands until a RESUME is confirmed, even a human STOP does not lift it (R-B5).

    Attributes:
        by: The seat that halted the desk.
        steps: Obligations so far, which numbers them.
        is_unconfirmed: Whether the Guardian missed a confirmation.
    """

    by: Seat
    steps: int = 0
    is_unconfirmed: bool = False


def open_halt(env: Envelope, context: RuleContext, parent: CaseState | None) -> HaltState:
    """Open a halt with a HALT, or with a RISK_ALERT of level HALT.

    Raises:
        Violation: The desk is halted already (R-B5), or the Operator halts it while the Guardian is not silent, which
            shows in that nothing makes the Operator owe a HALT (R-B13).
    """
    body = env.body
    assert isinstance(body, Halt | RiskAlert)
    book = context.fold_named("book")
    if book.halted:
        raise Violation("R-B5", f"the desk is halted already, by {book.halt_id}")
    if env.author is Seat.OPERATOR and not _is_owed(context, env.author, body.type):
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


def check_resume(env: Envelope, context: RuleContext) -> None:
    """Check a RESUME that names no open halt: an admin ends System A's conservative mode by what led to it (R-F2).

    Raises:
        Violation: It led to no mode that is in force, or it is no admin that ends it.
    """
    is_meant = context.conservative_a and env.case_id == context.fold_named("modes").because
    if not is_meant or env.author is not Seat.ADMIN:
        raise Violation("K9", f"there is no open case {env.case_id}", field="case_id")


def _is_owed(context: RuleContext, seat: Seat, kind: str) -> bool:
    return any(o.seat is seat and kind in o.expects for state in context.cases.values() for o in state.owed)


def step(state: HaltState, env: Envelope, context: RuleContext) -> HaltState:
    """Apply a RESUME or its confirmation.

    Raises:
        Violation: The phase does not allow it (R-B5), or an admin confirms while the Guardian is not silent (R-B13).
    """
    kind = env.body.type
    if (state.phase, kind) == (HALTED, "RESUME"):
        return _owe(state, env, RESUMING, Seat.GUARDIAN, "RESUME_CONFIRMED", "#b-risk")
    if (state.phase, kind) == (RESUMING, "RESUME_CONFIRMED"):
        if env.author is Seat.ADMIN and not _is_silent(state, env, context):
            raise Violation(
                "R-B13", f"the Guardian is not silent: it has until {state.owed[0].due_at:%H:%M} UTC"
            )
        return evolve(state, phase=ENDED, owed=(), outcome=RESUMED)
    if kind == "RESUME_CONFIRMED":
        raise Violation("R-B5", "nobody asked to resume: RESUME comes first")
    raise illegal(state, env, "R-B5")


def _is_silent(state: HaltState, env: Envelope, context: RuleContext) -> bool:
    """Say whether the Guardian is silent: late with this confirmation, or silent since it missed one, or its checks.

    Any message of the Guardian in effect ends its silence (R-B13).
    """
    if any(env.sent_at >= o.due_at for o in state.owed):
        return True
    checks = max((getattr(case, "silent", 0) for case in context.cases.values()), default=0)
    if not state.is_unconfirmed and checks < SILENT_TICKS:
        return False
    silences: int = context.fold_named("health").silences(Seat.GUARDIAN)
    return silences >= (1 if state.is_unconfirmed else SILENT_TICKS)


def _owe(state: HaltState, env: Envelope, phase: str, seat: Seat, expects: str, channel: str) -> HaltState:
    n = state.steps + 1
    duty = Duty(seat, (expects,), channel, LIMIT, LIMIT, f"{phase}-{n}")
    return evolve(state, phase=phase, steps=n, owed=(duty.owed(state.case_id, env),))


def otherwise(state: HaltState, obligation: Obligation, context: RuleContext) -> Decision:
    """Say what the referee rules when RESUME or its confirmation is missed."""
    return MISSED[state.phase]


def rule(
    state: HaltState, decision: Decision, env: Envelope, context: RuleContext, obligation: Obligation | None
) -> HaltState:
    """Apply a ruling: the Operator owes RESUME; any other, a human STOP included, leaves the desk halted."""
    if decision == RESUME:
        if state.phase != HALTED or state.owed:
            return state
        return _owe(state, env, HALTED, Seat.OPERATOR, "RESUME", "#b-ops")
    is_missed = obligation is not None and obligation.seat is Seat.GUARDIAN
    return evolve(state, phase=HALTED, owed=(), is_unconfirmed=state.is_unconfirmed or is_missed)


def brief(state: HaltState, obligation: Obligation, context: RuleContext) -> dict[str, Any]:
    """Tell the seat which halt is to be lifted."""
    return {"subject": state.case_id, "phase": state.phase, "by": state.by.value, "desk": desk_brief(context)}


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
