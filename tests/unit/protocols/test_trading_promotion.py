"""Promotion: the decision table, its case, extensions, what silence leads to (spec 4.3, R-B2, R-B3)."""

from __future__ import annotations

from itertools import product

import pytest

from moot.protocols.trading import messages as t
from moot.protocols.trading.promotion import decision_of, row_of
from moot.protocols.trading.seats import GUARDIAN as GUARDIAN_SEAT
from moot.protocols.trading.seats import OPERATOR as OPERATOR_SEAT
from moot.protocols.trading.seats import TRADER as TRADER_SEAT
from tests.doubles import bodies
from tests.doubles.life_table import LifeTable, notice

OPERATOR, GUARDIAN, TRADER = OPERATOR_SEAT, GUARDIAN_SEAT, TRADER_SEAT


def guardian(recommendation: str = "approve") -> t.PromotionReview:
    return t.PromotionReview(
        form="guardian",
        risk_trend="stable",
        max_drawdown_observed=0.0,
        correlation_with_existing=0.1,
        recommendation=recommendation,
    )


def trader(recommendation: str = "approve") -> t.PromotionReview:
    return t.PromotionReview(
        form="trader", avg_slippage_bps=0.0, fill_rate=1.0, recommendation=recommendation
    )


def decision(what: str, row: int, extensions: int = 0) -> t.PromotionDecision:
    return t.PromotionDecision(decision=what, row=row, extensions=extensions)


def proposal(table: LifeTable, **over) -> t.PromotionProposal:
    metrics = table.docket.context.fold_named("book").paper_metrics("strat_1")
    fields = {
        "strategy_id": "strat_1",
        "paper_trading_metrics": metrics,
        "days": table.standing().days,
        **over,
    }
    return t.PromotionProposal(**fields)


def traded(days: int = 5) -> LifeTable:
    table = LifeTable()
    table.deploy()
    table.trade_days(days)
    return table


def reviewed(guardians: str, traders: str, table: LifeTable | None = None) -> LifeTable:
    table = table or traded()
    assert table.broke(table.tell(OPERATOR, proposal(table))) == ""
    if guardians != "missing":
        table.say(GUARDIAN, guardian(guardians))
    if traders != "missing":
        table.say(TRADER, trader(traders))
    if "missing" in (guardians, traders):
        table.wait(minutes=20)
    return table


# ---------------------------------------------------------------- the table


@pytest.mark.rule("R-B3")
def test_r_b3_decides_every_pair_of_recommendations():
    says = ("approve", "extend_validation", "reject", "missing")
    for guardians, traders in product(says, says):
        row = row_of(guardians, traders)
        if "reject" in (guardians, traders):
            assert (row.n, row.decision) == (1, "REJECT")
        elif guardians == traders == "approve":
            assert (row.n, row.decision) == (2, "PROMOTE")
        else:
            assert (row.n, row.decision) == (3, "EXTEND")


@pytest.mark.rule("R-B3")
def test_r_b3_reject_wins_over_extend():
    assert row_of("extend_validation", "reject").decision == "REJECT"
    assert row_of("missing", "reject").decision == "REJECT"


@pytest.mark.rule("R-B3")
def test_r_b3_the_third_extension_is_a_rejection():
    row = row_of("approve", "extend_validation")
    assert [decision_of(row, n) for n in range(3)] == ["EXTEND", "EXTEND", "REJECT"]
    assert decision_of(row_of("approve", "approve"), 2) == "PROMOTE"


# ---------------------------------------------------------------- the case


@pytest.mark.rule("R-B3")
def test_r_b3_five_sessions_on_paper_come_before_a_promotion():
    table = traded(4)
    assert table.life.to_promote() == ()
    assert table.broke(table.tell(OPERATOR, proposal(table))) == "R-B3"
    table.trade_days(1)
    assert table.life.to_promote() == ("strat_1",)
    assert table.broke(table.tell(OPERATOR, proposal(table, days=6))) == "R-B3"
    assert table.broke(table.tell(OPERATOR, proposal(table, paper_trading_metrics={"sharpe": 9.0}))) == "R-B3"
    assert table.broke(table.tell(OPERATOR, proposal(table))) == ""
    assert table.broke(table.tell(OPERATOR, proposal(table))) == "K9"


@pytest.mark.rule("R-B12")
def test_r_b12_only_what_is_traded_on_paper_is_promoted():
    table = LifeTable()
    table.stage()
    assert table.broke(table.tell(OPERATOR, proposal(table))) == "R-B12"
    table.move("staging", "production")
    assert table.broke(table.tell(OPERATOR, proposal(table))) == "4.3"


