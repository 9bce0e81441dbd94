"""Halts: from HALT to a confirmed RESUME; R-B5, R-B13."""

import pytest

from protocols.kernel.duties import case_ruling_of
from protocols.kernel.people import Stop
from protocols.kernel.seats import Seat
from protocols.trading import messages as t
from protocols.trading.halt import RESUME
from tests.doubles.money_table import GUARDIAN, OPERATOR, MoneyTable

FINE = ("", None)


def resume(table, seat=OPERATOR):
    return table.tell(seat, t.Resume(reason="the cause is gone"), table.book.halt_id)


def confirm(table, seat=GUARDIAN):
    return table.tell(seat, t.ResumeConfirmed(checks=("no open orders",)), table.book.halt_id)


def halt_of(table):
    return table.docket.cases[table.book.halt_id]


def owed(table):
    return [(o.seat, o.expects[0], o.step) for o in halt_of(table).owed]


@pytest.mark.parametrize("seat", [GUARDIAN, Seat.ADMIN])
def test_r_b13_guardian_and_admin_halt_the_desk(seat):
    table = MoneyTable()
    env = table.halt(seat)
    assert table.broke(env) == FINE
    assert (table.book.halted, table.book.halt_id) == (env.seq, env.case_id)
    assert (halt_of(table).phase, halt_of(table).by, owed(table)) == ("halted", seat, [])


def test_r_b13_the_operator_halts_only_when_that_is_owed():
    table = MoneyTable()
    assert table.broke(table.halt(OPERATOR)) == ("R-B13", None)
    assert table.book.halted == 0
    table.tell(OPERATOR, t.PreMarketCheck(checks=()), table.hall.case_id)
    session_id = table.hall.case_id
    body = t.Halt(reason="the Guardian is silent", by="operator", session_id=session_id)
    assert table.broke(table.tell(OPERATOR, body)) == FINE
    assert table.book.halted and table.hall.owed == ()


def test_r_b5_an_alert_of_level_halt_halts_the_desk():
    table = MoneyTable()
    env = table.alert("HALT")
    assert table.broke(env) == FINE
    assert table.book.halt_id == env.case_id
    assert halt_of(table).kind == "halt"
    assert halt_of(table).parent == table.hall.case_id


def test_r_b5_a_resume_needs_the_guardians_confirmation():
    table = MoneyTable()
    table.halt()
    halt_id = table.book.halt_id
    assert table.broke(resume(table)) == FINE
    assert owed(table) == [(GUARDIAN, "RESUME_CONFIRMED", "resuming-1")]
    assert table.book.halted
    assert table.broke(confirm(table)) == FINE
    assert (table.book.halted, table.book.halt_id) == (0, "")
    assert table.docket.ended[halt_id].outcome == "resumed"
    assert table.broke(table.signal()) == FINE


def test_r_b13_an_admin_confirms_only_while_the_guardian_is_silent():
    table = MoneyTable()
    table.halt()
    resume(table, Seat.ADMIN)
    assert table.broke(confirm(table, Seat.ADMIN)) == ("R-B13", None)
    table.wait(minutes=9)
    assert table.broke(confirm(table, Seat.ADMIN)) == ("R-B13", None)
    assert table.book.halted
    table.wait(minutes=1)
    assert table.broke(confirm(table, Seat.ADMIN)) == FINE, "its ten minutes are over"
    assert table.book.halted == 0


def test_r_b13_after_a_missed_confirmation_an_admin_need_not_wait_again():
    table = MoneyTable()
    table.halt()
    resume(table)
    table.wait(minutes=21)
    resume(table)
    assert table.broke(confirm(table, Seat.ADMIN)) == FINE
    assert table.book.halted == 0


def test_r_b13_without_a_confirmation_the_desk_stays_halted():
    table = MoneyTable()
    table.halt()
    resume(table)
    table.wait(minutes=21)
    assert (halt_of(table).phase, owed(table)) == ("halted", [])
    assert (table.last("RULING").body.rule, bool(table.book.halted)) == ("R-B13", True)
    resume(table)
    assert owed(table) == [(GUARDIAN, "RESUME_CONFIRMED", "resuming-2")]
    confirm(table)
    assert table.book.halted == 0


def test_r_b5_there_is_one_halt_at_a_time():
    table = MoneyTable()
    first = table.halt()
    table.wait(minutes=1)
    assert table.broke(table.halt()) == ("R-B5", None)
    assert table.broke(table.alert("HALT")) == ("R-B5", None)
    assert table.book.halt_id == first.case_id


def test_r_b5_nothing_is_resumed_or_confirmed_out_of_turn():
    table = MoneyTable()
    env = table.tell(OPERATOR, t.Resume(reason="?"), "halt_20260223_0900")
    assert table.broke(env) == ("K9", "case_id")
    table.halt()
    assert table.broke(confirm(table)) == ("R-B5", None)
    resume(table)
    assert table.broke(resume(table)) == ("R-B5", None)


def test_a_ruling_makes_the_operator_owe_resume_and_its_silence_changes_nothing():
    table = MoneyTable()
    env = table.halt()
    table.docket.demand(case_ruling_of(env, RESUME, env.case_id, "#b-risk"))
    table.officers()
    assert owed(table) == [(OPERATOR, "RESUME", "halted-1")]
    table.wait(minutes=21)
    assert (halt_of(table).phase, owed(table)) == ("halted", [])
    assert table.last("RULING").body.rule == "R-B5"


def test_a_ruling_to_resume_is_met_by_resume():
    table = MoneyTable()
    env = table.halt()
    table.docket.demand(case_ruling_of(env, RESUME, env.case_id, "#b-risk"))
    table.officers()
    resume(table)
    assert owed(table) == [(GUARDIAN, "RESUME_CONFIRMED", "resuming-2")]
    env = table.log[-1]
    table.docket.demand(case_ruling_of(env, RESUME, table.book.halt_id, "#b-risk"))
    table.officers()
    assert owed(table) == [(GUARDIAN, "RESUME_CONFIRMED", "resuming-2")]


def test_r_b5_a_stop_does_not_lift_a_halt():
    table = MoneyTable()
    table.halt()
    resume(table)
    table.say(Seat.ADMIN, Stop(scope="system B", why="enough"), channel="#admin")
    assert (halt_of(table).phase, owed(table)) == ("halted", [])
    assert table.book.halted


def test_the_brief_shows_whose_halt_it_is():
    table = MoneyTable()
    table.halt()
    resume(table)
    state = halt_of(table)
    shown = table.rules.types["halt"].brief(state, state.owed[0], table.docket.house)
    assert (shown["subject"], shown["by"], shown["desk"]["halted"]) == (state.case_id, "guardian", True)
