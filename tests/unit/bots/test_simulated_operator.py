"""The simulated Operator: every answer is one that the rules take, and says what the figures say."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from moot.bots.minds.mind import View
from moot.bots.minds.simulated.desk.operator import close_figures
from moot.bots.minds.simulated.desk.operator_strategies import Gap, gap_of
from moot.bots.minds.simulated.mind import ANSWERS, SimulatedMind
from moot.bots.minds.simulated.tools import SimulatedTools
from moot.bots.tools.prices import load_universe
from moot.memory.evidence import InMemoryEvidence
from moot.memory.inmemory import InMemoryStore
from moot.protocols.kernel.envelope import OFFICER, Draft
from moot.protocols.kernel.message import changed
from moot.protocols.kernel.obligation import Obligation
from moot.protocols.kernel.seats import TIMEKEEPER, Seat
from moot.protocols.research import messages as m
from moot.protocols.research.seats import EVOLVER as EVOLVER_SEAT
from moot.protocols.trading import alert, deploy, promotion
from moot.protocols.trading import messages as t
from moot.protocols.trading.briefing import desk_brief
from moot.protocols.trading.life import Life
from moot.protocols.trading.rights import RIGHTS
from moot.protocols.trading.seats import GUARDIAN as GUARDIAN_SEAT
from moot.protocols.trading.seats import OPERATOR as OPERATOR_SEAT
from moot.protocols.trading.seats import TRADER as TRADER_SEAT
from moot.protocols.trading.session import SESSION
from tests.doubles import bodies
from tests.doubles.copying import replace
from tests.doubles.life_table import LifeTable, guardian, trader
from tests.doubles.money_table import MoneyTable
from tests.doubles.table import START, Table
from tests.doubles.views import run

OPERATOR, GUARDIAN, TRADER, EVOLVER = OPERATOR_SEAT, GUARDIAN_SEAT, TRADER_SEAT, EVOLVER_SEAT
SYNTHETIC = load_universe("synthetic", start=START, seed=7)
PARAMS = {"allow_short": 0, "fast": 20, "slow": 60, "target_vol": 0.1}
LEGAL = bodies.strategy(params=PARAMS, symbols=("SIM-ALFA", "SIM-BRAVO"))
OPENS = datetime(2026, 2, 23, 14, 15, tzinfo=UTC)
GOOD = {"sharpe": 0.9, "max_drawdown": 0.1, "win_rate": 0.5, "total_trades": 30, "annual_return": 0.08}


TOOLS = SimulatedTools(SYNTHETIC, InMemoryEvidence(), 1)


def mind_of(seed: int = 1) -> SimulatedMind:
    return SimulatedMind(TOOLS if seed == 1 else SimulatedTools(SYNTHETIC, InMemoryEvidence(), seed))


def view_of(table: Table, obligation: Obligation, brief: dict[str, Any]) -> View:
    shown = tuple(table.log)
    return View(
        obligation, obligation.seat, table.now, 0, "", shown, (), brief, InMemoryStore().read(),
        config=table.docket.context.config,
    )  # fmt: skip


def answer(table: Table, kind: str, seat: Seat = OPERATOR, seed: int = 1) -> Any:
    """Let the mind answer what is owed, post it, and check that no rule is broken."""
    obligation = table.owed(seat, kind)
    state = table.docket.cases[obligation.case_id]
    brief = table.rules.types[state.kind].brief
    reply = run(
        mind_of(seed).answer(view_of(table, obligation, brief(state, obligation, table.docket.context)))
    )
    assert reply is not None
    env = table.say(seat, reply.body, owed=obligation)
    assert table.effects[env.seq - 1].violation is None, table.effects[env.seq - 1].violation
    return reply.body


def owes(table: Table, kind: str, brief: dict[str, Any], seat: Seat = OPERATOR, seed: int = 1) -> Any:
    """Let the mind answer what a session would owe, with the desk as it is."""
    obligation = Obligation(
        f"session_1/x/{seat}", "session_1", seat, (kind,), "#b-ops", table.now, table.now + timedelta(minutes=10),
        timedelta(minutes=5),
    )  # fmt: skip
    given = {"desk": desk_brief(table.docket.context, brief.get("subject", "")), **brief}
    reply = run(mind_of(seed).answer(view_of(table, obligation, given)))
    assert reply is not None
    return reply.body


def candidate(
    strategy: m.Strategy = LEGAL, figures: dict[str, Any] | None = None, start: datetime = START
) -> LifeTable:
    """Return a desk with one candidate."""
    table = LifeTable(start=start)
    table.move(None, "candidates", strategy_id="strat_1", strategy=strategy)
    life: Life = table.life
    life.strategies["strat_1"] = replace(
        life.strategies["strat_1"], backtest=GOOD if figures is None else figures
    )
    return table


def staged() -> LifeTable:
    table = candidate()
    table.move("candidates", "staging")
    return table


def test_the_mind_answers_every_message_of_the_operator() -> None:
    owed = {row.type for row in RIGHTS if OPERATOR_SEAT in row.seats}
    fixed = {"CHECK_NEW_STRATEGIES", "PROMOTION_DECISION", "DAILY_TRADING_REPORT", "WEEKLY_TRADING_REPORT"}
    assert owed - {kind for _, kind in ANSWERS} == fixed, "the others are fixed by the book's figures"


# ---------------------------------------------------------------- validation


def test_4_1_a_candidate_that_runs_and_passed_its_backtest_goes_to_staging() -> None:
    table = candidate()
    body = owes(table, "STRATEGY_MOVED", {"subject": "strat_1"})
    assert (body.strategy_id, body.from_, body.to) == ("strat_1", "candidates", "staging")
    assert "0.90" in body.reason and "validation" in body.reason
    assert table.broke(table.tell(OPERATOR, body, table.open_day())) == ""


@pytest.mark.parametrize(
    ("strategy", "figures", "says"),
    [
        (LEGAL, {**GOOD, "sharpe": 0.29}, "0.29"),
        (LEGAL, {**GOOD, "max_drawdown": 0.21}, "21"),
        (LEGAL, {**GOOD, "total_trades": 19}, "19 trades"),
        (LEGAL, {}, "no backtest"),
        (bodies.strategy(params={**PARAMS, "fast": 60}, symbols=("SIM-ALFA",)), GOOD, "must be below"),
        (bodies.strategy(params=PARAMS, symbols=("NOT-HERE",)), GOOD, "not in this universe"),
        (bodies.strategy(params={"fast": 20, "slow": 60}, symbols=("SIM-ALFA",)), GOOD, "target_vol"),
    ],
)
def test_4_1_a_candidate_that_fails_its_validation_is_withdrawn_with_reasons(
    strategy: m.Strategy, figures: dict[str, Any], says: str
) -> None:
    table = candidate(strategy, figures)
    body = owes(table, "STRATEGY_MOVED", {"subject": "strat_1"})
    assert (body.from_, body.to) == ("candidates", "withdrawn")
    assert says in body.reason
    assert table.broke(table.tell(OPERATOR, body)) == ""


def test_a_strategy_that_faulted_goes_back_with_its_last_error() -> None:
    table = candidate()
    session = table.open_day()
    for n in range(3):
        fault = t.StrategyFault(strategy_id="strat_1", error=f"no such symbol {n}.")
        table.tell(
            TRADER, t.DeskCheck(nominal_at=table.now, strategies=1, signals=0, faults=(fault,)), session
        )
    body = owes(table, "STRATEGY_MOVED", {"subject": "strat_1", "from_": "staging", "to": "candidates"})
    assert (body.from_, body.to) == ("staging", "candidates")
    assert "3 faults" in body.reason and "no such symbol 2" in body.reason


# ---------------------------------------------------------------- deployment, promotion


@pytest.mark.rule("R-B1")
@pytest.mark.parametrize("risk", ["acceptable", "elevated", "excessive"])
@pytest.mark.parametrize("executability", ["ready", "needs_adjustment"])
def test_r_b1_the_operator_decides_as_the_table_says_and_carries_it_out(
    risk: str, executability: str
) -> None:
    table = staged()
    session = table.open_day()
    body = owes(table, "DEPLOY_PROPOSAL", {"subject": "strat_1"})
    assert body.session_id == session
    assert dict(body.backtest_metrics) == GOOD
    assert set(body.risk_profile) == {"archetype", "symbols", "max_drawdown", "cvar", "volatility"}
    assert 0.0 < body.risk_profile["cvar"] < body.risk_profile["volatility"] < 1.0
    assert table.broke(table.tell(OPERATOR, body)) == ""
    review = guardian(risk).model_copy(update={"concerns": ("the tail is fat.", "thin evidence")})
    table.say(GUARDIAN, review)
    table.say(TRADER, trader(executability))
    decided = answer(table, "DEPLOY_DECISION")
    row = deploy.row_of(risk, executability)
    assert (decided.decision, decided.row) == (row.decision, row.n)
    if row.decision == "REJECT":
        assert "the tail is fat; thin evidence" in decided.feedback
        moved = answer(table, "STRATEGY_MOVED")
        assert (moved.from_, moved.to) == ("staging", "candidates") and "the tail is fat" in moved.reason
    elif row.decision == "ESCALATE":
        assert decided.feedback
    else:
        notice = answer(table, "DEPLOY_NOTICE")
        assert (notice.action, notice.validation_period_days) == ("STAGE", 5)
        assert table.standing().is_deployed


@pytest.mark.rule("R-B3")
@pytest.mark.parametrize("says", ["approve", "extend_validation", "reject"])
def test_r_b3_the_operator_proposes_decides_and_moves_a_promotion(says: str) -> None:
    table = staged()
    table.propose()
    table.say(GUARDIAN, guardian())
    table.say(TRADER, trader())
    answer(table, "DEPLOY_DECISION")
    answer(table, "DEPLOY_NOTICE")
    table.trade_days(5)
    session = table.open_day()
    figures = promotion.proposal_figures(table.standing(), table.docket.context)
    body = owes(table, "PROMOTION_PROPOSAL", {"subject": "strat_1", **figures})
    assert (body.days, body.session_id) == (5, "session_1")
    table.tell(OPERATOR, body.model_copy(update={"session_id": session}))
    table.say(
        GUARDIAN,
        t.PromotionReview(
            form="guardian", risk_trend="stable", max_drawdown_observed=0.0, correlation_with_existing=0.0,
            recommendation="approve",
        ),
    )  # fmt: skip
    table.say(
        TRADER,
        t.PromotionReview(form="trader", avg_slippage_bps=0.0, fill_rate=1.0, recommendation=says),  # type: ignore[arg-type]
    )
    decided = answer(table, "PROMOTION_DECISION")
    if says == "extend_validation":
        assert (decided.decision, decided.extensions) == ("EXTEND", 1)
        return
    moved, notice = answer(table, "STRATEGY_MOVED"), answer(table, "DEPLOY_NOTICE")
    if says == "approve":
        assert (moved.to, notice.action) == ("production", "PROMOTE") and "5 days" in moved.reason
    else:
        assert (moved.to, notice.action) == (
            "candidates",
            "WITHDRAW",
        ) and "the Trader rejects" in moved.reason


# ---------------------------------------------------------------- the day


def test_market_close_says_what_the_book_makes_of_the_closing_prices() -> None:
    table = MoneyTable()
    table.trade("BUY", 100, 101.37, fee=1.25)
    table.trade("SELL", 37, 99.01, symbol="BBB")
    closes = {"AAA": 102.123, "BBB": 98.7654}
    figures = table.book.close_figures(closes)
    assert close_figures(desk_brief(table.docket.context), closes) == {
        name: value for name, value in figures.items() if name != "date"
    }


def test_market_close_prices_everything_that_is_held_marked_or_traded() -> None:
    table = staged()
    table.propose()
    table.say(GUARDIAN, guardian())
    table.say(TRADER, trader())
    answer(table, "DEPLOY_DECISION")
    answer(table, "DEPLOY_NOTICE")
    table.open_day()
    closes_at = table.now + timedelta(hours=6)
    table.wait(hours=12)
    body = owes(table, "MARKET_CLOSE", {"date": "2026-02-23"})
    market = TOOLS.market
    assert dict(body.closes) == {
        symbol: market.price(symbol, closes_at) for symbol in ("SIM-ALFA", "SIM-BRAVO")
    }
    assert dict(body.closes) != {symbol: market.price(symbol, table.now) for symbol in body.closes}, (
        "at the close, not at the answer"
    )
    assert (body.date, body.trades, body.pnl_usd) == ("2026-02-23", 0, 0.0)


@pytest.mark.parametrize("kind", ["TRADING_SUMMARY", "DAILY_TRADING_REPORT", "WEEKLY_TRADING_REPORT"])
def test_reports_are_the_books_figures(kind: str) -> None:
    table = MoneyTable()
    table.trade("BUY", 100, 101.0)
    made = {
        "TRADING_SUMMARY": table.book.summary_figures,
        "DAILY_TRADING_REPORT": table.book.daily_figures,
        "WEEKLY_TRADING_REPORT": table.book.weekly_figures,
    }
    day = next(env.body for env in table.log if env.body.type == "TRADING_DAY")
    figures = made[kind](day)
    body = owes(table, kind, figures)
    assert {name: getattr(body, name) for name in figures} == figures
    if kind == "TRADING_SUMMARY":
        assert body.period == "10:00 to 10:01 UTC"


def test_the_check_before_the_open_names_hours_money_positions_and_prices() -> None:
    table = MoneyTable()
    table.trade("BUY", 100, 101.0)
    text = " ".join(owes(table, "PRE_MARKET_CHECK", {}).checks)
    assert "10:00 to 16:00 UTC" in text and "$1,000,000.00" in text and "1 position" in text
    assert "1 in production" in text and "prices" in text and "halted" not in text
    table.halt()
    assert "halted" in " ".join(owes(table, "PRE_MARKET_CHECK", {}).checks)


def test_new_strategies_are_those_of_the_brief() -> None:
    table = candidate()
    found = table.life.to_consider()
    body = owes(table, "CHECK_NEW_STRATEGIES", {"nominal_at": START, "found": found})
    assert (body.found, body.nominal_at) == (("strat_1",), START)


def test_a_day_of_the_operator_breaks_no_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything that a real session makes it owe, while Guardian and Trader only review."""
    monkeypatch.setattr("tests.doubles.life_table.SESSION", SESSION)
    table = candidate(start=OPENS)
    day = t.TradingDay(
        session_id="session_20260223", date="2026-02-23", nominal_at=OPENS, opens_at=OPENS + timedelta(minutes=15),
        closes_at=OPENS + timedelta(hours=6, minutes=45), ends_at=OPENS + timedelta(hours=24), is_early_close=False,
    )  # fmt: skip
    table.docket.demand(Draft(channel="#b-ops", author=TIMEKEEPER, actor=OFFICER, key="desk/1", body=day))
    table.officers()
    said = []
    while table.now < OPENS + timedelta(hours=12):
        for obligation in tuple(table.docket.open.values()):
            is_open = obligation.id in table.docket.open and obligation.opened_at <= table.now
            if is_open and obligation.seat == OPERATOR:
                said.append(act(table, obligation))
        for seat, review in ((GUARDIAN, guardian()), (TRADER, trader())):
            if any(o.seat == seat and "DEPLOY_REVIEW" in o.expects for o in table.docket.open.values()):
                table.say(seat, review)
        table.wait(minutes=1)
    assert [kind for kind in said if kind != "CHECK_NEW_STRATEGIES"] == [
        "PRE_MARKET_CHECK",
        "STRATEGY_MOVED",
        "DEPLOY_PROPOSAL",
        "DEPLOY_DECISION",
        "DEPLOY_NOTICE",
        "HALT",
        "TRADING_SUMMARY",
        "TRADING_SUMMARY",
        "TRADING_SUMMARY",
        "MARKET_CLOSE",
        "DAILY_TRADING_REPORT",
    ]
    assert said.count("CHECK_NEW_STRATEGIES") == 28
    assert not [o for o in table.docket.open.values() if o.seat == OPERATOR and o.opened_at < table.now]


