"""Feedback and recalls: what each system owes the other (spec 6, R-B9, R-B10, R-B11)."""

from __future__ import annotations

import pytest

from moot.protocols.kernel.people import Stop
from moot.protocols.kernel.seats import ADMIN
from moot.protocols.research import messages as m
from moot.protocols.research.seats import EVOLVER as EVOLVER_SEAT
from moot.protocols.trading import bridge
from moot.protocols.trading import messages as t
from moot.protocols.trading.book_figures import sharpe
from moot.protocols.trading.seats import GUARDIAN as GUARDIAN_SEAT
from moot.protocols.trading.seats import OPERATOR as OPERATOR_SEAT
from moot.protocols.trading.seats import TRADER
from tests.doubles import bodies
from tests.doubles.debating import assess, backtest, hypothesise, judge
from tests.doubles.life_table import AGREED, LifeTable, decision, guardian, notice, trader
from tests.doubles.table import START

OPERATOR, GUARDIAN, EVOLVER = OPERATOR_SEAT, GUARDIAN_SEAT, EVOLVER_SEAT
FALLING = (100.0, 99.0, 97.0, 96.0, 94.0)
FLAT = (110.0, 100.0, 110.0, 100.0, 100.1)
RISING = (100.5, 101.0, 102.0, 103.0, 104.0)
EVEN = (101.0, 100.0, 101.0, 100.0, 100.0)
"""What these five sessions gain they lose again."""


def staged(promised: float = 0.9) -> LifeTable:
    """Return a desk with a strategy in staging that a debate approved, with a backtest of this Sharpe ratio."""
    table = LifeTable(schedules={"micro": {"at": [START.isoformat()]}})
    hypothesise(table)
    assess(table, confidence=0.9)
    judge(table)
    backtest(table, metrics=bodies.backtest().metrics.model_copy(update={"sharpe": promised}))
    table.say(EVOLVER, bodies.moved("strat_1"))
    table.wait(hours=2)
    table.move("candidates", "staging")
    return table


def produced(closes: tuple[float, ...] = (), promised: float = 0.9) -> LifeTable:
    """Return a desk whose strategy is in production, with 100 shares over these closes."""
    table = staged(promised)
    table.move("staging", "production")
    table.wait(minutes=5)
    live(table, closes, is_first=True)
    return table


def live(table: LifeTable, closes: tuple[float, ...], *, is_first: bool = False) -> None:
    """Let the desk live through a session for each close; on the first of all it buys 100 shares at 100."""
    for close in closes:
        table.open_day()
        if is_first:
            table.buy()
            is_first = False
        table.close_day(closes={"sp500": close})
        table.wait(hours=24)


def feedback(table: LifeTable, **over) -> t.PerformanceFeedback:
    fields = {"strategy_id": "strat_1", "expected_vs_actual": {}, "proposed_adjustment": "trade less", **over}
    return t.PerformanceFeedback(**fields)


def flag(table: LifeTable, **over) -> t.RecallFlag:
    fields = {"strategy_id": "strat_1", "sharpe": -1.0, "n": 0, **over}
    return t.RecallFlag(**{**fields, **bridge.recall_figures(table.docket.context, "strat_1"), **over})


def asked() -> LifeTable:
    table = produced(FALLING)
    assert table.broke(table.tell(EVOLVER, feedback(table))) == ""
    return table


def response(stance: str, action: str, *evidence: str) -> t.FeedbackResponse:
    return t.FeedbackResponse(stance=stance, action=action, counter_evidence=evidence)


def causal(table: LifeTable, **over) -> m.CausalRecord:
    hypothesis_id = table.standing().hypothesis_id
    return m.CausalRecord(record=bodies.entry("observation", **{"hypothesis_id": hypothesis_id, **over}))


def reflection(table: LifeTable, **over) -> m.Reflection:
    return m.Reflection(record=bodies.entry("observation", **{"hypothesis_id": "strat_1", **over}))


def ended(table: LifeTable, kind: str) -> str:
    return next(e.outcome for e in reversed(table.docket.ended.values()) if e.kind == kind)


# ---------------------------------------------------------------- when it is due


@pytest.mark.rule("R-B9")
def test_r_b9_half_of_the_backtests_sharpe_after_five_sessions_is_worth_a_feedback():
    table = produced(FALLING[:4])
    assert not bridge.is_underperforming(table.docket.context, "strat_1")
    table = produced(FALLING)
    assert bridge.is_underperforming(table.docket.context, "strat_1")
    assert not bridge.is_underperforming(produced(RISING).docket.context, "strat_1")
    table = produced(FLAT)
    figures = bridge.feedback_figures(table.docket.context, "strat_1")["expected_vs_actual"]
    assert 0 < figures["actual_sharpe"] < figures["expected_sharpe"] / 2
    assert bridge.is_underperforming(table.docket.context, "strat_1")


