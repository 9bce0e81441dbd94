"""A trade: signal, orders, executions, and what a halt makes of it; system-b.md "A trade", K11, R-B5."""

import pytest

from moot.protocols.kernel.people import Stop
from moot.protocols.kernel.seats import ADMIN
from moot.protocols.trading import messages as t
from moot.protocols.trading.seats import GUARDIAN
from moot.protocols.trading.trade import ON_HALT, on_halt
from tests.doubles.money_table import OPERATOR, TRADER, MoneyTable

FINE = ("", None)


def owed(table, signal):
    """Return what a trade owes: type, step, minutes until the ping, minutes of grace."""
    return [
        (o.expects[0], o.step, o.within.total_seconds() / 60, o.grace.total_seconds() / 60)
        for o in table.state(signal).owed
    ]


def ordered(table, quantity=100, **over):
    signal = table.signal("BUY", quantity, **over)
    assert table.broke(table.order(signal)) == FINE
    return signal


# ---------------------------------------------------------------- the way through


def test_a_trade_goes_from_signal_to_order_to_execution():
    table = MoneyTable()
    signal = table.signal()
    assert owed(table, signal) == [("ORDER", "order", 5, 5)]
    table.order(signal)
    assert owed(table, signal) == [("EXECUTION", "execution-1", 10, 10)]
    table.execute(signal, 40)
    assert owed(table, signal) == [("EXECUTION", "execution-2", 10, 10)]
    table.execute(signal, 60)
    assert table.ended(signal) == "filled"
    child = table.hall.children[-1]
    assert (child.outcome, child.strategy_id, child.symbol) == ("filled", "strat_1", "AAA")


@pytest.mark.parametrize("status", ["cancelled", "rejected"])
def test_the_broker_may_cancel_or_reject(status):
    table = MoneyTable()
    signal = ordered(table)
    table.execute(signal, 0, status=status)
    assert table.ended(signal) == status
    assert table.book.in_flight == set()


def test_a_cancelled_order_may_be_filled_in_part():
    table = MoneyTable()
    signal = ordered(table)
    table.execute(signal, 30, status="cancelled")
    assert (table.ended(signal), table.book.quantity("strat_1", "AAA")) == ("cancelled", 30)


def test_a_missing_order_ends_the_trade():
    table = MoneyTable()
    signal = table.signal()
    table.wait(minutes=11)
    assert table.ended(signal) == "not_ordered"
    ruling = table.last("RULING").body
    assert (ruling.outcome, ruling.reason, ruling.rule) == ("void", "timeout", "K11")


def test_a_missing_execution_ends_the_trade_unanswered():
    table = MoneyTable()
    signal = ordered(table)
    table.wait(minutes=21)
    assert table.ended(signal) == "unanswered"


def test_a_human_stop_ends_a_trade():
    table = MoneyTable()
    signal = ordered(table)
    table.say(ADMIN, Stop(scope=signal.case_id, why="enough"), channel="#admin")
    assert table.ended(signal) == "stopped"


def test_the_brief_says_what_remains_of_the_order():
    table = MoneyTable()
    signal = ordered(table)
    table.execute(signal, 40)
    state = table.state(signal)
    shown = table.rules.types["trade"].brief(state, state.owed[0], table.docket.context)
    assert (shown["subject"], shown["filled"], shown["remaining"]) == ("strat_1", 40, 60)
    assert (shown["client_order_id"], shown["action"], shown["quantity"]) == (
        f"{signal.case_id}-1",
        "BUY",
        100,
    )
    assert shown["is_after_halt"] is False
    assert shown["desk"]["positions"] == {"strat_1": {"AAA": 40}}


# ---------------------------------------------------------------- intentions may be illegal


@pytest.mark.parametrize(
    ("over", "broke"),
    [
        ({"action": "HOLD"}, ("K11", "action")),
        ({"quantity": 0}, ("K11", "quantity")),
        ({"strategy_id": "strat_9"}, ("R-B12", "strategy_id")),
        ({"symbol": "ZZZ"}, ("R-B12", "symbol")),
        ({"order_type": "limit", "limit_price": None}, ("K11", "limit_price")),
        ({"limit_price": 1.00001}, ("K11", "limit_price")),
        ({"limit_price": 0.0}, ("K11", "limit_price")),
    ],
)
def test_a_wrong_signal_opens_nothing(over, broke):
    table = MoneyTable()
    signal = table.signal(**over)
    assert table.broke(signal) == broke
    assert signal.case_id not in table.docket.cases


