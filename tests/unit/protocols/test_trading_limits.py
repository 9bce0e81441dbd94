"""Limits: levels of risk metrics, and what an order may not exceed; R-B6, R-B7, R-B8."""

from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.protocols.trading.limits import (
    LIMITS,
    Reach,
    breaches,
    grows,
    halving,
    level_of,
    may_grow,
    position_limit,
    surely_held,
    threshold_of,
    worst,
)
from tests.doubles.money_table import MoneyTable

FINE = ("", None)
TOO_MUCH = ("R-B7", "quantity")

TABLE = [
    ("daily_pnl", (-0.0299, -0.03, -0.0499, -0.05, -0.0799, -0.08, -0.5)),
    ("drawdown", (-0.0999, -0.10, -0.1499, -0.15, -0.1999, -0.20, -0.9)),
    ("var95", (0.0299, 0.03, 0.0499, 0.05, 0.0799, 0.08, 0.5)),
    ("largest_position", (0.0799, 0.08, 0.1199, 0.12, 0.1499, 0.15, 0.9)),
]


@pytest.mark.rule("R-B7")
@pytest.mark.parametrize(("metric", "values"), TABLE)
def test_r_b7_each_metric_has_three_levels_and_reaching_a_number_counts(metric, values):
    expected = ["", "WARNING", "WARNING", "CRITICAL", "CRITICAL", "HALT", "HALT"]
    assert [level_of(metric, value) for value in values] == expected
    assert [threshold_of(metric, level) for level in ("WARNING", "CRITICAL", "HALT")] == [
        values[1],
        values[3],
        values[5],
    ]


@pytest.mark.rule("R-B7")
def test_r_b7_gains_and_zeros_are_harmless():
    assert [level_of(metric, 0.0) for metric in LIMITS] == [""] * 4
    assert level_of("daily_pnl", 0.5) == level_of("drawdown", 0.0) == level_of("var95", -1.0) == ""
    with pytest.raises(KeyError):
        level_of("mood", 1.0)


def test_the_worst_of_some_levels():
    assert worst(()) == ""
    assert worst(("WARNING", "HALT", "CRITICAL")) == "HALT"


def test_a_check_breaches_every_limit_that_it_reaches():
    check = SimpleNamespace(
        daily_pnl_pct=-0.05,
        drawdowns={"strat_2": -0.21, "strat_1": -0.1, "strat_3": -0.01},
        var95=0.06,
        largest_symbol="AAA",
        largest_position=0.12,
    )
    assert breaches(check) == [
        ("daily_pnl", "", "CRITICAL", -0.05, -0.05),
        ("drawdown", "strat_1", "WARNING", -0.1, -0.10),
        ("drawdown", "strat_2", "HALT", -0.21, -0.20),
        ("var95", "", "CRITICAL", 0.06, 0.05),
        ("largest_position", "AAA", "CRITICAL", 0.12, 0.12),
    ]
    check.var95 = 0.01
    assert "var95" not in [breach.metric for breach in breaches(check)]


@pytest.mark.rule("R-B5")
@pytest.mark.parametrize(
    ("before", "delta", "is_growth"),
    [
        (0, 1, True),
        (0, -1, True),
        (10, 1, True),
        (10, -10, False),
        (10, -9, False),
        (10, -11, True),
        (-10, 10, False),
        (-10, 15, True),
        (-10, -1, True),
    ],
)
def test_r_b5_opening_growing_and_crossing_zero_are_growth(before, delta, is_growth):
    assert grows(before, delta) is is_growth


@pytest.mark.rule("R-B8")
@given(st.integers(-(10**6), 10**6).filter(bool))
def test_r_b8_halving_leaves_half_rounded_towards_zero_and_never_grows(quantity):
    left = quantity + halving(quantity)
    assert left == int(quantity / 2)
    assert not grows(quantity, halving(quantity))


ORDERS = st.lists(st.integers(-3, 3).filter(bool), max_size=4)


