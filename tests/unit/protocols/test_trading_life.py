"""Where strategies stand, and who moves them (R-B11, R-B12, R-D20)."""

from __future__ import annotations

import pytest

from moot.protocols.kernel.errors import Late
from moot.protocols.kernel.people import SeatTaken
from moot.protocols.kernel.seats import ADMIN as ADMIN_SEAT
from moot.protocols.research import messages as m
from moot.protocols.research.seats import EVOLVER as EVOLVER_SEAT
from moot.protocols.trading import messages as t
from moot.protocols.trading.life import FAULTS
from moot.protocols.trading.seats import GUARDIAN as GUARDIAN_SEAT
from moot.protocols.trading.seats import OPERATOR as OPERATOR_SEAT
from moot.protocols.trading.seats import TRADER as TRADER_SEAT
from tests.doubles import bodies
from tests.doubles.debating import assess, backtest, hypothesise, judge, record
from tests.doubles.life_table import LifeTable
from tests.doubles.table import START

OPERATOR, GUARDIAN, TRADER, EVOLVER = OPERATOR_SEAT, GUARDIAN_SEAT, TRADER_SEAT, EVOLVER_SEAT
ADMIN = ADMIN_SEAT
OTHER = m.Strategy(archetype="mean_reversion", params={"lookback": 5}, symbols=("XYZ",))


def backtested() -> tuple[LifeTable, str]:
    """Return a debate whose strategy passed its backtest and is to be moved."""
    table = LifeTable(schedules={"micro": {"at": [START.isoformat()]}})
    case_id = hypothesise(table)
    assess(table, confidence=0.9)
    judge(table)
    backtest(table)
    return table, case_id


def check(table: LifeTable, *faulty: str, **over) -> None:
    """Say DESK_CHECK in the open session."""
    faults = tuple(t.StrategyFault(strategy_id=name, error="it raised") for name in faulty)
    fields = {"nominal_at": table.now, "strategies": 1, "signals": 0, "faults": faults, **over}
    table.tell(TRADER, t.DeskCheck(**fields), f"session_{table.days}")


# ---------------------------------------------------------------- from System A


def test_a_debate_gives_the_desk_its_strategy_and_its_backtest():
    table, case_id = backtested()
    table.say(EVOLVER, bodies.moved("strat_1", strategy=None))
    known = table.standing()
    result = table.last("BACKTEST_RESULT").body.metrics
    assert (known.stage, known.hypothesis_id) == ("candidates", case_id)
    assert known.strategy == bodies.strategy()
    assert known.backtest["sharpe"] == result.sharpe
    assert None not in known.backtest.values()
    assert table.life.to_consider() == ("strat_1",)


def test_a_debate_cannot_take_from_b_what_it_holds():
    table, _ = backtested()
    table.stage()
    table.say(EVOLVER, bodies.moved("strat_1"))
    assert table.standing().stage == "staging"


def test_a_strategy_moved_after_its_debate_brings_what_the_debate_said():
    table, case_id = backtested()
    table.wait(minutes=30)
    late = table.tell(EVOLVER, bodies.moved("strat_1"), case_id)
    assert isinstance(table.effects[late.seq - 1].violation, Late)
    table.wait(minutes=30)
    assert table.docket.ended[case_id].outcome == "approved"
    env = table.move(None, "candidates", EVOLVER, hypothesis_id=case_id)
    assert table.broke(env) == ""
    assert table.standing().strategy == bodies.strategy()
    assert table.standing().backtest["sharpe"] == table.last("BACKTEST_RESULT").body.metrics.sharpe


@pytest.mark.rule("R-D20")
def test_r_d20_the_evolver_moves_no_strategy_that_was_rejected():
    table = LifeTable(schedules={"micro": {"at": [START.isoformat()]}})
    case_id = hypothesise(table)
    assess(table, confidence=0.9)
    judge(table, "REJECT")
    table.wait(minutes=30)
    assert table.broke(table.move(None, "candidates", EVOLVER, hypothesis_id=case_id)) == "R-D20"
    assert table.life.strategies == {}


