"""The simulated Guardian: figures that the book confirms, projections from evidence, reviews by their lines."""

from datetime import date, timedelta
from typing import Any

import pytest

from moot.bots.desk.risk import mean_correlation, var95
from moot.bots.minds.simulated.delays import TICKS, delay
from moot.bots.minds.simulated.desk.guardian import LINES, _sameness, path_of
from moot.bots.minds.simulated.mind import ANSWERS
from moot.bots.minds.simulated.temper import DEFAULT
from moot.bots.tools.strategies import StrategySpec
from moot.protocols.kernel.obligation import Obligation
from moot.protocols.research.messages import Strategy
from moot.protocols.research.seats import EVOLVER
from moot.protocols.trading import messages as t
from moot.protocols.trading.rights import RIGHTS
from moot.protocols.trading.seats import GUARDIAN as GUARDIAN_SEAT
from moot.protocols.trading.seats import OPERATOR as OPERATOR_SEAT
from moot.protocols.trading.seats import TRADER as TRADER_SEAT
from tests.doubles import bodies
from tests.doubles.desk_minds import MindedDesk, at, trend

GUARDIAN, TRADER, OPERATOR = GUARDIAN_SEAT, TRADER_SEAT, OPERATOR_SEAT
TUESDAY = date(2026, 2, 24)


def desk_with(held: int = 100, symbol: str = "SIM-GOLF", price: float = 115.0) -> MindedDesk:
    """Return a desk at 09:31 whose one strategy holds something."""
    desk = MindedDesk()
    desk.trade("strat_1", trend("SIM-GOLF", "SIM-ECHO"))
    desk.until(at(9, 31))
    if held:
        desk.hold("strat_1", symbol, held, price)
    return desk


@pytest.fixture(scope="module")
def day() -> MindedDesk:
    """A day and a night with every seat of the desk at work."""
    desk = MindedDesk()
    desk.trade("strat_1", trend("SP500", "SIM-GOLF", "SIM-ECHO"))
    desk.trade("strat_2", trend("NASDAQ", "SIM-HOTEL", fast=5, slow=20))
    desk.live(at(9, 10, TUESDAY))
    return desk


def test_the_minds_answer_every_message_of_guardian_and_trader() -> None:
    owed = {row.type for row in RIGHTS if GUARDIAN_SEAT in row.seats or TRADER_SEAT in row.seats}
    assert owed - {kind for _, kind in ANSWERS} == {"METRICS_RECORDED"}, (
        "the others are fixed by the book's figures"
    )


# ---------------------------------------------------------------- checks


def test_a_day_and_a_night_break_no_rule_and_miss_nothing(day: MindedDesk) -> None:
    assert not day.all("VIOLATION")
    assert not [ruling for ruling in day.all("RULING") if ruling.reason == "timeout"]
    checks = day.all("RISK_CHECK")
    assert [c.nominal_at for c in checks] == [at(9, 30) + n * timedelta(minutes=5) for n in range(78)]
    assert len(day.all("OVERNIGHT_RISK_CHECK")) == 1
    assert {m.strategy_id for m in day.all("METRICS_RECORDED")} == {"strat_1", "strat_2"}


@pytest.mark.rule("R-B7")
def test_r_b7_a_check_marks_what_may_be_traded_at_the_prices_of_its_instant(day: MindedDesk) -> None:
    sent = [env for env in day.log if env.body.type == "RISK_CHECK"]
    for env in sent[::11]:
        body: Any = env.body
        assert set(body.marks) == {"SP500", "SIM-GOLF", "SIM-ECHO", "NASDAQ", "SIM-HOTEL"}
        assert body.marks == day.tools.market.marks(body.marks, env.sent_at)


@pytest.mark.rule("R-B7")
def test_r_b7_var_and_correlation_are_those_of_what_is_held(day: MindedDesk) -> None:
    desk = desk_with(300)
    desk.hold("strat_1", "SIM-ECHO", -50, 118.0)
    body: Any = desk.respond(desk.owed(GUARDIAN, "RISK_CHECK")).body
    known = desk.tools.bars(desk.now)
    weights = {
        "SIM-GOLF": 300 * body.marks["SIM-GOLF"] / body.equity,
        "SIM-ECHO": -50 * body.marks["SIM-ECHO"] / body.equity,
    }
    assert body.var95 == var95(weights, known) > 0
    assert body.correlation == mean_correlation(weights, known) != 0
    assert all(check.var95 > 0 for check in day.all("RISK_CHECK")[10:])