@pytest.mark.rule("R-B12")
def test_r_b12_a_staged_strategy_is_traded_only_once_it_is_deployed():
    table = MoneyTable()
    table.put("strat_2", to="staging")
    assert table.broke(table.signal(strategy_id="strat_2")) == ("R-B12", "strategy_id")


def test_a_withdrawn_strategy_may_still_shrink_what_it_holds():
    table = MoneyTable()
    table.trade("BUY", 100)
    table.withdraw()
    assert table.broke(table.signal("BUY", 1)) == ("R-B12", "strategy_id")
    assert table.broke(table.signal("SELL", 101)) == ("R-B12", "strategy_id")
    table.trade("SELL", 100)
    assert table.book.positions == {}


@pytest.mark.parametrize(
    ("over", "broke"),
    [
        ({"client_order_id": "x"}, ("K11", "client_order_id")),
        ({"symbol": "BBB"}, ("K11", "symbol")),
        ({"side": "SELL"}, ("K11", "side")),
        ({"quantity": 101}, ("K11", "quantity")),
        ({"quantity": 0}, ("K11", "quantity")),
        ({"order_type": "limit", "limit_price": None}, ("K11", "limit_price")),
        ({"limit_price": 1.00001}, ("K11", "limit_price")),
    ],
)
def test_an_order_that_is_not_the_signals_is_owed_again(over, broke):
    table = MoneyTable()
    signal = table.signal()
    assert table.broke(table.order(signal, **over)) == broke
    assert owed(table, signal) == [("ORDER", "order", 5, 5)]
    assert table.book.in_flight == set()


def test_an_order_may_ask_for_less_than_the_signal():
    table = MoneyTable()
    signal = table.signal()
    assert table.broke(table.order(signal, quantity=60)) == FINE
    table.execute(signal, 60)
    assert table.ended(signal) == "filled"


def test_what_is_not_the_turn_is_no_move():
    table = MoneyTable()
    signal = table.signal()
    fact = t.Execution(
        client_order_id=f"{signal.case_id}-1",
        symbol="AAA",
        action="BUY",
        qty_filled=5,
        avg_price=100.0,
        slippage_bps=0.0,
        status="filled",
    )
    assert table.broke(table.tell(TRADER, fact, signal.case_id)) == ("K11", None)
    assert table.book.quantity("strat_1", "AAA") == 5
    table.order(signal)
    again = table.last("ORDER").body
    assert table.broke(table.tell(TRADER, again, signal.case_id)) == ("K11", None)


# ---------------------------------------------------------------- facts may not


@pytest.mark.rule("K11")
@pytest.mark.parametrize(
    ("quantity", "over", "broke"),
    [
        (101, {}, ("K11", "qty_filled")),
        (100, {"symbol": "BBB"}, ("K11", "symbol")),
        (100, {"action": "SELL"}, ("K11", "action")),
        (100, {"client_order_id": "x"}, ("K11", "client_order_id")),
        (100, {"avg_price": 1.00001}, ("K11", "avg_price")),
        (100, {"avg_price": 0.0}, ("K11", "avg_price")),
        (100, {"fee": 0.001}, ("K11", "fee")),
        (100, {"fee": -1.0}, ("K11", "fee")),
        (40, {"status": "filled"}, ("K11", "status")),
        (100, {"status": "partial"}, ("K11", "status")),
        (40, {"status": "rejected"}, ("K11", "status")),
        (40, {"fill_after_halt": True}, ("K11", "fill_after_halt")),
    ],
)
def test_k11_a_wrong_execution_moves_no_trade_but_the_money(quantity, over, broke):
    table = MoneyTable()
    signal = ordered(table)
    before = table.book.cash
    assert table.broke(table.execute(signal, quantity, **over)) == broke
    assert (table.state(signal).filled, owed(table, signal)[0][1]) == (0, "execution-1")
    assert sum(p.quantity for p in table.book.positions.values()) in (quantity, -quantity)
    assert table.book.cash != before or over.get("avg_price") == 0.0


@pytest.mark.parametrize(
    ("over", "field"),
    [({"status": "partial"}, "qty_filled"), ({"status": "cancelled", "avg_price": 1.0}, "avg_price")],
)
def test_an_execution_without_a_fill_has_no_price_and_is_not_partial(over, field):
    table = MoneyTable()
    assert table.broke(table.execute(ordered(table), 0, **over)) == ("K11", field)