@pytest.mark.rule("R-D15")
def test_r_d15_the_evolver_moves_no_strategy_whose_backtest_failed():
    table = LifeTable(schedules={"micro": {"at": [START.isoformat()]}})
    case_id = hypothesise(table)
    assess(table, confidence=0.9)
    judge(table)
    backtest(table, passed=False)
    record(table, "failure")
    assert table.docket.ended[case_id].outcome == "backtest_failed"
    assert table.broke(table.move(None, "candidates", EVOLVER, hypothesis_id=case_id)) == "R-D15"
    assert table.life.strategies == {}


@pytest.mark.rule("R-D20")
def test_r_d20_the_evolver_moves_nothing_before_its_debate_has_ended():
    table, case_id = backtested()
    for said in ("", case_id, "hyp_20260101_0000"):
        assert table.broke(table.move(None, "candidates", EVOLVER, hypothesis_id=said)) == "R-D20"
    assert table.life.strategies == {}


@pytest.mark.rule("R-D20")
def test_r_d20_the_evolver_moves_no_other_strategy_than_its_debate_approved():
    table, case_id = backtested()
    table.wait(minutes=60)
    assert table.docket.ended[case_id].outcome == "approved"
    env = table.move(None, "candidates", EVOLVER, hypothesis_id=case_id, strategy=OTHER)
    assert table.broke(env) == "R-D20"
    assert table.broke(table.move(None, "candidates", EVOLVER, hypothesis_id=case_id)) == ""


# ---------------------------------------------------------------- moving


@pytest.mark.rule("R-B3")
def test_r_b3_a_bot_promotes_nothing_without_paper_days_and_reviews():
    table = LifeTable()
    table.stage()
    assert table.broke(table.move("staging", "production", OPERATOR)) == "R-B3"
    assert not table.life.is_traded("strat_1")


def test_4_1_a_strategy_that_the_log_does_not_know_stands_nowhere_for_a_bot():
    table = LifeTable()
    for to, rule in (("staging", "4.1"), ("candidates", "")):
        assert table.broke(table.move("production", to, OPERATOR)) == rule


@pytest.mark.rule("K14")
def test_k14_a_person_in_the_operators_seat_takes_a_strategy_up():
    table = LifeTable()
    table.move(None, "candidates")
    taken = SeatTaken(seat="operator", user_id="ann", reason="lunch")
    table.say(ADMIN, taken, channel="#admin")
    assert table.broke(table.move("candidates", "staging", OPERATOR, user="ann")) == ""
    assert table.standing().stage == "staging"
    assert table.broke(table.move("staging", "production", OPERATOR, user="ann")) == ""


@pytest.mark.rule("R-B11")
@pytest.mark.parametrize(
    ("seat", "from_", "to", "rule"),
    [
        (EVOLVER, None, "candidates", "R-D20"),
        (EVOLVER, "withdrawn", "candidates", "R-D20"),
        (EVOLVER, "candidates", "staging", "R-B11"),
        (EVOLVER, "candidates", "withdrawn", "R-B11"),
        (EVOLVER, "staging", "candidates", "R-B11"),
        (EVOLVER, "production", "candidates", "R-B11"),
        (OPERATOR, None, "candidates", "R-B11"),
        (OPERATOR, None, "staging", "4.1"),
        (OPERATOR, None, "production", "R-B3"),
        (OPERATOR, "candidates", "staging", "4.1"),
        (OPERATOR, "candidates", "production", "R-B3"),
        (OPERATOR, "withdrawn", "production", "R-B3"),
        (OPERATOR, "candidates", "withdrawn", ""),
        (OPERATOR, "staging", "candidates", ""),
        (OPERATOR, "staging", "production", "R-B3"),
        (OPERATOR, "production", "staging", "4.1"),
        (OPERATOR, "production", "withdrawn", ""),
        (OPERATOR, "production", "candidates", ""),
        (OPERATOR, "withdrawn", "candidates", "R-B11"),
        (OPERATOR, "staging", "staging", "R-D20"),
        (ADMIN, None, "candidates", ""),
        (ADMIN, None, "production", ""),
        (ADMIN, "candidates", "staging", ""),
        (ADMIN, "staging", "production", ""),
        (ADMIN, "staging", "candidates", ""),
        (ADMIN, "withdrawn", "candidates", ""),
        (ADMIN, "staging", "staging", "R-D20"),
    ],
)
def test_r_b11_outside_a_case_a_bot_gives_up_only_what_it_holds_and_an_admin_moves_anything(
    seat, from_, to, rule
):
    table = LifeTable()
    assert table.broke(table.move(from_, to, seat)) == rule
    assert ("strat_1" in table.life.strategies) is (rule == "")


