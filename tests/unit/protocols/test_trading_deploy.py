"""Deployment: the decision table, its case, what silence and the admin lead to (spec 4.1, R-B1, R-B2)."""

from __future__ import annotations

from datetime import timedelta
from itertools import product

import pytest

from moot.protocols.kernel.people import Stop
from moot.protocols.kernel.seats import ADMIN, REFEREE
from moot.protocols.research.seats import EVOLVER
from moot.protocols.trading import messages as t
from moot.protocols.trading.deploy import (
    EXPIRED,
    FEEDBACK,
    guardian_says,
    row_of,
    trader_says,
)
from moot.protocols.trading.seats import GUARDIAN as GUARDIAN_SEAT
from moot.protocols.trading.seats import OPERATOR as OPERATOR_SEAT
from moot.protocols.trading.seats import TRADER as TRADER_SEAT
from moot.protocols.trading.session_follow import to_deploy
from tests.doubles import bodies
from tests.doubles.debating import assess, backtest, hypothesise, judge
from tests.doubles.life_table import LifeTable, decision, guardian, notice, trader
from tests.doubles.table import START

OPERATOR, GUARDIAN, TRADER = OPERATOR_SEAT, GUARDIAN_SEAT, TRADER_SEAT
GUARDIAN_MAY_SAY = ("acceptable", "elevated", "excessive", "missing")
TRADER_MAY_SAY = ("ready", "liquidity_concern", "needs_adjustment", "missing")

# R-B1 written out by hand: every pair of what the two may say.
EXPECTED = {
    ("acceptable", "ready"): (3, "DEPLOY"),
    ("acceptable", "liquidity_concern"): (2, "ESCALATE"),
    ("acceptable", "needs_adjustment"): (4, "DEPLOY_MODIFIED"),
    ("acceptable", "missing"): (2, "ESCALATE"),
    ("elevated", "ready"): (5, "DEPLOY_MODIFIED"),
    ("elevated", "liquidity_concern"): (2, "ESCALATE"),
    ("elevated", "needs_adjustment"): (2, "ESCALATE"),
    ("elevated", "missing"): (2, "ESCALATE"),
    ("excessive", "ready"): (1, "REJECT"),
    ("excessive", "liquidity_concern"): (1, "REJECT"),
    ("excessive", "needs_adjustment"): (1, "REJECT"),
    ("excessive", "missing"): (1, "REJECT"),
    ("missing", "ready"): (2, "ESCALATE"),
    ("missing", "liquidity_concern"): (2, "ESCALATE"),
    ("missing", "needs_adjustment"): (2, "ESCALATE"),
    ("missing", "missing"): (2, "ESCALATE"),
}


def proposed() -> LifeTable:
    table = LifeTable()
    table.stage()
    table.propose()
    return table


def reviewed(guardians: t.DeployReview | None, traders: t.DeployReview | None) -> LifeTable:
    """Let both review, or miss their review."""
    table = proposed()
    if guardians is not None:
        table.say(GUARDIAN, guardians)
    if traders is not None:
        table.say(TRADER, traders)
    if None in (guardians, traders):
        table.wait(minutes=20)
    return table


def escalated() -> LifeTable:
    table = reviewed(guardian("elevated"), trader("needs_adjustment"))
    table.say(OPERATOR, decision("ESCALATE", 2))
    return table


# ---------------------------------------------------------------- the table


@pytest.mark.rule("R-B1")
def test_r_b1_decides_every_pair_of_reviews_as_written():
    assert set(EXPECTED) == set(product(GUARDIAN_MAY_SAY, TRADER_MAY_SAY))
    for (guardians, traders), (n, what) in EXPECTED.items():
        row = row_of(guardians, traders)
        assert (row.n, row.decision) == (n, what), (guardians, traders)


@pytest.mark.rule("R-B1")
def test_r_b1_excessive_wins_over_everything():
    assert {row_of("excessive", said).decision for said in TRADER_MAY_SAY} == {"REJECT"}


@pytest.mark.rule("R-B1")
def test_r_b1_a_liquidity_concern_counts_with_ready_only():
    assert trader_says(trader("ready", liquidity=True)) == "liquidity_concern"
    assert trader_says(trader("needs_adjustment", liquidity=True)) == "needs_adjustment"
    assert (guardian_says(None), trader_says(None)) == ("missing", "missing")


