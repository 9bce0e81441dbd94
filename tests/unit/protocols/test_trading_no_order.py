"""Why an order is not given: a table judges NO_ORDER and ORDER; R-F1, R-F4, R-F17."""

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moot.protocols.trading import messages as t
from moot.protocols.trading.hours import new_york
from moot.protocols.trading.limits import PORTFOLIO
from moot.protocols.trading.no_order import REASONS, Facts, is_edge, most, reason_for, stands
from moot.protocols.trading.seats import TRADER as TRADER_SEAT
from tests.doubles.money_table import TRADER, MoneyTable
from tests.doubles.table import START

FINE = ("", None)
UNTRUE = ("R-F4", "reason")
MONDAY = START.date()
NOON = new_york(MONDAY, 12, 0)

OPEN = Facts(
    quantity=100,
    takes_off=0,
    room=100,
    order_type="market",
    confidence=0.8,
    is_shrinking=False,
    is_halted=False,
    reduced_until=None,
    is_full=False,
)
"""An order to which nothing objects at noon."""

WHERE = {
    "market_closed": (OPEN, new_york(MONDAY, 8, 0)),
    "position_gone": (OPEN._replace(is_shrinking=True), NOON),
    "halted": (OPEN._replace(is_halted=True), NOON),
    "reduced": (OPEN._replace(reduced_until=new_york(MONDAY, 16, 0)), NOON),
    "below_confidence": (OPEN._replace(confidence=0.49), NOON),
    "session_edge": (OPEN, new_york(MONDAY, 9, 44)),
    "daily_limit": (OPEN._replace(is_full=True), NOON),
    "no_room": (OPEN._replace(room=0), NOON),
}


def desk(hour=12, minute=0):
    """Return a desk at an hour of New York's clock."""
    table = MoneyTable()
    table.wait(seconds=(new_york(MONDAY, hour, minute) - table.now).total_seconds() - 60)
    return table


def no_order(table, signal, reason):
    """Let the Trader give no order."""
    return table.tell(TRADER, t.NoOrder(reason=reason), signal.case_id)


# ---------------------------------------------------------------- the table


@pytest.mark.rule("R-F4")
@pytest.mark.parametrize("reason", REASONS)
def test_r_f4_each_reason_stands_where_it_is_so_and_nowhere_else(reason):
    facts, at = WHERE[reason]
    assert [name for name in REASONS if stands(name, facts, at)] == [reason]
    assert reason_for(facts, at) == reason
    assert not stands(reason, OPEN, NOON)


@pytest.mark.rule("R-F4")
def test_r_f4_nothing_excuses_an_order_to_which_nothing_objects():
    assert reason_for(OPEN, NOON) is None
    assert most(OPEN, NOON) == 100


@pytest.mark.rule("R-F17")
@pytest.mark.parametrize("reason", [name for name in REASONS if name != "market_closed"])
def test_r_f17_what_an_order_takes_off_a_position_is_always_allowed_and_owed(reason):
    facts, at = WHERE[reason]
    held = facts._replace(takes_off=30, room=max(facts.room, 30))
    assert reason_for(held, at) is None
    assert most(held, at) == (100 if reason == "daily_limit" else 30)


@pytest.mark.rule("R-F17")
@pytest.mark.parametrize(
    ("hour", "minute", "expected"),
    [
        (9, 29, False),
        (9, 30, True),
        (9, 44, True),
        (9, 45, False),
        (15, 44, False),
        (15, 45, True),
        (16, 0, False),
    ],
)
def test_r_f17_the_edges_are_the_first_and_last_15_minutes(hour, minute, expected):
    assert is_edge(new_york(MONDAY, hour, minute)) is expected


@pytest.mark.rule("R-F17")
def test_r_f17_a_half_day_ends_with_its_own_edge():
    friday = datetime(2026, 11, 27, tzinfo=UTC).date()
    assert [is_edge(new_york(friday, 12, minute)) for minute in (44, 45)] == [False, True]
    assert not is_edge(new_york(friday, 15, 50))


# ---------------------------------------------------------------- orders


@pytest.mark.rule("R-F17")
def test_r_f17_a_signal_below_half_confidence_becomes_no_order():
    table = desk()
    signal = table.signal("BUY", confidence=0.49)
    assert table.broke(signal) == FINE
    assert table.broke(table.order(signal)) == ("R-F17", "quantity")
    assert table.broke(no_order(table, signal, "no_room")) == UNTRUE
    assert table.broke(no_order(table, signal, "below_confidence")) == FINE
    assert table.ended(signal) == "no_order"
    assert table.broke(table.order(table.signal("BUY", confidence=0.5))) == FINE


@pytest.mark.rule("R-F17")
def test_r_f17_what_shrinks_needs_no_confidence_and_no_hour():
    table = desk()
    table.trade("BUY", 100)
    table.wait(hours=3, minutes=50)
    signal = table.signal("SELL", 40, confidence=0.1)
    assert is_edge(table.now)
    assert table.broke(no_order(table, signal, "below_confidence")) == UNTRUE
    assert table.broke(table.order(signal)) == FINE


@pytest.mark.rule("R-F17")
@pytest.mark.parametrize(("hour", "minute"), [(9, 35), (15, 50)])
def test_r_f17_at_a_sessions_edges_no_market_order_opens_or_grows_a_position(hour, minute):
    table = desk(hour, minute)
    signal = table.signal("BUY", limit_price=None, order_type="market")
    table.book.marks["AAA"] = 1_000_000
    assert table.broke(table.order(signal)) == ("R-F17", "order_type")
    assert table.broke(table.order(signal, order_type="limit", limit_price=100.0)) == FINE
    other = table.signal("BUY", 1, order_type="limit", symbol="BBB")
    assert table.broke(no_order(table, other, "session_edge")) == UNTRUE
    assert table.broke(table.order(other)) == FINE


