"""HEALTH_CHECK: what the Referee says of both systems, from the log alone."""

from datetime import date, timedelta

import pytest

from moot.protocols.kernel.docket import Docket
from moot.protocols.kernel.officers import ConfigChanged
from moot.protocols.kernel.seats import TIMEKEEPER
from moot.protocols.kernel.times import hours, minutes, rfc3339
from moot.protocols.research.seats import CRITIC, EVOLVER, EXPLORER
from moot.protocols.trading.desk_calendar import trading_day
from moot.protocols.trading.health import following
from moot.protocols.trading.hours import session_on
from tests.doubles import bodies
from tests.doubles.desk_table import GUARDIAN, TRADER, DeskTable, at
from tests.doubles.table import START

TUESDAY, FRIDAY = date(2026, 2, 24), date(2026, 2, 27)


def checks(table, system):
    return [e for e in table.log if e.body.type == "HEALTH_CHECK" and e.body.system == system]


def cycle(table):
    """Run the micro-cycle that waits: a debate that the Critic ends at once."""
    cycle_id = table.owed(EXPLORER, "HYPOTHESIS").case_id
    table.say(EXPLORER, bodies.hypothesis(cycle_id))
    table.wait(minutes=10)
    table.say(CRITIC, bodies.assessment(1, confidence=0.9))
    table.say(EVOLVER, bodies.verdict("REJECT"))
    table.say(EVOLVER, bodies.m.Reflection(record=bodies.entry()))
    owed = table.owed(EVOLVER, "MICRO_CYCLE_REPORT")
    table.say(EVOLVER, bodies.report(table.brief(owed), owed.case_id))


def test_a_health_follows_the_end_of_a_micro_cycle():
    table = DeskTable(START, enabled=False, schedules={"micro": {"at": [START.isoformat()]}})
    cycle(table)
    (said,) = checks(table, "A")
    report = table.last("MICRO_CYCLE_REPORT")
    assert said.seq == report.seq + 1
    assert said.channel == "#admin"
    assert said.id == f"health/A/{rfc3339(report.sent_at)}"
    body = said.body
    assert (body.timestamp, body.status) == (report.sent_at, "HEALTHY")
    assert body.metrics == {"cycles_last_24h": 1, "avg_cycle_duration_min": 10}
    assert dict(body.agents["explorer"]) == {"status": "ok", "last_active": rfc3339(START)}
    assert body.agents["critic"]["last_active"] == rfc3339(START + timedelta(minutes=10))


def test_a_seat_that_was_ruled_silent_shows_as_timeout_and_one_that_broke_a_rule_as_error():
    table = DeskTable(START, enabled=False, schedules={"micro": {"at": [START.isoformat()]}})
    table.tell(CRITIC, bodies.assessment(1), case_id="hyp_none", channel="#a-arena")
    table.wait(minutes=40)
    owed = table.owed(EVOLVER, "MICRO_CYCLE_REPORT")
    table.say(EVOLVER, bodies.report(table.brief(owed), owed.case_id))
    agents = checks(table, "A")[-1].body.agents
    assert agents["explorer"] == {"status": "timeout", "last_active": None}
    assert agents["critic"]["status"] == "error"
    assert agents["evolver"]["status"] == "ok"


@pytest.mark.parametrize(("idle", "status"), [(1, "HEALTHY"), (3, "DEGRADED"), (5, "CRITICAL")])
def test_idle_seats_of_system_a_degrade_its_health(idle, status):
    slot = START + hours(idle)
    table = DeskTable(START, enabled=False, schedules={"micro": {"at": [slot.isoformat()]}})
    table.until(slot + timedelta(minutes=40))
    owed = table.owed(EVOLVER, "MICRO_CYCLE_REPORT")
    table.say(EVOLVER, bodies.report(table.brief(owed), owed.case_id))
    assert checks(table, "A")[-1].body.status == status


SECOND = timedelta(seconds=1)


@pytest.mark.parametrize(
    ("idle", "status"),
    [
        (hours(2) - SECOND, "HEALTHY"),
        (hours(2), "DEGRADED"),
        (hours(4), "DEGRADED"),
        (hours(4) + SECOND, "CRITICAL"),
    ],
)
def test_system_a_is_degraded_from_2_hours_of_idleness_on_and_critical_beyond_4(idle, status):
    slot = START + idle - timedelta(minutes=40)
    table = DeskTable(START, enabled=False, schedules={"micro": {"at": [slot.isoformat()]}})
    table.until(START + idle)
    owed = table.owed(EVOLVER, "MICRO_CYCLE_REPORT")
    table.say(EVOLVER, bodies.report(table.brief(owed), owed.case_id))
    said = checks(table, "A")[-1].body
    assert (said.timestamp, said.status) == (START + idle, status)