@pytest.mark.rule("R-D20")
def test_r_d20_a_move_starts_where_the_strategy_stands():
    table = LifeTable()
    table.stage()
    for said in (None, "candidates", "production"):
        assert table.broke(table.move(said, "withdrawn")) == "R-D20"
    assert table.standing().stage == "staging"
    assert table.broke(table.move("staging", "production")) == ""


@pytest.mark.rule("R-D20")
def test_r_d20_an_unknown_strategy_stands_where_its_first_move_says():
    table = LifeTable()
    assert table.broke(table.move("staging", "production", strategy=OTHER)) == ""
    assert (table.standing().stage, table.standing().strategy) == ("production", OTHER)


@pytest.mark.rule("R-D20")
def test_r_d20_a_strategy_never_changes_on_the_way():
    table = LifeTable()
    table.stage(strategy=bodies.strategy())
    assert table.broke(table.move("staging", "production", strategy=OTHER)) == "R-D20"


@pytest.mark.rule("K23")
def test_k23_a_move_that_names_an_ended_case_is_refused():
    table = LifeTable()
    env = table.tell(OPERATOR, bodies.moved(from_="candidates", to="staging"), "hyp_20260101_0000")
    assert table.broke(env) == "K23"
    assert table.life.strategies == {}


# ---------------------------------------------------------------- what is counted


def test_a_candidate_is_considered_once_and_again_only_when_it_does_not_come_back_from_b():
    table = LifeTable()
    table.move(None, "candidates")
    assert table.life.to_consider() == ("strat_1",)
    session = table.open_day()
    table.tell(OPERATOR, t.CheckNewStrategies(nominal_at=table.now, found=("strat_1",)), session)
    assert table.life.to_consider() == ()
    table.move("candidates", "staging")
    table.move("staging", "candidates")
    assert table.life.to_consider() == ()
    table.move("candidates", "withdrawn")
    table.move("withdrawn", "candidates")
    assert table.life.to_consider() == ("strat_1",)


def test_days_are_market_closes_while_it_is_traded():
    table = LifeTable()
    table.stage()
    table.trade_days(2)
    assert table.standing().days == 0
    table.move("staging", "candidates")
    table.move("candidates", "withdrawn")
    table.deploy("strat_2")
    table.trade_days(2)
    assert table.standing("strat_2").days == 2 and table.standing().days == 0
    table.move("staging", "production", strategy_id="strat_2")
    table.trade_days(1)
    known = table.standing("strat_2")
    assert (known.days, known.sessions_in_production) == (3, 1)
    assert known.deployed_at is not None and known.deployed_at < known.promoted_at


def test_three_rounds_in_a_row_with_its_fault_revoke_a_strategy():
    table = LifeTable()
    table.deploy()
    table.open_day()
    check(table, "strat_1")
    check(table, "strat_1")
    check(table)
    assert table.standing().faults == 0
    check(table, "strat_1")
    check(table, "strat_1")
    check(table, "strat_1")
    assert table.standing().faults == FAULTS
    table.move("staging", "candidates")
    assert table.standing().faults == 0


def test_what_breaks_a_rule_does_not_count():
    table = LifeTable()
    table.deploy()
    close = t.MarketClose(date="2026-02-23", closes={}, equity=1e6, pnl_usd=0.0, pnl_pct=0.0, trades=0)
    assert table.broke(table.tell(OPERATOR, close, "session_9")) == "K9"
    assert table.standing().days == 0


def test_what_is_traded_is_deployed_in_staging_or_in_production():
    table = LifeTable()
    table.stage()
    assert not table.life.is_traded("strat_1")
    table.move("staging", "production")
    assert table.life.is_traded("strat_1")
    table.move("production", "withdrawn")
    assert not table.life.is_traded("strat_1")
    assert not table.life.is_traded("strat_9") and table.life.stage_of("strat_9") is None


@pytest.mark.rule("R-B7")
def test_r_b7_a_position_limit_never_exceeds_the_portfolios():
    table = LifeTable()
    table.stage()
    assert (table.standing().position_limit, table.standing().order_type) == (0.05, "market")
