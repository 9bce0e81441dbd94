"""What escalates in System B, and when it no longer does (spec 5.1, R-B6, R-E1)."""

from __future__ import annotations

from datetime import timedelta

import pytest

from moot.protocols.escalation.messages import EscalationAnswer
from moot.protocols.escalation.triggers import options_of
from moot.protocols.kernel.seats import ADMIN
from moot.protocols.trading import messages as t
from moot.protocols.trading.seats import GUARDIAN as GUARDIAN_SEAT
from moot.protocols.trading.seats import OPERATOR as OPERATOR_SEAT
from moot.protocols.trading.seats import TRADER as TRADER_SEAT
from tests.doubles.life_table import LifeTable, decision, guardian, halt, trader

OPERATOR, GUARDIAN, TRADER = OPERATOR_SEAT, GUARDIAN_SEAT, TRADER_SEAT


def risk_check(table: LifeTable, pnl: float) -> None:
    body = t.RiskCheck(
        nominal_at=table.now,
        marks={},
        equity=1e6,
        daily_pnl_usd=1e6 * pnl,
        daily_pnl_pct=pnl,
        exposure=0.0,
        largest_symbol=None,
        largest_position=0.0,
        drawdowns={},
        var95=0.0,
        correlation=0.0,
    )
    table.tell(GUARDIAN, body, f"session_{table.days}")


def escalations(table: LifeTable, code: str) -> list:
    return [e for e in table.log if e.body.type == "ESCALATION" and e.body.trigger_code == code]


def resume(table: LifeTable) -> None:
    case_id = table.last("HALT").case_id
    table.tell(OPERATOR, t.Resume(reason="calm"), case_id)
    table.say(GUARDIAN, t.ResumeConfirmed(checks=("calm",)))


# ---------------------------------------------------------------- halt


@pytest.mark.rule("R-E1")
def test_r_e1_a_halt_is_urgent_and_names_its_case():
    table = LifeTable()
    table.tell(GUARDIAN, halt())
    (env,) = escalations(table, "halt")
    halted = table.last("HALT")
    assert (env.body.level, env.body.system, env.body.subject) == ("URGENT", "B", halted.case_id)
    assert env.body.evidence_seqs == (halted.seq,) and "too risky" in env.body.context
    assert [o.effect for o in env.body.options] == ["conservative_b", "resume", "none"]


def test_a_halt_that_is_over_withdraws_its_escalation_and_the_next_one_fires():
    table = LifeTable()
    table.tell(GUARDIAN, halt())
    resume(table)
    resolved = table.last("ESCALATION_RESOLVED").body
    assert (resolved.how, resolved.effect) == ("withdrawn", "none")
    table.wait(minutes=5)
    table.tell(GUARDIAN, halt("again"))
    assert len(escalations(table, "halt")) == 2


@pytest.mark.rule("K19")
def test_k19_a_halt_that_nobody_lifts_asks_again_a_day_later():
    table = LifeTable()
    table.tell(GUARDIAN, halt())
    began = table.now
    table.until(began + timedelta(hours=23, minutes=59))
    assert len(escalations(table, "halt")) == 1, "answered or not, it asks once a day"
    table.until(began + timedelta(hours=24))
    first, second = escalations(table, "halt")
    assert second.sent_at == first.sent_at + timedelta(hours=24)
    assert second.body.subject == first.body.subject


def answered(table: LifeTable, option: int) -> None:
    """Let an admin answer the last escalation."""
    table.tell(ADMIN, EscalationAnswer(option=option), table.last("ESCALATION").case_id)


def unconfirmed() -> LifeTable:
    """Return a halt that an admin wants lifted, and whose confirmation was just ruled missing."""
    table = LifeTable()
    table.tell(GUARDIAN, halt())
    answered(table, 2)
    table.say(OPERATOR, t.Resume(reason="calm"))
    table.wait(minutes=20)
    assert table.last("RULING").body.rule == "R-B13"
    return table


@pytest.mark.rule("R-F14")
def test_r_f14_a_confirmation_that_is_missed_asks_again_one_limit_later():
    table = unconfirmed()
    table.wait(minutes=9)
    assert len(escalations(table, "halt")) == 1
    table.wait(minutes=1)
    _, again = escalations(table, "halt")
    assert again.body.level == "URGENT" and "guardian owed RESUME_CONFIRMED" in again.body.context
    assert again.body.evidence_seqs[-1] == table.last("RULING").seq
    answered(table, 2)
    table.say(OPERATOR, t.Resume(reason="calm"))
    table.wait(minutes=30)
    assert len(escalations(table, "halt")) == 3


@pytest.mark.rule("R-F14")
def test_r_f14_who_leaves_it_halted_is_not_asked_again_that_day():
    table = unconfirmed()
    table.wait(minutes=10)
    answered(table, 3)
    table.wait(hours=12)
    assert len(escalations(table, "halt")) == 2
    table.wait(hours=12)
    assert len(escalations(table, "halt")) == 3


@pytest.mark.rule("R-F14")
def test_r_f14_a_resume_in_between_takes_the_question_back():
    table = unconfirmed()
    table.wait(minutes=5)
    resume(table)
    table.wait(hours=30)
    assert len(escalations(table, "halt")) == 1


@pytest.mark.rule("R-F14")
def test_r_f14_a_question_that_a_resume_overtakes_is_no_fault():
    table = unconfirmed()
    table.now += timedelta(minutes=10)
    asked = next(draft for draft in table.docket.due(table.now) if draft.body.type == "ESCALATION")
    body = t.Resume(reason="calm")
    table.post(OPERATOR, body, channel="#b-ops", case_id=table.last("HALT").case_id)
    table.publish(asked)
    assert table.effects[-1].superseded
    table.say(GUARDIAN, t.ResumeConfirmed(checks=("calm",)))
    assert not table.docket.context.fold_named("book").halted