@pytest.mark.rule("R-B10")
def test_r_b10_five_sessions_with_a_negative_sharpe_are_worth_a_recall():
    assert not bridge.is_losing(produced(FALLING[:4]).docket.context, "strat_1")
    table = produced(FALLING)
    assert bridge.is_losing(table.docket.context, "strat_1")
    assert not bridge.is_losing(produced(RISING).docket.context, "strat_1")
    table.tell(GUARDIAN, flag(table))
    assert not bridge.is_losing(table.docket.context, "strat_1")


@pytest.mark.rule("R-B9")
def test_r_b9_in_a_session_the_evolver_speaks_only_when_its_condition_holds():
    table = produced(FALLING[:4])
    session = table.open_day()
    assert table.broke(table.tell(EVOLVER, feedback(table, session_id=session))) == "R-B9"
    table.close_day(closes={"sp500": 90.0})
    figures = bridge.feedback_figures(table.docket.context, "strat_1")
    assert set(figures["expected_vs_actual"]) == {"expected_sharpe", "actual_sharpe", "n"}
    wrong = {"expected_vs_actual": {**figures["expected_vs_actual"], "actual_sharpe": 9.0}}
    assert table.broke(table.tell(EVOLVER, feedback(table, session_id=session, **wrong))) == "R-B9"
    assert table.broke(table.tell(EVOLVER, feedback(table, session_id=session, **figures))) == ""
    assert not bridge.is_underperforming(table.docket.context, "strat_1")


@pytest.mark.rule("R-B10")
def test_r_b10_in_a_session_the_guardian_flags_only_what_loses_and_with_the_logs_figures():
    table = produced(FALLING[:4])
    session = table.open_day()
    assert table.broke(table.tell(GUARDIAN, flag(table, session_id=session))) == "R-B10"
    table.close_day(closes={"sp500": 90.0})
    assert table.broke(table.tell(GUARDIAN, flag(table, session_id=session, sharpe=-9.0))) == "R-B10"
    assert table.broke(table.tell(GUARDIAN, flag(table, session_id=session, n=6))) == "R-B10"
    assert table.broke(table.tell(GUARDIAN, flag(table, session_id=session))) == ""
    assert table.broke(table.tell(GUARDIAN, flag(table))) == "R-B10"


@pytest.mark.rule("R-B9", "R-B10")
@pytest.mark.parametrize("closes", [(), FALLING[:4], RISING])
def test_r_b9_r_b10_without_a_session_the_log_judges_an_opener_too(closes):
    table = produced(closes)
    assert table.broke(table.tell(EVOLVER, feedback(table))) == "R-B9"
    assert table.broke(table.tell(GUARDIAN, flag(table))) == "R-B10"
    assert table.broke(table.tell(GUARDIAN, flag(table, sharpe=-9.0, n=5))) == "R-B10"
    assert table.obligations() == set()
    assert table.standing().fed_back_at is None and not table.standing().is_flagged


@pytest.mark.rule("R-B9", "R-B10")
def test_r_b9_r_b10_without_a_session_what_the_log_shows_is_said():
    table = produced(FALLING)
    wrong = feedback(table, expected_vs_actual={"actual_sharpe": -1.0})
    assert table.broke(table.tell(EVOLVER, wrong)) == "R-B9"
    assert table.broke(table.tell(EVOLVER, feedback(table))) == ""
    assert table.broke(table.tell(GUARDIAN, flag(table))) == ""
    assert {kind for _, kind in table.obligations()} == {"FEEDBACK_RESPONSE", "RECALL_REQUEST"}


@pytest.mark.rule("R-B9")
def test_r_b9_exactly_half_of_the_backtests_sharpe_is_no_feedback():
    actual = bridge.recall_figures(produced(RISING).docket.context, "strat_1")["sharpe"]
    assert not bridge.is_underperforming(produced(RISING, promised=2 * actual).docket.context, "strat_1")
    assert bridge.is_underperforming(produced(RISING, promised=2 * actual + 1e-5).docket.context, "strat_1")


@pytest.mark.rule("R-B10")
def test_r_b10_a_sharpe_of_exactly_0_is_no_recall():
    table = produced(EVEN)
    assert bridge.recall_figures(table.docket.context, "strat_1") == {"sharpe": 0.0, "n": 5}
    assert not bridge.is_losing(table.docket.context, "strat_1")
    assert table.broke(table.tell(GUARDIAN, flag(table))) == "R-B10"


