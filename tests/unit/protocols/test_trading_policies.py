"""What the referee rules in System B after escalations, halts and silence (R-B1, R-B5, R-B8, spec 5.3)."""

from __future__ import annotations

import pytest

from moot.protocols.escalation.messages import EscalationAnswer
from moot.protocols.kernel.people import Stop
from moot.protocols.kernel.seats import ADMIN as ADMIN_SEAT
from moot.protocols.trading import messages as t
from moot.protocols.trading.seats import GUARDIAN as GUARDIAN_SEAT
from moot.protocols.trading.seats import OPERATOR as OPERATOR_SEAT
from moot.protocols.trading.seats import TRADER as TRADER_SEAT
from tests.doubles import bodies
from tests.doubles.life_table import LifeTable, decision, guardian, halt, notice, trader

OPERATOR, GUARDIAN, TRADER, ADMIN = OPERATOR_SEAT, GUARDIAN_SEAT, TRADER_SEAT, ADMIN_SEAT
HALVE = ("reduce_exposure", "conservative", "R-B8")
ALREADY_REDUCED = ("void", "already_reduced", "R-F1")


def answer(table: LifeTable, option: int | None = None, text: str | None = None) -> None:
    case_id = table.last("ESCALATION").case_id
    table.tell(ADMIN, EscalationAnswer(option=option, text=text), case_id)


def rulings(table: LifeTable, case_id: str) -> list[tuple[str, str, str]]:
    """Return the rulings on a case itself."""
    found = [e.body for e in table.log if e.body.type == "RULING" and e.body.case_id == case_id]
    return [(r.outcome, r.reason, r.rule) for r in found]


def disputed(table: LifeTable | None = None) -> tuple[LifeTable, str]:
    """Return a deployment that waits for the admin."""
    table = table or LifeTable()
    table.stage()
    case_id = table.propose()
    table.say(GUARDIAN, guardian("elevated", 0.01))
    table.say(TRADER, trader("needs_adjustment"))
    table.say(OPERATOR, decision("ESCALATE", 2))
    return table, case_id


# ---------------------------------------------------------------- R-B8


@pytest.mark.rule("R-B8")
def test_r_b8_silence_halves_every_position_once():
    table = LifeTable()
    session = table.open_day()
    table.tell(GUARDIAN, halt())
    table.wait(hours=4)
    assert table.last("ESCALATION_RESOLVED").body.how == "expired"
    assert rulings(table, session) == [HALVE]
    assert [tuple(d) for d in table.docket.cases[session].rulings] == [HALVE]
    table.wait(hours=30)
    assert rulings(table, session) == [HALVE]


@pytest.mark.rule("R-F1")
def test_r_f1_a_second_silence_halves_nothing_while_the_first_halving_is_in_force():
    table, _ = disputed()
    session = table.open_day()
    table.wait(minutes=2)
    table.tell(GUARDIAN, halt())
    table.wait(hours=4)
    assert [e.body.how for e in table.log if e.body.type == "ESCALATION_RESOLVED"] == ["expired", "expired"]
    assert rulings(table, session) == [HALVE, ALREADY_REDUCED]


@pytest.mark.rule("R-F1")
def test_r_f1_a_second_silence_that_waits_for_a_session_halves_nothing_more():
    table, _ = disputed()
    table.tell(GUARDIAN, halt())
    table.wait(hours=4)
    assert rulings(table, table.open_day()) == [HALVE, ALREADY_REDUCED]


@pytest.mark.rule("R-F1")
def test_r_f1_an_admin_may_halve_again():
    table, _ = disputed()
    session = table.open_day()
    table.tell(GUARDIAN, halt())
    first, second = (e.case_id for e in table.log if e.body.type == "ESCALATION")
    for case_id in (first, second):
        table.tell(ADMIN, EscalationAnswer(option=1), case_id)
    assert rulings(table, session) == [HALVE, HALVE]


@pytest.mark.rule("R-B8")
def test_r_b8_without_a_session_it_waits_for_the_next_one():
    table = LifeTable()
    table.tell(GUARDIAN, halt())
    table.wait(hours=4)
    assert table.last("ESCALATION_RESOLVED").body.effect == "conservative_b"
    session = table.open_day()
    assert rulings(table, session) == [HALVE]
    assert rulings(table, table.open_day()) == []


@pytest.mark.rule("R-B8")
def test_r_b8_a_session_that_ended_a_moment_before_leaves_it_to_the_next_one():
    table = LifeTable()
    session = table.open_day()
    table.tell(GUARDIAN, halt())
    case_id = table.last("ESCALATION").case_id
    table.post(ADMIN, EscalationAnswer(option=1), channel="#admin", case_id=case_id)
    resolved = next(iter(table.docket.due(table.now)))
    assert table.publish(resolved) is not None
    ruling = next(iter(table.docket.due(table.now)))
    assert ruling.body.type == "RULING" and ruling.case_id == session
    week = t.WeeklyTradingReport(
        week="2026-W09",
        sessions=1,
        pnl_usd=0.0,
        pnl_pct=0.0,
        cumulative_pnl_pct=0.0,
        total_trades=0,
        strategy_attribution=(),
        promotions=(),
        recalls=(),
    )
    table.post(OPERATOR, week, channel="#b-report", case_id=session)
    table.officers()
    assert session in table.docket.ended
    assert rulings(table, table.open_day()) == [HALVE]


