"""The micro-cycle around a debate: R-D1, R-D10, K16."""

from datetime import UTC, datetime, timedelta

import pytest

from moot.protocols.kernel.people import Override
from moot.protocols.research import messages as m
from moot.protocols.research.cycle import REPORTING
from moot.protocols.research.debate_table import Phase
from moot.protocols.research.seats import EVOLVER as EVOLVER_SEAT
from tests.doubles import bodies
from tests.doubles.debating import (
    ADMIN,
    EVOLVER,
    EXPLORER,
    assess,
    backtest,
    beside,
    cycle_of,
    hypothesise,
    judge,
    move,
    opened,
    outcome,
    reach,
    record,
    reflect,
    report,
    ruling,
    two_rounds,
)
from tests.doubles.table import START, Table

TICK = timedelta(microseconds=1)
EVEN_HOURS = {"micro": {"cron": "0 */2 * * *"}}


def cycle(table):
    return table.docket.cases[cycle_of(table)]


def figures(table):
    return table.last("MICRO_CYCLE_REPORT").body


def summary(table):
    day = figures(table).daily_summary
    return (day.cycles_completed, day.strategies_approved, day.strategies_rejected)


def test_a_cycle_opens_with_a_hypothesis_owed_in_thirty_minutes_and_ten_more():
    table = Table()
    (owed,) = cycle(table).owed
    assert (owed.seat, owed.expects, owed.channel) == (EXPLORER, ("HYPOTHESIS",), "#a-arena")
    assert owed.due_at == START + timedelta(minutes=30)
    assert owed.void_at == START + timedelta(minutes=40)


def test_a_missing_hypothesis_is_pinged_at_30_and_ruled_at_40_and_closes_the_cycle_as_timeout():
    table = Table()
    table.until(START + timedelta(minutes=30) - TICK)
    assert "TIMEOUT_PING" not in table.kinds()
    table.until(START + timedelta(minutes=30))
    assert table.last("TIMEOUT_PING").body.waited_min == 30
    table.until(START + timedelta(minutes=40) - TICK)
    assert "RULING" not in table.kinds()
    table.until(START + timedelta(minutes=40))
    assert ruling(table) == ("void", "timeout", "R-D10")
    assert (cycle(table).phase, cycle(table).result) == (REPORTING, "timeout")
    report(table)
    assert (figures(table).verdict, figures(table).hypothesis_id) == ("timeout", None)
    assert summary(table) == (1, 0, 0)
    assert outcome(table, cycle_of(table)) == "timeout"


def test_while_it_debates_a_cycle_owes_nothing_itself():
    table, _ = opened()
    assert cycle(table).owed == ()
    assert cycle(table).phase == "debating"


def test_the_report_carries_verdict_confidence_and_sharpe():
    table, case_id = reach(Phase.BACKTESTING)
    backtest(table)
    move(table)
    record(table)
    report(table)
    said = figures(table)
    assert (said.hypothesis_id, said.verdict, said.confidence, said.backtest_sharpe) == (
        case_id,
        "APPROVE",
        0.8,
        0.9,
    )
    assert summary(table) == (1, 1, 0)


def test_a_ruled_reject_is_reported_with_the_confidence_that_was_given():
    table, _ = reach(Phase.JUDGING)
    judge(table, confidence=0.2)
    report(table)
    assert (figures(table).verdict, figures(table).confidence) == ("REJECT", None)
    assert summary(table) == (1, 0, 1)


@pytest.mark.parametrize(
    ("field", "wrong"),
    [
        ("hypothesis_id", "hyp_20200101_0000"),
        ("verdict", "APPROVE"),
        ("confidence", 0.81),
        ("backtest_sharpe", 1.0),
        ("daily_summary", {"cycles_completed": 2, "strategies_approved": 0, "strategies_rejected": 1}),
        ("daily_summary", {"cycles_completed": 1, "strategies_approved": 1, "strategies_rejected": 0}),
    ],
)
def test_a_report_that_differs_from_the_log_is_refused_and_owed_again(field, wrong):
    table, _ = reach(Phase.REFLECTING)
    reflect(table)
    owed = table.owed(EVOLVER, "MICRO_CYCLE_REPORT")
    brief = table.docket.rules.types["cycle"].brief(cycle(table), owed, table.docket.context)
    env = table.say(EVOLVER, bodies.report({**brief, field: wrong}, owed.case_id))
    assert beside(table, env).field == field
    assert table.docket.attempts == {owed.id: 1}
    report(table)
    assert not table.docket.cases


