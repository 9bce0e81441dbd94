"""What escalates in System B, and when it no longer does (spec 5.1, R-B6, R-E1)."""

from __future__ import annotations

from datetime import timedelta

import pytest

from moot.protocols.escalation.messages import EscalationAck, EscalationAnswer
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
    twice = t.Halt(reason="twice", by="operator")
    assert table.broke(table.tell(OPERATOR, twice)) == "R-B13"
    assert len(escalations(table, "halt")) == 1


# ---------------------------------------------------------------- halted again (R-G12)


def pages(table: LifeTable) -> list:
    return [e for e in table.log if e.body.type == "ESCALATION_PAGED" and e.body.added]


def halted_twice() -> LifeTable:
    """Return a desk that the Guardian halted, and an admin for another reason."""
    table = LifeTable()
    table.tell(GUARDIAN, halt())
    table.wait(minutes=5)
    assert table.broke(table.tell(ADMIN, t.Halt(reason="odd fills", by="admin"))) == ""
    return table


def halted(table: LifeTable):
    return table.docket.cases[table.docket.context.fold_named("book").halt_id]


BOTH = ("too risky", "odd fills")


@pytest.mark.rule("R-G12")
def test_r_g12_a_second_reason_is_paged_with_the_open_escalation():
    table = halted_twice()
    (asked,) = escalations(table, "halt")
    (page,) = pages(table)
    assert (page.case_id, page.body.n, page.body.added) == (asked.case_id, 1, "admin: odd fills")
    assert table.docket.context.fold_named("book").halt_id == asked.body.subject
    table.tell(GUARDIAN, halt("a third"))
    assert [page.body.n for page in pages(table)] == [1, 2]
    table.wait(hours=5)
    timed = [e.body.n for e in table.log if e.body.type == "ESCALATION_PAGED" and not e.body.added]
    assert timed == [1, 2, 3, 4, 5], "the pages by the clock go on as before"


@pytest.mark.rule("R-G12")
def test_r_g12_an_acknowledged_escalation_is_paged_for_a_new_reason():
    table = LifeTable()
    table.tell(GUARDIAN, halt())
    table.tell(ADMIN, EscalationAck(), table.last("ESCALATION").case_id)
    table.tell(ADMIN, t.Halt(reason="odd fills", by="admin"))
    assert [page.body.added for page in pages(table)] == ["admin: odd fills"]
    answered(table, 2)
    assert [o.expects[0] for o in halted(table).owed] == ["RESUME"]


@pytest.mark.rule("R-G12")
def test_r_g12_the_same_reason_of_the_same_seat_is_neither_added_nor_paged():
    table = LifeTable()
    table.tell(GUARDIAN, halt())
    assert table.broke(table.tell(GUARDIAN, halt())) == ""
    assert pages(table) == [] and len(halted(table).reasons) == 1
    table.tell(OPERATOR, t.Resume(reason="calm"), halted(table).case_id)
    table.say(GUARDIAN, t.ResumeConfirmed(checks=("calm",)))
    assert not table.docket.context.fold_named("book").halted


@pytest.mark.rule("R-G12")
def test_r_g12_a_resume_names_all_open_reasons():
    table = halted_twice()
    case_id = halted(table).case_id
    for lifts in ((), ("odd fills",), ("too risky",), (*BOTH, "the weather")):
        assert table.broke(table.tell(OPERATOR, t.Resume(reason="calm", lifts=lifts), case_id)) == "R-G12"
        assert halted(table).phase == "halted"
    assert table.broke(table.tell(OPERATOR, t.Resume(reason="calm", lifts=BOTH[::-1]), case_id)) == ""
    table.say(GUARDIAN, t.ResumeConfirmed(checks=("calm",)))
    assert not table.docket.context.fold_named("book").halted
    assert table.last("ESCALATION_RESOLVED").body.how == "withdrawn"


@pytest.mark.rule("R-G12")
def test_r_g12_the_answer_applies_to_the_halt_as_it_then_stands():
    table = halted_twice()
    answered(table, 2)
    (due,) = halted(table).owed
    machine = table.docket.rules.types["halt"]
    assert machine.brief(halted(table), due, table.docket.context)["lifts"] == BOTH
    assert table.broke(table.say(OPERATOR, t.Resume(reason="calm"))) == "R-G12"
    assert table.broke(table.say(OPERATOR, t.Resume(reason="calm", lifts=BOTH))) == ""


