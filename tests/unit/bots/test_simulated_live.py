"""The bridge from System A's side: feedback, what it teaches, and proposals that show it (spec 6, R-B9, R-B10)."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta
from typing import Any

import pytest

from moot.bots.minds.mind import View
from moot.bots.minds.simulated.debate import explorer, reports
from moot.bots.minds.simulated.debate.evidence import Live, is_gone, live
from moot.bots.minds.simulated.debate.search import candidates
from moot.bots.minds.simulated.mind import SimulatedMind
from moot.bots.minds.simulated.temper import DEFAULT
from moot.bots.minds.simulated.tools import SimulatedTools
from moot.bots.minds.simulated.turn import Turn
from moot.bots.tools.prices import load_universe
from moot.bots.tools.seeding import generator
from moot.bots.tools.strategies import ARCHETYPES
from moot.memory.evidence import InMemoryEvidence
from moot.memory.inmemory import InMemoryStore
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.obligation import Obligation
from moot.protocols.kernel.seats import TIMEKEEPER, Seat
from moot.protocols.research import messages as m
from moot.protocols.research.seats import EVOLVER as EVOLVER_SEAT
from moot.protocols.research.seats import EXPLORER as EXPLORER_SEAT
from moot.protocols.trading import bridge
from moot.protocols.trading import messages as t
from moot.protocols.trading.seats import GUARDIAN as GUARDIAN_SEAT
from moot.protocols.trading.seats import OPERATOR as OPERATOR_SEAT
from tests.doubles import bodies
from tests.doubles.copying import replace
from tests.doubles.debating import assess, backtest, hypothesise, judge
from tests.doubles.life_table import LifeTable
from tests.doubles.memory_log import START, Log
from tests.doubles.small_log import SmallLog
from tests.doubles.table import START as TABLE_START
from tests.doubles.table import Table
from tests.doubles.views import run

OPERATOR, GUARDIAN, EVOLVER, EXPLORER = OPERATOR_SEAT, GUARDIAN_SEAT, EVOLVER_SEAT, EXPLORER_SEAT
SYNTHETIC = load_universe("synthetic", start=START, seed=7)
TOOLS = SimulatedTools(SYNTHETIC, InMemoryEvidence(), 1)
MIND = SimulatedMind(TOOLS)
FALLING = (100.0, 99.0, 97.0, 96.0, 94.0)
NOW = START + timedelta(days=1)
SPECS = {
    "momentum": {"fast": 20, "slow": 60},
    "breakout": {"channel": 40, "exit_channel": 10},
    "mean_reversion": {"window": 20, "entry": 1.5, "exit": 0.5},
}


def strategy(archetype: str = "momentum", symbols: tuple[str, ...] = ("SIM-ALFA", "SIM-BRAVO")) -> m.Strategy:
    params = {**SPECS[archetype], "allow_short": 0, "target_vol": 0.1}
    return m.Strategy(archetype=archetype, params=params, symbols=symbols)


def memory_of(table: Table) -> InMemoryStore:
    store = InMemoryStore()
    for env, fx in zip(table.log, table.effects, strict=True):
        store.apply(env, fx.violation is None and not fx.superseded)
    return store


def asked(table: Table, obligation: Obligation, brief: dict[str, Any]) -> Turn:
    view = View(
        obligation, obligation.seat, table.now, 0, "", tuple(table.log), (), brief, memory_of(table).read(),
        config=table.docket.context.config,
    )  # fmt: skip
    return Turn(view, TOOLS)


def answer(table: Table, kind: str, seat: Seat) -> Any:
    """Let the mind answer what is owed; no rule may be broken."""
    obligation = table.owed(seat, kind)
    state = table.docket.cases[obligation.case_id]
    brief = table.rules.types[state.kind].brief
    reply = run(MIND.answer(asked(table, obligation, brief(state, obligation, table.docket.context)).view))
    assert reply is not None
    env = table.say(seat, reply.body, owed=obligation)
    assert table.effects[env.seq - 1].violation is None, table.effects[env.seq - 1].violation
    return env.body


def produced(closes: tuple[float, ...] = FALLING) -> LifeTable:
    """Return a desk whose momentum strategy came from a debate and is in production over these closes."""
    table = LifeTable(schedules={"micro": {"at": [TABLE_START.isoformat()]}})
    hypothesise(table)
    assess(table, confidence=0.9)
    judge(table)
    backtest(table)
    table.say(EVOLVER, bodies.moved("strat_1"))
    table.wait(hours=2)
    table.move("candidates", "staging")
    table.move("staging", "production")
    for n, close in enumerate(closes):
        table.open_day()
        if n == 0:
            table.buy()
        table.close_day(closes={"sp500": close})
        table.wait(hours=24)
    return table


def feed_back(table: LifeTable) -> t.PerformanceFeedback:
    """Let the Evolver say what the session would make it owe."""
    session = table.open_day()
    obligation = Obligation(
        f"{session}/feedback-1/evolver", session, EVOLVER, ("PERFORMANCE_FEEDBACK",), "#bridge", table.now,
        table.now + timedelta(hours=2), timedelta(hours=1),
    )  # fmt: skip
    brief = {"subject": "strat_1", **bridge.feedback_figures(table.docket.context, "strat_1")}
    reply = run(MIND.answer(asked(table, obligation, brief).view))
    assert reply is not None and isinstance(reply.body, t.PerformanceFeedback)
    assert reply.body.session_id == session
    return reply.body


def recall(table: LifeTable) -> None:
    figures = bridge.recall_figures(table.docket.context, "strat_1")
    table.tell(GUARDIAN, t.RecallFlag(strategy_id="strat_1", **{"sharpe": -1.0, "n": 5, **figures}))


# ---------------------------------------------------------------- what passes over the bridge


def test_6_1_a_feedback_runs_its_course_and_ends_in_memory() -> None:
    table = produced()
    body = feed_back(table)
    assert body.expected_vs_actual["actual_sharpe"] < 0 and body.expected_vs_actual["n"] == 5
    assert "withdraw" in body.proposed_adjustment.lower()
    assert table.broke(table.tell(EVOLVER, body)) == ""
    response = answer(table, "FEEDBACK_RESPONSE", OPERATOR)
    record = answer(table, "CAUSAL_RECORD", EVOLVER).record
    debate = table.standing().hypothesis_id
    assert debate and (record.hypothesis_id, record.lineage_id) == (debate, debate)
    assert (record.archetype, record.failure_code) == ("momentum", "underperformed_live")
    assert record.kind == ("failure" if response.stance == "agree" else "observation")
    assert record.metrics["live_sharpe"] == body.expected_vs_actual["actual_sharpe"]
    assert record.metrics["param.fast"] == 20 and record.metrics["symbol.sp500"] == 0
    assert response.counter_evidence[0].rstrip(".") in record.summary
    kept = memory_of(table).read().causal(failure_code="underperformed_live")
    assert [one.summary for one in kept] == [record.summary]
    if response.action == "withdraw":
        answer(table, "STRATEGY_MOVED", OPERATOR)
        answer(table, "DEPLOY_NOTICE", OPERATOR)
        assert table.standing().stage == "withdrawn"
    assert not [case for case in table.docket.cases.values() if case.kind == "feedback"]


@pytest.mark.parametrize(
    ("stance", "action", "kind"),
    [("agree", "adjust", "failure"), ("agree", "withdraw", "failure"), ("disagree", "none", "observation")],
)
def test_6_1_what_is_disputed_with_evidence_is_no_failure(stance: Any, action: Any, kind: str) -> None:
    table = produced()
    table.tell(EVOLVER, feed_back(table))
    evidence = ("five sessions are few.", "the market fell")
    table.say(OPERATOR, t.FeedbackResponse(stance=stance, action=action, counter_evidence=evidence))
    record = answer(table, "CAUSAL_RECORD", EVOLVER).record
    assert record.kind == kind
    assert all(one.rstrip(".") in record.summary.lower() for one in evidence)


def test_6_2_a_recall_runs_its_course_and_teaches() -> None:
    table = produced()
    recall(table)
    request = answer(table, "RECALL_REQUEST", OPERATOR)
    assert request.strategy_id == "strat_1"
    record = answer(table, "REFLECTION", EVOLVER).record
    assert (record.kind, record.failure_code, record.archetype) == ("failure", "recalled", "momentum")
    assert record.regime and record.metrics["live_sharpe"] < 0 and record.metrics["live_n"] == 5
    moved = answer(table, "STRATEGY_MOVED", OPERATOR)
    assert (moved.from_, moved.to) == ("production", "withdrawn")
    assert request.reason.rstrip(".") in moved.reason
    assert answer(table, "DEPLOY_NOTICE", OPERATOR).action == "WITHDRAW"
    view = memory_of(table).read()
    assert [one.failure_code for one in view.reflections(failure_code="recalled")] == ["recalled"]
    assert [s.stage for s in view.strategies()] == ["withdrawn"]


@pytest.mark.rule("R-D13")
def test_r_d13_three_recalls_make_a_principle_that_the_ledger_takes() -> None:
    table = produced()
    recall(table)
    answer(table, "RECALL_REQUEST", OPERATOR)
    record = answer(table, "REFLECTION", EVOLVER).record
    for n in range(2):
        again = record.model_copy(
            update={"record_id": "", "hypothesis_id": f"hyp_{n}", "lineage_id": f"hyp_{n}"}
        )
        table.tell(EVOLVER, m.Reflection(record=again))
    ledger = table.docket.context.fold_named("research")
    since, until = table.now - timedelta(hours=24), table.now
    records = ledger.records(since, until)
    assert [one.failure_code for one in records] == ["recalled"] * 3
    obligation = Obligation("d/s/evolver", "d", EVOLVER, (), "#a-report", table.now, table.now, timedelta(0))
    brief = {
        "window": {"from_": since, "to": until},
        "records": records,
        "principles": dict(ledger.principles),
    }
    body = reports.synthesise(asked(table, obligation, brief)).body
    assert isinstance(body, m.PrincipleSynthesis)
    assert [(p.archetype, p.failure_code) for p in body.principles] == [("momentum", "recalled")]
    ledger.check_synthesis(body, since, until)


# ---------------------------------------------------------------- what the Explorer makes of it


class Past:
    """A memory in the making: strategies with a life at the desk."""

    def __init__(self) -> None:
        self.log = Log()

    def put(
        self,
        name: str,
        *stages: str,
        archetype: str = "momentum",
        symbols: tuple[str, ...] = ("SIM-ALFA", "SIM-BRAVO"),
    ) -> Past:
        """Take a strategy from System A through these stages."""
        what = strategy(archetype, symbols)
        self.log.hypothesis(f"hyp_{name}", strategy=what)
        self.log.backtest(f"hyp_{name}", sharpe=0.8)
        before = None
        for stage in ("candidates", *stages):
            author = EVOLVER if before is None else OPERATOR
            self.log.moved(
                name,
                stage,
                from_=before,
                author=author,
                hypothesis_id=f"hyp_{name}" if before is None else "",
            )
            before = stage
        return self

    def figures(self, name: str, sharpe: float | None, date: str = "2026-02-23", pnl: float = 1.0) -> Past:
        """Record a day of a strategy."""
        self.log.metrics(date, name, pnl=pnl, sharpe=sharpe)
        return self

    def view(self) -> Any:
        store = InMemoryStore()
        for env in self.log.envelopes:
            store.apply(env, True)
        return store.read()

    def turn(self, *parents: str, now: datetime = NOW) -> Turn:
        """Let the Explorer owe a hypothesis, with these parents on offer."""
        trigger = m.CycleTrigger(
            trigger="EXPLORER_START",
            cycle_id="cycle_1",
            mode="micro",
            nominal_at=now,
            context=m.CycleContext(last_verdict=None, priority_direction=None, available_parents=parents),
        )
        env: Envelope = SmallLog().append(trigger, author=TIMEKEEPER, case_id="cycle_1")
        obligation = Obligation(
            "cycle_1/hypothesis/explorer", "cycle_1", EXPLORER, ("HYPOTHESIS",), "#a-arena", now,
            now + timedelta(minutes=30), timedelta(minutes=10),
        )  # fmt: skip
        return Turn(View(obligation, EXPLORER, now, 0, "", (env,), (), {}, self.view()), TOOLS)


def share_of(archetype: str, past: Past) -> float:
    """Measure the share of an archetype among 200 seeded proposals."""
    turn = past.turn()
    plan = explorer.plan_of(turn)
    temper = replace(DEFAULT, candidates=2, shortlist=1)
    found = Counter(
        candidates(plan, turn.universe, turn.pool, generator("proposal", n), temper)[0].spec.archetype
        for n in range(200)
    )
    return found[archetype] / 200


RECALLED = ("staging", "production", "withdrawn")


def test_6_2_an_archetype_that_was_recalled_is_proposed_less() -> None:
    before, after = share_of("momentum", Past()), share_of("momentum", Past().put("s", *RECALLED))
    assert before > 0.15 and after < 0.7 * before
    # A strategy that only failed its validation was never at the desk.
    assert share_of("momentum", Past().put("s", "withdrawn")) == before


def test_poor_live_metrics_make_an_archetype_less_wanted_and_good_ones_more() -> None:
    plain = explorer.plan_of(Past().turn()).weights
    poor = explorer.plan_of(Past().put("s", "staging").figures("s", -0.4).turn()).weights
    good = explorer.plan_of(Past().put("s", "staging", "production").figures("s", 0.7).turn()).weights
    assert poor["momentum"] < plain["momentum"] < good["momentum"]
    assert {name: poor[name] for name in ARCHETYPES if name != "momentum"} == {
        name: plain[name] for name in ARCHETYPES if name != "momentum"
    }


def test_the_newest_figure_counts_and_old_evidence_does_not() -> None:
    past = Past().put("s", "staging", "production").figures("s", -0.4).figures("s", 0.9, "2026-02-24")
    assert live(past.view(), NOW, DEFAULT).sinking == {}
    old = Past().put("s", *RECALLED)
    assert live(old.view(), NOW, DEFAULT).setbacks == {"s": "momentum"}
    assert live(old.view(), NOW + timedelta(days=70), DEFAULT).setbacks == {}


def test_only_what_was_traded_can_disappoint() -> None:
    past = Past().put("s", "staging", "candidates")
    assert live(past.view(), NOW, DEFAULT).setbacks == {}, "its deployment was turned down"
    assert live(past.figures("s", None).view(), NOW, DEFAULT).setbacks == {"s": "momentum"}


def test_a_strategy_that_was_withdrawn_or_sent_back_is_no_parent() -> None:
    past = Past().put("kept").put("recalled", *RECALLED).put("failed", "withdrawn")
    past.put("returned", "staging", "candidates")
    turn = past.turn("kept", "recalled", "failed", "returned")
    assert set(explorer.plan_of(turn).parents) == {"kept"}
    names = ("kept", "recalled", "failed", "returned", "unknown")
    assert [name for name in names if is_gone(turn.view.memory, name)] == ["recalled", "failed", "returned"]
    past.log.moved("returned", "candidates", from_="candidates", author=EVOLVER)
    assert "returned" in explorer.plan_of(past.turn("returned")).parents, (
        "approved anew, it is as good as any"
    )


def test_a_strategy_that_does_well_in_production_is_bred_from_unasked() -> None:
    past = Past().put("star", "staging", "production").figures("star", 0.6)
    assert set(explorer.plan_of(past.turn()).parents) == {"star"}
    past = Past().put("dim", "staging", "production").figures("dim", 0.3)
    assert explorer.plan_of(past.turn()).parents == {}, "less than half of what its backtest promised"


def test_symbols_of_several_recalls_are_left_alone_unless_something_thrives_on_them() -> None:
    past = (
        Past().put("a", *RECALLED).put("b", *RECALLED, archetype="breakout", symbols=("SIM-ALFA", "SIM-GOLF"))
    )
    symbols = explorer.plan_of(past.turn()).symbols
    assert "SIM-ALFA" not in symbols and {"SIM-BRAVO", "SIM-GOLF"} <= set(symbols)
    past.put("c", "staging", "production", symbols=("SIM-ALFA",)).figures("c", 0.9)
    assert "SIM-ALFA" in explorer.plan_of(past.turn()).symbols
    assert Live(unlucky=frozenset({"A", "B"})).allowed(("A", "B", "C")) == ("A", "B", "C")


def test_the_research_note_names_the_live_evidence() -> None:
    past = Past().put("fallen", *RECALLED).put("star", "staging", "production", archetype="breakout")
    reply = explorer.hypothesis(past.figures("star", 0.9).turn())
    (aside,) = reply.asides
    assert isinstance(aside.body, m.ResearchNote)
    assert {"fallen", "star"} <= set(aside.body.sources)
    assert any("fallen" in finding and "momentum" in finding.casefold() for finding in aside.body.findings)


# ---------------------------------------------------------------- the daily report


def told(past: Past, traded: dict[str, Any]) -> Turn:
    """Let the Evolver owe a daily report in which the log fixes this of the desk."""
    return Turn(past.turn().view._replace(brief={"trading_feedback": traded}), TOOLS)


@pytest.mark.rule("R-D17")
def test_r_d17_the_daily_report_tells_of_the_desk() -> None:
    past = Past().put("s", "staging", "production").put("r", "staging")
    past.figures("s", 0.5, pnl=900.0).figures("s", 0.4, "2026-02-24", pnl=-400.0)
    past.figures("r", None, "2026-02-24", pnl=150.0)
    traded = {"production_strategies": 1, "daily_pnl_pct": -0.00025}
    said = reports.feedback(told(past, traded))
    assert (said.production_strategies, said.daily_pnl_pct) == (1, -0.00025)
    (insight,) = said.feedback_insights
    assert insight.startswith("s") and "0.40" in insight and "0.80" in insight
    none = {"production_strategies": 0, "daily_pnl_pct": None}
    assert reports.feedback(told(Past(), none)) == m.TradingFeedback(**none, feedback_insights=())