def test_a_missing_report_is_skipped_after_twenty_and_ten_minutes():
    table, _ = reach(Phase.REFLECTING)
    reflect(table)
    table.until(table.now + timedelta(minutes=30) - TICK)
    assert cycle_of(table) in table.docket.cases
    table.until(table.now + TICK)
    assert ruling(table) == ("skip", "timeout", "R-D1")
    assert outcome(table, cycle_of(table)) == "REJECT"


def test_the_report_comes_from_the_evolver_once():
    table, _ = reach(Phase.REFLECTING)
    reflect(table)
    report(table)
    body = figures(table)
    env = table.say(EVOLVER, body, channel="#a-report", case_id=body.cycle_id)
    assert beside(table, env).rule == "K23"


def test_a_report_before_the_debate_ended_is_refused():
    table, _ = opened()
    brief = {
        "hypothesis_id": None,
        "verdict": "REJECT",
        "confidence": None,
        "backtest_sharpe": None,
        "daily_summary": {"cycles_completed": 0, "strategies_approved": 0, "strategies_rejected": 0},
        "next_cycle_trigger": None,
    }
    env = table.say(
        EVOLVER, bodies.report(brief, cycle_of(table)), channel="#a-report", case_id=cycle_of(table)
    )
    assert table.effects[env.seq - 1].violation is not None
    assert cycle(table).phase == "debating"


def test_the_days_summary_counts_from_2200_to_2200():
    table = Table(datetime(2026, 2, 23, 18, tzinfo=UTC), schedules=EVEN_HOURS)
    counts = []
    for hour in (18, 20, 22, 24):
        table.until(datetime(2026, 2, 23, tzinfo=UTC) + timedelta(hours=hour, minutes=5))
        hypothesise(table)
        assess(table, confidence=0.9)
        judge(table, "REJECT")
        reflect(table)
        report(table)
        counts.append(summary(table))
    assert counts == [(1, 0, 1), (2, 0, 2), (1, 0, 1), (2, 0, 2)]


def test_an_override_after_the_verdict_is_what_the_cycle_reports():
    table, case_id = reach(Phase.REFLECTING)
    body = Override(case_id=case_id, verdict="APPROVE", why="it is good")
    table.say(ADMIN, body, channel="#a-verdict", case_id=case_id)
    backtest(table, passed=False)
    record(table, "failure")
    report(table)
    assert figures(table).verdict == "APPROVE"
    assert summary(table) == (1, 1, 0)


def test_a_research_note_beside_the_hypothesis_binds_nobody():
    table = Table()
    note = m.ResearchNote(title="t", findings=("f",), sources=())
    env = table.say(EXPLORER, note, channel="#a-research", case_id=cycle_of(table))
    assert table.effects[env.seq - 1].violation is None
    assert table.owed(EXPLORER, "HYPOTHESIS")


def test_a_hypothesis_posted_to_a_daily_cycle_is_refused():
    table = Table(schedules={"daily": {"at": [START.isoformat()]}})
    env = table.say(EXPLORER, bodies.hypothesis(cycle_of(table)), channel="#a-arena")
    assert table.effects[env.seq - 1].violation is not None
    assert table.owed(EVOLVER_SEAT, "PRINCIPLE_SYNTHESIS")


def test_debates_of_cycles_that_follow_each_other_are_counted_once_each():
    table = Table(schedules=EVEN_HOURS)
    for n in range(3):
        table.until(START + timedelta(hours=2 * n, minutes=1))
        hypothesise(table)
        two_rounds(table)
        judge(table, "REJECT")
        reflect(table)
        report(table)
    assert summary(table) == (3, 0, 3)
