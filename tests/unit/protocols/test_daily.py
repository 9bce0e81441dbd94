"""The daily cycle: principle synthesis and report, spec 2.1 with R-D13, R-D17, K16."""

from datetime import UTC, datetime, timedelta

import pytest

from moot.protocols.research import messages as m
from moot.protocols.research.daily import DAILY
from tests.doubles import bodies
from tests.doubles.answers import Answers
from tests.doubles.debating import (
    EVOLVER,
    assess,
    backtest,
    beside,
    cycle_of,
    hypothesise,
    judge,
    record,
    report,
    ruling,
)
from tests.doubles.table import Table

DAY = datetime(2026, 2, 23, tzinfo=UTC)
AT = DAY + timedelta(hours=22)
TICK = timedelta(microseconds=1)
EVERY_TWO_MINUTES = [(DAY + timedelta(hours=20, minutes=2 * n)).isoformat() for n in range(20)]
SCHEDULES = {"micro": {"at": EVERY_TWO_MINUTES}, "daily": {"cron": "0 22 * * *"}}


def society():
    return Table(DAY + timedelta(hours=20), schedules=SCHEDULES)


def failed_cycle(table, **over):
    """Live a cycle whose backtest fails, in no time; the record says how."""
    hypothesise(table)
    assess(table, confidence=0.9)
    judge(table)
    backtest(table, passed=False)
    record(table, "failure", hypothesis_id=next(reversed(table.docket.cases)), **over)
    report(table)


def after_failures(n, **over):
    """Return a table at 22:00 after n failures of one kind."""
    table = society()
    for k in range(n):
        table.until(DAY + timedelta(hours=20, minutes=2 * k))
        failed_cycle(table, **over)
    table.schedules = {"daily": SCHEDULES["daily"]}
    table.down(seconds=0)
    table.until(AT)
    return table


def answer(table, **over):
    owed = table.owed(EVOLVER, "PRINCIPLE_SYNTHESIS")
    body = Answers(1, faults=0).to(owed, table.docket)
    return body.model_copy(update=over), owed


def test_the_evolver_owes_every_step_of_a_day():
    for step in DAILY.steps.values():
        assert (step.seat, step.channel) == (EVOLVER, "#a-report")
        assert (step.within, step.grace) == (timedelta(minutes=20), timedelta(minutes=10))


@pytest.mark.parametrize(("failures", "principles"), [(2, 0), (3, 1), (4, 1)])
def test_three_similar_failures_make_one_principle(failures, principles):
    table = after_failures(failures)
    body, owed = answer(table)
    assert len(body.principles) == principles
    env = table.say(EVOLVER, body, owed=owed)
    assert table.effects[env.seq - 1].violation is None
    known = table.docket.context.fold_named("research").principles
    assert list(known) == ["prin_001"][:principles]
    for principle in known.values():
        assert principle.evidence_count == failures
        assert len(principle.source_reflections) == failures


def test_a_principle_without_its_failures_is_refused():
    table = after_failures(3)
    body, owed = answer(table)
    (principle,) = body.principles
    for over in ({"archetype": "breakout"}, {"failure_code": "tail_risk"}, {"regime": "volatile_down"}):
        wrong = body.model_copy(update={"principles": (principle.model_copy(update=over),)})
        env = table.say(EVOLVER, wrong, owed=owed)
        assert beside(table, env).rule == "R-D13"


@pytest.mark.parametrize(
    ("over", "field"),
    [
        ({"evidence_count": 4}, "evidence_count"),
        ({"confidence": 0.999999}, "confidence"),
        ({"change": "updated"}, "change"),
        ({"source_reflections": ("cau_001", "cau_002")}, "source_reflections"),
        ({"source_reflections": ("cau_001", "cau_002", "cau_999")}, "source_reflections"),
    ],
)
def test_a_principle_whose_figures_the_failures_do_not_give_is_refused(over, field):
    table = after_failures(3)
    body, owed = answer(table)
    wrong = body.model_copy(update={"principles": (body.principles[0].model_copy(update=over),)})
    env = table.say(EVOLVER, wrong, owed=owed)
    assert beside(table, env).field == f"principles[0].{field}"
    assert not table.docket.context.fold_named("research").principles


def test_a_pattern_without_a_principle_is_refused():
    table = after_failures(3)
    body, owed = answer(table, principles=())
    env = table.say(EVOLVER, body, owed=owed)
    assert beside(table, env).field == "principles"


