"""The trading day: its tracks, what follows from them, how it ends; system-b.md "Time" (R-D18)."""

from collections import Counter
from datetime import date, timedelta
from itertools import pairwise

import pytest

from moot.protocols.kernel.people import Stop
from moot.protocols.kernel.seats import ADMIN
from moot.protocols.research.seats import EVOLVER
from moot.protocols.trading import bridge
from moot.protocols.trading import messages as t
from moot.protocols.trading.session import TRACKS
from moot.protocols.trading.session_follow import APPLIES
from moot.protocols.trading.session_state import FEEDBACK, RECALL
from tests.doubles import bodies
from tests.doubles.checking import findings
from tests.doubles.desk_table import GUARDIAN, MONDAY, OPERATOR, TRADER, DeskTable, at, body_of

TUESDAY, FRIDAY, SATURDAY = date(2026, 2, 24), date(2026, 2, 27), date(2026, 2, 28)
NEXT_MONDAY = date(2026, 3, 2)
MORNING = at(9, 14, TUESDAY)
WARM = at(9, 51)


def broken(table):
    return [e.body.type for e in table.log if table.broke(e)]


def violation(table, env):
    return table.effects[env.seq - 1].violation


def kinds(table):
    return Counter(table.kinds())


def holding(quantity=100, *, until=WARM):
    """Open a day on which strat_1, in production, holds SPX at 100."""
    table = DeskTable()
    table.produced()
    table.answer_all(at(9, 49))
    table.hold("strat_1", "SPX", quantity)
    table.answer_all(until)
    return table


def risk_check(table, **marks):
    owed = table.owed(GUARDIAN, "RISK_CHECK")
    table.until(max(table.now, owed.opened_at))
    return table.answer(owed, marks=marks)


# ---------------------------------------------------------------- tracks


@pytest.mark.rule("R-D18")
def test_r_d18_a_whole_day_has_every_tick_once_and_then_the_session_closes():
    table = DeskTable()
    table.answer_all(MORNING)
    assert kinds(table) >= Counter(
        RISK_CHECK=78,
        DESK_CHECK=26,
        CHECK_NEW_STRATEGIES=31,
        TRADING_SUMMARY=3,
        PRE_MARKET_CHECK=1,
        MARKET_CLOSE=1,
        DAILY_TRADING_REPORT=1,
        OVERNIGHT_RISK_CHECK=1,
    )
    assert "RULING" not in kinds(table)
    assert "VIOLATION" not in kinds(table)
    assert table.docket.ended["session_20260223"].outcome == "closed"
    assert "session" not in {s.kind for s in table.docket.cases.values()}


@pytest.mark.rule("R-D18")
def test_r_d18_every_tick_is_owed_from_its_nominal_instant_on_with_the_tables_limits():
    table = DeskTable()
    owed = {o.step: o for o in table.session.owed}
    assert set(owed) == {
        "pre_market-0915",
        "risk-0930",
        "desk-0930",
        "poll-0930",
        "summary-1130",
        "close-1600",
        "report-1630",
        "overnight-20260224-0400",
    }
    risk = owed["risk-0930"]
    assert (risk.opened_at, risk.due_at, risk.void_at) == (at(9, 30), at(9, 34), at(9, 35))
    assert risk.id == "session_20260223/risk-0930/guardian"
    assert owed["overnight-20260224-0400"].opened_at == at(4, 0, TUESDAY)


@pytest.mark.rule("R-D18")
def test_r_d18_a_message_before_its_time_is_a_violation_and_changes_nothing():
    table = DeskTable()
    before = table.session
    early = table.answer(table.owed(TRADER, "DESK_CHECK"))
    assert table.broke(early) == "R-D18"
    assert table.session.owed == before.owed


@pytest.mark.rule("R-D18")
def test_r_d18_a_half_day_closes_at_one_with_its_ticks():
    day = date(2026, 11, 27)
    table = DeskTable(at(9, 15, day))
    assert table.brief(table.owed(OPERATOR, "MARKET_CLOSE"))["session"]["is_early_close"]
    table.answer_all(at(9, 14, date(2026, 11, 30)))
    assert table.last("MARKET_CLOSE").sent_at == at(13, 0, day)
    assert kinds(table)["RISK_CHECK"] == 42
    assert kinds(table)["TRADING_SUMMARY"] == 1


@pytest.mark.rule("R-D18")
def test_r_d18_a_weekend_has_polls_overnight_checks_and_the_weekly_report():
    table = DeskTable(at(9, 15, FRIDAY))
    table.answer_all(at(9, 14, NEXT_MONDAY))
    weekly = table.last("WEEKLY_TRADING_REPORT")
    assert weekly.sent_at == at(10, 0, SATURDAY)
    assert weekly.body.week == "2026-W09"
    assert kinds(table)["WEEKLY_TRADING_REPORT"] == 1
    overnight = [e.sent_at for e in table.log if e.body.type == "OVERNIGHT_RISK_CHECK"]
    assert overnight == [at(4, 0, SATURDAY) + n * timedelta(hours=12) for n in range(5)]
    polls = [e.sent_at for e in table.log if e.body.type == "CHECK_NEW_STRATEGIES"]
    assert [b - a for a, b in pairwise(polls[27:])] == [timedelta(hours=4)] * 15
    assert table.docket.ended["session_20260227"].outcome == "closed"


@pytest.mark.rule("R-D18")
def test_r_d18_clocks_that_change_within_a_desk_day_repeat_no_step():
    table = DeskTable(at(9, 15, date(2026, 10, 30)))
    table.answer_all(at(9, 14, date(2026, 11, 2)))
    ids = [o.id for fx in table.effects for o in fx.opened]
    assert len(ids) == len(set(ids))
    assert table.docket.ended["session_20261030"].outcome == "closed"