@pytest.mark.rule("R-B3")
def test_r_b3_both_approve_and_the_strategy_enters_production():
    table = reviewed("approve", "approve")
    for wrong in (
        decision("EXTEND", 3, 1),
        decision("REJECT", 1),
        decision("PROMOTE", 3),
        decision("PROMOTE", 2, 1),
    ):
        assert table.broke(table.say(OPERATOR, wrong)) == "R-B3"
    table.say(OPERATOR, decision("PROMOTE", 2))
    assert table.standing().stage == "staging"
    wrong_move = bodies.moved(from_="staging", to="candidates")
    assert table.broke(table.say(OPERATOR, wrong_move)) == "R-D20"
    table.say(OPERATOR, bodies.moved(from_="staging", to="production"))
    assert table.broke(table.say(OPERATOR, notice("PROMOTE", "staging"))) == "R-B12"
    table.say(OPERATOR, notice("PROMOTE", "production"))
    known = table.standing()
    assert (known.stage, known.is_traded, known.promoted_at) == ("production", True, table.now)
    assert table.effects[-1].ended[0].outcome == "promoted"


@pytest.mark.rule("R-B3")
@pytest.mark.parametrize(("guardians", "traders"), [("reject", "approve"), ("approve", "reject")])
def test_r_b3_either_rejects_and_the_strategy_goes_back(guardians, traders):
    table = reviewed(guardians, traders)
    table.say(OPERATOR, decision("REJECT", 1))
    for blank in ("", " \n"):
        silent = bodies.moved(from_="staging", to="candidates", reason=blank)
        assert table.broke(table.say(OPERATOR, silent)) == "R-B3"
    table.say(OPERATOR, bodies.moved(from_="staging", to="candidates"))
    table.say(OPERATOR, notice("WITHDRAW", "candidates"))
    assert table.standing().stage == "candidates" and not table.life.is_traded("strat_1")
    assert table.effects[-1].ended[0].outcome == "rejected"


@pytest.mark.rule("R-B3")
def test_r_b3_an_objection_extends_by_three_sessions_twice_then_rejects():
    table = traded()
    for n in (1, 2):
        reviewed("approve", "extend_validation", table)
        table.say(OPERATOR, decision("EXTEND", 3, n))
        assert table.effects[-1].ended[0].outcome == "extended"
        assert (table.standing().extensions, table.standing().days_needed) == (n, 5 + 3 * n)
        table.trade_days(2)
        assert table.life.to_promote() == ()
        table.trade_days(1)
        assert table.life.to_promote() == ("strat_1",)
    reviewed("approve", "extend_validation", table)
    assert table.broke(table.say(OPERATOR, decision("EXTEND", 3, 3))) == "R-B3"
    assert table.broke(table.say(OPERATOR, decision("REJECT", 3, 2))) == ""


@pytest.mark.rule("R-B3")
def test_r_b3_the_three_sessions_more_are_counted_from_the_decision():
    table = traded()
    table.trade_days(2)
    reviewed("approve", "extend_validation", table)
    table.say(OPERATOR, decision("EXTEND", 3, 1))
    assert (table.standing().days, table.standing().days_needed) == (7, 10)
    table.trade_days(2)
    assert table.life.to_promote() == ()
    table.trade_days(1)
    assert table.life.to_promote() == ("strat_1",)


# ---------------------------------------------------------------- silence


@pytest.mark.rule("R-B2")
def test_r_b2_a_missed_review_counts_as_objecting():
    table = reviewed("approve", "missing")
    assert table.last("RULING").body.rule == "R-B2"
    assert table.broke(table.say(OPERATOR, decision("PROMOTE", 2))) == "R-B3"
    assert table.broke(table.say(OPERATOR, decision("EXTEND", 3, 1))) == ""


@pytest.mark.rule("R-B3")
def test_r_b3_a_silent_operator_never_promotes():
    table = reviewed("approve", "approve")
    table.wait(minutes=20)
    assert table.last("RULING").body.outcome == "void"
    assert (table.standing().stage, table.standing().extensions) == ("staging", 1)


@pytest.mark.rule("R-B3")
def test_r_b3_a_silent_operator_does_not_save_what_was_rejected():
    table = reviewed("reject", "approve")
    table.wait(minutes=20)
    assert table.last("RULING").body.outcome == "REJECT"
    assert table.obligations() == {("operator", "STRATEGY_MOVED")}
    table.wait(minutes=20)
    assert table.standing().stage == "staging" and not table.life.is_traded("strat_1")


@pytest.mark.rule("R-D20")
def test_r_d20_only_the_move_promotes():
    table = reviewed("approve", "approve")
    table.say(OPERATOR, decision("PROMOTE", 2))
    table.wait(minutes=20)
    assert table.last("RULING").body.rule == "R-D20"
    assert table.standing().stage == "staging"
    assert [e.outcome for e in table.docket.ended.values() if e.kind == "promotion"] == ["unmoved"]


def test_the_brief_shows_the_criteria_and_the_table():
    table = reviewed("approve", "approve")
    obligation = table.owed(OPERATOR, "PROMOTION_DECISION")
    state = table.docket.cases[obligation.case_id]
    shown = table.rules.types["promotion"].brief(state, obligation, table.docket.context)
    assert shown["criteria"] == {"sharpe_above": 0.3, "drawdown_above": -0.2}
    assert (shown["decision"], shown["row"], shown["extensions"]) == ("PROMOTE", 2, 0)
    assert shown["subject"] == "strat_1" and "positions" in shown["desk"]