def test_the_same_pattern_twice_is_refused():
    table = after_failures(3)
    body, owed = answer(table)
    env = table.say(EVOLVER, body.model_copy(update={"principles": body.principles * 2}), owed=owed)
    assert beside(table, env).field == "principles[1]"


@pytest.mark.rule("K16")
@pytest.mark.parametrize("side", ["from_", "to"])
def test_k16_the_window_is_from_the_previous_nominal_instant_to_this_one(side):
    table = after_failures(0)
    body, owed = answer(table)
    assert (body.window.from_, body.window.to) == (AT - timedelta(days=1), AT)
    window = body.window.model_copy(update={side: getattr(body.window, side) + TICK})
    env = table.say(EVOLVER, body.model_copy(update={"window": window}), owed=owed)
    assert (beside(table, env).rule, beside(table, env).field) == ("K16", f"window.{side.strip('_')}")


@pytest.mark.rule("K16")
def test_k16_of_two_daily_cycles_a_day_no_failure_is_counted_twice():
    twice = {"daily": {"cron": "0 10,22 * * *"}}
    table = Table(DAY + timedelta(hours=20), schedules={"micro": {"at": EVERY_TWO_MINUTES}, **twice})
    for k in range(3):
        table.until(DAY + timedelta(hours=20, minutes=2 * k))
        failed_cycle(table)
    table.schedules = twice
    table.down(seconds=0)
    for n, (principles, cycles) in enumerate([(1, 3), (0, 0)]):
        until = AT + timedelta(hours=12 * n)
        table.until(until)
        body, owed = answer(table)
        assert body.window.to == until
        assert len(body.principles) == principles
        table.say(EVOLVER, body, owed=owed)
        assert report_day(table).body.cycles_completed == cycles


def test_a_pattern_that_comes_back_updates_its_principle_and_no_other():
    table = after_failures(3)
    body, owed = answer(table)
    table.say(EVOLVER, body, owed=owed)
    report_day(table)
    later = [(AT + timedelta(hours=1, minutes=n)).isoformat() for n in range(3)]
    table.schedules = {"micro": {"at": later}, "daily": SCHEDULES["daily"]}
    table.down(seconds=0)
    for n in range(3):
        table.until(AT + timedelta(hours=1, minutes=n))
        failed_cycle(table)
    table.until(AT + timedelta(days=1))
    body, owed = answer(table)
    assert [(p.principle_id, p.change) for p in body.principles] == [("prin_001", "updated")]
    wrong = body.principles[0].model_copy(update={"principle_id": ""})
    env = table.say(EVOLVER, body.model_copy(update={"principles": (wrong,)}), owed=owed)
    assert beside(table, env).field == "principles[0].principle_id"
    env = table.say(EVOLVER, body, owed=owed)
    assert table.effects[env.seq - 1].violation is None
    known = table.docket.context.fold_named("research").principles
    assert list(known) == ["prin_001"]
    assert known["prin_001"].source_reflections == body.principles[0].source_reflections


def test_a_new_principle_may_not_take_the_id_of_another():
    table = after_failures(3)
    body, owed = answer(table)
    table.say(EVOLVER, body, owed=owed)
    report_day(table)
    later = [(AT + timedelta(hours=1, minutes=n)).isoformat() for n in range(3)]
    table.schedules = {"micro": {"at": later}, "daily": SCHEDULES["daily"]}
    table.down(seconds=0)
    for n in range(3):
        table.until(AT + timedelta(hours=1, minutes=n))
        failed_cycle(table, failure_code="too_few_trades")
    table.until(AT + timedelta(days=1))
    body, owed = answer(table)
    stolen = body.principles[0].model_copy(update={"principle_id": "prin_001"})
    env = table.say(EVOLVER, body.model_copy(update={"principles": (stolen,)}), owed=owed)
    assert beside(table, env).field == "principles[0].principle_id"
    assert table.docket.context.fold_named("research").principles["prin_001"].failure_code == "low_sharpe"


