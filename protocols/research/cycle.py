"""Cycles: the micro-cycle around one debate, and the dispatch of CYCLE_TRIGGER to its three modes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from moot.protocols.kernel.case import CaseState, evolve
from moot.protocols.kernel.context import RuleContext
from moot.protocols.kernel.errors import Violation
from moot.protocols.kernel.figures import DERIVED, Exactly, Figures
from moot.protocols.kernel.machine import Machine, Start
from moot.protocols.kernel.steps import ENDED, STOP, Effect, Missed, Move, RuleInput, Step, ends, passes
from moot.protocols.kernel.times import UTC, minutes
from moot.protocols.research import architecture_table, daily
from moot.protocols.research.debate import DebateState
from moot.protocols.research.messages import CycleTrigger, Hypothesis, MicroCycleReport
from moot.protocols.research.seats import EVOLVER, EXPLORER

KIND: Final = "cycle"

HYPOTHESISING, DEBATING, REPORTING = "hypothesising", "debating", "reporting"


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


OTHERS: Final = {machine.kind: machine for machine in (daily.DAILY, architecture_table.ARCHITECTURE)}
"""Kinds of case that a CYCLE_TRIGGER opens too, by its mode."""


def _day(context: RuleContext, *, approved: bool = False, rejected: bool = False) -> tuple[int, int, int]:
    """Count the day with the cycle that is about to report; the ledger takes it in after this."""
    so_far = context.fold_named("research").day_so_far(context.at)
    return (so_far.cycles + 1, so_far.approved + approved, so_far.rejected + rejected)


def open_cycle(given: RuleInput) -> CaseState:
    """Open the case that a CYCLE_TRIGGER's mode names."""
    env, body = given.message, given.body
    if (other := OTHERS.get(body.mode)) is not None:
        return other.open(given)
    return evolve(FIRST, case_id=body.cycle_id, opened_seq=env.seq, anchor_at=env.sent_at)


def _once(state: CycleState, _given: RuleInput) -> Effect:
    """A cycle has one hypothesis (1.1)."""
    raise Violation("1.1", f"cycle {state.case_id} has its hypothesis already", field="cycle_id")


def _no_hypothesis(_state: CycleState, given: RuleInput) -> Effect:
    """A missing HYPOTHESIS closes the cycle as `timeout` (R-D10)."""
    return Effect({"result": "timeout", "day": _day(given.context)})


def _debated(_state: CycleState, given: RuleInput) -> Effect:
    """Take the debate's result; one that a person stopped counts as neither approved nor rejected."""
    child: DebateState = given.child
    result = child.verdict or "REJECT"
    counts = child.outcome != "stopped"
    day = _day(given.context, approved=counts and result == "APPROVE", rejected=counts and result == "REJECT")
    return Effect(
        {
            "result": result,
            "day": day,
            "hypothesis_id": child.case_id,
            "confidence": child.confidence,
            "sharpe": child.sharpe,
        }
    )


def _closed(state: CycleState, _given: RuleInput) -> Effect:
    """The cycle ends with its result, reported or not."""
    return Effect(outcome=state.result)


def report_figures(state: CycleState, given: RuleInput) -> Figures:
    """Return what the log fixes of MICRO_CYCLE_REPORT; its next cycle is the first after the report was asked for."""
    assert given.due is not None
    calendar = given.context.fold_named("calendar")
    counts = zip(("cycles_completed", "strategies_approved", "strategies_rejected"), state.day, strict=True)
    return {
        "hypothesis_id": Exactly(state.hypothesis_id),
        "verdict": Exactly(state.result),
        "confidence": Exactly(state.confidence),
        "backtest_sharpe": Exactly(state.sharpe),
        "daily_summary": Exactly(dict(counts)),
        "next_cycle_trigger": Exactly(calendar.after("micro", given.due.opened_at), since=DERIVED),
    }


def _reevaluated(_state: CycleState, given: RuleInput) -> dict[str, Any]:
    """Tell the Explorer what is to be re-evaluated (R-F11)."""
    return {"reevaluate": list(given.context.fold_named("research").reevaluate)}


CYCLE: Final = Machine(
    kind=KIND,
    system="A",
    title="Micro-cycle",
    phases=(HYPOTHESISING, DEBATING, REPORTING),
    rule="1.1",
    start={CycleTrigger: Start(open_cycle, (HYPOTHESISING,))},
    steps={
        "hypothesis": Step(
            phase=HYPOTHESISING,
            seat=EXPLORER,
            channel="#a-arena",
            moves={Hypothesis: Move((DEBATING,), passes)},
            missed=Missed("R-D10", "void", Move((REPORTING,), _no_hypothesis)),
            rule="1.1",
            within=minutes(30),
            grace=minutes(10),
            brief=_reevaluated,
        ),
        "report": Step(
            phase=REPORTING,
            seat=EVOLVER,
            channel="#a-report",
            moves={MicroCycleReport: Move((ENDED,), _closed)},
            missed=Missed("R-D1", "skip", Move((ENDED,), _closed)),
            rule="R-D1",
            within=minutes(20),
            grace=minutes(10),
            figures=report_figures,
        ),
    },
    facts={(DEBATING, Hypothesis): Move((), _once), (REPORTING, Hypothesis): Move((), _once)},
    rulings={STOP: Move((ENDED,), ends("stopped"))},
    children={(DEBATING, "debate"): Move((REPORTING,), _debated)},
    idle={DEBATING: "its debate ends"},
)
"""A micro-cycle: a hypothesis, its debate, a report (R-D1)."""