@pytest.mark.rule("R-F14")
def test_r_f14_while_the_admin_is_being_asked_nothing_is_asked_twice():
    table = LifeTable()
    table.tell(GUARDIAN, halt())
    table.tell(OPERATOR, t.Resume(reason="calm"), table.last("HALT").case_id)
    table.wait(hours=2)
    assert table.last("ESCALATION_PAGED").body.n == 4
    assert len(escalations(table, "halt")) == 1


@pytest.mark.rule("R-F14")
def test_r_f14_an_operator_that_does_not_ask_to_resume_is_told_too():
    table = LifeTable()
    table.tell(GUARDIAN, halt())
    answered(table, 2)
    table.wait(minutes=30)
    _, again = escalations(table, "halt")
    assert "operator owed RESUME" in again.body.context


def test_a_halt_that_broke_a_rule_escalates_nothing():
    table = LifeTable()
    table.tell(GUARDIAN, halt())
    assert table.broke(table.tell(GUARDIAN, halt("twice"))) == "R-B5"
    assert len(escalations(table, "halt")) == 1


# ---------------------------------------------------------------- daily loss


@pytest.mark.rule("R-B6")
def test_r_b6_minus_five_percent_of_the_opening_equity_escalates_inclusively():
    table = LifeTable()
    table.open_day()
    risk_check(table, -0.049999)
    assert escalations(table, "daily_loss") == []
    risk_check(table, -0.05)
    (env,) = escalations(table, "daily_loss")
    assert (env.body.level, env.body.system) == ("URGENT", "B")
    assert [o.effect for o in env.body.options] == ["conservative_b", "halt_desk", "none"]


@pytest.mark.rule("R-B6")
def test_r_b6_a_market_close_at_the_limit_escalates_too():
    table = LifeTable()
    table.open_day()
    table.close_day(-0.06)
    assert len(escalations(table, "daily_loss")) == 1


@pytest.mark.rule("K19")
def test_k19_a_loss_that_goes_on_escalates_once_and_one_that_is_recovered_is_withdrawn():
    table = LifeTable()
    table.open_day()
    for pnl in (-0.06, -0.07, -0.055):
        risk_check(table, pnl)
        table.wait(minutes=5)
    assert len(escalations(table, "daily_loss")) == 1
    assert table.docket.context.fold_named("watch").watched["daily_loss", ""].occurrences == []
    risk_check(table, -0.04)
    assert table.last("ESCALATION_RESOLVED").body.how == "withdrawn"
    risk_check(table, -0.05)
    assert len(escalations(table, "daily_loss")) == 2


def test_a_check_that_broke_a_rule_escalates_nothing():
    table = LifeTable()
    risk_check(table, -0.06)
    assert table.kinds().count("VIOLATION") == 1
    assert escalations(table, "daily_loss") == []


@pytest.mark.rule("R-B6")
def test_r_b6_every_desk_day_loses_anew():
    table = LifeTable()
    table.open_day()
    table.close_day(-0.06)
    table.wait(hours=20)
    table.open_day()
    risk_check(table, -0.07)
    assert len(escalations(table, "daily_loss")) == 2


# ---------------------------------------------------------------- deployment


@pytest.mark.rule("R-E1")
def test_r_e1_a_disagreement_needs_a_decision_and_names_its_deployment():
    table = LifeTable()
    table.stage()
    case_id = table.propose()
    table.say(GUARDIAN, guardian("elevated"))
    table.say(TRADER, trader("needs_adjustment"))
    assert escalations(table, "deployment") == []
    table.say(OPERATOR, decision("ESCALATE", 2))
    (env,) = escalations(table, "deployment")
    assert (env.body.level, env.body.system, env.body.subject) == ("DECISION_NEEDED", "B", case_id)
    assert "elevated" in env.body.context and "needs_adjustment" in env.body.context
    assert env.body.options == options_of("deployment")


def test_two_deployments_escalate_apart():
    table = LifeTable()
    for name in ("strat_1", "strat_2"):
        table.stage(name)
        table.propose(name)
        table.wait(minutes=40)
    assert len({e.body.subject for e in escalations(table, "deployment")}) == 2


# ---------------------------------------------------------------- timeouts


@pytest.mark.rule("R-E1")
def test_r_e1_three_silences_in_a_row_of_a_seat_of_b_are_urgent():
    table = LifeTable()
    for n in range(3):
        table.stage(f"strat_{n}")
        table.propose(f"strat_{n}")
        assert escalations(table, "timeouts_b") == []
        table.say(GUARDIAN, guardian())
        table.wait(minutes=20)
        table.say(OPERATOR, decision("ESCALATE", 2))
    (env,) = escalations(table, "timeouts_b")
    assert (env.body.system, env.body.subject, env.body.level) == ("B", "trader", "URGENT")
    assert [o.effect for o in env.body.options] == ["conservative_b", "restart_seat", "none"]
    assert escalations(table, "timeouts") == []


def test_a_word_in_between_ends_the_row():
    table = LifeTable()
    for n in range(4):
        table.stage(f"strat_{n}")
        table.propose(f"strat_{n}")
        table.say(GUARDIAN, guardian())
        if n == 2:
            table.say(TRADER, trader())
        table.wait(minutes=50)
    assert [e.body.subject for e in escalations(table, "timeouts_b")] == ["operator"]
