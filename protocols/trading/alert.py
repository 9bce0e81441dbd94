"""An alert: what the desk does about a risk that the Guardian sees (spec 4.2, R-B4, R-F16)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from moot.protocols.kernel.case import CaseState
from moot.protocols.kernel.errors import Violation
from moot.protocols.kernel.figures import DERIVED, Figures, OneOf
from moot.protocols.kernel.machine import Machine, Start
from moot.protocols.kernel.message import Message
from moot.protocols.kernel.seats import Seat
from moot.protocols.kernel.steps import ENDED, STOP, Effect, Missed, Move, Owe, RuleInput, Step
from moot.protocols.kernel.times import minutes, rfc3339
from moot.protocols.trading import halt
from moot.protocols.trading.briefing import desk_brief, latest_session, session_of
from moot.protocols.trading.hours import day_in_new_york, next_session
from moot.protocols.trading.limits import LEVELS, LIMITS, level_of, threshold_of
from moot.protocols.trading.messages import (
    Feasibility,
    RiskAlert,
    RiskDecision,
    RiskDiscussion,
    RiskProjection,
)
from moot.protocols.trading.seats import GUARDIAN, OPERATOR, TRADER

KIND: Final = "alert"
OPS: Final = "#b-ops"

DISCUSSING, PROJECTING, ASSESSING, DECIDING = "discussing", "projecting", "assessing", "deciding"
REDUCE, MONITOR, HOLD, NOTED, STOPPED = "reduce_exposure", "monitor", "hold", "noted", "stopped"
INFEASIBLE: Final = "infeasible"
"""How a WARNING ends whose risk grows while exposure cannot be reduced: the admin is asked (R-F16)."""
WORSENING: Final = frozenset({"increasing", "accelerating"})

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


def open_alert(given: RuleInput) -> CaseState:
    """Open an alert; one of level HALT opens a halt instead, an INFO ends at once.

    Raises:
        Violation: It asks for a halt on another level, or the other way round, or as `halt.open_halt`, or it
            stands alone and its figures are not those of its level (R-B7).
    """
    env, body = given.message, given.body
    if (body.level == "HALT") != (body.action_required == "halt_trading"):
        raise Violation("R-B5", "level HALT, and no other, requires halt_trading", field="action_required")
    if given.parent is None:
        check_unasked(given)
    if body.level == "HALT":
        return halt.HALT.open(given)
    phase = FIRST[body.level]
    return AlertState(
        case_id=body.alert_id,
        kind=KIND,
        phase=phase,
        parent=given.parent.case_id if given.parent is not None else None,
        opened_seq=env.seq,
        anchor_at=env.sent_at,
        outcome=NOTED if phase == ENDED else None,
        level=body.level,
        metric=body.metric,
        value=body.current_value,
        threshold=body.threshold,
        affected=tuple(body.affected_strategies),
    )


def check_unasked(given: RuleInput) -> None:
    """Check an alert that nobody asked for: of what has limits it reached one, and names it (R-B7).

    Raises:
        Violation: It did not, or names another.
    """
    body = given.body
    if given.context.version < DERIVED or body.metric not in LIMITS or body.level not in LEVELS[1:]:
        return
    threshold = threshold_of(body.metric, body.level)
    if body.threshold != threshold:
        why = f"{body.level} of {body.metric} begins at {threshold}"
        raise Violation("R-B7", why, field="threshold")
    if LEVELS.index(level_of(body.metric, body.current_value)) < LEVELS.index(body.level):
        why = f"{body.metric} of {body.current_value} is no {body.level}"
        raise Violation("R-B7", why, field="current_value")


def _ends(state: AlertState, given: RuleInput, outcome: str, **changes: Any) -> Effect:
    """End it; the session that opened last takes one that stands alone as its own, and owes what follows (R-B4).

    SIGNALs and alerts answer only what is owed in the session that they name, so an alert cannot owe them itself.
    """
    parent = state.parent or latest_session(given.context)
    return Effect({"parent": parent, **changes}, to=ENDED, outcome=outcome)


def _discussed(_state: AlertState, given: RuleInput) -> Effect:
    """The Operator proposes what to do (4.2)."""
    return Effect({"proposed": given.body.proposed_action})


def _projected(_state: AlertState, given: RuleInput) -> Effect:
    """The Guardian projects where the risk goes, which fixes what may be decided (R-B4)."""
    return Effect({"trend": given.body.trend})


def _assessed(state: AlertState, given: RuleInput) -> Effect:
    """A risk that grows while exposure cannot be reduced is nobody's to decide: the admin is asked (R-F16)."""
    feasible = given.body.feasible
    if not feasible and state.trend in WORSENING:
        return _ends(state, given, INFEASIBLE, is_feasible=feasible)
    return Effect({"is_feasible": feasible}, to=DECIDING)