def test_a_desk_without_positions_risks_nothing() -> None:
    body: Any = desk_with(0).think(desk_with(0).owed(GUARDIAN, "RISK_CHECK")).body
    assert (body.var95, body.correlation, body.exposure, body.largest_symbol) == (0.0, 0.0, 0.0, None)


# ---------------------------------------------------------------- alerts


def test_spec_4_2_a_breach_is_alerted_and_deliberated_to_its_end() -> None:
    desk = desk_with(0)
    desk.trade("strat_2", trend("SIM-GOLF"))
    desk.hold("strat_1", "SIM-GOLF", 400, 115.0)
    desk.hold("strat_2", "SIM-GOLF", 400, 115.0)
    desk.respond(desk.owed(GUARDIAN, "RISK_CHECK"))
    alert: Any = desk.respond(desk.owed(GUARDIAN, "RISK_ALERT")).body
    assert (alert.level, alert.metric, alert.affected_strategies) == (
        "WARNING", "largest_position", ("strat_1", "strat_2"),
    )  # fmt: skip
    assert "SIM-GOLF" in alert.message and "8.00 %" in alert.message
    for seat, kind in (
        (OPERATOR, "RISK_DISCUSSION"),
        (GUARDIAN, "RISK_PROJECTION"),
        (TRADER, "FEASIBILITY"),
        (OPERATOR, "RISK_DECISION"),
    ):
        assert desk.respond(desk.owed(seat, kind)) is not None
    feasible: Any = desk.all("FEASIBILITY")[0]
    assert feasible.feasible
    assert 1.0 < feasible.cost_bps < 10.0


@pytest.mark.rule("R-B4")
def test_r_b4_a_path_without_direction_is_stable() -> None:
    assert path_of([0.031, 0.030, 0.031, 0.030, 0.031, 0.030], 0.05).trend == "stable"
    assert path_of([0.04, 0.038, 0.035, 0.031], 0.05).trend == "stable"
    assert path_of([0.031], 0.05).trend == "stable"
    assert path_of([0.01, 0.04, 0.0, 0.031], 0.05).trend == "stable"
    # One jump is an event and no trend, wherever it lies.
    assert path_of([0.07, 0.07, 0.07, 0.07, 0.07, 0.1, 0.1, 0.1], 0.12).trend == "stable"
    assert path_of([0.07, 0.07, 0.07, 0.07, 0.07, 0.07, 0.07, 0.1], 0.12).trend == "stable"


@pytest.mark.rule("R-B4")
def test_r_b4_a_drift_beyond_its_noise_is_increasing_and_one_that_speeds_up_to_the_limit_accelerates() -> (
    None
):
    assert path_of([0.020, 0.0215, 0.0228, 0.0245, 0.026, 0.0272, 0.029], 0.08).trend == "increasing"
    found = path_of([0.020, 0.021, 0.022, 0.024, 0.028, 0.034, 0.042], 0.05)
    assert found.trend == "accelerating"
    assert found.ahead is not None and 1.0 < found.ahead < 3.0
    # The same pace far from the next limit is no emergency yet.
    assert path_of([0.020, 0.021, 0.022, 0.024, 0.028, 0.034, 0.042], 0.15).trend == "increasing"


# ---------------------------------------------------------------- reviews


def proposed(
    strategy: Any, backtest: dict[str, float] | None = None, before: dict[str, Any] | None = None
) -> Any:
    """Return the Guardian's and the Trader's review of a strategy."""
    desk = MindedDesk()
    for name, other in (before or {}).items():
        desk.trade(name, other)
    desk.trade("new", strategy, to="staging")
    proposal = t.DeployProposal(
        session_id=desk.session.case_id,
        strategy_id="new",
        backtest_metrics=backtest or {},
        risk_profile={"archetype": "momentum"},
    )
    desk.tell(OPERATOR, proposal)
    return [desk.respond(desk.owed(seat, "DEPLOY_REVIEW")).body for seat in (GUARDIAN, TRADER)]


@pytest.mark.rule("R-B1")
def test_r_b1_a_calm_strategy_on_liquid_symbols_is_acceptable_and_ready() -> None:
    quiet = trend("SP500", "SIM-GOLF", "SIM-ALFA", target_vol=0.06, allow_short=0)
    risk, execution = proposed(quiet)
    assert (risk.risk_assessment, risk.concerns, risk.recommended_position_limit) == ("acceptable", (), 0.05)
    assert execution.liquidity_concern is False
    assert 1.0 < execution.estimated_slippage_bps < 10.0


