from datetime import UTC, date, datetime, timedelta

import numpy as np
import pytest

from moot.bots.desk.broker import FEE_LEAST, Ticket, answer, cancel, ends_at, fills, refusal
from moot.bots.desk.market import Market
from moot.bots.tools.bars import Bars
from moot.bots.tools.prices import load_universe
from moot.bots.tools.universe import Universe
from moot.protocols.trading.hours import session_on
from tests.doubles.copying import replace

AT = datetime(2026, 3, 4, 16, 3, 11, tzinfo=UTC)
LATER = AT + timedelta(minutes=20)
SEED = 7


@pytest.fixture(scope="module")
def market():
    return Market(load_universe("sample", start=datetime(2026, 2, 23, tzinfo=UTC), seed=SEED), SEED)


def ticket(n=1, quantity=100, side="BUY", **how):
    return Ticket(**{"client_order_id": f"sig-{n}", "symbol": "SIM-ALFA", "side": side, "quantity": quantity,
                     "placed_at": AT, **how})  # fmt: skip


def told(order, market, at=LATER):
    """Ask until the order is over."""
    answers, filled = [], 0
    while True:
        found = answer(order, market, at, SEED, filled)
        answers.append(found)
        filled += found.quantity
        if found.status != "partial":
            return answers


def large(market, share=1.0):
    return int(market.liquidity("SIM-ALFA", AT) * share)


@pytest.mark.rule("K11")
def test_k11_asking_later_or_in_another_process_tells_the_same_fill(market):
    other = Market(load_universe("sample", start=datetime(2026, 2, 23, tzinfo=UTC), seed=SEED), SEED)
    for n in range(20):
        one = answer(ticket(n), market, AT + timedelta(seconds=10), SEED)
        assert one == answer(ticket(n), other, AT + timedelta(days=3), SEED)
        assert one.status == "filled"
    assert answer(ticket(1), market, LATER, SEED) != answer(ticket(2), market, LATER, SEED)


@pytest.mark.rule("K11")
def test_k11_what_was_told_before_is_not_told_again_and_nothing_is_filled_twice(market):
    order = ticket(quantity=large(market, 0.35))
    answers = told(order, market)
    assert [a.status for a in answers[:-1]] == ["partial"] * (len(answers) - 1)
    assert answers[-1].status == "filled"
    assert len(answers) >= 3
    assert sum(a.quantity for a in answers) == order.quantity
    first = answers[0].quantity
    assert answer(order, market, LATER, SEED, first) == answers[1]
    # A part of which the log knows only some shares is told with the rest of them.
    assert answer(order, market, LATER, SEED, first - 5)._replace(fee=0) == answers[0]._replace(
        quantity=5, fee=0
    )


def test_a_part_that_is_still_to_come_is_not_told(market):
    order = ticket()
    fill = fills(order, market, SEED)[0]
    assert answer(order, market, fill.at - timedelta(milliseconds=1), SEED) is None
    assert answer(order, market, fill.at, SEED).quantity == 100
    assert ends_at(order, market, SEED) == fill.at


def test_slippage_is_against_the_trader_and_grows_with_the_order(market):
    def mean(share, side):
        orders = [ticket(n, max(large(market, share), 1), side) for n in range(60)]
        found = [answer(order, market, LATER, SEED) for order in orders]
        for order, one in zip(orders, found, strict=True):
            price = market.price("SIM-ALFA", fills(order, market, SEED)[0].at)
            assert (one.price >= price) if side == "BUY" else (one.price <= price)
        return np.mean([one.slippage_bps for one in found])

    for side in ("BUY", "SELL"):
        small, middle, big = (mean(share, side) for share in (0.0, 0.01, 0.09))
        assert 0.3 < small < 2.5 < middle < 6 < big < 20


def test_more_than_the_market_bears_is_cancelled_and_never_more_is_filled_than_ordered(market):
    order = ticket(quantity=large(market, 3))
    answers = told(order, market)
    assert answers[-1] == ("cancelled", 0, 0.0, 0.0, 0.0, "no more could be had")
    assert 0 < sum(a.quantity for a in answers) < order.quantity