def outcomes(held, orders):
    """Return everything that a position may become when each order is filled, in part or not at all."""
    found = {held}
    for asked in orders:
        parts = range(min(asked, 0), max(asked, 0) + 1)
        found = {position + part for position in found for part in parts}
    return found


@pytest.mark.rule("R-B5")
@given(st.integers(-4, 4), ORDERS, st.integers(-5, 5).filter(bool))
def test_r_b5_an_order_grows_when_it_does_after_any_fills_of_the_orders_under_way(held, orders, delta):
    possible = outcomes(held, orders)
    reach = Reach(min(possible), max(possible))
    assert may_grow(reach, delta) is any(grows(position, delta) for position in possible)


@pytest.mark.rule("R-B8")
@given(st.integers(-40, 40).filter(bool), ORDERS)
def test_r_b8_halving_what_surely_remains_never_grows_whatever_else_is_filled(held, orders):
    possible = outcomes(held, orders)
    reach = Reach(min(possible), max(possible))
    delta = halving(surely_held(held, reach))
    assert not delta or not may_grow(reach, delta)
    # It is nothing only where the position may be gone.
    assert bool(delta) is all(position * held > 0 for position in possible)


def test_a_position_may_have_five_percent_or_less_where_that_was_agreed():
    assert position_limit(None) == 0.05
    assert position_limit(SimpleNamespace(position_limit=0.02)) == 0.02
    assert position_limit(SimpleNamespace(position_limit=0.2)) == 0.05


# ---------------------------------------------------------------- orders


def attempt(table, action="BUY", quantity=100, price=100.0, **over):
    """Signal and order; return what the order broke."""
    signal = table.signal(action, quantity, limit_price=price, **over)
    assert table.broke(signal) == FINE
    return table.broke(table.order(signal))


@pytest.mark.rule("R-B7")
@pytest.mark.parametrize(("quantity", "broke"), [(500, FINE), (501, TOO_MUCH)])
def test_r_b7_a_position_may_reach_five_percent_of_the_equity(quantity, broke):
    assert attempt(MoneyTable(), quantity=quantity) == broke
    assert attempt(MoneyTable(), "SELL", quantity) == broke


@pytest.mark.rule("R-B7")
def test_r_b7_what_is_held_counts_towards_the_position():
    table = MoneyTable()
    table.trade("BUY", 400)
    assert attempt(table, quantity=101) == TOO_MUCH
    assert attempt(table, quantity=100) == FINE


@pytest.mark.rule("R-B7")
def test_r_b7_orders_under_way_count_as_filled():
    table = MoneyTable()
    assert attempt(table, quantity=400) == FINE
    assert attempt(table, quantity=101) == TOO_MUCH
    assert attempt(table, quantity=100) == FINE


@pytest.mark.rule("R-B7")
def test_r_b7_a_sale_under_way_makes_no_room_before_it_is_filled():
    table = MoneyTable()
    table.trade("BUY", 400)
    assert attempt(table, "SELL", 400) == FINE
    assert attempt(table, quantity=200) == TOO_MUCH
    assert attempt(table, quantity=100) == FINE


@pytest.mark.rule("R-B7")
def test_r_b7_sales_under_way_of_the_same_shares_count_each():
    table = MoneyTable()
    table.trade("BUY", 500)
    assert attempt(table, "SELL", 500) == FINE
    assert attempt(table, "SELL", 501) == TOO_MUCH
    assert attempt(table, "SELL", 500) == FINE
    assert attempt(table, "SELL", 1) == TOO_MUCH


@pytest.mark.rule("R-B7")
def test_r_b7_a_position_beyond_its_limit_may_be_turned_to_one_within_it():
    table = MoneyTable()
    table.trade("SELL", 500)
    table.check(AAA=110.0)
    assert attempt(table, quantity=500 + 430, price=110.0) == FINE


@pytest.mark.rule("R-B7")
def test_r_b7_orders_under_way_of_others_count_in_the_exposure_as_what_they_may_become():
    table = MoneyTable()
    for n in range(16):
        name = f"strat_{n + 2}"
        table.put(name)
        table.trade("BUY", 490, strategy_id=name)
    assert attempt(table, quantity=160) == FINE
    assert attempt(table, "SELL", 490, strategy_id="strat_2") == FINE
    assert attempt(table, "SELL", 490, strategy_id="strat_2") == FINE
    assert attempt(table, quantity=1) == TOO_MUCH