@pytest.mark.rule("R-G12")
@pytest.mark.parametrize("option", [2, 3], ids=["resume", "stay halted"])
def test_r_g12_after_the_answer_a_new_reason_asks_anew(option):
    table = LifeTable()
    table.tell(GUARDIAN, halt())
    answered(table, option)
    table.tell(ADMIN, t.Halt(reason="odd fills", by="admin"))
    _, again = escalations(table, "halt")
    assert "too risky" in again.body.context and "odd fills" in again.body.context
    assert len(again.body.evidence_seqs) == 2
    assert halted(table).owed == (), "a resume that was ordered before is void"


@pytest.mark.rule("R-G12")
def test_r_g12_a_halt_stops_a_resume_that_waits_for_its_confirmation():
    table = LifeTable()
    table.tell(GUARDIAN, halt())
    answered(table, 2)
    table.say(OPERATOR, t.Resume(reason="calm"))
    assert halted(table).phase == "resuming"
    table.tell(ADMIN, t.Halt(reason="too risky", by="admin"))
    assert (halted(table).phase, halted(table).owed) == ("halted", ())
    case_id = halted(table).case_id
    assert table.broke(table.tell(GUARDIAN, t.ResumeConfirmed(checks=("calm",)), case_id)) == "R-B5"
    assert len(escalations(table, "halt")) == 2


@pytest.mark.rule("R-G12")
def test_r_g12_an_answer_that_a_halt_overtook_resumes_nothing():
    table = LifeTable()
    table.tell(GUARDIAN, halt())
    asked = table.last("ESCALATION").case_id
    table.post(ADMIN, EscalationAnswer(option=2), channel="#admin", case_id=asked)
    table.post(ADMIN, t.Halt(reason="odd fills", by="admin"), channel="#b-risk")
    table.wait(minutes=0)
    assert table.last("ESCALATION_RESOLVED").body.effect == "resume"
    assert halted(table).owed == ()
    _, again = escalations(table, "halt")
    assert "odd fills" in again.body.context


@pytest.mark.rule("R-G12")
def test_r_g12_two_halts_at_once_make_one_escalation_that_names_both():
    table = LifeTable()
    table.post(GUARDIAN, halt(), channel="#b-risk")
    table.post(ADMIN, t.Halt(reason="odd fills", by="admin"), channel="#b-risk")
    table.wait(minutes=0)
    (asked,) = escalations(table, "halt")
    assert "too risky" in asked.body.context and "odd fills" in asked.body.context


@pytest.mark.rule("R-G12")
def test_r_g12_silence_and_a_day_later_still_name_every_reason():
    table = halted_twice()
    table.wait(hours=24)
    again = escalations(table, "halt")[-1]
    assert again is not escalations(table, "halt")[0]
    assert "too risky" in again.body.context and "odd fills" in again.body.context


@pytest.mark.rule("R-G12")
def test_r_g12_a_reason_of_any_length_fits_its_escalation():
    table = LifeTable()
    table.tell(ADMIN, t.Halt(reason="x" * 20_000, by="admin"))
    table.tell(ADMIN, t.Halt(reason="y" * 20_000, by="admin"))
    for n in range(30):
        table.tell(ADMIN, t.Halt(reason=f"{n} " + "z" * 1_000, by="admin"))
    assert len(halted(table).reasons) == 20 and len(pages(table)) == 31
    texts = tuple(one.text for one in halted(table).reasons)
    assert (
        table.broke(table.tell(OPERATOR, t.Resume(reason="calm", lifts=texts), halted(table).case_id)) == ""
    )


@pytest.mark.rule("R-G12")
@pytest.mark.parametrize("version", ["2", "3"])
def test_r_g12_a_log_of_an_older_version_has_one_halt(version):
    table = LifeTable()
    table.docket.context.rules_version = version
    table.tell(GUARDIAN, halt())
    assert table.broke(table.tell(ADMIN, t.Halt(reason="odd fills", by="admin"))) == "R-B5"
    assert pages(table) == [] and len(halted(table).reasons) == 1


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