@pytest.mark.rule("R-D18")
def test_r_d18_a_society_that_starts_within_the_day_does_not_owe_what_was_due_before():
    table = DeskTable(at(12, 2))
    assert set(table.steps()) == {
        "risk-1205",
        "desk-1215",
        "poll-1215",
        "summary-1330",
        "close-1600",
        "report-1630",
        "overnight-20260224-0400",
    }


def test_a_session_that_owes_nothing_any_more_ends_at_once():
    table = DeskTable(at(9, 14))
    assert table.docket.ended["session_20260220"].outcome == "closed"


@pytest.mark.rule("R-D18")
def test_r_d18_a_late_answer_passes_over_the_ticks_that_went_by():
    table = DeskTable()
    table.answer_all(at(9, 29))
    owed = table.owed(OPERATOR, "CHECK_NEW_STRATEGIES")
    table.now = at(9, 52)
    table.post(OPERATOR, t.CheckNewStrategies(nominal_at=owed.opened_at), owed=owed)
    assert table.steps("poll") == ["poll-1000"]


def test_a_tick_that_began_a_moment_ago_is_still_owed():
    table = DeskTable()
    table.answer_all(at(9, 34), but=["RISK_CHECK"])
    owed = table.owed(GUARDIAN, "RISK_CHECK")
    table.now = at(9, 35) + timedelta(seconds=2)
    table.post(GUARDIAN, t.RiskCheck(**risk_body(table, owed)), owed=owed)
    assert table.steps("risk") == ["risk-0935"]


def test_the_first_tick_is_owed_by_a_session_that_opens_a_moment_late():
    assert "pre_market-0915" in DeskTable(at(9, 15) + timedelta(seconds=20)).steps()
    assert "pre_market-0915" not in DeskTable(at(9, 16) + timedelta(seconds=1)).steps()


def risk_body(table, owed):
    from moot.protocols.trading.briefing import measured

    brief = table.brief(owed)
    return {
        "nominal_at": owed.opened_at,
        "marks": {},
        "var95": 0.0,
        "correlation": 0.0,
        **measured(brief["desk"], {}),
    }


@pytest.mark.rule("R-D18")
def test_r_d18_a_missed_tick_is_skipped_and_the_next_one_is_owed():
    table = DeskTable()
    table.until(at(9, 44))
    rulings = [e.body for e in table.log if e.body.type == "RULING"]
    assert {(r.outcome, r.reason) for r in rulings} == {("skip", "timeout")}
    assert table.steps("desk") == ["desk-0945"]
    assert table.steps("poll") == ["poll-0945"]


def test_a_session_of_silent_seats_ends_all_the_same_and_none_piles_up():
    table = DeskTable()
    table.until(at(9, 14, date(2026, 3, 4)))
    assert table.docket.context.running["session"] == 0
    assert {e.outcome for e in table.docket.ended.values() if e.kind == "session"} == {"closed"}


@pytest.mark.rule("K6")
@pytest.mark.parametrize("back", [{"hours": 1}, {"hours": 9}, {"days": 1}, {"days": 6}])
@pytest.mark.parametrize("silent", [(), (OPERATOR,), (GUARDIAN, TRADER)])
def test_k6_an_outage_lets_late_ticks_be_answered_and_every_session_ends(back, silent):
    table = holding(until=at(11))
    table.down(crash=True, **back)
    before = len(table.log)
    assert "RULING" not in [e.body.type for e in table.log[before - 3 :]]
    table.answer_all(table.now + timedelta(days=2), silent=silent)
    assert table.docket.context.running["session"] <= 1
    assert table.docket.ended["session_20260223"].outcome == "closed"
    assert broken(table) == []


@pytest.mark.rule("K6")
def test_k6_a_tick_that_an_outage_passed_over_is_still_owed_afterwards():
    table = DeskTable()
    table.answer_all(at(15, 57))
    table.down(hours=3)
    close = table.owed(OPERATOR, "MARKET_CLOSE")
    assert (close.opened_at, close.due_at) == (at(16), at(16, 10) + timedelta(hours=3))
    table.answer(close)
    assert broken(table) == []


# ---------------------------------------------------------------- figures


@pytest.mark.parametrize(
    ("kind", "field", "wrong"),
    [
        ("RISK_CHECK", "equity", 5.0),
        ("RISK_CHECK", "nominal_at", at(9)),
        ("DESK_CHECK", "nominal_at", at(9)),
        ("CHECK_NEW_STRATEGIES", "nominal_at", at(9)),
        ("TRADING_SUMMARY", "trades", 7),
        ("MARKET_CLOSE", "pnl_usd", 1.0),
        ("MARKET_CLOSE", "date", "2026-02-24"),
        ("DAILY_TRADING_REPORT", "total_trades", 9),
        ("OVERNIGHT_RISK_CHECK", "exposure", 0.5),
    ],
)
def test_a_figure_that_is_not_the_books_is_a_violation_and_the_tick_stays_owed(kind, field, wrong):
    table = DeskTable()
    owed = next(o for o in table.session.owed if kind in o.expects)
    table.answer_all(owed.opened_at - timedelta(seconds=1))
    table.until(owed.opened_at)
    said = table.answer(owed, **{field: wrong})
    assert violation(table, said).field == field
    assert owed.id in table.docket.open
    assert not table.broke(table.answer(owed))


