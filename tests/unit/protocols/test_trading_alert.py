"""Alerts: the deliberation after a WARNING, a CRITICAL's decision, an INFO; spec 4.2, R-B4."""

from datetime import timedelta

import pytest

from moot.protocols.kernel.people import Stop
from moot.protocols.kernel.seats import ADMIN
from moot.protocols.trading import messages as t
from moot.protocols.trading.alert import ALERT, ALLOWED
from moot.protocols.trading.hours import new_york
from tests.doubles.desk_table import DeskTable, at
from tests.doubles.money_table import GUARDIAN, OPERATOR, TRADER, MoneyTable

FINE = ("", None)
WORDS = {
    "discussing": (OPERATOR, lambda trend: t.RiskDiscussion(proposed_action="hold", reason="it may pass")),
    "projecting": (GUARDIAN, lambda trend: t.RiskProjection(trend=trend, projection="as it looks")),
    "assessing": (TRADER, lambda trend: t.Feasibility(feasible=True, cost_bps=2.0, note="liquid")),
}


def decide(table, action, **waits):
    return table.tell(OPERATOR, t.RiskDecision(action=action, reason="so", **waits))


def deliberate(table, alert, trend="stable", until="deciding"):
    """Say each step up to a phase."""
    while (phase := table.docket.cases[alert.case_id].phase) != until:
        seat, word = WORDS[phase]
        assert table.broke(table.tell(seat, word(trend))) == FINE


def child(table):
    return table.hall.children[-1]


@pytest.mark.rule("R-B4")
def test_r_b4_a_warning_is_discussed_projected_assessed_and_decided_in_this_order():
    table = MoneyTable()
    alert = table.alert()
    for phase, seat, expected, following in (
        ("discussing", OPERATOR, "RISK_DISCUSSION", "projecting"),
        ("projecting", GUARDIAN, "RISK_PROJECTION", "assessing"),
        ("assessing", TRADER, "FEASIBILITY", "deciding"),
        ("deciding", OPERATOR, "RISK_DECISION", "deciding"),
    ):
        state = table.docket.cases[alert.case_id]
        assert state.phase == phase
        [obligation] = state.owed
        assert (obligation.seat, obligation.expects) == (seat, (expected,))
        assert (obligation.within.total_seconds(), obligation.grace.total_seconds()) == (600, 600)
        deliberate(table, alert, until=following)
    assert table.broke(decide(table, "monitor")) == FINE
    assert table.ended(alert) == "monitor"
    state = child(table)
    assert (state.outcome, state.trend, state.level, state.affected) == (
        "monitor",
        "stable",
        "WARNING",
        ("strat_1",),
    )


@pytest.mark.rule("R-B4")
@pytest.mark.parametrize("trend", ["increasing", "stable", "accelerating", "decreasing"])
@pytest.mark.parametrize("action", ["reduce_exposure", "hold", "monitor"])
def test_r_b4_the_projection_fixes_what_may_be_decided(trend, action):
    table = MoneyTable()
    alert = table.alert()
    deliberate(table, alert, trend)
    is_calm = trend in ("stable", "decreasing")
    is_allowed = action in (("monitor", "hold") if is_calm else ("reduce_exposure",))
    waits = {"waits_for": "bids", "until": table.now + timedelta(hours=1)} if action == "hold" else {}
    assert table.broke(decide(table, action, **waits)) == (FINE if is_allowed else ("R-B4", "action"))
    assert (alert.case_id in table.docket.ended) is (is_allowed and action != "hold")
    assert (action in ALLOWED[trend]) is is_allowed


def infeasible(table, alert, trend):
    """Deliberate until the Trader finds that exposure cannot be reduced."""
    deliberate(table, alert, trend, until="assessing")
    assert (
        table.broke(table.tell(TRADER, t.Feasibility(feasible=False, cost_bps=90.0, note="no bids"))) == FINE
    )