@pytest.mark.rule("R-B1")
@pytest.mark.parametrize(
    ("guardians", "traders", "right"),
    [
        (guardian(), trader(), decision("DEPLOY", 3, position_limit=0.02, order_type="limit")),
        (guardian(), trader("needs_adjustment"), decision("DEPLOY_MODIFIED", 4, order_type="limit")),
        (guardian("elevated"), trader(), decision("DEPLOY_MODIFIED", 5, position_limit=0.02)),
        (guardian("excessive"), trader(), decision("REJECT", 1, "too risky")),
        (guardian("excessive"), None, decision("REJECT", 1, "too risky")),
        (guardian(), trader(liquidity=True), decision("ESCALATE", 2)),
        (None, trader(), decision("ESCALATE", 2)),
        (guardian(), None, decision("ESCALATE", 2)),
    ],
)
def test_r_b1_the_operator_decides_what_the_table_says_and_nothing_else(guardians, traders, right):
    table = reviewed(guardians, traders)
    others = [
        decision("DEPLOY", 3, position_limit=0.02, order_type="limit"),
        decision("DEPLOY_MODIFIED", 4, order_type="limit"),
        decision("DEPLOY_MODIFIED", 5, position_limit=0.02),
        decision("REJECT", 1, "too risky"),
        decision("ESCALATE", 2),
        decision(right.decision, right.row + 1, right.feedback),
        decision(right.decision, right.row, right.feedback, position_limit=0.01),
    ]
    for wrong in others:
        if wrong != right:
            assert table.broke(table.say(OPERATOR, wrong)) == "R-B1", wrong
    assert table.broke(table.say(OPERATOR, right)) == ""


@pytest.mark.rule("R-G1")
@pytest.mark.parametrize("limit", [0.01, 0.02, 0.05])
@pytest.mark.parametrize("order_type", ["market", "limit"])
def test_r_g1_deploy_carries_the_lower_limit_and_the_traders_order_type(limit, order_type):
    table = reviewed(
        guardian().model_copy(update={"recommended_position_limit": limit}),
        trader().model_copy(update={"suggested_order_type": order_type}),
    )
    assert table.broke(table.say(OPERATOR, decision("DEPLOY", 3))) == "R-B1"
    agreed = {"position_limit": limit, "order_type": order_type}
    assert table.broke(table.say(OPERATOR, decision("DEPLOY", 3, **agreed))) == ""
    table.wait(minutes=20)
    known = table.life.strategies["strat_1"]
    assert (known.position_limit, known.order_type) == (limit, order_type)


@pytest.mark.rule("R-G1")
@pytest.mark.parametrize("version", ["2", "3"])
def test_r_g1_an_older_log_deploys_without_parameters(monkeypatch, version):
    monkeypatch.setattr(LifeTable, "rules_version", version)
    table = reviewed(guardian(), trader())
    agreed = {"position_limit": 0.02, "order_type": "limit"}
    assert table.broke(table.say(OPERATOR, decision("DEPLOY", 3, **agreed))) == "R-B1"
    assert table.broke(table.say(OPERATOR, decision("DEPLOY", 3))) == ""
    table.wait(minutes=20)
    known = table.life.strategies["strat_1"]
    assert (known.position_limit, known.order_type) == (0.05, "market")


@pytest.mark.rule("R-B1")
def test_r_b1_a_rejection_needs_feedback_for_system_a():
    table = reviewed(guardian("excessive"), trader())
    for feedback in (None, "", " \n"):
        assert table.broke(table.say(OPERATOR, decision("REJECT", 1, feedback))) == "R-B1"


# ---------------------------------------------------------------- the case


def test_4_1_both_review_at_once_and_in_any_order_then_the_operator_decides():
    for order in ((GUARDIAN, TRADER), (TRADER, GUARDIAN)):
        table = proposed()
        assert table.obligations() == {("guardian", "DEPLOY_REVIEW"), ("trader", "DEPLOY_REVIEW")}
        for seat in order:
            table.say(seat, guardian() if seat == GUARDIAN else trader())
        assert table.obligations() == {("operator", "DEPLOY_DECISION")}


def test_4_1_a_reviewer_fills_its_own_form_and_only_once():
    table = proposed()
    assert table.broke(table.say(GUARDIAN, trader())) == "4.1"
    table.say(GUARDIAN, guardian())
    again = table.tell(GUARDIAN, guardian("excessive"), table.last("DEPLOY_PROPOSAL").case_id)
    assert table.broke(again) == "4.1"


@pytest.mark.rule("R-B12")
def test_r_b12_a_deployed_strategy_trades_on_paper_with_what_was_agreed():
    table = reviewed(guardian("elevated"), trader())
    table.say(OPERATOR, decision("DEPLOY_MODIFIED", 5, position_limit=0.02))
    assert not table.life.is_traded("strat_1")
    for wrong in (notice("PROMOTE"), notice(strategy_id="strat_2"), notice(to="production")):
        assert table.broke(table.say(OPERATOR, wrong)) == "R-B12"
    table.say(OPERATOR, notice())
    known = table.standing()
    assert known.is_traded and known.stage == "staging" and known.deployed_at == table.now
    assert (known.position_limit, known.order_type) == (0.02, "market")