@pytest.mark.rule("R-D20")
def test_r_d20_metrics_are_owed_of_each_strategy_with_a_position_a_quarter_hour_after_the_close():
    table = holding()
    table.produced("strat_2")
    table.answer_all(at(16, 0))
    (owed,) = [o for o in table.session.owed if "METRICS_RECORDED" in o.expects]
    assert owed.opened_at == at(16, 15)
    assert table.brief(owed)["strategy_id"] == table.brief(owed)["subject"] == "strat_1"
    table.until(at(16, 15))
    wrong = table.brief(owed)["realised"] | {"trades": 99}
    assert table.broke(table.answer(owed, realised=t.Realised(**wrong))) == "R-D20"
    assert not table.broke(table.answer(owed, realised=t.Realised(**table.brief(owed)["realised"])))


def test_a_missed_close_stops_neither_metrics_nor_report():
    table = holding()
    table.answer_all(at(16, 16), but=["MARKET_CLOSE", "METRICS_RECORDED"])
    assert [o.opened_at for o in table.session.owed if "METRICS_RECORDED" in o.expects] == [at(16, 15)]
    assert table.steps("report") == ["report-1630"]


def test_what_minds_of_the_desk_are_shown():
    table = holding()
    table.candidate("strat_9")
    owed = table.owed(OPERATOR, "CHECK_NEW_STRATEGIES")
    brief = table.brief(owed)
    assert brief["found"] == ("strat_9",)
    assert brief["nominal_at"] == owed.opened_at
    assert brief["desk"]["positions"] == {"strat_1": {"SPX": 100}}
    assert set(brief["session"]) == {"date", "opens_at", "closes_at", "is_early_close"}


# ---------------------------------------------------------------- strategies


def test_spec_4_1_a_new_candidate_is_moved_and_then_proposed():
    table = DeskTable()
    table.candidate("strat_7")
    table.answer_all(at(9, 29))
    owed = table.owed(OPERATOR, "CHECK_NEW_STRATEGIES")
    table.until(at(9, 30))
    table.answer(owed)
    move = table.owed(OPERATOR, "STRATEGY_MOVED")
    assert (move.step, move.within) == ("move-1", timedelta(minutes=10))
    assert table.brief(move)["to"] == ("staging", "withdrawn")
    assert table.broke(table.answer(move, to="production")) == "R-D20"
    assert table.broke(table.answer(move, from_="staging", to="withdrawn")) == "R-D20"
    table.answer(move)
    deploy = table.owed(OPERATOR, "DEPLOY_PROPOSAL")
    assert table.brief(deploy)["strategy_id"] == "strat_7"
    assert not table.broke(table.answer(deploy))
    assert table.effects[table.last("DEPLOY_PROPOSAL").seq - 1].settled == deploy
    assert table.docket.cases[table.last("DEPLOY_PROPOSAL").case_id].parent == "session_20260223"


def test_spec_4_1_a_candidate_that_fails_its_validation_is_withdrawn_and_not_proposed():
    table = DeskTable()
    table.candidate("strat_7")
    table.answer_all(at(9, 31), but=["STRATEGY_MOVED"])
    table.answer(table.owed(OPERATOR, "STRATEGY_MOVED"), to="withdrawn", reason="it lost")
    assert table.life.stage_of("strat_7") == "withdrawn"
    assert table.steps("deploy") == []


@pytest.mark.parametrize("found", [("strat_8",), ("strat_7", "strat_7")])
def test_spec_4_1_a_poll_names_only_new_candidates_each_once(found):
    table = DeskTable()
    table.candidate("strat_7")
    table.answer_all(at(9, 29))
    table.until(at(9, 30))
    assert table.broke(table.answer(table.owed(OPERATOR, "CHECK_NEW_STRATEGIES"), found=found)) == "4.1"


def test_spec_4_1_a_strategy_that_stands_in_staging_is_proposed_at_the_next_poll_once_a_session():
    table = DeskTable()
    table.staged("strat_7")
    table.answer_all(at(9, 31), but=["DEPLOY_PROPOSAL"])
    assert table.steps("deploy") == ["deploy-1"]
    table.answer_all(at(12), but=["DEPLOY_PROPOSAL"])
    assert table.steps("deploy") == []


def test_the_third_fault_in_a_row_makes_the_operator_revoke_the_strategy():
    table = DeskTable()
    table.produced()
    fault = t.StrategyFault(strategy_id="strat_1", error="division by zero")
    table.answer_all(at(9, 29))
    for _ in range(3):
        assert table.steps("revoke") == []
        owed = table.owed(TRADER, "DESK_CHECK")
        table.answer_all(owed.opened_at - timedelta(seconds=1))
        table.until(owed.opened_at)
        table.answer(owed, faults=(fault,))
    owed = table.owed(OPERATOR, "STRATEGY_MOVED")
    assert (table.brief(owed)["from_"], table.brief(owed)["to"]) == ("production", "candidates")
    assert table.broke(table.answer(owed, to="withdrawn")) == "R-D20"
    assert not table.broke(table.answer(owed))
    assert table.life.stage_of("strat_1") == "candidates"


def test_spec_4_1_what_an_admin_moves_or_withdraws_meanwhile_is_neither_moved_nor_proposed():
    table = DeskTable()
    table.candidate("strat_7")
    table.staged("strat_8")
    table.answer_all(at(9, 31), but=["STRATEGY_MOVED", "DEPLOY_PROPOSAL"])
    assert (len(table.steps("move")), len(table.steps("deploy"))) == (1, 1)
    table.tell(ADMIN, bodies.moved("strat_7", from_="candidates", to="withdrawn"))
    assert (len(table.steps("move")), len(table.steps("deploy"))) == (0, 1)
    table.tell(ADMIN, bodies.moved("strat_8", from_="staging", to="withdrawn"))
    assert (len(table.steps("move")), len(table.steps("deploy"))) == (0, 0)


