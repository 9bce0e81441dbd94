"""An alert: what the desk does about a risk that the Guardian sees (spec 4.2, R-B4, R-F16)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, NamedTuple

from moot.protocols.kernel.case import CaseState, CaseType, Decision, evolve
from moot.protocols.kernel.context import RuleContext
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.errors import Violation
from moot.protocols.kernel.obligation import Obligation
from moot.protocols.kernel.seats import Seat
from moot.protocols.kernel.table import Duty, illegal
from moot.protocols.kernel.times import rfc3339
from moot.protocols.trading.briefing import desk_brief, latest_session, session_of
from moot.protocols.trading.halt import open_halt
from moot.protocols.trading.hours import day_in_new_york, next_session
from moot.protocols.trading.messages import (
    Feasibility,
    RiskAlert,
    RiskDecision,
    RiskDiscussion,
    RiskProjection,
)
from moot.protocols.trading.reviewing import duty

KIND: Final = "alert"
OPS: Final = "#b-ops"

DISCUSSING, PROJECTING, ASSESSING, DECIDING, ENDED = (
    "discussing",
    "projecting",
    "assessing",
    "deciding",
    "ended",
)
REDUCE, MONITOR, HOLD, NOTED, STOPPED = "reduce_exposure", "monitor", "hold", "noted", "stopped"
INFEASIBLE: Final = "infeasible"
"""How a WARNING ends whose risk grows while exposure cannot be reduced: the admin is asked (R-F16)."""
WORSENING: Final = frozenset({"increasing", "accelerating"})


class Row(NamedTuple):
    """A phase: who owes what in it, and what comes then."""

    duty: Duty
    to: str


TABLE: Final[dict[str, Row]] = {
    DISCUSSING: Row(duty(Seat.OPERATOR, "RISK_DISCUSSION", OPS, "discussion"), PROJECTING),
    PROJECTING: Row(duty(Seat.GUARDIAN, "RISK_PROJECTION", OPS, "projection"), ASSESSING),
    ASSESSING: Row(duty(Seat.TRADER, "FEASIBILITY", OPS, "feasibility"), DECIDING),
    DECIDING: Row(duty(Seat.OPERATOR, "RISK_DECISION", OPS, "decision"), ENDED),
}
"""The deliberation after a WARNING; a CRITICAL starts at its end (R-B4)."""

FIRST: Final[dict[str, str]] = {"INFO": ENDED, "WARNING": DISCUSSING, "CRITICAL": DECIDING}
"""Where an alert of a level starts; an INFO is only noted."""

ALLOWED: Final[dict[str, tuple[str, ...]]] = {
    "CRITICAL": (REDUCE,),
    "increasing": (REDUCE,),
    "accelerating": (REDUCE,),
    "stable": (MONITOR, HOLD),
    "decreasing": (MONITOR, HOLD),
}
"""What may be decided on a CRITICAL alert, and on a WARNING by the Guardian's projection (R-B4, R-F16)."""

MISSED: Final = Decision(REDUCE, "timeout", "R-B4")
"""What any missing step leads to; it ends the case."""


@dataclass(frozen=True, kw_only=True)
class AlertState(CaseState):
    """State of an alert.

    The session reads of an ended one: `outcome` (reduce_exposure, monitor, infeasible, noted for an INFO, stopped by a
    human), `affected`, `trend` ("accelerating": the Guardian owes a CRITICAL alert), `level`.

    Attributes:
        level: INFO, WARNING or CRITICAL.
        metric: What is at risk, by its name.
        value: Its value.
        threshold: The limit that it reached.
        affected: The strategies concerned, empty for all.
        proposed: What the Operator proposed, "" before.
        trend: The Guardian's projection: increasing, stable, accelerating or decreasing; "" before.
        is_feasible: Whether exposure can be reduced, as the Trader finds; None before.
        round: How often it is deliberated, counted from 1: what is waited for is reviewed then (R-F16).
    """

    level: str
    metric: str
    value: float
    threshold: float
    affected: tuple[str, ...] = ()
    proposed: str = ""
    trend: str = ""
    is_feasible: bool | None = None
    round: int = 1

    @property
    def allowed(self) -> tuple[str, ...]:
        """Return what may be decided."""
        return ALLOWED[self.level if self.level in ALLOWED else self.trend]


def open_alert(env: Envelope, context: RuleContext, parent: CaseState | None) -> CaseState:
    """Open an alert; one of level HALT opens a halt instead, an INFO ends at once.

    Raises:
        Violation: It asks for a halt on another level, or the other way round, or the desk is halted already (R-B5).
    """
    body = env.body
    assert isinstance(body, RiskAlert)
    if (body.level == "HALT") != (body.action_required == "halt_trading"):
        raise Violation("R-B5", "level HALT, and no other, requires halt_trading", field="action_required")
    if body.level == "HALT":
        return open_halt(env, context, parent)
    phase = FIRST[body.level]
    case_id = body.alert_id
    return AlertState(
        case_id=case_id,
        kind=KIND,
        phase=phase,
        parent=parent.case_id if parent is not None else None,
        opened_seq=env.seq,
        anchor_at=env.sent_at,
        owed=(TABLE[phase].duty.owed(case_id, env),) if phase in TABLE else (),
        outcome=None if phase in TABLE else NOTED,
        level=body.level,
        metric=body.metric,
        value=body.current_value,
        threshold=body.threshold,
        affected=tuple(body.affected_strategies),
    )