@pytest.mark.rule("R-B1")
def test_r_b1_a_rejected_strategy_goes_back_to_the_candidates():
    table = reviewed(guardian("excessive"), trader())
    table.say(OPERATOR, decision("REJECT", 1, "too risky"))
    wrong = bodies.moved(from_="staging", to="withdrawn")
    assert table.broke(table.say(OPERATOR, wrong)) == "R-D20"
    for blank in ("", " \n"):
        silent = bodies.moved(from_="staging", to="candidates", reason=blank)
        assert table.broke(table.say(OPERATOR, silent)) == "R-B1"
    table.say(OPERATOR, bodies.moved(from_="staging", to="candidates"))
    assert table.standing().stage == "candidates" and table.life.to_consider() == ()
    assert table.effects[-1].ended[0].outcome == "rejected"


@pytest.mark.rule("R-B12")
def test_r_b12_what_is_not_staged_or_deployed_already_or_proposed_already_is_not_proposed():
    table = LifeTable()
    proposal = t.DeployProposal(strategy_id="strat_1", backtest_metrics={}, risk_profile={})
    assert table.broke(table.tell(OPERATOR, proposal)) == "4.1"
    table.move(None, "candidates")
    assert table.broke(table.tell(OPERATOR, proposal)) == "4.1"
    table.move("candidates", "staging")
    assert table.broke(table.tell(OPERATOR, proposal)) == ""
    assert table.broke(table.tell(OPERATOR, proposal)) == "K9"
    table.say(GUARDIAN, guardian())
    table.say(TRADER, trader())
    table.say(OPERATOR, decision("DEPLOY", 3, position_limit=0.02, order_type="limit"))
    table.say(OPERATOR, notice())
    assert table.broke(table.tell(OPERATOR, proposal)) == "R-B12"


@pytest.mark.rule("R-D20")
def test_r_d20_a_proposal_says_of_the_backtest_what_the_log_says():
    table = LifeTable(schedules={"micro": {"at": [START.isoformat()]}})
    hypothesise(table)
    assess(table, confidence=0.9)
    judge(table)
    backtest(table)
    table.say(EVOLVER, bodies.moved("strat_1"))
    table.move("candidates", "staging")
    known = dict(table.standing().backtest)
    fields = {"strategy_id": "strat_1", "risk_profile": {}}
    wrong = t.DeployProposal(backtest_metrics={**known, "sharpe": 9.0}, **fields)
    assert table.broke(table.tell(OPERATOR, wrong)) == "R-D20"
    assert table.broke(table.tell(OPERATOR, t.DeployProposal(backtest_metrics=known, **fields))) == ""


def test_a_proposal_in_a_session_is_its_child():
    table = LifeTable()
    table.stage()
    session = table.open_day()
    case = table.docket.cases[table.propose(session_id=session)]
    assert (case.parent, table.rules.types[case.kind].system) == (session, "B")


# ---------------------------------------------------------------- silence and the admin


@pytest.mark.rule("R-B2")
def test_r_b2_a_missed_review_is_a_disagreement():
    table = proposed()
    table.say(TRADER, trader())
    table.wait(minutes=20)
    ruling = table.last("RULING").body
    assert (ruling.outcome, ruling.reason, ruling.rule) == ("void", "timeout", "R-B2")
    assert table.obligations() == {("operator", "DEPLOY_DECISION")}


@pytest.mark.rule("R-B1")
def test_r_b1_a_silent_operator_leaves_the_decision_to_the_admin():
    table = reviewed(guardian(), trader())
    table.wait(minutes=20)
    ruling = next(e.body for e in reversed(table.log) if e.body.type == "RULING")
    assert (ruling.outcome, ruling.reason, ruling.rule) == ("ESCALATE", "timeout", "R-B1")
    assert table.last("ESCALATION").body.trigger_code == "deployment"
    assert table.obligations() == set()


def test_a_missed_notice_changes_no_decision():
    table = reviewed(guardian(), trader())
    table.say(OPERATOR, decision("DEPLOY", 3, position_limit=0.02, order_type="limit"))
    table.wait(minutes=20)
    assert table.last("RULING").body.rule == "R-B12"
    assert table.life.is_traded("strat_1")


def unreturned() -> LifeTable:
    """Reject a deployment, and let the Operator be silent about the return."""
    table = reviewed(guardian("excessive"), trader())
    table.say(OPERATOR, decision("REJECT", 1, "too risky"))
    table.wait(minutes=20)
    return table