def test_a_proposal_that_names_no_obligation_settles_the_one_about_its_strategy():
    table = DeskTable()
    table.staged("strat_7")
    table.staged("strat_8")
    table.answer_all(at(9, 31), but=["DEPLOY_PROPOSAL"])
    first, second = (o for o in table.session.owed if "DEPLOY_PROPOSAL" in o.expects)
    said = table.tell(OPERATOR, body_of("DEPLOY_PROPOSAL", table.brief(second), second, {}))
    assert said.obligation_id is None
    assert table.effects[said.seq - 1].settled == second
    assert [o for o in table.session.owed if "DEPLOY_PROPOSAL" in o.expects] == [first]


@pytest.mark.rule("R-D20")
def test_r_d20_what_was_withdrawn_meanwhile_is_revoked_no_more():
    table = DeskTable()
    table.produced()
    fault = t.StrategyFault(strategy_id="strat_1", error="division by zero")
    table.answer_all(at(9, 29))
    for _ in range(3):
        owed = table.owed(TRADER, "DESK_CHECK")
        table.answer_all(owed.opened_at - timedelta(seconds=1))
        table.until(owed.opened_at)
        table.answer(owed, faults=(fault,))
    assert len(table.steps("revoke")) == 1
    table.tell(OPERATOR, bodies.moved("strat_1", from_="production", to="withdrawn"))
    assert table.life.stage_of("strat_1") == "withdrawn"
    assert table.steps("revoke") == []
    assert len(table.docket.open) == len(table.session.owed)


@pytest.fixture
def judged(monkeypatch):
    """Let the bridge's conditions hold: they have tests of their own (R-B9, R-B10)."""

    def set_(name, holds):
        def condition(_context, _strategy_id):
            return holds()

        monkeypatch.setattr(bridge, name, condition)
        monkeypatch.setitem(APPLIES, FEEDBACK if name == "is_underperforming" else RECALL, condition)

    return set_


@pytest.mark.rule("R-B9")
def test_r_b9_metrics_of_a_strategy_that_underperforms_make_the_evolver_owe_feedback(judged):
    held = [True]
    judged("is_underperforming", lambda: held[0])
    table = holding()
    table.answer_all(at(16, 16))
    owed = table.owed(EVOLVER, "PERFORMANCE_FEEDBACK")
    assert (owed.channel, owed.within, owed.grace) == ("#bridge", timedelta(hours=2), timedelta(hours=1))
    brief = table.brief(owed)
    assert brief["subject"] == "strat_1"
    assert "desk" not in brief
    assert not table.broke(table.answer(owed))
    assert table.steps("feedback") == []
    assert table.docket.cases[table.last("PERFORMANCE_FEEDBACK").case_id].kind == "feedback"


@pytest.mark.rule("R-F5")
def test_r_f5_once_the_recall_is_open_no_feedback_is_owed(judged):
    table = holding()
    judged("is_underperforming", lambda: not bridge.is_recalling(table.docket.context, "strat_1"))
    judged("is_losing", lambda: not table.life.strategies["strat_1"].is_flagged)
    table.answer_all(at(16, 16), but=["PERFORMANCE_FEEDBACK", "RECALL_FLAG"])
    assert (len(table.steps("feedback")), len(table.steps("recall"))) == (1, 1)
    assert not table.broke(table.answer(table.owed(GUARDIAN, "RECALL_FLAG"), sharpe=-1.0))
    assert (table.steps("feedback"), table.steps("recall")) == ([], [])


@pytest.mark.parametrize(("condition", "step"), [("is_underperforming", "feedback"), ("is_losing", "recall")])
def test_a_feedback_or_recall_whose_condition_passed_is_owed_no_more(judged, condition, step):
    held = [True]
    judged(condition, lambda: held[0])
    table = holding()
    table.answer_all(at(16, 16), but=["RECALL_FLAG"])
    assert len(table.steps(step)) == 1
    held[0] = False
    table.answer_all(at(16, 31), but=["RECALL_FLAG"])
    assert table.steps(step) == []
    assert "RULING" not in kinds(table)


@pytest.mark.rule("R-B10")
def test_r_b10_metrics_of_a_strategy_that_loses_for_five_sessions_make_the_guardian_owe_a_recall_flag():
    table = holding()
    for n, price in enumerate((99.0, 97.0, 96.0, 93.0, 92.0)):
        day = MONDAY + timedelta(days=n)
        table.answer_all(at(15, 59, day))
        table.until(at(16, 0, day))
        assert not table.broke(table.answer(table.owed(OPERATOR, "MARKET_CLOSE"), closes={"SPX": price}))
        assert table.steps("recall") == []
        table.answer_all(at(16, 14, day))
    table.answer_all(at(16, 16, FRIDAY), but=["RECALL_FLAG"])
    owed = table.owed(GUARDIAN, "RECALL_FLAG")
    assert (owed.within, owed.channel) == (timedelta(minutes=10), "#b-risk")
    brief = table.brief(owed)
    assert (brief["subject"], brief["n"]) == ("strat_1", 5)
    assert brief["sharpe"] < 0
    assert not table.broke(table.answer(owed))
    table.answer_all(at(16, 31, FRIDAY))
    assert table.last("DAILY_TRADING_REPORT").body.recall_flags == ("strat_1",)