@pytest.mark.rule("K11")
def test_k11_the_answer_after_a_wrong_one_counts_on_top_of_what_is_booked():
    table = MoneyTable()
    signal = ordered(table)
    table.execute(signal, 100, 10.00001)
    state = table.state(signal)
    shown = table.rules.types["trade"].brief(state, state.owed[0], table.docket.context)
    assert (shown["filled"], shown["remaining"]) == (100, 0)
    assert table.broke(table.execute(signal, 1)) == ("K11", "qty_filled")
    assert table.broke(table.execute(signal, 0, status="filled")) == FINE
    assert (table.ended(signal), table.book.quantity("strat_1", "AAA")) == ("filled", 101)


# ---------------------------------------------------------------- halts


@pytest.mark.rule("R-B5")
def test_r_b5_a_halt_ends_a_trade_without_an_order():
    table = MoneyTable()
    signal = table.signal()
    table.halt()
    assert table.ended(signal) == "halted"
    assert table.hall.children[-1].outcome == "halted"


@pytest.mark.rule("R-B5")
def test_r_b5_a_halt_makes_an_order_be_cancelled():
    table = MoneyTable()
    signal = ordered(table)
    table.halt()
    assert table.state(signal).phase == "cancelling"
    assert owed(table, signal) == [("EXECUTION", "execution-2", 5, 5)]
    assert table.broke(table.execute(signal, 0, status="cancelled")) == FINE
    assert table.ended(signal) == "cancelled"


def test_the_brief_says_what_is_to_be_ordered_and_that_a_fill_would_come_after_the_halt():
    table = MoneyTable()
    brief = table.rules.types["trade"].brief
    signal = table.signal("SELL", 70)
    state = table.state(signal)
    shown = brief(state, state.owed[0], table.docket.context)
    body = t.Order(**{name: value for name, value in shown.items() if name in t.Order.model_fields})
    assert table.broke(table.tell(TRADER, body, signal.case_id)) == FINE
    table.halt()
    state = table.state(signal)
    shown = brief(state, state.owed[0], table.docket.context)
    assert (shown["phase"], shown["is_after_halt"], shown["remaining"]) == ("cancelling", True, 70)


def test_a_cancellation_that_never_comes_is_ruled_void():
    table = MoneyTable()
    signal = ordered(table)
    table.halt()
    table.wait(minutes=11)
    assert (table.ended(signal), table.last("RULING").body.rule) == ("unanswered", "R-B5")


@pytest.mark.rule("R-B5")
def test_r_b5_while_halted_nothing_opens_or_grows_and_what_shrinks_goes_on():
    table = MoneyTable()
    table.trade("BUY", 100)
    table.halt()
    assert table.broke(table.signal("BUY", 1)) == ("R-B5", "quantity")
    assert table.broke(table.signal("SELL", 101)) == ("R-B5", "quantity")
    assert table.broke(table.signal("SELL", 1, symbol="BBB")) == ("R-B5", "quantity")
    table.trade("SELL", 60)
    assert table.book.quantity("strat_1", "AAA") == 40


@pytest.mark.rule("R-B5")
def test_r_b5_an_order_that_grew_out_of_a_shrinking_signal_is_refused_while_halted():
    table = MoneyTable()
    table.trade("BUY", 100)
    table.halt()
    first, second = table.signal("SELL", 100), table.signal("SELL", 100)
    table.order(first)
    table.execute(first, 100)
    assert table.broke(table.order(second)) == ("R-B5", "quantity")


@pytest.mark.rule("R-B5")
def test_r_b5_while_halted_two_sales_under_way_may_not_sell_the_same_shares():
    table = MoneyTable()
    table.trade("BUY", 100)
    table.halt()
    first, second = table.signal("SELL", 60), table.signal("SELL", 60)
    assert table.broke(table.order(first)) == FINE
    env = table.order(second)
    assert table.broke(env) == ("R-B5", "quantity")
    assert "100 of AAA, 40 to 100 by the orders under way" in table.effects[env.seq - 1].violation.why
    assert table.broke(table.signal("SELL", 41)) == ("R-B5", "quantity")
    assert table.broke(table.order(second, quantity=40)) == FINE
    table.execute(first, 0, status="cancelled")
    table.execute(second, 40)
    table.trade("SELL", 60)
    assert table.book.positions == {}


