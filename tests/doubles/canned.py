"""A mind with ready answers, for tests and benchmarks of everything around minds."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from moot.bots.minds.mind import Mind, Reply, View
from moot.protocols.kernel.message import Message
from moot.protocols.research import messages as m
from moot.protocols.research.learning import principles_from
from tests.doubles import bodies


class CannedMind(Mind):
    """Answers whatever a seat of System A owes with a plausible body, after a fixed delay."""

    def __init__(self, delay: timedelta = timedelta(minutes=5), verdict: str = "REJECT") -> None:
        """Answer after `delay`; verdicts say `verdict`."""
        self.delay = delay
        self.verdict = verdict

    def consider(self, view: View) -> timedelta | None:
        return self.delay

    async def answer(self, view: View) -> Reply | None:
        return Reply(ANSWERS[view.obligation.expects[0]](self, view))


def _round(view: View) -> Any:
    step = view.obligation.step.rsplit("-", 1)[-1]
    return int(step) if step.isdigit() else "revision"


def _synthesis(_mind: CannedMind, view: View) -> Message:
    made = principles_from(view.brief["records"], view.brief["principles"].values(), view.now)
    return m.PrincipleSynthesis(window=m.Window(**view.brief["window"]), principles=made)


def _daily(_mind: CannedMind, view: View) -> Message:
    brief = dict(view.brief)
    top = brief.pop("top_strategy")
    return m.DailyReport(
        **brief,
        top_strategy=m.TopStrategy(**top) if top else None,
        trading_feedback=m.TradingFeedback(production_strategies=0, daily_pnl_pct=None, feedback_insights=()),
        tomorrow_priority="other archetypes",
    )


def _meta(_mind: CannedMind, view: View) -> Message:
    brief = {name: view.brief[name] for name in m.MetaReflection.model_fields if name in view.brief}
    brief["verdict_distribution"] = m.VerdictDistribution(**brief["verdict_distribution"])
    return m.MetaReflection(**brief, recommendations=("go on",))


def _pick(cls: type[Message], view: View, **over: Any) -> Message:
    return cls(**{**{name: view.brief[name] for name in cls.model_fields if name in view.brief}, **over})


def _ids(view: View) -> list[str]:
    return [change_id for change_id, _ in view.brief["changes"]]


ANSWERS: dict[str, Callable[[CannedMind, View], Message]] = {
    "HYPOTHESIS": lambda mind, view: bodies.hypothesis(view.obligation.case_id),
    "RISK_ASSESSMENT": lambda mind, view: bodies.assessment(_round(view)),
    "REBUTTAL": lambda mind, view: bodies.rebuttal(_round(view)),
    "VERDICT": lambda mind, view: bodies.verdict(mind.verdict, 0.7),
    "EXTEND_DEBATE": lambda mind, view: bodies.extend(),
    "REVISE_REQUEST": lambda mind, view: bodies.revise_request(),
    "REVISED_HYPOTHESIS": lambda mind, view: bodies.revised(),
    "FINAL_VERDICT": lambda mind, view: bodies.verdict("REJECT", 0.7, final=True),
    "BACKTEST_RESULT": lambda mind, view: bodies.backtest(),
    "STRATEGY_MOVED": lambda mind, view: bodies.moved(f"strat_{view.obligation.case_id}"),
    "CAUSAL_RECORD": lambda mind, view: m.CausalRecord(record=bodies.entry("success", at=view.now)),
    "REFLECTION": lambda mind, view: m.Reflection(
        record=bodies.entry(at=view.now, hypothesis_id=view.obligation.case_id)
    ),
    "MICRO_CYCLE_REPORT": lambda mind, view: bodies.report(dict(view.brief), view.obligation.case_id),
    "PRINCIPLE_SYNTHESIS": _synthesis,
    "DAILY_REPORT": _daily,
    "ARCHITECTURE_PROPOSAL": lambda mind, view: m.ArchitectureProposal(
        period=view.brief["period"],
        proposals=(m.ProposedChange(scope="data", description="a data source", expected_benefit="more"),),
    ),
    "ARCHITECTURE_CRITIQUE": lambda mind, view: m.ArchitectureCritique(
        period=view.brief["period"],
        round=1 if view.obligation.step.endswith("1") else 2,
        critiques=tuple(
            m.ChangeCritique(change_id=i, objections=("cost",), severity="low") for i in _ids(view)
        ),
    ),
    "ARCHITECTURE_REBUTTAL": lambda mind, view: m.ArchitectureRebuttal(
        period=view.brief["period"],
        responses=tuple(
            m.ChangeResponse(change_id=i, response="worth it", concede=False) for i in _ids(view)
        ),
    ),
    "ARCHITECTURE_VERDICT": lambda mind, view: m.ArchitectureVerdict(
        period=view.brief["period"],
        proposals_evaluated=len(_ids(view)),
        approved_changes=(),
        deferred=tuple(_ids(view)),
        rejected=(),
    ),
    "THRESHOLD_REVIEW": lambda mind, view: _pick(m.ThresholdReview, view),
    "THRESHOLDS_ADJUSTED": lambda mind, view: _pick(m.ThresholdsAdjusted, view),
    "META_REFLECTION": _meta,
    "WEEKLY_REPORT": lambda mind, view: _pick(
        m.WeeklyReport, view, architecture_improvements=(), next_week_direction="go on"
    ),
}