@pytest.mark.parametrize(
    ("missed", "status"), [(0, "HEALTHY"), (1, "DEGRADED"), (2, "DEGRADED"), (3, "CRITICAL")]
)
def test_system_b_is_critical_from_3_silences_in_a_row_on(missed, status):
    table = DeskTable()
    table.answer_all(at(9, 55) - minutes(5) * missed)
    table.answer_all(at(10, 0), silent=[GUARDIAN])
    assert table.docket.context.fold_named("health").silences(GUARDIAN) == missed
    said = checks(table, "B")[-1]
    assert (said.id, said.body.status) == (f"health/B/{rfc3339(at(10, 0))}", status)


@pytest.mark.rule("K6")
def test_k6_the_time_that_the_society_was_down_idles_nobody():
    slot = START + hours(5)
    table = DeskTable(START, enabled=False, schedules={"micro": {"at": [slot.isoformat()]}})
    table.down(hours=4, minutes=59)
    table.until(slot + timedelta(minutes=40))
    owed = table.owed(EVOLVER, "MICRO_CYCLE_REPORT")
    table.say(EVOLVER, bodies.report(table.brief(owed), owed.case_id))
    assert checks(table, "A")[-1].body.status == "HEALTHY"


def test_b_health_is_said_every_30_min_in_session_and_every_4_h_otherwise():
    table = DeskTable()
    table.answer_all(at(9, 14, TUESDAY))
    nominal = [e.id.removeprefix("health/B/") for e in checks(table, "B")]
    in_session = [at(9, 30) + n * timedelta(minutes=30) for n in range(13)]
    overnight = [at(16), at(20), at(0, 0, TUESDAY), at(4, 0, TUESDAY)]
    assert nominal == [rfc3339(instant) for instant in in_session + overnight]
    assert {e.body.status for e in checks(table, "B")} == {"HEALTHY"}


def test_b_nominal_instants_of_a_half_day_go_over_to_new_yorks_round_hours_at_its_close():
    day = trading_day(session_on(date(2026, 11, 27)))
    close = day.closes_at
    assert following(day, close - timedelta(minutes=30)) == close + hours(3)
    assert following(day, day.opens_at - timedelta(minutes=1)) == day.opens_at
    assert following(day, close + hours(3)) == close + hours(7)


def test_b_health_is_only_said_while_a_session_is_open_and_the_desk_enabled():
    table = DeskTable(enabled=False)
    table.until(at(12, 0, TUESDAY))
    assert checks(table, "B") == []
    table = DeskTable()
    table.answer_all(at(9, 31))
    assert len(checks(table, "B")) == 1
    body = ConfigChanged(changes={"desk": {"enabled": False}}, reason="a test")
    table.post(TIMEKEEPER, body, channel="#admin", key="config/1")
    table.answer_all(at(12))
    assert len(checks(table, "B")) == 1


def test_b_one_missed_tick_degrades_and_three_are_critical_until_the_seat_speaks_again():
    table = DeskTable()
    table.answer_all(at(9, 36), silent=[GUARDIAN])
    table.answer_all(at(10, 1), silent=[GUARDIAN], but=["HALT"])
    assert [e.body.status for e in checks(table, "B")] == ["HEALTHY", "CRITICAL"]
    assert checks(table, "B")[-1].body.agents["guardian"]["status"] == "timeout"
    table.answer_all(at(10, 31), but=["HALT"])
    assert checks(table, "B")[-1].body.status == "HEALTHY"


def test_b_a_single_missed_tick_is_degraded():
    table = DeskTable()
    table.answer_all(at(10), but=["DESK_CHECK"])
    last = checks(table, "B")[-1].body
    assert (last.status, last.agents["trader"]["status"]) == ("DEGRADED", "timeout")
    assert last.agents["guardian"]["status"] == "ok"


def test_b_counts_sessions_orders_and_trades_of_the_day():
    table = DeskTable()
    table.produced()
    table.answer_all(at(9, 50))
    table.hold("strat_1", "SPX", 10)
    table.answer_all(at(10, 1))
    assert checks(table, "B")[-1].body.metrics == {
        "sessions": 1,
        "orders": 1,
        "trades": 1,
        "positions_consistent": True,
    }


def test_b_an_execution_that_breaks_a_rule_makes_positions_inconsistent():
    table = DeskTable()
    table.produced()
    table.answer_all(at(9, 50))
    table.hold("strat_1", "SPX", 10)
    fact = table.last("EXECUTION").body.model_copy(update={"execution_id": "", "fee": -1.0})
    assert table.broke(table.tell(TRADER, fact))
    table.answer_all(at(10, 1))
    last = checks(table, "B")[-1].body
    assert not last.metrics["positions_consistent"]
    assert last.status == "DEGRADED"


@pytest.mark.rule("K9")
def test_k9_another_process_that_folds_the_log_derives_the_same_health():
    table = DeskTable()
    table.answer_all(at(12), silent=[GUARDIAN])
    again = Docket(table.rules)
    for env in table.log:
        again.fold(env)
    assert not again.pending
    assert len(checks(table, "B")) == 6