def act(table: LifeTable, obligation: Obligation) -> str:
    """Answer as the host would post it; no rule may be broken."""
    state = table.docket.cases[obligation.case_id]
    brief = table.rules.types[state.kind].brief
    view = view_of(table, obligation, brief(state, obligation, table.docket.context))
    reply = run(mind_of().answer(view))
    assert reply is not None
    body = reply.body
    is_opener = body.type in table.rules.openers
    if not is_opener and body.case_field and not getattr(body, body.case_field):
        body = changed(body, body.case_field, obligation.case_id)
    draft = Draft(
        channel=obligation.channel, author=OPERATOR, body=body, obligation_id=obligation.id,
        case_id=None if is_opener else obligation.case_id,
    )  # fmt: skip
    env = table.publish(draft)
    assert env is not None
    assert table.effects[env.seq - 1].violation is None, table.effects[env.seq - 1].violation
    table.officers()
    return body.type


# ---------------------------------------------------------------- alerts and halts


def deliberate(table: MoneyTable, trend: str, feasible: bool = True) -> Any:
    table.tell(GUARDIAN, t.RiskProjection(trend=trend, projection="-3.6 % by the close."))  # type: ignore[arg-type]
    table.tell(TRADER, t.Feasibility(feasible=feasible, cost_bps=2.5, note="thin book"))
    return answer(table, "RISK_DECISION")