@pytest.mark.rule("R-F16")
@pytest.mark.parametrize("action", ["monitor", "hold"])
@pytest.mark.parametrize("trend", ["stable", "decreasing"])
def test_r_f16_what_cannot_be_reduced_is_waited_for_and_reviewed(trend, action):
    table = MoneyTable()
    alert = table.alert()
    infeasible(table, alert, trend)
    until = table.now + timedelta(hours=1)
    # Monday's wait ends with Tuesday's close.
    too_late = new_york(table.now.date() + timedelta(days=1), 16, 1)
    for wrong, field in (
        ({}, "waits_for"),
        ({"waits_for": " ", "until": until}, "waits_for"),
        ({"waits_for": "bids"}, "until"),
        ({"waits_for": "bids", "until": table.now}, "until"),
        ({"waits_for": "bids", "until": too_late}, "until"),
    ):
        assert table.broke(decide(table, action, **wrong)) == ("R-F16", field)
    assert table.broke(decide(table, action, waits_for="bids", until=until)) == FINE
    state = table.docket.cases[alert.case_id]
    assert (state.phase, state.round, state.trend, state.is_feasible) == ("discussing", 2, "", None)
    (owed,) = state.owed
    assert (owed.step, owed.opened_at, owed.due_at - until) == ("discussion-2", until, timedelta(minutes=10))
    assert table.broke(table.tell(OPERATOR, WORDS["discussing"][1](""))) == ("R-F16", None)
    table.wait(hours=1)
    deliberate(table, alert, "stable")
    assert table.broke(decide(table, "monitor")) == FINE
    assert table.ended(alert) == "monitor"


@pytest.mark.rule("R-F16")
def test_r_f16_a_review_that_nobody_begins_reduces_exposure():
    table = MoneyTable()
    alert = table.alert()
    infeasible(table, alert, "stable")
    decide(table, "monitor", waits_for="bids", until=table.now + timedelta(hours=1))
    table.wait(minutes=79)
    assert alert.case_id in table.docket.cases
    table.wait(minutes=2)
    assert table.ended(alert) == "reduce_exposure"


@pytest.mark.rule("R-F16")
@pytest.mark.parametrize("trend", ["increasing", "accelerating"])
def test_r_f16_what_grows_and_cannot_be_reduced_is_nobodys_to_decide(trend):
    table = MoneyTable()
    alert = table.alert()
    infeasible(table, alert, trend)
    assert table.ended(alert) == "infeasible"
    assert child(table).trend == trend
    env = table.last("ESCALATION")
    assert (env.body.trigger_code, env.body.level, env.body.subject) == (
        "infeasible",
        "URGENT",
        alert.case_id,
    )
    table.check()
    assert table.last("ESCALATION_RESOLVED").body.how == "withdrawn"


@pytest.mark.rule("R-B4")
@pytest.mark.parametrize("phase", ALERT.phases)
def test_r_b4_a_missing_step_reduces_exposure(phase):
    table = MoneyTable()
    alert = table.alert()
    deliberate(table, alert, until=phase)
    table.wait(minutes=19)
    assert alert.case_id in table.docket.cases
    table.wait(minutes=2)
    assert table.ended(alert) == "reduce_exposure"
    ruling = table.last("RULING").body
    assert (ruling.outcome, ruling.reason, ruling.rule) == ("reduce_exposure", "timeout", "R-B4")
    assert child(table).outcome == "reduce_exposure"


@pytest.mark.rule("R-B4")
def test_r_b4_a_critical_is_decided_at_once_and_only_to_reduce():
    table = MoneyTable()
    alert = table.alert("CRITICAL")
    assert [o.expects for o in table.docket.cases[alert.case_id].owed] == [("RISK_DECISION",)]
    assert table.broke(decide(table, "monitor")) == ("R-B4", "action")
    assert table.broke(decide(table, "reduce_exposure")) == FINE
    assert (table.ended(alert), child(table).level) == ("reduce_exposure", "CRITICAL")


@pytest.mark.rule("R-B4")
def test_r_b4_a_critical_without_a_decision_reduces_exposure():
    table = MoneyTable()
    alert = table.alert("CRITICAL")
    table.wait(minutes=21)
    assert table.ended(alert) == "reduce_exposure"


def test_an_info_is_noted_and_ends_at_once():
    table = MoneyTable()
    alert = table.alert("INFO")
    assert table.broke(alert) == FINE
    assert table.ended(alert) == "noted"
    assert (child(table).outcome, child(table).level) == ("noted", "INFO")
    assert not [o for o in table.docket.open.values() if o.case_id == alert.case_id]


@pytest.mark.rule("R-B5")
@pytest.mark.parametrize(("level", "action"), [("HALT", "reduce_exposure"), ("WARNING", "halt_trading")])
def test_r_b5_only_level_halt_halts(level, action):
    table = MoneyTable()
    alert = table.alert(level, action_required=action)
    assert table.broke(alert) == ("R-B5", "action_required")
    assert table.book.halted == 0