@pytest.mark.rule("R-B3")
@pytest.mark.parametrize("but", [(), ("DAILY_TRADING_REPORT",)])
def test_r_b3_a_strategy_that_has_its_days_on_paper_is_proposed_after_the_report_or_its_absence(but):
    table = DeskTable()
    table.deployed("strat_7")
    fifth = date(2026, 2, 27)
    table.answer_all(at(16, 29, fifth))
    assert table.steps("promote") == []
    table.answer_all(at(17, 5, fifth), but=["PROMOTION_PROPOSAL", *but])
    (owed,) = [o for o in table.session.owed if "PROMOTION_PROPOSAL" in o.expects]
    assert (owed.within, owed.grace) == (timedelta(minutes=20), timedelta(minutes=20))
    assert table.brief(owed)["days"] == 5
    if but:
        table.tell(ADMIN, bodies.moved("strat_7", from_="staging", to="withdrawn"))
        assert table.steps("promote") == []
        return
    assert not table.broke(table.answer(owed))
    assert table.docket.cases[table.last("PROMOTION_PROPOSAL").case_id].kind == "promotion"


# ---------------------------------------------------------------- risk


def warned(**marks):
    """Let strat_1's drawdown reach its first limit: 50,000 of allocation, 100 shares at 100, now at 50."""
    table = holding()
    risk_check(table, **(marks or {"SPX": 50.0}))
    return table


@pytest.mark.rule("R-B7")
def test_r_b7_a_limit_that_is_reached_makes_the_guardian_owe_an_alert_of_its_level():
    table = warned()
    owed = table.owed(GUARDIAN, "RISK_ALERT")
    assert (owed.within, owed.grace) == (timedelta(minutes=2), timedelta(minutes=3))
    brief = table.brief(owed)
    assert (brief["metric"], brief["level"], brief["threshold"]) == ("drawdown", "WARNING", -0.1)
    assert brief["affected_strategies"] == ("strat_1",)
    assert table.broke(table.answer(owed, level="INFO")) == "R-B4"
    assert not table.broke(table.answer(owed))
    assert table.session.alerts == (table.last("RISK_ALERT").body.alert_id,)


def test_an_alert_that_names_no_obligation_settles_the_one_of_its_risk_and_level():
    table = holding(400)
    check = table.owed(GUARDIAN, "RISK_CHECK")
    table.until(check.opened_at)
    table.answer(check, marks={"SPX": 86.0}, var95=0.04)
    first, second = (o for o in table.session.owed if "RISK_ALERT" in o.expects)
    assert {o.subject.name for o in (first, second)} == {"drawdown", "var95"}
    assert first.subject.level == second.subject.level == "WARNING"
    harmless = table.tell(GUARDIAN, body_of("RISK_ALERT", table.brief(second), second, {"level": "INFO"}))
    assert (table.broke(harmless), table.effects[harmless.seq - 1].settled) == ("", None)
    said = table.tell(GUARDIAN, body_of("RISK_ALERT", table.brief(second), second, {}))
    assert table.effects[said.seq - 1].settled == second
    assert [o for o in table.session.owed if "RISK_ALERT" in o.expects] == [first]


@pytest.mark.rule("R-B7")
def test_r_b7_a_level_that_stays_is_not_raised_again_but_one_that_rises_is():
    table = warned()
    table.answer(table.owed(GUARDIAN, "RISK_ALERT"))
    risk_check(table, SPX=49.0)
    assert table.steps("alert") == []
    risk_check(table, SPX=20.0)
    assert table.brief(table.owed(GUARDIAN, "RISK_ALERT"))["level"] == "CRITICAL"


@pytest.mark.rule("R-B4")
def test_r_b4_a_missing_alert_reduces_the_exposure():
    table = warned()
    table.answer_all(table.now + timedelta(minutes=5), but=["RISK_ALERT", "SIGNAL"])
    ruling = next(
        e.body for e in reversed(table.log) if e.body.type == "RULING" and "alert" in e.body.obligation_id
    )
    assert (ruling.outcome, ruling.rule) == ("reduce_exposure", "R-B4")
    assert len(table.steps("reduce")) == 1


def alert_case(table, kind, **fields):
    """Answer a step of the open alert's deliberation."""
    alert = next(s for s in table.docket.cases.values() if s.kind == "alert")
    owed = next(o for o in alert.owed if kind in o.expects)
    body = {
        "RISK_DISCUSSION": t.RiskDiscussion,
        "RISK_PROJECTION": t.RiskProjection,
        "FEASIBILITY": t.Feasibility,
        "RISK_DECISION": t.RiskDecision,
    }[kind]
    return table.say(owed.seat, body(**fields), owed=owed)


def deliberated(trend, action):
    table = warned()
    table.answer(table.owed(GUARDIAN, "RISK_ALERT"))
    alert_case(table, "RISK_DISCUSSION", proposed_action="hold", reason="wait")
    alert_case(table, "RISK_PROJECTION", trend=trend, projection="so")
    alert_case(table, "FEASIBILITY", feasible=True, cost_bps=2.0, note="fine")
    assert not table.broke(alert_case(table, "RISK_DECISION", action=action, reason="so"))
    return table


@pytest.mark.rule("R-B4")
def test_r_b4_an_alert_that_ends_in_reduce_exposure_halves_each_position_concerned():
    table = deliberated("increasing", "reduce_exposure")
    owed = table.owed(TRADER, "SIGNAL")
    brief = table.brief(owed)
    assert (brief["strategy_id"], brief["symbol"]) == ("strat_1", "SPX")
    assert (brief["action"], brief["quantity"]) == ("SELL", 50)
    assert owed.opened_at == table.now
    assert table.broke(table.answer(owed, quantity=49)) == "R-B8"
    said = table.answer(owed)
    assert not table.broke(said)
    assert table.effects[said.seq - 1].settled == owed
    table.fill(said)
    assert table.book.quantity("strat_1", "SPX") == 50
    assert table.steps("reduce") == []
    assert table.steps("alert") == []