@pytest.mark.rule("R-B5")
def test_r_b5_an_order_that_was_told_wrongly_is_under_way_still():
    table = MoneyTable()
    table.trade("BUY", 100)
    signal = table.signal("SELL", 100)
    table.order(signal)
    assert table.broke(table.execute(signal, 40, status="filled")) == ("K11", "status")
    table.halt()
    assert table.broke(table.signal("SELL", 1)) == ("R-B5", "quantity")


@pytest.mark.rule("R-B12")
def test_r_b12_what_is_not_traded_is_not_sold_twice():
    table = MoneyTable()
    table.trade("BUY", 100)
    table.withdraw()
    signal = table.signal("SELL", 100)
    assert table.broke(table.order(signal)) == FINE
    assert table.broke(table.signal("SELL", 1)) == ("R-B12", "strategy_id")


@pytest.mark.rule("K11")
def test_k11_what_is_flattened_is_no_more_than_what_orders_under_way_leave():
    table = MoneyTable()
    signal, way_out = ordered(table), table.signal("SELL", 40)
    assert table.broke(table.order(way_out)) == FINE
    table.halt()
    table.execute(signal, 100, fill_after_halt=True)
    state = table.state(signal)
    shown = table.rules.types["trade"].brief(state, state.owed[0], table.docket.context)
    assert (state.quantity, shown["quantity"]) == (100, 60)
    assert table.broke(table.order(signal, quantity=100)) == ("R-B5", "quantity")
    assert table.broke(table.order(signal, quantity=60)) == FINE
    table.execute(way_out, 40, fill_after_halt=True)
    table.execute(signal, 60)
    assert (table.ended(signal), table.book.positions) == ("flattened", {})


@pytest.mark.rule("K11")
def test_k11_a_fill_after_the_halt_that_was_told_wrongly_is_flattened_even_if_nothing_else_is_said():
    table = MoneyTable()
    signal = ordered(table)
    table.halt()
    assert table.broke(table.execute(signal, 100)) == ("K11", "fill_after_halt")
    table.wait(minutes=11)
    assert (table.state(signal).phase, table.state(signal).quantity) == ("flattening", 100)
    assert table.broke(table.order(signal)) == FINE
    table.execute(signal, 100)
    assert (table.ended(signal), table.book.positions) == ("flattened", {})


# ---------------------------------------------------------------- facts of trades that are over


def fact(signal, quantity=100, **over):
    """Return an EXECUTION of a trade's first order that no open case asks for."""
    fields = {
        "client_order_id": f"{signal.case_id}-1",
        "signal_id": signal.case_id,
        "symbol": "AAA",
        "action": "BUY",
        "qty_filled": quantity,
        "avg_price": 100.0,
        "slippage_bps": 0.0,
        "status": "filled",
        **over,
    }
    return t.Execution(**fields)


def unanswered(*, quantity=100):
    """Halt the desk with an order under way of which nobody tells anything in time."""
    table = MoneyTable()
    signal = ordered(table, quantity)
    table.halt()
    table.wait(minutes=11)
    assert table.ended(signal) == "unanswered"
    return table, signal


def ruled_late(table):
    return [e.body.case_id for e in table.log if e.body.type == "RULING" and e.body.reason == "late_fill"]


@pytest.mark.rule("K11")
def test_k11_a_fill_after_the_halt_of_a_trade_that_is_over_is_ruled_to_be_flattened():
    table, signal = unanswered()
    assert table.broke(table.tell(TRADER, fact(signal, fill_after_halt=True))) == FINE
    assert table.book.late == {("strat_1", "AAA"): 100}
    assert table.book.flattening("strat_1", "AAA") == -100
    assert ruled_late(table) == [table.hall.case_id]
    table.trade("SELL", 100)
    assert (table.book.late, table.book.flattening("strat_1", "AAA")) == ({}, 0)


@pytest.mark.rule("K11")
def test_k11_a_late_fill_without_its_flag_is_a_violation_booked_and_flattened_all_the_same():
    table, signal = unanswered()
    env = table.tell(TRADER, fact(signal))
    # The kernel calls late what breaks a rule after its ruling (K5).
    assert table.broke(env)[0] == "K5"
    assert table.book.late == {("strat_1", "AAA"): 100}
    assert ruled_late(table) == [table.hall.case_id]