@pytest.mark.rule("R-B9", "R-B10")
@pytest.mark.parametrize(
    ("paper", "closes", "is_bad"), [((150.0, 155.0), FALLING, True), ((50.0, 45.0), RISING, False)]
)
def test_r_b9_r_b10_what_was_earned_on_paper_before_the_promotion_does_not_count(paper, closes, is_bad):
    table = staged()
    table.propose()
    table.say(GUARDIAN, guardian())
    table.say(TRADER, trader())
    table.say(OPERATOR, decision("DEPLOY", 3, **AGREED))
    table.say(OPERATOR, notice())
    table.wait(minutes=5)
    live(table, paper, is_first=True)
    table.move("staging", "production")
    live(table, tuple(paper[-1] + close - 100.0 for close in closes))
    context = table.docket.context
    book = context.fold_named("book")
    assert (book.ratio("strat_1").sharpe < 0) is not is_bad
    figures = bridge.recall_figures(context, "strat_1")
    assert figures == {"sharpe": book.ratio("strat_1", "promotion").sharpe, "n": 5}
    assert (figures["sharpe"] < 0) is is_bad
    assert bridge.is_losing(context, "strat_1") is is_bad
    assert bridge.is_underperforming(context, "strat_1") is is_bad


@pytest.mark.rule("R-B10")
def test_r_b10_only_the_last_30_sessions_count():
    table = produced((100.0, 60.0, 60.0, *(60.0 + n + n % 2 for n in range(28))))
    context = table.docket.context
    assert table.standing().sessions_in_production == 31
    assert bridge.is_losing(context, "strat_1"), "the crash is the first of the last 30"
    live(table, (90.0,))
    assert not bridge.is_losing(context, "strat_1")
    assert table.broke(table.tell(GUARDIAN, flag(table))) == "R-B10"
    figures = bridge.recall_figures(context, "strat_1")
    assert figures["n"] == 30
    assert figures["sharpe"] > 0 > sharpe([s.pnl for s in context.fold_named("book").sessions("strat_1")])


def test_6_1_only_what_is_in_production_is_fed_back_and_recalled():
    table = LifeTable()
    table.stage()
    assert table.broke(table.tell(EVOLVER, feedback(table))) == "6.1"
    assert table.broke(table.tell(GUARDIAN, flag(table))) == "6.2"


@pytest.mark.rule("R-B9")
def test_r_b9_at_most_one_feedback_a_week():
    table = asked()
    table.say(OPERATOR, response("disagree", "none", "a short while"))
    table.say(EVOLVER, causal(table))
    table.wait(days=6, hours=23)
    assert table.broke(table.tell(EVOLVER, feedback(table))) == "R-B9"
    table.wait(hours=1)
    assert table.broke(table.tell(EVOLVER, feedback(table))) == ""


# ---------------------------------------------------------------- feedback


@pytest.mark.parametrize(
    ("body", "rule"),
    [
        (response("agree", "none"), "6.1"),
        (response("disagree", "withdraw", "it does well"), "6.1"),
        (response("disagree", "adjust", "it does well"), "6.1"),
        (response("disagree", "none"), "6.1"),
        (response("disagree", "none", "it does well"), ""),
        (response("agree", "adjust"), ""),
        (response("agree", "withdraw"), ""),
    ],
)
def test_6_1_who_agrees_acts_and_who_disagrees_gives_evidence(body, rule):
    table = asked()
    assert table.broke(table.say(OPERATOR, body)) == rule


def test_6_1_who_agrees_to_withdraw_withdraws_while_the_evolver_records():
    table = asked()
    table.say(OPERATOR, response("agree", "withdraw"))
    assert table.obligations() == {("evolver", "CAUSAL_RECORD"), ("operator", "STRATEGY_MOVED")}
    wrong = bodies.moved(from_="production", to="candidates")
    assert table.broke(table.say(OPERATOR, wrong)) == "R-D20"
    table.say(OPERATOR, bodies.moved(from_="production", to="withdrawn"))
    table.say(EVOLVER, causal(table))
    assert table.obligations() == {("operator", "DEPLOY_NOTICE")}
    wrong = notice("WITHDRAW", "candidates", from_="production")
    assert table.broke(table.say(OPERATOR, wrong)) == "R-B12"
    table.say(OPERATOR, notice("WITHDRAW", "withdrawn", from_="production"))
    assert (ended(table, "feedback"), table.standing().stage) == ("withdrawn", "withdrawn")


