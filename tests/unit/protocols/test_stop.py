"""The human STOP outranks every bot: K21."""

from datetime import timedelta

import pytest

from moot.protocols.kernel.people import Override, Stop
from moot.protocols.research.debate_table import Phase
from tests.doubles import bodies
from tests.doubles.debating import (
    ADMIN,
    EVOLVER,
    EXPLORER,
    REFEREE,
    beside,
    cycle_of,
    debate,
    hypothesise,
    opened,
    outcome,
    reach,
    reflect,
)
from tests.doubles.table import START, Table

OPEN = [phase for phase in Phase if phase is not Phase.ENDED]


def stop(table, scope, say=None):
    return (say or table.say)(ADMIN, Stop(scope=scope, why="enough"), channel="#admin")


@pytest.mark.rule("K21")
@pytest.mark.parametrize("scope", ["system A", "A", "SYSTEM A", "a"])
@pytest.mark.parametrize("phase", OPEN)
def test_k21_a_stop_of_system_a_ends_all_its_cases_at_once(phase, scope):
    table, case_id = reach(phase)
    env = stop(table, scope)
    assert outcome(table, case_id) == outcome(table, cycle_of(table)) == "stopped"
    assert not table.docket.cases
    assert not table.docket.open
    rulings = [e for e in table.log[env.seq :] if e.body.type != "HEALTH_CHECK"]
    assert [e.body.type for e in rulings] == ["RULING", "RULING"]
    assert [e.body.case_id for e in rulings] == [case_id, cycle_of(table)]
    assert {(e.body.outcome, e.body.reason, e.body.of_seq) for e in rulings} == {
        ("stop", "human_stop", env.seq)
    }


@pytest.mark.rule("K21")
def test_k21_a_stop_of_a_debate_leaves_its_cycle_to_report():
    table, case_id = opened()
    stop(table, case_id)
    assert outcome(table, case_id) == "stopped"
    assert table.owed(EVOLVER, "MICRO_CYCLE_REPORT")


@pytest.mark.rule("K21")
def test_k21_a_stop_of_a_cycle_stops_its_debate_too():
    table, case_id = opened()
    env = stop(table, cycle_of(table))
    assert outcome(table, case_id) == outcome(table, cycle_of(table)) == "stopped"
    assert not table.docket.cases
    rulings = [e for e in table.log[env.seq :] if e.body.type == "RULING"]
    assert [e.body.case_id for e in rulings] == [case_id, cycle_of(table)]


@pytest.mark.rule("K21")
def test_k21_a_hypothesis_that_slips_in_between_is_stopped_with_its_cycle():
    for scope in ("cycle", "system A"):
        table = Table()
        stop(table, cycle_of(table) if scope == "cycle" else scope, say=table.post)
        owed = table.owed(EXPLORER, "HYPOTHESIS")
        env = table.post(EXPLORER, bodies.hypothesis(cycle_of(table)), owed=owed)
        assert table.effects[-1].violation is None
        table.officers()
        assert outcome(table, env.case_id) == "stopped"
        assert not table.docket.cases


@pytest.mark.rule("K21")
def test_k21_a_stop_of_a_waiting_case_ends_it_by_its_ruling_first():
    table, case_id = reach(Phase.JUDGING)
    verdict = table.post(EVOLVER, bodies.verdict(confidence=0.1))
    stop(table, case_id)
    assert outcome(table, case_id) == "rejected"
    rulings = [(e, table.effects[e.seq - 1]) for e in table.log if e.body.type == "RULING"]
    assert [(e.body.case_id, e.body.outcome, e.body.reason, fx.superseded) for e, fx in rulings] == [
        (case_id, "REJECT", "low_confidence", False),
        (case_id, "stop", "human_stop", True),
    ]
    told = table.last("REFLECTION")
    assert (told.author, told.case_id, told.in_reply_to) == (REFEREE, case_id, f"ruling/{verdict.seq}")
    assert not table.docket.waiting


@pytest.mark.rule("K21")
def test_k21_a_stop_of_another_system_or_of_the_society_ends_no_case():
    for scope in ("system B", "B", "society"):
        table, case_id = opened()
        stop(table, scope)
        assert debate(table, case_id).phase == Phase.ASSESSING_1
        assert "A" not in table.docket.context.stopped


@pytest.mark.parametrize("scope", ["", "everything", "system C", "hyp_20200101_0000", "Society", "system  A"])
def test_what_is_no_scope_is_refused(scope):
    table, _ = opened()
    if scope:
        assert beside(table, stop(table, scope)).field == "scope"
    assert len(table.docket.cases) == 2


def test_an_ended_case_is_no_scope():
    table, case_id = reach(Phase.REFLECTING)
    reflect(table)
    assert beside(table, stop(table, case_id)).field == "scope"


def test_a_stopped_debate_is_no_reject_in_the_books():
    table, case_id = opened()
    stop(table, case_id)
    ledger = table.docket.context.fold_named("research")
    assert ledger.counts(START - timedelta(days=1), table.now).rejected == 0
    assert "REFLECTION" not in table.kinds()


def test_what_an_admin_opens_after_a_stop_goes_on():
    table, case_id = reach(Phase.REFLECTING)
    reflect(table)
    stop(table, "system A")
    body = Override(case_id=case_id, verdict="APPROVE", why="this one all the same")
    env = table.say(ADMIN, body, channel="#a-verdict", case_id=case_id)
    assert debate(table, env.body.override_id).phase == Phase.BACKTESTING


def test_a_start_lifts_the_stop():
    table = Table(schedules={"micro": {"cron": "0 */2 * * *"}})
    stop(table, "system A")
    table.wait(hours=2)
    assert not table.docket.cases
    table.down(hours=2)
    hypothesise(table)
    assert len(table.docket.cases) == 2