@pytest.mark.rule("K11")
def test_k11_a_late_fill_that_no_halt_came_before_is_neither_flagged_nor_flattened():
    table = MoneyTable()
    signal = ordered(table)
    table.wait(minutes=21)
    assert table.broke(table.tell(TRADER, fact(signal, 40, fill_after_halt=True)))[0] == "K5"
    assert table.broke(table.tell(TRADER, fact(signal, 60))) == FINE
    assert (table.book.late, ruled_late(table)) == ({}, [])


@pytest.mark.rule("K11")
def test_k11_a_late_fill_after_the_resume_still_came_after_the_halt():
    table, signal = unanswered()
    halt_id = table.book.halt_id
    table.tell(OPERATOR, t.Resume(reason="calm"), halt_id)
    table.tell(GUARDIAN, t.ResumeConfirmed(checks=()), halt_id)
    assert table.broke(table.tell(TRADER, fact(signal, fill_after_halt=True))) == FINE
    assert table.book.late == {("strat_1", "AAA"): 100}


@pytest.mark.rule("K11")
def test_k11_a_late_fill_that_only_shrinks_is_not_to_be_undone():
    table = MoneyTable()
    table.trade("BUY", 100)
    signal = table.signal("SELL", 150)
    table.order(signal)
    table.halt()
    table.wait(minutes=11)
    sold = {"action": "SELL", "fill_after_halt": True, "status": "partial"}
    assert table.broke(table.tell(TRADER, fact(signal, 60, **sold))) == FINE
    assert (table.book.late, ruled_late(table)) == ({}, [])
    table.tell(TRADER, fact(signal, 90, **{**sold, "status": "filled"}))
    assert table.book.late == {("strat_1", "AAA"): -50}
    assert table.book.flattening("strat_1", "AAA") == 50


@pytest.mark.rule("K11")
def test_k11_what_came_before_the_halt_is_not_flattened_with_what_came_late():
    table = MoneyTable()
    table.trade("BUY", 30)
    signal = ordered(table, 70)
    table.halt()
    table.wait(minutes=11)
    table.tell(TRADER, fact(signal, 70, fill_after_halt=True))
    assert table.book.flattening("strat_1", "AAA") == -70
    table.trade("SELL", 50)
    assert table.book.flattening("strat_1", "AAA") == -20
    sale = table.signal("SELL", 40)
    table.order(sale)
    assert table.book.flattening("strat_1", "AAA") == -10


@pytest.mark.rule("K11")
@pytest.mark.parametrize(
    ("over", "field"),
    [
        ({"symbol": "BBB"}, "symbol"),
        ({"action": "SELL"}, "action"),
        ({"qty_filled": 101}, "qty_filled"),
        ({"qty_filled": 40}, "status"),
    ],
)
def test_k11_a_late_fill_that_does_not_fit_its_order_is_a_violation_and_booked(over, field):
    table = MoneyTable()
    signal = ordered(table)
    table.execute(signal, 0, status="cancelled")
    env = table.tell(TRADER, fact(signal, **over))
    assert table.broke(env) == ("K11", field)
    assert sum(abs(p.quantity) for p in table.book.positions.values()) == over.get("qty_filled", 100)


@pytest.mark.rule("K11")
def test_k11_a_fill_of_an_order_that_the_log_does_not_have_is_a_violation_and_booked():
    table = MoneyTable()
    signal = table.signal()
    table.wait(minutes=11)
    env = table.tell(TRADER, fact(signal))
    assert table.broke(env) == ("K11", "client_order_id")
    assert table.book.quantity("strat_1", "AAA") == 100


@pytest.mark.rule("K11")
def test_k11_a_fill_after_the_halt_is_flagged_booked_and_flattened():
    table = MoneyTable()
    signal = ordered(table)
    table.execute(signal, 30)
    table.halt()
    assert table.broke(table.execute(signal, 70, fill_after_halt=True)) == FINE
    state = table.state(signal)
    assert (state.phase, state.side, state.quantity) == ("flattening", "SELL", 70)
    assert owed(table, signal) == [("ORDER", "flatten-1", 5, 5)]
    assert table.broke(table.order(signal, quantity=69)) == ("R-B5", "quantity")
    assert table.broke(table.order(signal)) == FINE
    assert table.last("ORDER").body.client_order_id == f"{signal.case_id}-2"
    assert owed(table, signal)[0][0] == "EXECUTION"
    table.execute(signal, 70)
    assert (table.ended(signal), table.book.quantity("strat_1", "AAA")) == ("flattened", 30)