def step(state: AlertState, env: Envelope, context: RuleContext) -> AlertState:
    """Apply a step of the deliberation.

    Raises:
        Violation: The phase does not allow it, the decision is not the one that R-B4 fixes, or one that waits does not
            say for what and until when (R-F16).
    """
    body = env.body
    row = TABLE[state.phase]
    if body.type not in row.duty.expects:
        raise illegal(state, env, "4.2")
    if state.owed and env.sent_at < state.owed[0].opened_at:
        raise Violation("R-F16", f"it is reviewed from {rfc3339(state.owed[0].opened_at)} on")
    if isinstance(body, RiskDecision):
        if body.action not in state.allowed:
            why = f"{state.trend or state.level} leads to {' or '.join(state.allowed)}"
            raise Violation("R-B4", why, field="action")
        if _waits(state, body, env):
            assert body.until is not None
            return evolve(_from(state, DISCUSSING, body.until, state.round + 1), trend="", is_feasible=None)
        return _end(state, body.action, context)
    changes: dict[str, Any] = {}
    if isinstance(body, RiskDiscussion):
        changes["proposed"] = body.proposed_action
    elif isinstance(body, RiskProjection):
        changes["trend"] = body.trend
    elif isinstance(body, Feasibility):
        changes["is_feasible"] = body.feasible
        if not body.feasible and state.trend in WORSENING:
            return _end(evolve(state, **changes), INFEASIBLE, context)
    return evolve(_from(state, row.to, env.sent_at, state.round), **changes)


def _from(state: AlertState, phase: str, at: datetime, n: int) -> AlertState:
    """Enter a phase, whose step is owed from an instant on, in the n-th deliberation."""
    duty = TABLE[phase].duty
    step = duty.step if n == 1 else f"{duty.step}-{n}"
    obligation_id = f"{state.case_id}/{step}/{duty.seat.value}"
    owed = Obligation(
        obligation_id, state.case_id, duty.seat, duty.expects, duty.channel, at, at + duty.within, duty.grace
    )
    return evolve(state, phase=phase, owed=(owed,), round=n)


def _waits(state: AlertState, body: RiskDecision, env: Envelope) -> bool:
    """Say whether a decision waits: to hold always does, to monitor where exposure cannot be reduced (R-F16).

    Raises:
        Violation: R-F16, it does not say for what or until when, or the instant is not ahead, or too far ahead.
    """
    must = body.action == HOLD or (body.action == MONITOR and state.is_feasible is False)
    if not must and body.until is None:
        return False
    if body.action == REDUCE:
        raise Violation("R-F16", "what is reduced is not waited for", field="until")
    if not (body.waits_for or "").strip():
        raise Violation("R-F16", f"{body.action} says what is waited for", field="waits_for")
    if body.until is None:
        raise Violation("R-F16", f"{body.action} says until when, and is reviewed then", field="until")
    latest = latest_review(env.sent_at)
    if not env.sent_at < body.until <= latest:
        why = f"it is reviewed after {rfc3339(env.sent_at)}, by {rfc3339(latest)}"
        raise Violation("R-F16", why, field="until")
    return True


def latest_review(at: datetime) -> datetime:
    """Return until when a decision may wait: the close of the next session after its day (R-F16)."""
    return next_session(day_in_new_york(at)).closes_at


def otherwise(state: AlertState, obligation: Obligation, context: RuleContext) -> Decision:
    """Say what the referee rules when a step is missed."""
    return MISSED


def rule(
    state: AlertState, decision: Decision, env: Envelope, context: RuleContext, obligation: Obligation | None
) -> AlertState:
    """Apply a ruling: exposure is reduced, or a human STOP."""
    return _end(state, STOPPED if decision.outcome == "stop" else REDUCE, context)


def _end(state: AlertState, outcome: str, context: RuleContext) -> AlertState:
    """End it; the session that opened last takes one that stands alone as its own, and owes what follows (R-B4).

    SIGNALs and alerts answer only what is owed in the session that they name, so an alert cannot owe them itself.
    """
    parent = state.parent or latest_session(context)
    return evolve(state, phase=ENDED, owed=(), outcome=outcome, parent=parent)


def brief(state: AlertState, obligation: Obligation, context: RuleContext) -> dict[str, Any]:
    """Tell the seat what the alert is about, and between what the rules let it choose."""
    return {
        "subject": state.metric,
        "level": state.level,
        "value": state.value,
        "threshold": state.threshold,
        "affected": state.affected,
        **({"proposed": state.proposed} if state.proposed else {}),
        **({"trend": state.trend} if state.trend else {}),
        **({"actions": state.allowed, "is_feasible": state.is_feasible} if state.phase == DECIDING else {}),
        **({"review": state.round} if state.round > 1 else {}),
        "desk": desk_brief(context),
    }


ALERT: Final = CaseType(
    kind=KIND,
    openers=("RISK_ALERT",),
    open=open_alert,
    step=step,
    otherwise=otherwise,
    rule=rule,
    parent_of=session_of,
    brief=brief,
    system="B",
)