def test_6_1_who_agrees_to_adjust_halves_the_position_limit():
    table = asked()
    table.say(OPERATOR, response("agree", "adjust"))
    assert table.standing().position_limit == 0.025
    assert table.obligations() == {("evolver", "CAUSAL_RECORD")}
    table.say(EVOLVER, causal(table))
    assert (ended(table, "feedback"), table.standing().stage) == ("adjusted", "production")


def test_6_1_a_response_that_broke_a_rule_adjusts_nothing():
    table = asked()
    assert table.broke(table.say(OPERATOR, response("disagree", "adjust", "no"))) == "6.1"
    assert table.standing().position_limit == 0.05


def test_6_1_counter_evidence_goes_into_the_evolvers_record():
    table = asked()
    table.say(OPERATOR, response("disagree", "none", "three sessions say little"))
    obligation = table.owed(EVOLVER, "CAUSAL_RECORD")
    assert (obligation.within.total_seconds(), obligation.channel) == (24 * 3600, "#a-report")
    state = table.docket.cases[obligation.case_id]
    shown = table.rules.types["feedback"].brief(state, obligation, table.docket.context)
    assert shown["answer"]["counter_evidence"] == ["three sessions say little"]
    assert shown["hypothesis_id"] == table.standing().hypothesis_id
    other = m.CausalRecord(record=bodies.entry("observation", hypothesis_id="hyp_20200101_0000"))
    assert table.broke(table.say(EVOLVER, other)) == "6.1"
    table.say(EVOLVER, causal(table))
    assert ended(table, "feedback") == "disputed"


@pytest.mark.rule("R-F5")
def test_r_f5_no_feedback_opens_while_a_recall_of_the_strategy_is_open():
    table = produced(FALLING)
    assert bridge.is_underperforming(table.docket.context, "strat_1")
    table.tell(GUARDIAN, flag(table))
    assert not bridge.is_underperforming(table.docket.context, "strat_1")
    assert table.broke(table.tell(EVOLVER, feedback(table))) == "R-F5"
    table.wait(hours=25)
    assert ended(table, "recall") == "unanswered"
    assert table.broke(table.tell(EVOLVER, feedback(table))) == ""


@pytest.mark.rule("R-F5")
def test_r_f5_who_requested_a_recall_does_not_dispute_the_same_figures():
    table = asked()
    table.tell(GUARDIAN, flag(table))
    shown = table.rules.types["feedback"].brief
    owed = table.owed(OPERATOR, "FEEDBACK_RESPONSE")
    state = table.docket.cases[owed.case_id]
    assert shown(state, owed, table.docket.context)["may_dispute"] is True
    table.say(OPERATOR, t.RecallRequest(strategy_id="strat_1", reason="it loses"))
    assert shown(state, owed, table.docket.context)["may_dispute"] is False
    dispute = response("disagree", "none", "it does well")
    assert table.broke(table.say(OPERATOR, dispute)) == "R-F5"
    table.say(OPERATOR, bodies.moved(from_="production", to="withdrawn"))
    assert table.broke(table.say(OPERATOR, dispute)) == "R-F5", "nor once it is withdrawn"
    assert table.broke(table.say(OPERATOR, response("agree", "adjust"))) == ""


@pytest.mark.rule("R-F5")
def test_r_f5_a_lesson_quotes_what_the_strategy_did_from_its_promotion_to_the_opener():
    table = asked()
    context = table.docket.context
    live_then = context.fold_named("book").live_figures("strat_1")
    live(table, (50.0,))
    table.say(OPERATOR, response("agree", "adjust"))
    for name, value in {**live_then, "live_days": 5}.items():
        wrong = causal(table, metrics={**live_then, name: value + 1.0})
        assert table.broke(table.say(EVOLVER, wrong)) == "R-F5", name
    assert (live_then["live_n"], live_then["live_trades"]) == (5, 1)
    assert table.broke(table.say(EVOLVER, causal(table, metrics=live_then))) == ""


@pytest.mark.rule("R-F6")
def test_r_f6_a_ratio_in_a_feedback_comes_with_its_number_of_sessions():
    table = produced(FALLING)
    said = bridge.feedback_figures(table.docket.context, "strat_1")["expected_vs_actual"]
    alone = {"actual_sharpe": said["actual_sharpe"]}
    assert table.broke(table.tell(EVOLVER, feedback(table, expected_vs_actual=alone))) == "R-F6"
    assert table.broke(table.tell(EVOLVER, feedback(table, expected_vs_actual=said))) == ""