@pytest.mark.rule("R-B1")
def test_r_b1_one_that_does_what_another_does_is_the_same_bet_twice() -> None:
    mine = trend("SP500", "SIM-GOLF", target_vol=0.06, allow_short=0)
    twin = trend("SP500", "SIM-GOLF", target_vol=0.06, allow_short=0, fast=21)
    risk, _ = proposed(mine, before={"twin": twin})
    assert risk.risk_assessment == "excessive"
    assert any("twin" in concern for concern in risk.concerns)
    assert risk.recommended_position_limit < 0.05


@pytest.mark.rule("R-B1")
def test_r_b1_what_stands_in_one_symbol_is_elevated_with_a_smaller_limit() -> None:
    risk, _ = proposed(trend("SIM-GOLF", target_vol=0.06, allow_short=0))
    assert risk.risk_assessment == "elevated"
    assert 0.01 <= risk.recommended_position_limit < 0.05
    assert "100 %" in risk.concerns[0]


@pytest.mark.rule("R-B1")
def test_r_b1_what_cannot_be_measured_is_excessive() -> None:
    risk, execution = proposed(trend("NOT-HERE"))
    assert risk.risk_assessment == "excessive"
    assert "NOT-HERE" in risk.concerns[0]
    assert (execution.executability, execution.liquidity_concern) == ("needs_adjustment", True)


def test_the_lines_are_in_order() -> None:
    assert all(line.elevated < line.excessive for line in LINES.values())


@pytest.mark.rule("R-B3")
@pytest.mark.parametrize(
    ("paper", "guardians", "traders"),
    [
        ((0.9, 0.02, 6, 3.0, 1.0), "approve", "approve"),
        ((0.2, 0.02, 6, 13.0, 1.0), "extend_validation", "extend_validation"),
        ((0.9, 0.21, 6, 3.0, 0.4), "reject", "reject"),
        ((-2.5, 0.05, 6, 3.0, 0.8), "reject", "extend_validation"),
        ((None, 0.0, 0, None, None), "extend_validation", "extend_validation"),
    ],
)
def test_r_b3_promotion_reviews_go_by_what_paper_trading_showed(
    paper: tuple[float | None, ...], guardians: str, traders: str
) -> None:
    desk = desk_with(0)
    names = ("sharpe", "max_drawdown", "trades", "avg_slippage_bps", "fill_rate")
    shown = {name: value for name, value in zip(names, paper, strict=True) if value is not None}
    brief = {
        **desk.brief(desk.owed(GUARDIAN, "RISK_CHECK")),
        "subject": "strat_1",
        "proposal": {"paper_trading_metrics": shown, "days": 5},
        "criteria": {"sharpe_above": 0.3, "drawdown_above": -0.2},
    }
    found = []
    for seat in (GUARDIAN, TRADER):
        owed = Obligation(
            f"prom_1/review/{seat}", desk.session.case_id, seat, ("PROMOTION_REVIEW",), "#b-ops", desk.now,
            desk.now + timedelta(minutes=10), timedelta(minutes=10),
        )  # fmt: skip
        held = names[1:2] if seat == GUARDIAN else names[3:]
        fixed = {
            "max_drawdown_observed" if name == "max_drawdown" else name: shown.get(name, 0.0) for name in held
        }
        reply = desk.think(owed, brief={**brief, **fixed})
        assert reply is not None
        found.append(reply.body)
    assert [body.recommendation for body in found] == [guardians, traders]
    assert bool(found[1].execution_issues) == (traders != "approve")


@pytest.mark.parametrize(
    ("others", "share"),
    [
        (("momentum",) * 2, 0.0),
        (("momentum",) * 3, 1.0),
        (("breakout",) * 3, 0.25),
        (("breakout", "momentum") * 2, 0.6),
    ],
)
def test_more_of_the_same_is_measured_where_there_are_enough_to_take_a_share_of(
    others: tuple[str, ...], share: float
) -> None:
    def entry(archetype: str, stage: str) -> dict[str, Any]:
        return {"archetype": archetype, "stage": stage, "is_deployed": stage == "staging"}

    spec = StrategySpec("momentum", {}, ("SPX",))
    at_work = {f"strat_{n}": entry(name, "production") for n, name in enumerate(others, 2)}
    elsewhere = {f"strat_{n}": entry("momentum", "withdrawn") for n in range(90, 99)}
    shown = {"strategies": {"strat_1": entry("momentum", "production"), **at_work, **elsewhere}}
    assert _sameness(shown, spec, but="strat_1", where="production") == share
    assert _sameness(shown, spec, but="strat_1", where="is_deployed") == 0.0