def test_an_order_that_nobody_answered_is_under_way_until_the_next_day():
    table = MoneyTable()
    assert attempt(table, quantity=400) == FINE
    table.wait(minutes=30)
    assert attempt(table, quantity=200) == TOO_MUCH
    table.day()
    assert attempt(table, quantity=200) == FINE


@pytest.mark.rule("R-B1")
def test_r_b1_a_strategys_own_limit_is_tighter():
    table = MoneyTable()
    known = table.docket.context.fold_named("life").strategies
    agreed = known["strat_1"].parameters.model_copy(update={"position_limit": 0.02})
    known["strat_1"] = type(known["strat_1"])(**{**vars(known["strat_1"]), "parameters": agreed})
    assert attempt(table, quantity=201) == TOO_MUCH
    assert attempt(table, quantity=200) == FINE


@pytest.mark.rule("R-B7")
def test_r_b7_the_exposure_stays_within_eighty_percent():
    table = MoneyTable()
    for n in range(16):
        name = f"strat_{n + 2}"
        table.put(name)
        if n < 15:
            table.trade("BUY" if n % 2 else "SELL", 500, strategy_id=name)
    assert attempt(table, quantity=490, strategy_id="strat_17") == FINE
    assert attempt(table, quantity=11) == TOO_MUCH
    assert attempt(table, quantity=10) == FINE


@pytest.mark.rule("R-B7")
def test_r_b7_an_order_that_shrinks_is_allowed_whatever_the_limits():
    table = MoneyTable()
    table.trade("BUY", 500)
    table.check(AAA=1000.0)
    assert attempt(table, quantity=1) == TOO_MUCH
    assert attempt(table, "SELL", 10) == FINE


@pytest.mark.rule("R-B7")
def test_r_b7_fifty_trades_a_day_and_the_next_day_fifty_more():
    table = MoneyTable()
    for _ in range(49):
        table.trade("BUY", 1)
    assert attempt(table, quantity=1) == FINE
    assert attempt(table, quantity=1) == ("R-B7", None)
    assert attempt(table, "SELL", 1) == FINE
    table.day()
    assert attempt(table, quantity=1) == FINE


@pytest.mark.rule("R-B7")
def test_r_b7_an_order_that_is_filled_in_part_is_one_trade_of_the_day():
    table = MoneyTable()
    for _ in range(48):
        table.trade("BUY", 1)
    signal = table.signal("BUY", 4)
    table.order(signal)
    table.execute(signal, 2)
    assert attempt(table, quantity=1) == FINE
    assert attempt(table, quantity=1) == ("R-B7", None)


def test_an_order_is_priced_at_the_mark_before_the_signals_price():
    table = MoneyTable()
    table.check(AAA=200.0)
    assert attempt(table, quantity=251, price=1.0) == TOO_MUCH
    assert attempt(table, quantity=250, price=1.0) == FINE


def test_an_order_without_mark_or_price_cannot_be_judged():
    table = MoneyTable()
    assert attempt(table, price=None) == ("R-B7", "symbol")


def test_a_limit_order_is_priced_at_its_limit_or_the_mark_whichever_is_higher():
    table = MoneyTable()
    table.check(AAA=50.0)
    assert attempt(table, quantity=501, order_type="limit") == TOO_MUCH
    table.check(AAA=200.0)
    assert attempt(table, quantity=251, order_type="limit") == TOO_MUCH
    assert attempt(table, quantity=250, order_type="limit") == FINE


def test_without_equity_nothing_may_grow():
    table = MoneyTable(capital=1_000.0)
    table.trade("BUY", 1, 40.0)
    table.check(AAA=0.0001)
    table.trade("SELL", 1, 0.0001, fee=960.01)
    assert table.book.equity() <= 0
    assert attempt(table, quantity=1, price=1.0) == TOO_MUCH