def test_a_step_out_of_turn_changes_nothing():
    table = MoneyTable()
    alert = table.alert()
    before = table.docket.cases[alert.case_id]
    for phase in ("projecting", "assessing"):
        seat, word = WORDS[phase]
        assert table.broke(table.tell(seat, word("stable"), alert.case_id)) == ("4.2", None)
    assert table.docket.cases[alert.case_id] == before


def test_an_alert_without_a_session_stands_alone():
    table = MoneyTable()
    alert = table.alert("CRITICAL", session_id="")
    assert table.docket.cases[alert.case_id].parent is None
    table.wait(minutes=21)
    assert (child(table).case_id, child(table).outcome) == (alert.case_id, "reduce_exposure")


def warned(**over):
    """Return a desk that holds something, and a WARNING on it that names no session."""
    table = DeskTable(at(9, 31))
    table.produced()
    table.produced("strat_2")
    table.hold("strat_1", "SPX", 100)
    table.hold("strat_2", "SPX", 50)
    fields = {
        "level": "WARNING",
        "metric": "daily_pnl",
        "current_value": -0.051,
        "threshold": -0.05 if over.get("level") == "CRITICAL" else -0.03,
        "message": "the day is down",
        "action_required": "none",
        **over,
    }
    return table, table.tell(GUARDIAN, t.RiskAlert(**fields))


def say_on(table, trend, action="reduce_exposure"):
    table.say(OPERATOR, t.RiskDiscussion(proposed_action="monitor", reason="it may pass"))
    table.say(GUARDIAN, t.RiskProjection(trend=trend, projection="as it looks"))
    table.say(TRADER, t.Feasibility(feasible=True, cost_bps=2.0, note="liquid"))
    assert not table.broke(table.say(OPERATOR, t.RiskDecision(action=action, reason="so")))


def reductions(table):
    return [o.subject.name for o in table.session.owed if "SIGNAL" in o.expects]


@pytest.mark.rule("R-B4")
def test_r_b4_a_step_missed_in_an_alert_without_a_session_makes_the_trader_owe_the_halving():
    table, alert = warned()
    table.answer_all(at(9, 52), but=("SIGNAL",))
    assert table.docket.ended[alert.case_id].outcome == "reduce_exposure"
    assert reductions(table) == ["strat_1", "strat_2"]
    owed = table.owed(TRADER, "SIGNAL")
    assert table.brief(owed)["quantity"] == 50
    assert not table.broke(table.answer(owed))
    assert reductions(table) == ["strat_2"]


@pytest.mark.rule("R-B4")
def test_r_b4_what_an_alert_without_a_session_names_is_all_that_is_halved():
    table, _ = warned(affected_strategies=("strat_2",))
    say_on(table, "increasing")
    assert reductions(table) == ["strat_2"]


@pytest.mark.rule("R-B4")
def test_r_b4_accelerating_risk_in_an_alert_without_a_session_makes_the_guardian_owe_a_critical():
    table, _ = warned()
    say_on(table, "accelerating")
    owed = table.owed(GUARDIAN, "RISK_ALERT")
    assert (owed.case_id, table.brief(owed)["level"]) == (table.session.case_id, "CRITICAL")
    assert not table.broke(table.answer(owed))
    assert table.session.alerts == (table.last("RISK_ALERT").case_id,)


@pytest.mark.rule("R-B4")
def test_r_b4_stable_risk_in_an_alert_without_a_session_leads_to_nothing():
    table, _ = warned()
    say_on(table, "stable", "monitor")
    assert reductions(table) == [] and table.steps("alert") == []


def test_a_human_stop_ends_an_alert():
    table = MoneyTable()
    alert = table.alert()
    table.say(ADMIN, Stop(scope=alert.case_id, why="enough"), channel="#admin")
    assert table.ended(alert) == "stopped"


def test_the_brief_names_the_actions_that_may_be_decided():
    table = MoneyTable()
    alert = table.alert()
    brief = table.rules.types["alert"].brief
    state = table.docket.cases[alert.case_id]
    shown = brief(state, state.owed[0], table.docket.context)
    assert (shown["subject"], shown["level"], shown["value"]) == ("daily_pnl", "WARNING", -0.031)
    assert "action" not in shown and "desk" in shown
    deliberate(table, alert, "accelerating")
    state = table.docket.cases[alert.case_id]
    shown = brief(state, state.owed[0], table.docket.context)
    assert (shown["action"], shown["proposed"], shown["trend"]) == (
        ("reduce_exposure",),
        "hold",
        "accelerating",
    )
