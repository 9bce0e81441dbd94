"""The daily cycle: principle synthesis, then the daily report (spec 2.1, R-D13, R-D17)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from moot.protocols.calls.books import SOCIETY, Books
from moot.protocols.kernel.case import CaseState
from moot.protocols.kernel.figures import SECOND_AUDIT, Exactly, Fields, Figures
from moot.protocols.kernel.machine import Machine, Start
from moot.protocols.kernel.message import Message
from moot.protocols.kernel.steps import ENDED, STOP, Effect, Missed, Move, RuleInput, Step, ends, passes
from moot.protocols.kernel.times import minutes
from moot.protocols.research.messages import CycleTrigger, DailyReport, PrincipleSynthesis, Spending
from moot.protocols.research.seats import EVOLVER

KIND: Final = "daily"
SYNTHESISING, REPORTING = "synthesising", "reporting"


@dataclass(frozen=True, kw_only=True)
class DailyState(CaseState):
    """State of a daily cycle; it looks at (`since`, `until`] (K16).

    Attributes:
        spending: What models had come to when it opened; None where none was called.
    """

    since: datetime
    until: datetime
    spending: Spending | None = None


def open_daily(given: RuleInput) -> DailyState:
    """Open the daily cycle of a nominal instant."""
    env, body = given.message, given.body
    return DailyState(
        case_id=body.cycle_id,
        kind=KIND,
        phase=SYNTHESISING,
        opened_seq=env.seq,
        anchor_at=env.sent_at,
        since=given.context.fold_named("calendar").since(KIND, body.nominal_at),
        until=body.nominal_at,
        spending=_spending(given.context.fold_named("ledger").books),
    )


def _spending(books: Books) -> Spending | None:
    booked = books.booked.get(SOCIETY)
    if booked is None or not booked.calls:
        return None
    limit = books.limit(SOCIETY).usd
    return Spending(calls=booked.calls, tokens=booked.tokens, cost=booked.usd or None, limit=limit)


def _synthesised(state: DailyState, given: RuleInput) -> Effect:
    """Every principle has its failures, and every pattern of failures its principle (R-D13)."""
    context = given.context
    ledger = context.fold_named("research")
    ledger.check_synthesis(given.body, state.since, state.until, version=context.version)
    return Effect()


def synthesis_figures(state: DailyState, _given: RuleInput) -> Figures:
    """Return what the log fixes of PRINCIPLE_SYNTHESIS: its window is (previous nominal, this nominal] (K16)."""
    return {"window": Fields({"from_": Exactly(state.since), "to": Exactly(state.until)}, "K16")}


def report_figures(state: DailyState, given: RuleInput) -> Figures:
    """Return what the log fixes of DAILY_REPORT; of `trading_feedback` it is the desk's own day (R-F6)."""
    ledger = given.context.fold_named("research")
    counts = ledger.counts(state.since, state.until)
    traded = {
        "production_strategies": Exactly(len(ledger.in_production)),
        "daily_pnl_pct": Exactly(given.context.fold_named("book").day_pnl_pct(state.since, state.until)),
    }
    return {
        "date": Exactly(f"{state.until:%Y-%m-%d}"),
        "cycles_completed": Exactly(counts.cycles),
        "strategies_approved": Exactly(counts.approved),
        "strategies_rejected": Exactly(counts.rejected),
        "strategies_revised": Exactly(counts.revised),
        "top_strategy": Exactly(ledger.top_strategy(state.since, state.until)),
        "trading_feedback": Fields(traded, "R-F6"),
        "models": Exactly(state.spending),
    }


def _failures(state: DailyState, given: RuleInput) -> dict[str, Any]:
    """Tell the Evolver the window's failures, and the principles that are known."""
    ledger = given.context.fold_named("research")
    shown = {"records": ledger.records(state.since, state.until), "principles": dict(ledger.principles)}
    return {**shown, "is_cumulative": True} if given.context.version >= SECOND_AUDIT else shown


def _duty(phase: str, answer: type[Message], move: Move, missed: Move, **more: Any) -> Step:
    """Return a duty of the Evolver; silence skips it (R-D17)."""
    return Step(
        phase=phase,
        seat=EVOLVER,
        channel="#a-report",
        moves={answer: move},
        missed=Missed("R-D17", "skip", missed),
        rule="R-D17",
        within=minutes(20),
        grace=minutes(10),
        **more,
    )


DAILY: Final = Machine(
    kind=KIND,
    system="A",
    title="Daily cycle",
    phases=(SYNTHESISING, REPORTING),
    rule="2.1",
    start={CycleTrigger: Start(open_daily, (SYNTHESISING,), through="cycle")},
    steps={
        "synthesis": _duty(
            SYNTHESISING,
            PrincipleSynthesis,
            Move((REPORTING,), _synthesised),
            Move((REPORTING,), passes),
            figures=synthesis_figures,
            brief=_failures,
        ),
        "report": _duty(
            REPORTING,
            DailyReport,
            Move((ENDED,), ends("reported")),
            Move((ENDED,), ends("timeout")),
            figures=report_figures,
        ),
    },
    rulings={STOP: Move((ENDED,), ends("stopped"))},
)
"""A daily cycle: what the Evolver owes of a day, in this order (R-D17)."""
