"""The daily cycle: principle synthesis, then the daily report (spec 2.1, R-D13, R-D17)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from moot.protocols.kernel.case import CaseState, CaseType, Decision, evolve
from moot.protocols.kernel.context import RuleContext
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.errors import Violation
from moot.protocols.kernel.obligation import Obligation
from moot.protocols.kernel.seats import Seat
from moot.protocols.kernel.table import Duty, Missed, check_figures, illegal
from moot.protocols.kernel.times import minutes
from moot.protocols.research.messages import CycleTrigger, DailyReport, PrincipleSynthesis

KIND: Final = "daily"
SYNTHESISING, REPORTING, ENDED = "synthesising", "reporting", "ended"

DUTIES: Final[dict[str, Duty]] = {
    SYNTHESISING: Duty(
        Seat.EVOLVER, ("PRINCIPLE_SYNTHESIS",), "#a-report", minutes(20), minutes(10), "synthesis"
    ),
    REPORTING: Duty(Seat.EVOLVER, ("DAILY_REPORT",), "#a-report", minutes(20), minutes(10), "report"),
}
"""What the Evolver owes, in this order (R-D17)."""

MISSED: Final[dict[str, Missed]] = {
    SYNTHESISING: Missed(Decision("skip", "timeout", "R-D17"), REPORTING),
    REPORTING: Missed(Decision("skip", "timeout", "R-D17"), ENDED),
}


@dataclass(frozen=True, kw_only=True)
class DailyState(CaseState):
    """State of a daily cycle; it looks at (`since`, `until`] (K16)."""

    since: datetime
    until: datetime


def open_daily(env: Envelope, body: CycleTrigger, context: RuleContext) -> DailyState:
    """Open the daily cycle of a nominal instant."""
    return DailyState(
        case_id=body.cycle_id,
        kind=KIND,
        phase=SYNTHESISING,
        opened_seq=env.seq,
        anchor_at=env.sent_at,
        since=context.fold_named("calendar").since(KIND, body.nominal_at),
        until=body.nominal_at,
        owed=(DUTIES[SYNTHESISING].owed(body.cycle_id, env),),
    )


def step(state: DailyState, env: Envelope, context: RuleContext) -> DailyState:
    """Apply a message of the Evolver.

    Raises:
        Violation: The phase does not allow it, a principle lacks its failures, or a figure differs.
    """
    body = env.body
    ledger = context.fold_named("research")
    if state.phase == SYNTHESISING and isinstance(body, PrincipleSynthesis):
        if (body.window.from_, body.window.to) != (state.since, state.until):
            raise Violation("K16", "the window is (previous nominal, this nominal]", field="window")
        ledger.check_synthesis(body, state.since, state.until)
        return evolve(state, phase=REPORTING, owed=(DUTIES[REPORTING].owed(state.case_id, env),))
    if state.phase == REPORTING and isinstance(body, DailyReport):
        check_figures(body, figures(state, context), "R-D17")
        check_figures(body.trading_feedback, traded(state, context), "R-F6")
        return evolve(state, phase=ENDED, owed=(), outcome="reported")
    raise illegal(state, env, "2.1")


def figures(state: DailyState, context: RuleContext) -> dict[str, Any]:
    """Return the fields of DAILY_REPORT that the log fixes."""
    ledger = context.fold_named("research")
    counts = ledger.counts(state.since, state.until)
    return {
        "date": f"{state.until:%Y-%m-%d}",
        "cycles_completed": counts.cycles,
        "strategies_approved": counts.approved,
        "strategies_rejected": counts.rejected,
        "strategies_revised": counts.revised,
        "top_strategy": ledger.top_strategy(state.since, state.until),
    }


def traded(state: DailyState, context: RuleContext) -> dict[str, Any]:
    """Return the fields of DAILY_REPORT's `trading_feedback` that the log fixes: the desk's own day (R-F6)."""
    return {
        "production_strategies": len(context.fold_named("research").in_production),
        "daily_pnl_pct": context.fold_named("book").day_pnl_pct(state.since, state.until),
    }


def brief(state: DailyState, obligation: Obligation, context: RuleContext) -> dict[str, Any]:
    """Tell the Evolver the window, its failures and what the log counts."""
    ledger = context.fold_named("research")
    if state.phase == SYNTHESISING:
        return {
            "window": (state.since, state.until),
            "records": ledger.records(state.since, state.until),
            "principles": dict(ledger.principles),
        }
    return {**figures(state, context), "trading_feedback": traded(state, context)}


def otherwise(state: DailyState, obligation: Obligation, context: RuleContext) -> Decision:
    """Say what the referee rules when an obligation is missed."""
    return MISSED[state.phase].decision


def rule(
    state: DailyState, decision: Decision, env: Envelope, context: RuleContext, obligation: Obligation | None
) -> DailyState:
    """Apply a ruling: a missed duty or a human STOP."""
    if decision.outcome == "stop" or state.phase == REPORTING:
        outcome = "stopped" if decision.outcome == "stop" else "timeout"
        return evolve(state, phase=ENDED, owed=(), outcome=outcome)
    return evolve(state, phase=REPORTING, owed=(DUTIES[REPORTING].owed(state.case_id, env),))


DAILY: Final = CaseType(
    kind=KIND,
    openers=(),
    open=lambda env, context, parent: None,
    step=step,
    otherwise=otherwise,
    rule=rule,
    brief=brief,
    system="A",
)
