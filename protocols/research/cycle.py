"""Cycles: the micro-cycle around one debate, and the dispatch of CYCLE_TRIGGER to its three modes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from protocols.kernel.case import CaseState, CaseType, Decision, evolve
from protocols.kernel.envelope import Envelope
from protocols.kernel.errors import LocalProtocolError, Violation
from protocols.kernel.house import House
from protocols.kernel.obligation import Obligation
from protocols.kernel.seats import Seat
from protocols.kernel.table import Duty, Missed, check_figures, illegal
from protocols.kernel.times import UTC, minutes
from protocols.research import architecture, daily
from protocols.research.debate import DebateState
from protocols.research.messages import CycleTrigger

KIND: Final = "cycle"

HYPOTHESISING, DEBATING, REPORTING, ENDED = "hypothesising", "debating", "reporting", "ended"

DUTIES: Final[dict[str, Duty]] = {
    HYPOTHESISING: Duty(Seat.EXPLORER, ("HYPOTHESIS",), "#a-arena", minutes(30), minutes(10), "hypothesis"),
    REPORTING: Duty(Seat.EVOLVER, ("MICRO_CYCLE_REPORT",), "#a-report", minutes(20), minutes(10), "report"),
}
"""Who owes what in a micro-cycle outside its debate (R-D1)."""

MISSED: Final[dict[str, Missed]] = {
    HYPOTHESISING: Missed(Decision("void", "timeout", "R-D10"), REPORTING),
    REPORTING: Missed(Decision("skip", "timeout", "R-D1"), ENDED),
}
"""What silence leads to: a missing HYPOTHESIS closes the cycle as `timeout` (R-D10)."""


@dataclass(frozen=True, kw_only=True)
class CycleState(CaseState):
    """State of a micro-cycle.

    Attributes:
        result: APPROVE, REJECT or timeout once known, "" before.
        hypothesis_id: The debate it held.
        confidence: Confidence of its verdict.
        sharpe: Sharpe ratio of its backtest.
        day: The day's cycles, approvals and rejections up to and with this cycle.
    """

    result: str = ""
    hypothesis_id: str | None = None
    confidence: float | None = None
    sharpe: float | None = None
    day: tuple[int, int, int] = (0, 0, 0)


FIRST: Final = CycleState(case_id="", kind=KIND, phase=HYPOTHESISING, anchor_at=datetime(1, 1, 1, tzinfo=UTC))
"""What every micro-cycle starts from."""


def _day(house: House, *, approved: bool = False, rejected: bool = False) -> tuple[int, int, int]:
    """Count the day with the cycle that is about to report; the ledger takes it in after this."""
    so_far = house.fold_named("research").day_so_far(house.at)
    return (so_far.cycles + 1, so_far.approved + approved, so_far.rejected + rejected)


def open_cycle(env: Envelope, house: House, parent: CaseState | None) -> CaseState:
    """Open the case that a CYCLE_TRIGGER's mode names."""
    body = env.body
    if not isinstance(body, CycleTrigger):
        raise LocalProtocolError(f"{body.type} opens no cycle")
    if body.mode == "architecture":
        return architecture.open_architecture(env, body, house)
    if body.mode == "daily":
        return daily.open_daily(env, body, house)
    return evolve(
        FIRST,
        case_id=body.cycle_id,
        opened_seq=env.seq,
        anchor_at=env.sent_at,
        owed=(DUTIES[HYPOTHESISING].owed(body.cycle_id, env),),
    )


def step(state: CycleState, env: Envelope, house: House) -> CycleState:
    """Apply a message of a seat.

    Raises:
        Violation: The phase does not allow it, or the report differs from the log.
    """
    kind = env.body.type
    if (state.phase, kind) == (HYPOTHESISING, "HYPOTHESIS"):
        return evolve(state, phase=DEBATING, owed=())
    if (state.phase, kind) == (REPORTING, "MICRO_CYCLE_REPORT"):
        check_figures(env.body, report_figures(state, house), "R-D1")
        return evolve(state, phase=ENDED, owed=(), outcome=state.result)
    if kind == "HYPOTHESIS":
        raise Violation("1.1", f"cycle {state.case_id} has its hypothesis already", field="cycle_id")
    raise illegal(state, env, "1.1")


def report_figures(state: CycleState, house: House) -> dict[str, Any]:
    """Return the fields of MICRO_CYCLE_REPORT that the log fixes."""
    return {
        "hypothesis_id": state.hypothesis_id,
        "verdict": state.result,
        "confidence": state.confidence,
        "backtest_sharpe": state.sharpe,
        "daily_summary": dict(
            zip(("cycles_completed", "strategies_approved", "strategies_rejected"), state.day, strict=True)
        ),
    }


def child_ended(state: CycleState, child: DebateState, env: Envelope, house: House) -> CycleState:
    """Take the debate's result and owe the report."""
    result = child.verdict or "REJECT"
    counts = child.outcome != "stopped"
    return evolve(
        state,
        phase=REPORTING,
        result=result,
        day=_day(house, approved=counts and result == "APPROVE", rejected=counts and result == "REJECT"),
        hypothesis_id=child.case_id,
        confidence=child.confidence,
        sharpe=child.sharpe,
        owed=(DUTIES[REPORTING].owed(state.case_id, env),),
    )


def otherwise(state: CycleState, obligation: Obligation, house: House) -> Decision:
    """Say what the referee rules when an obligation is missed."""
    return MISSED[state.phase].decision


def rule(
    state: CycleState, decision: Decision, env: Envelope, house: House, obligation: Obligation | None
) -> CycleState:
    """Apply a ruling: a missed duty or a human STOP."""
    if decision.outcome == "stop":
        return evolve(state, phase=ENDED, owed=(), outcome="stopped")
    if state.phase == HYPOTHESISING:
        return evolve(
            state,
            phase=REPORTING,
            result="timeout",
            day=_day(house),
            owed=(DUTIES[REPORTING].owed(state.case_id, env),),
        )
    return evolve(state, phase=ENDED, owed=(), outcome=state.result)


def brief(state: CycleState, obligation: Obligation, house: House) -> dict[str, Any]:
    """Tell the Evolver what the log counts, for its report; the Explorer what is to be re-evaluated (R-F11)."""
    if state.phase == REPORTING:
        return report_figures(state, house)
    return {"reevaluate": list(house.fold_named("research").reevaluate)}


CYCLE: Final = CaseType(
    kind=KIND,
    openers=("CYCLE_TRIGGER",),
    open=open_cycle,
    step=step,
    otherwise=otherwise,
    rule=rule,
    child_ended=child_ended,
    brief=brief,
    system="A",
)