@pytest.mark.rule("K16")
def test_k16_a_failure_at_the_nominal_instant_counts_today_and_one_a_tick_later_tomorrow():
    for late, expected in ((timedelta(0), 1), (TICK, 0)):
        table = Table(AT - timedelta(hours=1), schedules={"micro": {"at": EVERY_TWO_MINUTES[:0]}})
        ledger = table.docket.context.fold_named("research")
        for _ in range(3):
            entry = bodies.entry("failure", at=AT)
            table.now = AT + late
            table.post(EVOLVER, m.Reflection(record=entry), channel="#a-report")
        assert len(ledger.records(AT - timedelta(days=1), AT)) == 3 * expected
        assert len(ledger.records(AT, AT + timedelta(days=1))) == 3 * (1 - expected)


def report_day(table, **over):
    owed = table.owed(EVOLVER, "DAILY_REPORT")
    body = Answers(1, faults=0).to(owed, table.docket)
    return table.say(EVOLVER, body.model_copy(update=over), owed=owed)


def test_the_days_report_counts_what_the_log_holds():
    table = after_failures(2)
    body, owed = answer(table)
    table.say(EVOLVER, body, owed=owed)
    env = report_day(table)
    assert (env.body.date, env.body.cycles_completed, env.body.strategies_approved) == ("2026-02-23", 2, 2)
    assert (env.body.strategies_rejected, env.body.strategies_revised, env.body.top_strategy) == (0, 0, None)
    assert table.docket.ended[cycle_of(table)].outcome == "reported"


@pytest.mark.parametrize(
    ("field", "wrong"),
    [
        ("date", "2026-02-24"),
        ("cycles_completed", 3),
        ("strategies_approved", 0),
        ("strategies_rejected", 1),
        ("strategies_revised", 1),
        ("top_strategy", m.TopStrategy(id="strat_1", sharpe=2.0)),
        (
            "trading_feedback.production_strategies",
            m.TradingFeedback(production_strategies=1, daily_pnl_pct=None, feedback_insights=()),
        ),
        (
            "trading_feedback.daily_pnl_pct",
            m.TradingFeedback(production_strategies=0, daily_pnl_pct=0.001, feedback_insights=()),
        ),
    ],
)
def test_a_days_report_that_differs_from_the_log_is_refused(field, wrong):
    table = after_failures(2)
    body, owed = answer(table)
    table.say(EVOLVER, body, owed=owed)
    said = beside(table, report_day(table, **{field.partition(".")[0]: wrong}))
    assert said.field == field
    assert said.rule == ("R-F6" if "." in field else "R-D17")
    assert table.owed(EVOLVER, "DAILY_REPORT")


def test_the_report_comes_after_the_synthesis():
    table = after_failures(0)
    owed = table.owed(EVOLVER, "PRINCIPLE_SYNTHESIS")
    state = table.docket.cases[owed.case_id]
    brief = {
        "date": "2026-02-23",
        "cycles_completed": 0,
        "strategies_approved": 0,
        "strategies_rejected": 0,
        "strategies_revised": 0,
        "top_strategy": None,
    }
    body = m.DailyReport(
        **brief,
        trading_feedback=m.TradingFeedback(production_strategies=0, daily_pnl_pct=None, feedback_insights=()),
        tomorrow_priority="x",
    )
    env = table.say(EVOLVER, body, channel="#a-report", case_id=state.case_id)
    assert beside(table, env).rule == "2.1"


def test_silence_skips_the_synthesis_then_the_report():
    table = after_failures(0)
    case_id = cycle_of(table)
    table.until(AT + timedelta(minutes=30))
    assert ruling(table) == ("skip", "timeout", "R-D17")
    assert table.docket.cases[case_id].phase == "reporting"
    table.until(AT + timedelta(minutes=60))
    assert table.docket.ended[case_id].outcome == "timeout"


def test_the_directions_of_a_day_reach_the_next_trigger():
    table = after_failures(0)
    table.schedules = {"micro": {"at": [(AT + timedelta(hours=1)).isoformat()]}}
    body, owed = answer(table)
    table.say(EVOLVER, body, owed=owed)
    report_day(table, tomorrow_priority="try bonds")
    table.down(seconds=0)
    table.until(AT + timedelta(hours=1))
    assert table.last("CYCLE_TRIGGER").body.context.priority_direction == "try bonds"


def test_reflections_of_timeouts_are_no_evidence():
    table = after_failures(0)
    for _ in range(3):
        table.say(EVOLVER, m.Reflection(record=bodies.entry("timeout")), channel="#a-report")
    assert not table.docket.context.fold_named("research").records(DAY, AT)