@pytest.mark.rule("R-B4")
def test_r_b4_an_alert_that_is_only_monitored_reduces_nothing():
    table = deliberated("stable", "monitor")
    assert table.steps("reduce") == []
    assert table.session.alerts == ()
    risk_check(table, SPX=50.0)
    assert table.steps("alert") == [], "the level stays: K19"


@pytest.mark.rule("R-B4")
def test_r_b4_a_risk_that_accelerates_makes_the_guardian_raise_a_critical_alert():
    table = deliberated("accelerating", "reduce_exposure")
    brief = table.brief(table.owed(GUARDIAN, "RISK_ALERT"))
    assert (brief["level"], brief["metric"]) == ("CRITICAL", "drawdown")
    table.answer(table.owed(GUARDIAN, "RISK_ALERT"))
    assert table.docket.cases[table.last("RISK_ALERT").case_id].level == "CRITICAL"


@pytest.mark.rule("R-B13")
def test_r_b13_three_risk_checks_missed_in_a_row_make_the_operator_halt_the_desk():
    table = DeskTable()
    table.answer_all(at(9, 44), silent=[GUARDIAN], but=["HALT"])
    assert table.steps("halt") == []
    table.answer_all(at(9, 45), silent=[GUARDIAN], but=["HALT"])
    owed = table.owed(OPERATOR, "HALT")
    assert (owed.within, owed.grace) == (timedelta(minutes=5), timedelta(minutes=5))
    assert not table.broke(table.answer(owed))
    assert table.book.halted
    assert table.steps("halt") == []
    table.answer_all(at(10, 30), silent=[GUARDIAN])
    assert kinds(table)["HALT"] == 1


def test_a_risk_check_in_between_starts_the_count_anew():
    table = DeskTable()
    table.answer_all(at(9, 41), silent=[GUARDIAN])
    risk_check(table)
    table.answer_all(at(9, 54), silent=[GUARDIAN], but=["HALT"])
    assert table.steps("halt") == []


@pytest.mark.rule("R-B5")
def test_r_b5_an_alert_of_level_halt_halts_the_desk_and_one_that_is_missed_makes_the_operator_do_it():
    table = holding(400)
    risk_check(table, SPX=74.0)
    assert table.brief(table.owed(GUARDIAN, "RISK_ALERT"))["action_required"] == "halt_trading"
    table.answer_all(table.now + timedelta(minutes=5), but=["RISK_ALERT", "HALT", "SIGNAL"])
    assert len(table.steps("halt")) == 1
    assert len(table.steps("reduce")) == 1


@pytest.mark.rule("R-B5")
def test_r_b5_a_halt_that_is_owed_while_an_admin_halts_is_owed_no_more():
    table = DeskTable()
    table.answer_all(at(9, 45), silent=[GUARDIAN], but=["HALT"])
    owed = table.owed(OPERATOR, "HALT")
    table.tell(ADMIN, t.Halt(reason="enough", by="admin"))
    table.answer_all(at(9, 51), silent=[GUARDIAN], but=["HALT"])
    assert table.now < owed.void_at
    assert table.steps("halt") == []
    assert broken(table) == []


@pytest.mark.rule("R-B13")
def test_r_b13_a_halt_that_names_no_obligation_settles_the_one_that_is_owed():
    table = DeskTable()
    table.answer_all(at(9, 45), silent=[GUARDIAN], but=["HALT"])
    owed = table.owed(OPERATOR, "HALT")
    session_id = table.session.case_id
    said = table.tell(OPERATOR, t.Halt(reason="silence", by="operator", session_id=session_id))
    assert table.effects[said.seq - 1].settled == owed


@pytest.mark.rule("R-B5")
def test_r_b5_an_alert_of_level_halt_on_a_halted_desk_is_raised_as_critical():
    table = holding(400)
    risk_check(table, SPX=74.0)
    table.tell(ADMIN, t.Halt(reason="enough", by="admin"))
    assert not table.broke(table.answer(table.owed(GUARDIAN, "RISK_ALERT")))
    assert table.last("RISK_ALERT").body.level == "CRITICAL"


# ---------------------------------------------------------------- signals, rulings, ends


def conservative(table):
    """Let the Referee rule what an unanswered escalation leads to (R-B8)."""
    from moot.protocols.kernel.duties import case_ruling_of
    from moot.protocols.trading.limits import HALVE

    table.docket.demand(case_ruling_of(table.log[-1], HALVE, table.session.case_id, "#b-ops"))
    table.officers()


@pytest.mark.rule("R-B8")
def test_r_b8_every_position_is_halved_once_at_once_while_the_exchange_is_open():
    table = holding(101)
    conservative(table)
    conservative(table)
    assert len(table.steps("reduce")) == 1
    brief = table.brief(table.owed(TRADER, "SIGNAL"))
    assert (brief["action"], brief["quantity"]) == ("SELL", 51)


@pytest.mark.rule("R-B8")
def test_r_b8_every_position_is_halved_at_the_next_open_when_the_exchange_is_closed():
    table = holding()
    table.answer_all(at(17))
    conservative(table)
    (owed,) = [o for o in table.session.owed if "SIGNAL" in o.expects]
    assert owed.opened_at == at(9, 30, TUESDAY)
    assert table.broke(table.answer(owed)) == "R-D18"
    table.answer_all(at(9, 31, TUESDAY))
    assert table.docket.ended["session_20260223"].outcome == "closed"
    assert table.last("SIGNAL").sent_at == at(9, 30, TUESDAY)