@pytest.mark.rule("K11")
def test_k11_a_fill_after_the_halt_without_its_flag_is_booked_and_flattened_all_the_same():
    table = MoneyTable()
    signal = ordered(table)
    table.halt()
    assert table.broke(table.execute(signal, 100)) == ("K11", "fill_after_halt")
    assert table.broke(table.execute(signal, 0, status="filled")) == FINE
    assert (table.state(signal).phase, table.state(signal).quantity) == ("flattening", 100)


@pytest.mark.rule("K11")
def test_k11_a_fill_between_the_halt_and_its_ruling_is_after_the_halt():
    table = MoneyTable()
    signal = ordered(table)
    table.post(GUARDIAN, t.Halt(reason="now", by="guardian"), channel="#b-risk")
    fact = table.state(signal).owed[0]
    body = t.Execution(
        client_order_id=f"{signal.case_id}-1",
        symbol="AAA",
        action="BUY",
        qty_filled=100,
        avg_price=100.0,
        slippage_bps=0.0,
        status="filled",
        fill_after_halt=True,
    )
    env = table.post(TRADER, body, owed=fact)
    assert table.broke(env) == FINE
    table.officers()
    assert (table.state(signal).phase, table.state(signal).quantity) == ("flattening", 100)


@pytest.mark.rule("K11")
def test_k11_a_fill_of_what_was_to_be_cancelled_is_flattened_even_after_a_resume():
    table = MoneyTable()
    signal = ordered(table)
    table.halt()
    halt_id = table.book.halt_id
    table.tell(OPERATOR, t.Resume(reason="calm"), halt_id)
    table.tell(GUARDIAN, t.ResumeConfirmed(checks=()), halt_id)
    assert table.book.halted == 0
    assert table.broke(table.execute(signal, 100, fill_after_halt=True)) == FINE
    assert table.state(signal).phase == "flattening"


def test_a_fill_after_the_halt_that_shrinks_needs_no_flattening():
    table = MoneyTable()
    table.trade("BUY", 100)
    signal = table.signal("SELL", 60)
    table.order(signal)
    table.halt()
    assert table.broke(table.execute(signal, 60, fill_after_halt=True)) == FINE
    assert (table.ended(signal), table.book.quantity("strat_1", "AAA")) == ("filled", 40)


def test_only_what_crossed_zero_after_the_halt_is_flattened():
    table = MoneyTable()
    table.trade("BUY", 100)
    signal = table.signal("SELL", 150)
    table.order(signal)
    table.halt()
    table.execute(signal, 150, fill_after_halt=True)
    state = table.state(signal)
    assert (state.phase, state.side, state.quantity) == ("flattening", "BUY", 50)


def test_flattening_is_tried_three_times():
    table = MoneyTable()
    signal = ordered(table)
    table.halt()
    table.execute(signal, 100, fill_after_halt=True)
    for n in (1, 2, 3):
        assert owed(table, signal)[0][1] == f"flatten-{n}"
        table.order(signal)
        table.execute(signal, 10, status="cancelled")
    assert (table.ended(signal), table.book.quantity("strat_1", "AAA")) == ("not_flattened", 70)


@pytest.mark.parametrize("has_order", [False, True])
def test_a_trader_that_does_not_flatten_ends_the_trade(has_order):
    table = MoneyTable()
    signal = ordered(table)
    table.halt()
    table.execute(signal, 100, fill_after_halt=True)
    if has_order:
        table.order(signal)
    table.wait(minutes=21)
    assert table.ended(signal) == "not_flattened"


def test_a_second_halt_leaves_a_trade_that_flattens_alone():
    table = MoneyTable()
    signal = ordered(table)
    table.halt()
    assert on_halt(table.state(signal)) is None
    table.execute(signal, 100, fill_after_halt=True)
    halt_id = table.book.halt_id
    table.tell(OPERATOR, t.Resume(reason="calm"), halt_id)
    table.tell(GUARDIAN, t.ResumeConfirmed(checks=()), halt_id)
    table.halt()
    assert table.state(signal).phase == "flattening"
    assert on_halt(table.state(signal)) is None


def test_on_halt_rules_on_trades_with_and_without_an_order_and_on_nothing_else():
    table = MoneyTable()
    waiting, under_way = table.signal(), ordered(table, 50)
    assert on_halt(table.state(waiting)) == on_halt(table.state(under_way)) == ON_HALT
    assert on_halt(table.hall) is None