@pytest.mark.rule("R-B4")
@pytest.mark.parametrize(
    ("trend", "feasible"),
    [
        ("stable", True),
        ("stable", False),
        ("decreasing", True),
        ("decreasing", False),
        ("increasing", True),
        ("accelerating", True),
    ],
)
def test_r_b4_the_decision_on_a_warning_follows_the_projection(trend: str, feasible: bool) -> None:
    table = MoneyTable()
    table.alert("WARNING")
    answer(table, "RISK_DISCUSSION")
    decided = deliberate(table, trend, feasible)
    assert decided.action == alert.ALLOWED[trend][0]
    assert ("-3.6 % by the close" in decided.reason) and ("thin book" in decided.reason) is not feasible
    # Where exposure cannot be reduced it waits, and says for what and until when (R-F16).
    assert (decided.waits_for is None, decided.until is None) == (feasible, feasible)
    assert feasible or alert.latest_review(table.now) >= decided.until > table.now


@pytest.mark.rule("R-B4")
def test_r_b4_a_critical_alert_is_reduced_at_once() -> None:
    table = MoneyTable()
    table.alert("CRITICAL")
    body = answer(table, "RISK_DECISION")
    assert body.action == "reduce_exposure" and "CRITICAL" in body.reason


def test_4_2_a_metric_that_keeps_falling_is_proposed_to_be_reduced() -> None:
    table = MoneyTable()
    table.trade("BUY", 400, 100.0)
    for price in (60.0, 50.0, 40.0):
        table.check(AAA=price)
        table.wait(minutes=5)
    table.alert("WARNING", current_value=-0.0301)
    body = answer(table, "RISK_DISCUSSION")
    assert body.proposed_action == "reduce_exposure" and "-3.01 %" in body.reason