def test_two_rulings_that_wait_both_reach_the_next_session():
    table = LifeTable()
    table.open_day()
    table.close_day(-0.06)
    table.week()
    answer(table, 2)
    table.tell(GUARDIAN, halt())
    answer(table, 1)
    session = table.open_day()
    assert rulings(table, session) == [("void", "halt_desk", "R-B5"), HALVE]


def test_as_before_rules_nothing():
    table = LifeTable()
    session = table.open_day()
    table.tell(GUARDIAN, halt())
    answer(table, 3)
    assert rulings(table, session) == []


# ---------------------------------------------------------------- deployments


@pytest.mark.rule("R-B1")
@pytest.mark.parametrize(
    ("option", "expected"),
    [
        (1, ("REJECT", "admin", "R-B1")),
        (2, ("DEPLOY", "admin", "R-B1")),
        (3, ("DEPLOY", "admin_modified", "R-B1")),
        (4, ("REJECT", "admin", "R-B1")),
    ],
)
def test_r_b1_the_admin_decides_on_a_disagreement(option, expected):
    table, case_id = disputed()
    session = table.open_day()
    answer(table, option)
    assert rulings(table, case_id) == [expected]
    assert rulings(table, session) == ([HALVE] if option == 1 else [])


@pytest.mark.rule("R-B1")
@pytest.mark.parametrize(
    ("option", "limits"), [(2, (0.05, "market")), (3, (0.01, "limit"))], ids=["as proposed", "with limits"]
)
def test_r_b1_what_the_admin_deploys_trades_with_what_the_admin_chose(option, limits):
    table, _ = disputed()
    answer(table, option)
    table.say(OPERATOR, notice())
    known = table.standing()
    assert known.is_traded and (known.position_limit, known.order_type) == limits


@pytest.mark.rule("R-B1")
def test_r_b1_silence_is_no_consent():
    table, case_id = disputed()
    session = table.open_day()
    table.wait(hours=4)
    assert rulings(table, case_id) == [("REJECT", "expired", "R-B1")]
    assert table.docket.cases[case_id].feedback == "nobody answered the escalation in time"
    assert rulings(table, session) == [HALVE]
    table.say(OPERATOR, bodies.moved(from_="staging", to="candidates"))
    assert table.standing().stage == "candidates"


@pytest.mark.rule("R-B1")
def test_r_b1_a_remark_is_no_consent():
    table, case_id = disputed()
    answer(table, text="sounds good, but let me think")
    assert rulings(table, case_id) == [("REJECT", "admin", "R-B1")]
    assert table.docket.cases[case_id].feedback == "the admin did not agree to it"


def test_a_deployment_that_was_stopped_is_not_ruled_on_again():
    table, case_id = disputed()
    table.tell(ADMIN, Stop(scope=case_id, why="enough"))
    assert rulings(table, case_id) == [("stop", "human_stop", "K21")]


@pytest.mark.rule("R-B1")
def test_r_b1_a_deployment_never_waits_for_an_escalation_that_was_stopped():
    table, case_id = disputed()
    table.tell(ADMIN, Stop(scope=table.last("ESCALATION").case_id, why="not now"))
    assert rulings(table, case_id) == [("REJECT", "admin", "R-B1")]


# ---------------------------------------------------------------- halts


@pytest.mark.rule("R-B5")
def test_r_b5_an_admin_who_resumes_is_ruled_on_the_halt():
    table = LifeTable()
    case_id = table.tell(GUARDIAN, halt()).case_id
    answer(table, 2)
    assert rulings(table, case_id) == [("void", "resume", "R-B5")]
    assert table.obligations() == {("operator", "RESUME")}


@pytest.mark.rule("R-B5")
def test_r_b5_an_admin_who_halts_the_desk_is_ruled_on_the_session():
    table = LifeTable()
    session = table.open_day()
    table.close_day(-0.06)
    answer(table, 2)
    assert rulings(table, session) == [("void", "halt_desk", "R-B5")]


@pytest.mark.rule("R-B5")
def test_r_b5_a_halt_is_ruled_on_every_open_trade():
    table = LifeTable()
    table.open_day()
    table.deploy()
    trades = [table.signal(), table.signal()]
    table.order(trades[1])
    table.tell(GUARDIAN, halt())
    for trade in trades:
        assert rulings(table, trade) == [("void", "halt", "R-B5")]
    assert trades[0] in table.docket.ended
    assert ("trader", "EXECUTION") in table.obligations()


@pytest.mark.rule("R-B5")
def test_r_b5_a_second_halt_rules_on_nothing():
    table = LifeTable()
    table.open_day()
    table.deploy()
    trade = table.signal()
    table.order(trade)
    table.tell(GUARDIAN, halt())
    assert table.broke(table.tell(GUARDIAN, halt())) == ""
    assert len(rulings(table, trade)) == 1


# ---------------------------------------------------------------- silence


@pytest.mark.rule("R-D10")
def test_r_d10_every_silence_of_system_b_is_audited():
    table = LifeTable()
    table.stage()
    table.propose()
    table.say(GUARDIAN, guardian())
    table.wait(minutes=20)
    audit = table.last("AUDIT").body
    assert (audit.event, audit.seat, audit.channel) == ("timeout", "trader", "#b-ops")
    assert audit.reason == "trader owed DEPLOY_REVIEW and was silent; void"
    assert [e.body.type for e in table.log].count("AUDIT") == 1
    assert "REFLECTION" not in table.kinds()