@pytest.mark.rule("R-B5")
def test_r_b5_an_admin_who_wants_a_halt_makes_the_operator_owe_it():
    from moot.protocols.kernel.duties import case_ruling_of
    from moot.protocols.trading.session_state import HALT_DESK

    table = DeskTable()
    table.docket.demand(case_ruling_of(table.log[-1], HALT_DESK, table.session.case_id, "#b-ops"))
    table.officers()
    assert not table.broke(table.answer(table.owed(OPERATOR, "HALT")))
    assert table.book.halted


def test_a_signal_of_a_round_settles_no_reduction():
    table = holding()
    conservative(table)
    table.hold("strat_1", "SPX", -10)
    assert len(table.steps("reduce")) == 1


def test_a_reduction_of_a_position_that_is_gone_is_owed_no_more():
    table = holding()
    conservative(table)
    table.hold("strat_1", "SPX", -100)
    risk_check(table)
    assert table.steps("reduce") == []


def under_way(table, quantity):
    """Let a signal of the open session be ordered, and nothing be told of the order."""
    signal = t.Signal(
        session_id=table.session.case_id,
        strategy_id="strat_1",
        symbol="SPX",
        action="SELL" if quantity < 0 else "BUY",
        quantity=abs(quantity),
        order_type="limit",
        limit_price=100.0,
        confidence=0.8,
        reason="it falls",
    )
    said = table.tell(TRADER, signal)
    order = t.Order(
        client_order_id=f"{said.body.signal_id}-1",
        symbol="SPX",
        side=signal.action,
        quantity=abs(quantity),
        order_type="limit",
        limit_price=100.0,
    )
    assert not table.broke(table.say(TRADER, order, owed=table.of_case(said, "ORDER")))
    return said


def told(table, said, quantity, **over):
    """Tell what became of an order: as an answer while it is owed, on its own when its trade is over."""
    fields = {
        "client_order_id": f"{said.body.signal_id}-1",
        "signal_id": said.body.signal_id,
        "symbol": "SPX",
        "action": said.body.action,
        "qty_filled": quantity,
        "avg_price": 100.0 if quantity else 0.0,
        "slippage_bps": 0.0,
        "status": "filled" if quantity else "cancelled",
        **over,
    }
    is_open = said.case_id in table.docket.cases
    how = {"owed": table.of_case(said, "EXECUTION")} if is_open else {}
    return table.tell(TRADER, t.Execution(**fields), **how)


@pytest.mark.rule("R-B8")
def test_r_b8_nothing_is_to_be_halved_of_what_an_order_under_way_closes():
    table = holding()
    exit_ = under_way(table, -100)
    conservative(table)
    assert table.steps("reduce") == []
    assert not table.broke(told(table, exit_, 100))
    assert table.book.positions == {}


@pytest.mark.rule("R-B8")
def test_r_b8_half_of_what_an_order_under_way_leaves_is_to_go_and_that_is_always_legal():
    table = holding()
    exit_ = under_way(table, -61)
    table.tell(ADMIN, t.Halt(reason="enough", by="admin"))
    conservative(table)
    owed = table.owed(TRADER, "SIGNAL")
    assert table.brief(owed)["desk"]["reductions"] == {"strat_1": {"SPX": -20}}
    assert table.brief(owed)["desk"]["reach"] == {"strat_1": {"SPX": (39, 100)}}
    assert table.brief(owed)["quantity"] == 20
    said = table.answer(owed)
    assert not table.broke(said)
    table.fill(said)
    assert not table.broke(told(table, exit_, 61, fill_after_halt=True))
    assert table.book.quantity("strat_1", "SPX") == 19


@pytest.mark.rule("R-B8")
def test_r_b8_a_reduction_is_owed_no_more_once_an_order_under_way_closes_the_position():
    table = holding()
    conservative(table)
    under_way(table, -100)
    risk_check(table)
    assert table.steps("reduce") == []


@pytest.mark.rule("R-B8")
def test_r_b8_a_position_whose_exit_is_cancelled_is_halved_after_all():
    table = holding()
    exit_ = under_way(table, -100)
    conservative(table)
    told(table, exit_, 0)
    assert table.steps("reduce") == []
    risk_check(table)
    (owed,) = [o for o in table.session.owed if "SIGNAL" in o.expects]
    assert (table.brief(owed)["quantity"], owed.opened_at) == (50, table.now)
    table.fill(table.answer(owed))
    table.answer_all(table.now + timedelta(minutes=6))
    assert (table.book.quantity("strat_1", "SPX"), table.steps("reduce")) == (50, [])


@pytest.mark.rule("R-B8")
def test_r_b8_after_the_close_an_order_that_nobody_answered_closes_nothing():
    table = holding()
    under_way(table, -100)
    table.answer_all(at(17))
    conservative(table)
    (owed,) = [o for o in table.session.owed if "SIGNAL" in o.expects]
    table.answer_all(at(9, 29, TUESDAY))
    assert owed.opened_at == at(9, 30, TUESDAY)
    table.now = at(9, 30, TUESDAY)
    said = table.answer(owed)
    assert (table.broke(said), said.body.quantity) == ("", 50)