@pytest.mark.parametrize(("value", "proposed"), [(-0.031, "monitor"), (-0.0455, "reduce_exposure")])
def test_4_2_without_a_trend_the_distance_to_the_next_limit_decides(value: float, proposed: str) -> None:
    table = MoneyTable()
    table.alert("WARNING", current_value=value)
    assert answer(table, "RISK_DISCUSSION").proposed_action == proposed


def test_an_alert_on_a_metric_without_limits_is_discussed_all_the_same() -> None:
    table = MoneyTable()
    table.alert("WARNING", metric="correlation", current_value=0.55, threshold=0.5)
    assert answer(table, "RISK_DISCUSSION").proposed_action == "monitor"


@pytest.mark.rule("R-B13")
def test_r_b13_the_operator_halts_while_the_guardian_is_silent() -> None:
    table = MoneyTable()
    table.tell(OPERATOR, t.PreMarketCheck(checks=()), table.hall.case_id)
    body = owes(table, "HALT", {"by": OPERATOR})
    assert body.by == "operator" and "Guardian is silent" in body.reason
    assert table.broke(table.tell(OPERATOR, body)) == ("", None) and table.book.halted


@pytest.mark.rule("R-B5")
@pytest.mark.parametrize(("cause", "says"), [("alert", "limit"), ("admin", "admin"), ("silence", "silent")])
def test_r_b5_a_halt_names_its_cause(cause: str, says: str) -> None:
    assert says in owes(MoneyTable(), "HALT", {"subject": cause}).reason


