"""What bots that know the rules would say: an answer to any obligation of System A, chosen by chance."""

from __future__ import annotations

from random import Random
from typing import Any

from moot.protocols.arena.messages import ArenaTask
from moot.protocols.kernel.docket import Docket
from moot.protocols.kernel.message import Message
from moot.protocols.kernel.obligation import Obligation
from moot.protocols.research import learning
from moot.protocols.research import messages as m
from tests.doubles import bodies

ARCHETYPES = ("momentum", "mean_reversion", "breakout")
REGIMES = ("calm_up", "volatile_down")


class Answers:
    """Answers what is owed, now and then against a rule; the same seed says the same.

    Attributes:
        faults: Share of answers that break a rule on purpose.
    """

    def __init__(self, seed: int, faults: float = 0.02) -> None:
        self.random = Random(seed)
        self.faults = faults
        self._n = 0

    def to(self, obligation: Obligation, docket: Docket) -> Message:
        """Return a body for an obligation."""
        state: Any = docket.cases[obligation.case_id]
        brief = docket.rules.types[state.kind].brief(state, obligation, docket.context)
        kind = self._kind(obligation, docket)
        body: Message = getattr(self, f"_{kind.lower()}")(obligation, state, brief)
        return body

    def _kind(self, obligation: Obligation, docket: Docket) -> str:
        chance = self.random.random()
        if "CONCEDE" in obligation.expects:
            return "CONCEDE" if chance < 0.15 else "REBUTTAL"
        if "EXTEND_DEBATE" in obligation.expects:
            return "EXTEND_DEBATE" if chance < 0.15 else "VERDICT"
        if "ESCALATION_ACK" in obligation.expects:
            return "ESCALATION_ACK" if chance < 0.3 else "ESCALATION_ANSWER"
        return obligation.expects[0]

    def _slips(self) -> bool:
        return self.random.random() < self.faults

    # ------------------------------------------------------------ debate

    def _hypothesis(self, owed: Obligation, state: Any, brief: Any) -> Message:
        archetype = self.random.choice(ARCHETYPES)
        self._n += 1
        slow = 60 + self.random.randrange(100)
        return bodies.hypothesis(
            owed.case_id,
            statement=f"{archetype} earns on sp500, number {self._n}",
            strategy=bodies.strategy(archetype=archetype, params={"fast": 20, "slow": slow}),
            lineage_id=f"lin_{self._n % 40}" if self.random.random() < 0.2 else "",
        )

    def _risk_assessment(self, owed: Obligation, state: Any, brief: Any) -> Message:
        step = owed.step.removeprefix("assessment-")
        confidence = self.random.choice((0.4, 0.55, 0.6, 0.7, 0.8, 0.85, 0.9))
        rating = self.random.choice(("PASS", "CONDITIONAL_PASS", "REJECT"))
        round_: Any = step if step == "revision" else int(step)
        if self._slips():
            round_ = 3 if round_ == 1 else 1
        return bodies.assessment(round_, confidence, risk_rating=rating)

    def _rebuttal(self, owed: Obligation, state: Any, brief: Any) -> Message:
        return bodies.rebuttal(int(owed.step[-1]))

    def _concede(self, owed: Obligation, state: Any, brief: Any) -> Message:
        return m.Concede(round=int(owed.step[-1]), reason="the tail is too fat")  # type: ignore[arg-type]

    def _extend_debate(self, owed: Obligation, state: Any, brief: Any) -> Message:
        return bodies.extend(0.9, 0.6) if self._slips() else bodies.extend()

    def _verdict(self, owed: Obligation, state: Any, brief: Any, *, final: bool = False) -> Message:
        choices = ("APPROVE", "REJECT") if final and not self._slips() else ("APPROVE", "REJECT", "REVISE")
        verdict = self.random.choice(choices)
        confidence = self.random.choice((0.62, 0.7, 0.8, 0.9))
        if verdict == "APPROVE" and self._slips():
            confidence = 0.5
        return bodies.verdict(verdict, confidence, final=final)  # type: ignore[no-any-return]

    def _final_verdict(self, owed: Obligation, state: Any, brief: Any) -> Message:
        return self._verdict(owed, state, brief, final=True)

    def _revise_request(self, owed: Obligation, state: Any, brief: Any) -> Message:
        return bodies.revise_request()

    def _revised_hypothesis(self, owed: Obligation, state: Any, brief: Any) -> Message:
        return bodies.revised(strategy=bodies.strategy(archetype=state.strategy.archetype))

    def _backtest_result(self, owed: Obligation, state: Any, brief: Any) -> Message:
        return bodies.backtest(self.random.random() < 0.4)

    def _strategy_moved(self, owed: Obligation, state: Any, brief: Any) -> Message:
        return bodies.moved(f"strat_{state.case_id}", strategy=state.strategy)

    def _causal_record(self, owed: Obligation, state: Any, brief: Any) -> Message:
        return m.CausalRecord(record=self._entry(state, "success" if state.passed else "failure"))

    def _reflection(self, owed: Obligation, state: Any, brief: Any) -> Message:
        return m.Reflection(record=self._entry(state, "failure"))

    def _entry(self, state: Any, kind: str) -> m.CausalEntry:
        return bodies.entry(
            kind,
            at=state.anchor_at,
            hypothesis_id=state.case_id,
            lineage_id=state.lineage_id,
            seat="evolver",
            archetype=state.strategy.archetype if state.strategy is not None else None,
            regime=self.random.choice(REGIMES),
        )

    # ------------------------------------------------------------ cycles

    def _micro_cycle_report(self, owed: Obligation, state: Any, brief: Any) -> Message:
        return bodies.report(brief, owed.case_id)

    def _principle_synthesis(self, owed: Obligation, state: Any, brief: Any) -> Message:
        made = learning.principles_from(brief["records"], brief["principles"].values(), state.until)
        return m.PrincipleSynthesis(window=m.Window(**brief["window"]), principles=made)

    def _daily_report(self, owed: Obligation, state: Any, brief: Any) -> Message:
        if self._slips():
            brief = {**brief, "cycles_completed": brief["cycles_completed"] + 1}
        top, traded = brief.pop("top_strategy"), brief.pop("trading_feedback")
        return m.DailyReport(
            **brief,
            top_strategy=m.TopStrategy(**top) if top is not None else None,
            trading_feedback=m.TradingFeedback(**traded, feedback_insights=()),
            tomorrow_priority=self.random.choice(("trend", "reversal")),
        )

    # ------------------------------------------------------------ the week

    def _architecture_proposal(self, owed: Obligation, state: Any, brief: Any) -> Message:
        change = m.ProposedChange(
            scope="data", description="add sentiment analysis as a data source", expected_benefit="breadth"
        )
        return m.ArchitectureProposal(
            period=state.period, proposals=(change,) * self.random.choice((1, 2, 3))
        )

    def _architecture_critique(self, owed: Obligation, state: Any, brief: Any) -> Message:
        critiques = tuple(
            m.ChangeCritique(change_id=change_id, objections=("cost",), severity="low")
            for change_id, _ in state.changes
        )
        return m.ArchitectureCritique(
            period=state.period,
            round=int(owed.step[-1]),  # type: ignore[arg-type]
            critiques=critiques,
        )

    def _architecture_rebuttal(self, owed: Obligation, state: Any, brief: Any) -> Message:
        return m.ArchitectureRebuttal(
            period=state.period,
            responses=tuple(
                m.ChangeResponse(change_id=change_id, response="worth it", concede=False)
                for change_id, _ in state.changes
            ),
        )

    def _architecture_verdict(self, owed: Obligation, state: Any, brief: Any) -> Message:
        ids = [change_id for change_id, _ in state.changes]
        approved = ids[:1] if state.is_critiqued else []
        return m.ArchitectureVerdict(
            period=state.period,
            proposals_evaluated=len(ids),
            approved_changes=tuple(
                m.ApprovedChange(
                    change_id=change_id,
                    description="add sentiment analysis as a data source",
                    priority="low",
                    implementation_notes="none",
                    assigned_to="explorer",
                )
                for change_id in approved
            ),
            deferred=(),
            rejected=tuple(change_id for change_id in ids if change_id not in approved),
        )

    def _arena_task(self, owed: Obligation, state: Any, brief: Any) -> Message:
        change_id, description, notes = brief["change"]
        task = {"task_id": change_id, "initial_prompt": f"{description}: {notes}", "session_id": owed.id}
        return ArenaTask(parent_id=owed.case_id, config={"notebook_enabled": False}, task=task)

    def _threshold_review(self, owed: Obligation, state: Any, brief: Any) -> Message:
        return m.ThresholdReview(period=state.period, **_figures(m.ThresholdReview, brief))

    def _thresholds_adjusted(self, owed: Obligation, state: Any, brief: Any) -> Message:
        return m.ThresholdsAdjusted(period=state.period, before=brief["before"], after=brief["after"])

    def _meta_reflection(self, owed: Obligation, state: Any, brief: Any) -> Message:
        figures = _figures(m.MetaReflection, brief)
        figures["verdict_distribution"] = m.VerdictDistribution(**figures["verdict_distribution"])
        return m.MetaReflection(period=state.period, **figures, recommendations=("read more",))

    def _weekly_report(self, owed: Obligation, state: Any, brief: Any) -> Message:
        return m.WeeklyReport(
            **{"architecture_improvements": state.improvements, **_figures(m.WeeklyReport, brief)},
            next_week_direction="breadth",
        )

    # ------------------------------------------------------------ people

    def _escalation_ack(self, owed: Obligation, state: Any, brief: Any) -> Message:
        from moot.protocols.escalation.messages import EscalationAck

        return EscalationAck(escalation_id=owed.case_id)

    def _escalation_answer(self, owed: Obligation, state: Any, brief: Any) -> Message:
        from moot.protocols.escalation.messages import EscalationAnswer

        option = 9 if self._slips() else self.random.choice((1, 2, 3, 3, 3))
        if option > len(state.options) and option != 9:
            option = len(state.options)
        return EscalationAnswer(escalation_id=owed.case_id, option=option)


def _figures(model: type[Message], brief: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in brief.items() if name in model.model_fields and name != "period"}