@pytest.mark.parametrize("side", ["BUY", "SELL"])
@pytest.mark.parametrize("distance", [-0.002, -0.0002, 0.0, 0.0002, 0.002])
def test_a_limit_order_is_filled_at_its_price_or_better_or_not_at_all(market, side, distance):
    sign = 1 if side == "BUY" else -1
    for n in range(25):
        limit = round(market.price("SIM-ALFA", AT) * (1 + distance * sign), 4)
        order = ticket(n, 500, side, limit_price=limit)
        for fill in fills(order, market, SEED):
            assert (fill.price - limit) * sign <= 0
            assert (market.price("SIM-ALFA", fill.at) - limit) * sign <= 0
        last = told(order, market)[-1]
        assert last.status in ("filled", "cancelled")
        if distance == 0.002:
            assert last.status == "filled"
    if distance == -0.002:
        assert last.reason == "the limit was not reached"


@pytest.mark.parametrize(
    ("how", "why"),
    [
        ({"symbol": "NOBODY"}, "NOBODY is not traded here"),
        ({"quantity": 0}, "at least 1"),
        ({"limit_price": 0.0}, "above 0"),
        ({"placed_at": datetime(2026, 3, 4, 14, 29, tzinfo=UTC)}, "closed"),
        ({"placed_at": datetime(2026, 3, 4, 21, tzinfo=UTC)}, "closed"),
        ({"placed_at": datetime(2026, 3, 7, 16, tzinfo=UTC)}, "closed"),
    ],
)
def test_what_cannot_be_traded_is_rejected(market, how, why):
    order = ticket(**how)
    found = answer(order, market, LATER, SEED)
    assert found.status == "rejected"
    assert why in found.reason
    assert found[1:5] == (0, 0.0, 0.0, 0.0)
    assert fills(order, market, SEED) == ()
    assert cancel(order, market, LATER, SEED).status == "rejected"


def test_a_symbol_without_a_bar_that_day_is_rejected():
    days, flat = np.array(["2026-03-03", "2026-03-05"], "datetime64[D]"), np.array([10.0, 10.0])
    lacking = Market(Universe.of([Bars("SIM-ALFA", days, flat, flat, flat, flat, flat, "file")], ""), 1)
    assert refusal(ticket(), lacking) == "there is no price of SIM-ALFA today"


def test_an_order_ends_with_the_session(market):
    closes = session_on(date(2026, 3, 4)).closes_at
    order = ticket(quantity=large(market, 3), placed_at=closes - timedelta(seconds=45))
    answers = told(order, market, closes)
    assert answers[-1].status == "cancelled"
    assert all(fill.at < closes for fill in fills(order, market, SEED))
    assert ends_at(order, market, SEED, order.quantity - 1) == closes


@pytest.mark.rule("R-B5")
def test_r_b5_a_cancelled_order_tells_what_was_filled_until_then_and_no_more(market):
    order = ticket(quantity=large(market, 0.35))
    parts = fills(order, market, SEED)
    assert cancel(order, market, AT, SEED) == (
        "cancelled",
        0,
        0.0,
        0.0,
        0.0,
        "cancelled before more was filled",
    )
    two = cancel(order, market, parts[1].at, SEED)
    assert (two.status, two.quantity) == ("cancelled", parts[0].quantity + parts[1].quantity)
    assert min(parts[0].price, parts[1].price) <= two.price <= max(parts[0].price, parts[1].price)
    one = cancel(order, market, parts[1].at, SEED, parts[0].quantity)
    assert (one.quantity, one.price) == (parts[1].quantity, parts[1].price)
    whole = cancel(order, market, LATER, SEED)
    assert (whole.status, whole.quantity) == ("filled", order.quantity)


def test_prices_have_four_decimals_and_fees_two(market):
    for n in range(50):
        for fill in fills(ticket(n, large(market, 0.002 * n) + 1), market, SEED):
            assert fill.price == round(fill.price, 4)
            assert fill.fee == round(fill.fee, 2)
            assert fill.fee == pytest.approx(max(fill.price * fill.quantity * 1e-4, FEE_LEAST), abs=0.006)
    assert fills(ticket(quantity=1), market, SEED)[0].fee == 0.35


def test_where_nobody_counts_volume_an_order_is_filled_whole():
    days = np.array(["2026-03-03", "2026-03-04"], "datetime64[D]")
    flat, none = np.array([10.0, 10.0]), np.zeros(2)
    silent = Market(Universe.of([Bars("SIM-ALFA", days, flat, flat, flat, flat, none, "file")], ""), 1)
    found = answer(ticket(quantity=10**6), silent, LATER, SEED)
    assert (found.status, found.quantity) == ("filled", 10**6)


def test_a_filled_order_that_is_asked_about_again_is_filled(market):
    order = replace(ticket(), quantity=10)
    assert answer(order, market, LATER, SEED, 10).status == "filled"
    assert answer(order, market, LATER, SEED, 10).quantity == 0
