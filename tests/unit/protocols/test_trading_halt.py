"""Halts: from HALT to a confirmed RESUME; R-B5, R-B13."""

import pytest

from moot.protocols.kernel.duties import case_ruling_of
from moot.protocols.kernel.people import Stop
from moot.protocols.kernel.seats import ADMIN
from moot.protocols.trading import messages as t
from moot.protocols.trading.halt import RESUME, SILENT_TICKS
from tests.doubles.desk_table import DeskTable, at
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


@pytest.mark.rule("R-B13")
@pytest.mark.parametrize("seat", [GUARDIAN, ADMIN])
def test_r_b13_guardian_and_admin_halt_the_desk(seat):
    table = MoneyTable()
    env = table.halt(seat)
    assert table.broke(env) == FINE
    assert (table.book.halted, table.book.halt_id) == (env.seq, env.case_id)
    assert (halt_of(table).phase, halt_of(table).by, owed(table)) == ("halted", seat, [])


@pytest.mark.rule("R-B13")
def test_r_b13_the_operator_halts_only_when_that_is_owed():
    table = MoneyTable()
    assert table.broke(table.halt(OPERATOR)) == ("R-B13", None)
    assert table.book.halted == 0
    table.tell(OPERATOR, t.PreMarketCheck(checks=()), table.hall.case_id)
    session_id = table.hall.case_id
    body = t.Halt(reason="the Guardian is silent", by="operator", session_id=session_id)
    assert table.broke(table.tell(OPERATOR, body)) == FINE
    assert table.book.halted and table.hall.owed == ()


@pytest.mark.rule("R-B5")
def test_r_b5_an_alert_of_level_halt_halts_the_desk():
    table = MoneyTable()
    env = table.alert("HALT")
    assert table.broke(env) == FINE
    assert table.book.halt_id == env.case_id
    assert halt_of(table).kind == "halt"
    assert halt_of(table).parent == table.hall.case_id


@pytest.mark.rule("R-B5")
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


@pytest.mark.rule("R-B13")
def test_r_b13_an_admin_confirms_only_while_the_guardian_is_silent():
    table = MoneyTable()
    table.halt()
    resume(table, ADMIN)
    assert table.broke(confirm(table, ADMIN)) == ("R-B13", None)
    table.wait(minutes=9)
    assert table.broke(confirm(table, ADMIN)) == ("R-B13", None)
    assert table.book.halted
    table.wait(minutes=1)
    assert table.broke(confirm(table, ADMIN)) == FINE, "its ten minutes are over"
    assert table.book.halted == 0


@pytest.mark.rule("R-B13")
def test_r_b13_after_a_missed_confirmation_an_admin_need_not_wait_again():
    table = MoneyTable()
    table.halt()
    resume(table)
    table.wait(minutes=21)
    resume(table)
    assert table.broke(confirm(table, ADMIN)) == FINE
    assert table.book.halted == 0


@pytest.mark.rule("R-B13")
def test_r_b13_a_word_of_the_guardian_ends_its_silence_after_a_missed_confirmation():
    table = MoneyTable()
    table.halt()
    resume(table)
    table.wait(minutes=21)
    table.check()
    resume(table)
    assert table.broke(confirm(table, ADMIN)) == ("R-B13", None)
    table.wait(minutes=10)
    assert table.broke(confirm(table, ADMIN)) == FINE


def unchecked():
    """Return a desk whose Guardian missed three checks in a row; the Operator owes a HALT and says none."""
    table = DeskTable()
    table.answer_all(at(9, 46), silent=[GUARDIAN], but=["HALT"])
    assert table.session.silent == SILENT_TICKS
    return table


def admins(table, body):
    halt_id = table.book.halt_id
    return table.broke(table.tell(ADMIN, body.model_copy(update={"halt_id": halt_id}), case_id=halt_id))


@pytest.mark.rule("R-B13")
def test_r_b13_while_the_guardian_misses_its_checks_an_admin_confirms_at_once():
    table = unchecked()
    table.tell(OPERATOR, t.Halt(session_id=table.session.case_id, reason="silence", by="operator"))
    assert admins(table, t.Resume(reason="I watch it")) == ""
    assert admins(table, t.ResumeConfirmed(checks=())) == ""
    assert not table.book.halted


@pytest.mark.rule("R-B13")
def test_r_b13_a_guardian_that_missed_its_checks_and_halts_the_desk_itself_is_silent_no_more():
    table = unchecked()
    table.tell(GUARDIAN, t.Halt(session_id=table.session.case_id, reason="news", by="guardian"))
    assert table.session.silent == SILENT_TICKS
    assert admins(table, t.Resume(reason="I see no news")) == ""
    assert admins(table, t.ResumeConfirmed(checks=())) == "R-B13"
    assert table.book.halted


@pytest.mark.rule("R-B13")
def test_r_b13_a_guardian_that_owes_no_checks_and_misses_reviews_is_not_silent():
    table = DeskTable()
    table.answer_all(at(16, 5))
    for strategy_id in ("strat_1", "strat_2", "strat_3"):
        table.staged(strategy_id)
        body = t.DeployProposal(strategy_id=strategy_id, backtest_metrics={}, risk_profile={})
        assert table.broke(table.tell(OPERATOR, body)) == ""
    table.answer_all(at(16, 40), silent=[GUARDIAN])
    assert table.docket.context.fold_named("health").silences(GUARDIAN) == SILENT_TICKS
    table.tell(ADMIN, t.Halt(reason="news", by="admin"))
    assert admins(table, t.Resume(reason="no news")) == ""
    assert admins(table, t.ResumeConfirmed(checks=())) == "R-B13"


@pytest.mark.rule("R-B13")
def test_r_b13_a_message_of_the_guardian_that_breaks_a_rule_leaves_it_silent():
    table = unchecked()
    table.tell(OPERATOR, t.Halt(session_id=table.session.case_id, reason="silence", by="operator"))
    again = t.Halt(session_id=table.session.case_id, reason="news", by="operator")
    assert table.broke(table.tell(GUARDIAN, again)) == "R-B5"
    assert admins(table, t.Resume(reason="I watch it")) == ""
    assert admins(table, t.ResumeConfirmed(checks=())) == ""


@pytest.mark.rule("R-B13")
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


@pytest.mark.rule("R-B5")
def test_r_b5_there_is_one_halt_at_a_time():
    table = MoneyTable()
    first = table.halt()
    since = table.book.halted
    table.wait(minutes=1)
    assert table.broke(table.halt()) == FINE
    assert table.broke(table.alert("HALT")) == FINE
    assert (table.book.halt_id, table.book.halted, table.book.last_halt) == (first.case_id, since, since)
    assert [case.kind for case in table.docket.cases.values()].count("halt") == 1


@pytest.mark.rule("R-B5")
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


@pytest.mark.rule("R-B5")
def test_r_b5_a_stop_does_not_lift_a_halt():
    table = MoneyTable()
    table.halt()
    resume(table)
    table.say(ADMIN, Stop(scope="system B", why="enough"), channel="#admin")
    assert (halt_of(table).phase, owed(table)) == ("halted", [])
    assert table.book.halted


def test_the_brief_shows_whose_halt_it_is():
    table = MoneyTable()
    table.halt()
    resume(table)
    state = halt_of(table)
    shown = table.rules.types["halt"].brief(state, state.owed[0], table.docket.context)
    assert (shown["subject"], shown["by"], shown["desk"]["halted"]) == (state.case_id, "guardian", True)