@pytest.mark.rule("K11")
def test_k11_what_a_late_fill_opened_after_the_halt_is_owed_to_be_flattened_by_a_signal():
    table = holding(30)
    entry = under_way(table, 70)
    table.tell(ADMIN, t.Halt(reason="enough", by="admin"))
    table.answer_all(table.now + timedelta(minutes=11))
    assert table.docket.ended[entry.case_id].outcome == "unanswered"
    assert not table.broke(told(table, entry, 70, fill_after_halt=True))
    owed = table.owed(TRADER, "SIGNAL")
    assert (owed.step, owed.within, owed.grace) == ("flatten-1", timedelta(minutes=5), timedelta(minutes=5))
    brief = table.brief(owed)
    assert (brief["strategy_id"], brief["action"], brief["quantity"]) == ("strat_1", "SELL", 70)
    assert table.broke(table.answer(owed, quantity=100)) == "K11"
    said = table.answer(owed)
    assert not table.broke(said)
    table.fill(said)
    assert table.book.quantity("strat_1", "SPX") == 30
    assert (table.steps("flatten"), findings(table.log)) == ([], [])


@pytest.mark.rule("K11")
@pytest.mark.parametrize("is_undone", [True, False])
def test_k11_a_fill_that_was_told_wrongly_at_a_halt_is_flattened_and_verify_agrees(is_undone):
    table = holding(30)
    entry = under_way(table, 70)
    table.tell(ADMIN, t.Halt(reason="enough", by="admin"))
    assert table.broke(told(table, entry, 70)) == "K11"
    table.answer_all(table.now + timedelta(minutes=11))
    owed = table.of_case(entry, "ORDER")
    assert table.brief(owed)["quantity"] == 70
    if is_undone:
        order = t.Order(
            client_order_id=f"{entry.case_id}-2",
            symbol="SPX",
            side="SELL",
            quantity=70,
            order_type="market",
        )
        assert not table.broke(table.say(TRADER, order, owed=owed))
        sold = {"client_order_id": order.client_order_id, "action": "SELL"}
        assert not table.broke(told(table, entry, 70, **sold))
    table.answer_all(table.now + timedelta(minutes=20))
    assert table.docket.ended[entry.case_id].outcome == ("flattened" if is_undone else "not_flattened")
    assert findings(table.log) == []


@pytest.mark.rule("K11")
def test_k11_a_late_fill_that_was_undone_otherwise_is_owed_no_more():
    table = holding(30)
    entry = under_way(table, 70)
    table.tell(ADMIN, t.Halt(reason="enough", by="admin"))
    table.answer_all(table.now + timedelta(minutes=11))
    told(table, entry, 70, fill_after_halt=True)
    assert table.steps("flatten") == ["flatten-1"]
    table.hold("strat_1", "SPX", -70)
    risk_check(table)
    assert table.steps("flatten") == []


@pytest.mark.rule("R-D18")
@pytest.mark.parametrize(("instant", "broke"), [(at(15, 59), ""), (at(16), "R-D18")])
def test_r_d18_at_the_close_the_exchange_is_closed_already(instant, broke):
    table = holding(until=at(15, 58))
    table.now = instant
    signal = t.Signal(
        session_id=table.session.case_id,
        strategy_id="strat_1",
        symbol="SPX",
        action="SELL",
        quantity=1,
        order_type="market",
        confidence=0.7,
        reason="late",
    )
    assert table.broke(table.tell(TRADER, signal)) == broke


@pytest.mark.rule("R-D18")
def test_r_d18_a_signal_of_a_round_while_the_exchange_is_closed_is_a_violation():
    table = holding(until=at(16, 1))
    signal = t.Signal(
        session_id=table.session.case_id,
        strategy_id="strat_1",
        symbol="SPX",
        action="SELL",
        quantity=1,
        order_type="market",
        confidence=0.7,
        reason="late",
    )
    assert table.broke(table.tell(TRADER, signal)) == "R-D18"


def test_an_alert_that_is_open_keeps_its_session_open():
    table = DeskTable()
    table.answer_all(at(8, 5, TUESDAY), but=["CHECK_NEW_STRATEGIES"])
    alert = t.RiskAlert(
        session_id="session_20260223",
        level="CRITICAL",
        metric="liquidity",
        current_value=1.0,
        threshold=1.0,
        message="thin",
        action_required="reduce_exposure",
    )
    table.answer_all(at(8, 10, TUESDAY), but=["CHECK_NEW_STRATEGIES"])
    table.tell(GUARDIAN, alert)
    table.until(at(8, 15, TUESDAY))
    assert table.session.owed == ()
    table.until(at(8, 31, TUESDAY))
    assert table.docket.ended["session_20260223"].outcome == "closed"


@pytest.mark.rule("K21")
def test_k21_a_human_stop_ends_the_session():
    table = DeskTable()
    table.tell(ADMIN, Stop(scope="session_20260223", why="enough"), channel="#admin")
    assert table.docket.ended["session_20260223"].outcome == "stopped"


def test_what_nobody_owes_is_a_violation():
    table = DeskTable()
    table.answer_all(at(9, 31))
    said = table.tell(OPERATOR, t.PreMarketCheck(checks=("again",)), case_id="session_20260223")
    assert table.broke(said) == "R-D18"
    moved = table.tell(
        OPERATOR, bodies.moved("strat_1", from_=None, to="staging"), case_id="session_20260223"
    )
    assert table.broke(moved) == "R-D18"


def test_the_table_of_tracks_has_the_days_of_the_page():
    assert [(name, track.seat, track.channel) for name, track in TRACKS.items()] == [
        ("pre_market", OPERATOR, "#b-ops"),
        ("risk", GUARDIAN, "#b-risk"),
        ("desk", TRADER, "#b-desk"),
        ("poll", OPERATOR, "#b-ops"),
        ("summary", OPERATOR, "#b-report"),
        ("close", OPERATOR, "#b-ops"),
        ("report", OPERATOR, "#b-report"),
        ("overnight", GUARDIAN, "#b-risk"),
        ("weekly", OPERATOR, "#b-report"),
    ]
    assert MONDAY.weekday() == 0