@pytest.mark.rule("R-F7")
def test_r_f7_a_missed_return_is_made_by_the_referee_with_the_feedback():
    table = unreturned()
    ruling, said = table.last("RULING"), table.last("STRATEGY_MOVED")
    assert ruling.body.rule == "R-D20"
    assert (said.author, said.channel, said.in_reply_to) == (REFEREE, "#bridge", ruling.id)
    assert (said.body.from_, said.body.to, said.body.reason) == ("staging", "candidates", "too risky")
    assert table.standing().stage == "candidates" and table.life.to_consider() == ()


@pytest.mark.rule("R-F7")
def test_r_f7_silence_of_the_admin_and_of_the_operator_still_returns_it():
    table = escalated()
    table.wait(hours=4)
    assert (table.last("RULING").body.outcome, table.standing().stage) == ("REJECT", "staging")
    table.wait(minutes=20)
    assert table.last("STRATEGY_MOVED").body.reason == FEEDBACK[EXPIRED]
    assert table.standing().stage == "candidates"


@pytest.mark.rule("R-F7")
def test_r_f7_what_the_admin_moves_first_stays_there():
    table = reviewed(guardian("excessive"), trader())
    table.say(OPERATOR, decision("REJECT", 1, "too risky"))
    table.move("staging", "withdrawn")
    table.wait(minutes=20)
    assert table.standing().stage == "withdrawn"
    assert table.last("STRATEGY_MOVED").author == ADMIN


@pytest.mark.rule("R-F7")
@pytest.mark.parametrize("is_returned", [True, False])
def test_r_f7_five_sessions_pass_before_it_is_proposed_again(is_returned):
    table = unreturned()
    if is_returned:
        table = reviewed(guardian("excessive"), trader())
        table.say(OPERATOR, decision("REJECT", 1, "too risky"))
        table.say(OPERATOR, bodies.moved(from_="staging", to="candidates"))
    table.move("candidates", "staging")
    proposal = t.DeployProposal(strategy_id="strat_1", backtest_metrics={}, risk_profile={})
    for _ in range(5):
        assert to_deploy(table.docket.context) == ()
        assert table.broke(table.tell(OPERATOR, proposal)) == "R-F7"
        table.trade_days(1)
    assert to_deploy(table.docket.context) == ("strat_1",)
    assert table.broke(table.tell(OPERATOR, proposal)) == ""


@pytest.mark.rule("R-F7")
def test_r_f7_a_new_backtest_lets_it_be_proposed_at_once():
    slot = START + timedelta(hours=1)
    table = LifeTable(schedules={"micro": {"at": [slot.isoformat()]}})
    table.stage()
    table.propose()
    table.say(GUARDIAN, guardian("excessive"))
    table.say(TRADER, trader())
    table.say(OPERATOR, decision("REJECT", 1, "too risky"))
    table.say(OPERATOR, bodies.moved(from_="staging", to="candidates"))
    table.move("candidates", "withdrawn")
    table.until(slot)
    hypothesise(table)
    assess(table, confidence=0.9)
    judge(table)
    backtest(table)
    table.say(EVOLVER, bodies.moved("strat_1", from_="withdrawn"))
    table.move("candidates", "staging")
    assert to_deploy(table.docket.context) == ("strat_1",)


def test_a_human_stop_ends_a_deployment_and_withdraws_its_escalation():
    table = escalated()
    table.tell(ADMIN, Stop(scope="system B", why="enough"))
    assert not any(s.kind == "deployment" for s in table.docket.cases.values())
    assert table.last("ESCALATION_RESOLVED").body.how == "withdrawn"
    assert not table.life.is_traded("strat_1")


def test_the_brief_shows_the_table_the_reviews_and_the_desk():
    table = reviewed(guardian("elevated", 0.03), trader())
    obligation = table.owed(OPERATOR, "DEPLOY_DECISION")
    state = table.docket.cases[obligation.case_id]
    shown = table.rules.types["deployment"].brief(state, obligation, table.docket.context)
    assert (shown["subject"], shown["decision"], shown["row"]) == ("strat_1", "DEPLOY_MODIFIED", 5)
    assert shown["parameters"] == {"position_limit": 0.03, "order_type": None}
    assert shown["guardian"]["risk_assessment"] == "elevated"
    assert shown["desk"]["strategies"]["strat_1"]["stage"] == "staging"


@pytest.mark.rule("R-F14")
@pytest.mark.parametrize(
    ("limit", "rule"), [(0.0, "R-F14"), (0.050001, "R-F14"), (0.9, "R-F14"), (0.05, ""), (0.000001, "")]
)
def test_r_f14_a_recommended_limit_is_more_than_nothing_and_at_most_5_percent(limit, rule):
    table = LifeTable()
    table.stage()
    table.propose()
    assert table.broke(table.say(GUARDIAN, guardian("elevated", limit))) == rule