@pytest.mark.rule("R-B5")
def test_r_b5_the_operator_asks_to_resume_and_says_how_the_desk_stands() -> None:
    table = MoneyTable()
    table.halt()
    body = owes(table, "RESUME", {"subject": "halt"})
    assert body.reason and "admin" not in body.reason
    falling = dict(desk_brief(table.docket.context), cash=900_000.0)
    assert "admin" in owes(table, "RESUME", {"subject": "halt", "desk": falling}).reason


# ---------------------------------------------------------------- the bridge


def respond(sessions: int, live: float, promised: float = 0.9, drawdown: float = -0.02) -> t.FeedbackResponse:
    table = staged()
    desk = desk_brief(table.docket.context)
    desk["strategies"]["strat_1"]["drawdown"] = drawdown
    figures = {"expected_sharpe": promised, "actual_sharpe": live, "n": sessions}
    body = owes(table, "FEEDBACK_RESPONSE", {"subject": "strat_1", "desk": desk, "figures": figures})
    assert isinstance(body, t.FeedbackResponse)
    return body


def test_6_1_a_short_sample_is_counter_evidence() -> None:
    body = respond(sessions=6, live=0.1)
    assert (body.stance, body.action) == ("disagree", "none")
    text = " ".join(body.counter_evidence)
    assert "6 sessions" in text and "p = " in text and "z = -0.12" in text