@pytest.mark.rule("R-B11")
def test_r_b11_system_a_is_shown_nothing_of_the_desk():
    table = asked()
    operators = table.owed(OPERATOR, "FEEDBACK_RESPONSE")
    brief = table.rules.types["feedback"].brief
    state = table.docket.cases[operators.case_id]
    assert "desk" in brief(state, operators, table.docket.context)
    table.say(OPERATOR, response("agree", "adjust"))
    evolvers = table.owed(EVOLVER, "CAUSAL_RECORD")
    assert "desk" not in brief(table.docket.cases[evolvers.case_id], evolvers, table.docket.context)


@pytest.mark.rule("R-B9")
def test_r_b9_a_feedback_without_a_response_ends_unanswered():
    table = asked()
    table.wait(hours=24, minutes=59)
    assert table.obligations() == {("operator", "FEEDBACK_RESPONSE")}
    table.wait(minutes=1)
    ruling = table.last("RULING").body
    assert (ruling.outcome, ruling.reason, ruling.rule) == ("void", "timeout", "R-B9")
    assert ended(table, "feedback") == "unanswered"


def test_a_withdrawal_that_nobody_made_is_said_so():
    table = asked()
    table.say(OPERATOR, response("agree", "withdraw"))
    table.say(EVOLVER, causal(table))
    table.wait(hours=1)
    assert table.last("RULING").body.rule == "R-D20"
    assert (ended(table, "feedback"), table.standing().stage) == ("unmoved", "production")


# ---------------------------------------------------------------- recall


def test_6_2_a_recall_withdraws_and_system_a_reflects():
    table = produced(FALLING)
    table.tell(GUARDIAN, flag(table))
    assert table.obligations() == {("operator", "RECALL_REQUEST")}
    assert (
        table.broke(table.say(OPERATOR, t.RecallRequest(strategy_id="strat_2", reason="it loses"))) == "6.2"
    )
    table.say(OPERATOR, t.RecallRequest(strategy_id="strat_1", reason="it loses"))
    assert table.obligations() == {("evolver", "REFLECTION"), ("operator", "STRATEGY_MOVED")}
    other = reflection(table, hypothesis_id=None)
    assert table.broke(table.say(EVOLVER, other)) == "6.2"
    table.say(EVOLVER, reflection(table))
    table.say(OPERATOR, bodies.moved(from_="production", to="withdrawn"))
    table.say(OPERATOR, notice("WITHDRAW", "withdrawn", from_="production"))
    assert (ended(table, "recall"), table.standing().stage) == ("recalled", "withdrawn")


@pytest.mark.rule("R-F11")
def test_r_f11_what_is_recalled_is_to_be_evaluated_anew_also_when_it_is_withdrawn():
    table = produced(FALLING)
    ledger = table.docket.context.fold_named("research")
    assert "strat_1" in ledger.parents
    table.tell(GUARDIAN, flag(table))
    table.say(OPERATOR, t.RecallRequest(strategy_id="strat_2", reason="of another"))
    assert not ledger.reevaluate, "that request broke a rule"
    table.say(OPERATOR, t.RecallRequest(strategy_id="strat_1", reason="it loses"))
    assert list(ledger.reevaluate) == ["strat_1"]
    table.say(OPERATOR, bodies.moved(from_="production", to="withdrawn"))
    assert list(ledger.reevaluate) == ["strat_1"]
    assert "strat_1" not in ledger.parents
    table.move("withdrawn", "candidates")
    assert not ledger.reevaluate, "System A has it back"


@pytest.mark.rule("R-F11")
def test_r_f11_what_is_only_withdrawn_is_in_no_list():
    table = produced(FALLING)
    ledger = table.docket.context.fold_named("research")
    ledger.parents.extend(("strat_0", "strat_1"))
    assert ledger.parents.count("strat_1") == 2
    before = ledger.context()
    table.move("production", "withdrawn")
    assert (list(ledger.parents), ledger.reevaluate) == (["strat_0"], {})
    assert ledger.context().available_parents == ("strat_0",)
    assert ledger.was_context(before), "a trigger may have been under way"


@pytest.mark.rule("R-B10")
def test_r_b10_a_recall_that_nobody_asked_for_may_be_flagged_again():
    table = produced(FALLING)
    table.tell(GUARDIAN, flag(table))
    table.wait(hours=25)
    assert table.last("RULING").body.rule == "R-B10"
    assert ended(table, "recall") == "unanswered"
    assert bridge.is_losing(table.docket.context, "strat_1")
    assert table.broke(table.tell(GUARDIAN, flag(table))) == ""


def test_a_human_stop_ends_a_feedback():
    table = asked()
    table.tell(ADMIN, Stop(scope="system B", why="enough"))
    assert ended(table, "feedback") == "stopped"