@pytest.mark.rule("R-F4")
def test_r_f4_a_position_that_is_gone_needs_no_order():
    table = desk()
    table.trade("BUY", 100)
    first, second = table.signal("SELL", 100), table.signal("SELL", 60)
    assert table.broke(no_order(table, first, "position_gone")) == UNTRUE
    assert table.broke(table.order(first)) == FINE
    # What the first order may sell is not there for the second one.
    assert table.broke(no_order(table, second, "position_gone")) == FINE
    grown = table.signal("BUY", 10, symbol="BBB")
    assert table.broke(no_order(table, grown, "position_gone")) == UNTRUE


@pytest.mark.rule("R-F4")
def test_r_f4_a_late_fill_that_is_flattened_already_needs_no_order():
    table = desk()
    signal = table.signal("BUY", 100)
    table.order(signal)
    table.halt()
    table.execute(signal, 100, fill_after_halt=True)
    assert table.state(signal).phase == "flattening"
    assert table.broke(no_order(table, signal, "position_gone")) == UNTRUE
    other = table.signal("SELL", 100)
    table.order(other)
    table.execute(other, 100)
    assert table.broke(no_order(table, signal, "position_gone")) == FINE
    assert table.ended(signal) == "flattened"


@pytest.mark.rule("R-F4")
def test_r_f4_the_days_last_trade_and_the_last_share_of_room_are_reasons():
    table = desk()
    signal = table.signal("BUY", 600)
    assert table.broke(no_order(table, signal, "no_room")) == UNTRUE
    assert table.broke(table.order(signal, quantity=500)) == FINE
    more = table.signal("BUY", 1)
    assert table.broke(no_order(table, more, "daily_limit")) == UNTRUE
    assert table.broke(no_order(table, more, "no_room")) == FINE
    last = table.signal("BUY", 1, symbol="BBB")
    table.book.trades_today = PORTFOLIO.trades
    assert table.broke(table.order(last)) == ("R-B7", None)
    assert table.broke(no_order(table, last, "daily_limit")) == FINE


@pytest.mark.rule("R-F4")
def test_r_f4_what_is_not_traded_any_more_has_no_room():
    table = desk()
    signal = table.signal("BUY", 1)
    table.withdraw()
    assert table.broke(table.order(signal)) == ("R-B12", "strategy_id")
    assert table.broke(no_order(table, signal, "no_room")) == FINE


@pytest.mark.rule("R-F4")
def test_r_f4_the_exchange_is_closed():
    table = desk(8)
    signal = table.signal("BUY", 1)
    assert table.broke(no_order(table, signal, "market_closed")) == FINE
    table.wait(hours=4)
    assert table.broke(no_order(table, table.signal("BUY", 1), "market_closed")) == UNTRUE


@pytest.mark.rule("R-F4")
def test_r_f4_nobody_gives_no_order_where_none_is_owed():
    table = desk()
    signal = table.signal("BUY", 1)
    table.order(signal)
    assert table.broke(no_order(table, signal, "no_room"))[0] == "K11"


@pytest.mark.rule("R-F4")
def test_r_f4_only_silence_is_silence():
    table = desk()
    for _ in range(3):
        signal = table.signal("BUY", confidence=0.4)
        assert table.broke(no_order(table, signal, "below_confidence")) == FINE
    table.wait(hours=1)
    timeouts = [e for e in table.log if e.body.type == "ESCALATION" and e.body.trigger_code == "timeouts_b"]
    assert timeouts == []
    for _ in range(3):
        table.signal("BUY", confidence=0.4)
    table.wait(hours=1)
    assert table.last("ESCALATION").body.subject == TRADER_SEAT


# ---------------------------------------------------------------- most


@pytest.mark.rule("R-B7")
@given(
    held=st.integers(-400, 400),
    wanted=st.integers(1, 1200),
    side=st.sampled_from(["BUY", "SELL"]),
    others=st.sampled_from([0, 7, 16]),
    order_type=st.sampled_from(["market", "limit"]),
)
@settings(max_examples=60)
def test_r_b7_an_order_of_the_most_is_taken_and_one_share_more_is_not(held, wanted, side, others, order_type):
    table = desk()
    table.put("strat_2", symbols=tuple(f"C{n}" for n in range(20)))
    if held:
        table.trade("BUY" if held > 0 else "SELL", abs(held))
    for n in range(others):
        # The last one leaves less of the exposure than a whole position.
        table.trade("BUY", 500 if n < 15 else 100, strategy_id="strat_2", symbol=f"C{n}")
    signal = table.signal(side, wanted, order_type=order_type)
    state = table.state(signal)
    shown = table.rules.types["trade"].brief(state, state.owed[0], table.docket.context)
    if shown["no_order"]:
        assert shown["most"] == 0
        assert table.broke(table.order(signal, quantity=1)) != FINE
        assert table.broke(no_order(table, signal, shown["no_order"])) == FINE
        return
    assert 0 < shown["most"] <= wanted
    if shown["most"] < wanted and not state.is_shrinking:
        assert table.broke(table.order(signal, quantity=shown["most"] + 1)) == ("R-B7", "quantity")
    assert table.broke(table.order(signal, quantity=shown["most"])) == FINE