@pytest.mark.parametrize(
    ("sessions", "live", "action"), [(30, -1.0, "none"), (30, -2.0, "adjust"), (30, -5.0, "withdraw")]
)
def test_6_1_how_bad_it_is_decides_between_adjusting_and_withdrawing(
    sessions: int, live: float, action: str
) -> None:
    body = respond(sessions, live)
    assert body.action == action
    assert body.stance == ("disagree" if action == "none" else "agree")
    if action != "none":
        assert "Lo’s standard error" in body.counter_evidence[0]


def test_6_1_a_drawdown_deeper_than_promised_withdraws_whatever_the_sharpe() -> None:
    body = respond(sessions=6, live=0.1, drawdown=-0.12)
    assert (body.stance, body.action) == ("agree", "withdraw") and "12.0 %" in body.counter_evidence[0]


def test_6_1_without_a_sharpe_there_is_nothing_to_agree_with() -> None:
    table = staged()
    body = owes(table, "FEEDBACK_RESPONSE", {"subject": "strat_1", "figures": {"n": 5}})
    assert (body.stance, body.action) == ("disagree", "none") and body.counter_evidence


def test_the_gap_is_measured_by_los_standard_error() -> None:
    gap = Gap(promised=1.0, live=-2.0, sessions=30)
    assert gap.error == pytest.approx(2.9097, abs=1e-3)
    assert gap.z == pytest.approx(-1.0310, abs=1e-3)
    assert gap.p == pytest.approx(0.1513, abs=1e-3)
    assert gap.needed == 77
    assert Gap(1.0, 1.5, 30).needed == 0
    assert gap_of({"expected_sharpe": 1.0, "actual_sharpe": 0.0, "n": 400}) == Gap(1.0, 0.0, 30)


def test_6_2_a_recall_request_names_the_figures() -> None:
    table = staged()
    brief = {"subject": "strat_1", "figures": {"sharpe": -1.25, "n": 12}}
    body = owes(table, "RECALL_REQUEST", brief)
    assert body.strategy_id == "strat_1"
    assert "-1.25" in body.reason and "12 sessions" in body.reason and "0.90" in body.reason


def test_the_same_view_gives_the_same_bytes_and_another_seed_other_words() -> None:
    said = [
        owes(
            staged(),
            "RECALL_REQUEST",
            {"subject": "strat_1", "figures": {"sharpe": -1.0, "n": 9}},
            seed=n,
        )
        for n in (1, 1, *range(2, 9))
    ]
    assert said[0] == said[1]
    assert len({body.reason for body in said}) > 1