def _decided(state: AlertState, given: RuleInput) -> Effect:
    """What is decided ends it, unless it waits: then it is deliberated anew at the instant that it names (R-F16)."""
    if not _waits(state, given):
        return _ends(state, given, given.body.action)
    changes = {"round": state.round + 1, "trend": "", "is_feasible": None}
    return Effect(changes, to=DISCUSSING, owe=(Owe("discussion", at=given.body.until),))


def _waits(state: AlertState, given: RuleInput) -> bool:
    """Say whether a decision waits: to hold always does, to monitor where exposure cannot be reduced (R-F16).

    Raises:
        Violation: R-F16, it does not say for what or until when, or the instant is not ahead, or too far ahead.
    """
    body, at = given.body, given.at
    must = body.action == HOLD or (body.action == MONITOR and state.is_feasible is False)
    if not must and body.until is None:
        return False
    if body.action == REDUCE:
        raise Violation("R-F16", "what is reduced is not waited for", field="until")
    if not (body.waits_for or "").strip():
        raise Violation("R-F16", f"{body.action} says what is waited for", field="waits_for")
    if body.until is None:
        raise Violation("R-F16", f"{body.action} says until when, and is reviewed then", field="until")
    latest = latest_review(at)
    if not at < body.until <= latest:
        why = f"it is reviewed after {rfc3339(at)}, by {rfc3339(latest)}"
        raise Violation("R-F16", why, field="until")
    return True


def latest_review(at: datetime) -> datetime:
    """Return until when a decision may wait: the close of the next session after its day (R-F16)."""
    return next_session(day_in_new_york(at)).closes_at


def _silent(state: AlertState, given: RuleInput) -> Effect:
    """A step that is missed reduces exposure (R-B4)."""
    return _ends(state, given, REDUCE)


def _stopped(state: AlertState, given: RuleInput) -> Effect:
    return _ends(state, given, STOPPED)


def decision_figures(state: AlertState, _given: RuleInput) -> Figures:
    """Return what the level or the projection leaves to RISK_DECISION (R-B4, R-F16)."""
    return {"action": OneOf(state.allowed, state.trend or state.level)}


def _brief(state: AlertState, given: RuleInput) -> dict[str, Any]:
    """Tell the seat what the alert is about, and what was said so far."""
    return {
        "subject": state.metric,
        "level": state.level,
        "value": state.value,
        "threshold": state.threshold,
        "affected": state.affected,
        **({"proposed": state.proposed} if state.proposed else {}),
        **({"trend": state.trend} if state.trend else {}),
        **({"is_feasible": state.is_feasible} if state.is_feasible is not None else {}),
        **({"review": state.round} if state.round > 1 else {}),
        "desk": desk_brief(given.context),
    }


def _counted(name: str) -> Callable[[AlertState, Any], str]:
    """Name the steps of the second and each later deliberation by its number."""
    return lambda state, _subject: name if state.round == 1 else f"{name}-{state.round}"


def _step(
    name: str,
    phase: str,
    seat: Seat,
    moves: Mapping[type[Message], Move],
    rule: str = "4.2",
    **more: Any,
) -> Step:
    """Return a step of the deliberation: ten minutes and ten of grace; missed, it reduces exposure (R-B4)."""
    return Step(
        phase=phase,
        seat=seat,
        channel=OPS,
        moves=moves,
        missed=Missed("R-B4", REDUCE, Move((ENDED,), _silent)),
        rule=rule,
        within=minutes(10),
        grace=minutes(10),
        name=_counted(name),
        brief=_brief,
        **more,
    )


ALERT: Final = Machine(
    kind=KIND,
    system="B",
    phases=(DISCUSSING, PROJECTING, ASSESSING, DECIDING),
    rule="4.2",
    start={RiskAlert: Start(open_alert, (DISCUSSING, DECIDING, ENDED))},
    steps={
        "discussion": _step(
            "discussion",
            DISCUSSING,
            OPERATOR,
            {RiskDiscussion: Move((PROJECTING,), _discussed)},
            rule="R-F16",
        ),
        "projection": _step(
            "projection", PROJECTING, GUARDIAN, {RiskProjection: Move((ASSESSING,), _projected)}
        ),
        "feasibility": _step(
            "feasibility", ASSESSING, TRADER, {Feasibility: Move((DECIDING, ENDED), _assessed)}
        ),
        "decision": _step(
            "decision",
            DECIDING,
            OPERATOR,
            {RiskDecision: Move((ENDED, DISCUSSING), _decided)},
            rule="R-B4",
            figures=decision_figures,
        ),
    },
    rulings={STOP: Move((ENDED,), _stopped)},
    parent_of=session_of,
)
"""The deliberation after a WARNING; a CRITICAL starts at its end (R-B4), what waits begins anew (R-F16)."""