def promoted_beside(archetype: str) -> str:
    """Return what the Guardian recommends for a trend that did well on paper, beside three others of an archetype."""
    others = {
        "momentum": trend("SIM-ECHO"),
        "breakout": Strategy(
            archetype="breakout",
            params={"channel": 20, "exit_channel": 10, "allow_short": 0, "target_vol": 0.2},
            symbols=("SIM-ECHO",),
        ),
    }
    desk = MindedDesk()
    desk.trade("strat_1", trend("SIM-GOLF"))
    for n in range(2, 5):
        desk.trade(f"strat_{n}", others[archetype])
    desk.until(at(9, 31))
    brief = {
        **desk.brief(desk.owed(GUARDIAN, "RISK_CHECK")),
        "subject": "strat_1",
        "proposal": {"paper_trading_metrics": {"sharpe": 0.9, "max_drawdown": 0.02, "trades": 6}, "days": 5},
        "criteria": {"sharpe_above": 0.3, "drawdown_above": -0.2},
    }
    owed = Obligation(
        "prom_1/review/guardian", desk.session.case_id, GUARDIAN, ("PROMOTION_REVIEW",), "#b-ops", desk.now,
        desk.now + timedelta(minutes=10), timedelta(minutes=10),
    )  # fmt: skip
    reply = desk.think(owed, brief=brief)
    assert reply is not None
    return str(reply.body.recommendation)


def test_a_promotion_to_more_of_the_same_waits() -> None:
    assert promoted_beside("momentum") == "extend_validation"
    assert promoted_beside("breakout") == "approve"


# ---------------------------------------------------------------- halts


@pytest.mark.rule("R-B5")
def test_r_b5_a_resume_is_confirmed_once_nothing_is_at_its_halt_level() -> None:
    desk = desk_with(100)
    desk.respond(desk.owed(GUARDIAN, "RISK_CHECK"))
    desk.tell(GUARDIAN, t.Halt(session_id=desk.session.case_id, reason="a test", by="guardian"))
    desk.tell(OPERATOR, t.Resume(reason="over"), case_id=desk.book.halt_id)
    owed = desk.owed(GUARDIAN, "RESUME_CONFIRMED")
    said: Any = desk.think(owed)
    assert len(said.body.checks) == 4
    brief = desk.brief(owed)
    assert desk.think(owed, brief={**brief, "desk": {**brief["desk"], "orders_under_way": 1}}) is None
    deep = {**brief, "desk": {**brief["desk"], "opening": brief["desk"]["equity"] * 1.2}}
    assert desk.think(owed, brief=deep) is None
    desk.respond(owed)
    assert not desk.book.halted


@pytest.mark.rule("R-B10")
def test_r_b10_a_recall_is_flagged_with_the_figures_of_the_log() -> None:
    desk = desk_with(0)
    owed = Obligation(
        "x/recall-1/guardian", desk.session.case_id, GUARDIAN, ("RECALL_FLAG",), "#b-risk", desk.now,
        desk.now + timedelta(minutes=10), timedelta(minutes=10),
    )  # fmt: skip
    brief = {"subject": "strat_1", "strategy_id": "strat_1", "sharpe": -0.7, "n": 6}
    body: Any = desk.think(owed, brief=brief).body  # type: ignore[union-attr]
    assert (body.strategy_id, body.sharpe, body.n) == ("strat_1", -0.7, 6)
    assert body.session_id == desk.session.case_id


# ---------------------------------------------------------------- time


@pytest.mark.rule("R-D19")
def test_r_d19_ticks_take_seconds_and_are_hardly_ever_left_out() -> None:
    found = []
    for n in range(4000):
        opened = at(9, 30) + n * timedelta(days=1)
        owed = Obligation(
            f"s/risk-{n}/guardian", "s", GUARDIAN, ("RISK_CHECK",), "#b-risk", opened, opened + timedelta(minutes=4),
            timedelta(minutes=1),
        )  # fmt: skip
        found.append(delay(1, owed, 0, opened, DEFAULT))
    spans = [span for span in found if span is not None]
    # Spells are the rest: one day in a hundred, for a quarter of it.
    assert len(found) - len(spans) < 30
    assert max(spans) < timedelta(minutes=1)
    assert timedelta(seconds=2) < sorted(spans)[len(spans) // 2] < timedelta(seconds=4)
    assert "RISK_CHECK" in TICKS and "DEPLOY_REVIEW" not in TICKS


def test_candidates_are_nothing_to_the_guardian_yet() -> None:
    desk = MindedDesk()
    desk.tell(EVOLVER, bodies.moved("strat_9", strategy=trend("SIM-DELTA")))
    desk.until(at(9, 31))
    body: Any = desk.think(desk.owed(GUARDIAN, "RISK_CHECK")).body  # type: ignore[union-attr]
    assert body.marks == {}
