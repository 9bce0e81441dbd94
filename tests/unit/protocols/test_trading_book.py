"""The book: money, positions, marks, and the figures that reports must equal; system-b.md "Money: the book"."""

from datetime import timedelta
from itertools import pairwise
from types import SimpleNamespace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from moot.protocols.kernel.people import Note
from moot.protocols.kernel.seats import ADMIN as ADMIN_SEAT
from moot.protocols.trading import messages as t
from moot.protocols.trading.book import Book
from moot.protocols.trading.book_accounts import KEPT
from moot.protocols.trading.book_entries import UNASSIGNED
from moot.protocols.trading.book_figures import (
    FLAT,
    Position,
    divide,
    dollars,
    filled,
    max_drawdown,
    share,
    sharpe,
    units,
)
from moot.protocols.trading.bridge import recall_figures
from moot.protocols.trading.briefing import desk_brief, measured
from tests.doubles import bodies
from tests.doubles.copying import replace
from tests.doubles.money_table import GUARDIAN, OPERATOR, TRADER, MoneyTable

ADMIN = ADMIN_SEAT

FILLS = st.lists(
    st.tuples(
        st.sampled_from(("strat_1", "strat_2", "strat_3")),
        st.sampled_from(("AAA", "BBB")),
        # Small ones close a position to nothing now and then.
        (st.integers(-3, 3) | st.integers(-500, 500)).filter(bool),
        st.integers(1, 5_000_000),
        st.integers(0, 500),
    ),
    max_size=25,
)
CLOSED = [("strat_1", "AAA", 100, 7, 0), ("strat_1", "AAA", -100, 9, 0)]


def fact(quantity, price=100.0, **over):
    fields = {
        "signal_id": "sig_20260223_0900",
        "client_order_id": "x-1",
        "symbol": "AAA",
        "action": "BUY" if quantity > 0 else "SELL",
        "qty_filled": abs(quantity),
        "avg_price": price,
        "slippage_bps": 0.0,
        "status": "filled",
        **over,
    }
    return t.Execution(**fields)


def report(table, day="2026-02-23"):
    return table.book.daily_figures(SimpleNamespace(date=day))


def daily(table):
    """Post the daily report that the book asks for."""
    body = t.DailyTradingReport(**report(table))
    return table.tell(OPERATOR, body, table.hall.case_id)


# ---------------------------------------------------------------- conservation


@example(CLOSED)
@given(FILLS)
@settings(max_examples=60)
def test_no_money_appears_or_disappears_whatever_is_filled(fills):
    table = MoneyTable()
    book = table.book
    owners = {}
    for owner in ("strat_1", "strat_2", "strat_3"):
        owners[owner] = table.signal(strategy_id=owner).body.signal_id
    for owner, symbol, quantity, price, fee in fills:
        body = fact(quantity, price / 10_000, symbol=symbol, fee=fee / 100, signal_id=owners[owner])
        table.tell(TRADER, body, owners[owner])
    basis = sum(position.cost for position in book.positions.values())
    assert book.cash + basis == book.capital + book.gained - book.fees
    assert book.cash == book.capital - sum(q * p + fee * 100 for _, _, q, p, fee in fills)
    for key in {(owner, symbol) for owner, symbol, *_ in fills}:
        assert book.quantity(*key) == sum(q for o, s, q, _, _ in fills if (o, s) == key)
    marks = {"AAA": 12.3456, "BBB": 0.01}
    gain = sum(q * (units(marks[s]) - p) - fee * 100 for _, s, q, p, fee in fills)
    assert book.equity(marks) == book.capital + gain
    assert all(position.quantity for position in book.positions.values())


@example([(100, 7), (-100, 9)])
@given(
    st.lists(
        st.tuples((st.integers(-3, 3) | st.integers(-300, 300)).filter(bool), st.integers(1, 10**7)),
        max_size=40,
    )
)
def test_a_position_keeps_its_mean_cost_and_crosses_zero_exactly(fills):
    position, gained, paid = FLAT, 0, 0
    for quantity, price in fills:
        before = position
        position, pnl = filled(before, quantity, price)
        gained, paid = gained + pnl, paid + quantity * price
        assert position.cost - before.cost == quantity * price + pnl
        if position.quantity == 0:
            assert position.cost == 0
        elif position.quantity * before.quantity < 0:
            assert position.cost == position.quantity * price
        elif abs(position.quantity) < abs(before.quantity):
            exact = before.cost * position.quantity / before.quantity
            assert position.cost == pytest.approx(exact, abs=1)
        else:
            assert pnl == 0
    assert paid + gained == position.cost


def test_crossing_zero_closes_first_and_opens_anew_at_the_price():
    assert filled(Position(100, 1_000), -150, 12) == (Position(-50, -600), 200)
    assert filled(Position(-100, -1_000), 150, 8) == (Position(50, 400), 200)


def test_amounts_are_rounded_half_to_even_to_cents_and_shares_to_six_digits():
    assert [dollars(units(x)) for x in (0.005, 0.015, -0.005, -0.015, 1.2345)] == [
        0.0,
        0.02,
        0.0,
        -0.02,
        1.23,
    ]
    assert [divide(n, 2) for n in (1, 3, -1, -3, 5)] == [0, 2, 0, -2, 2]
    assert share(1, 3) == 0.333333
    assert share(5, 0) == 0.0005


def test_sharpe_is_mean_over_deviation_times_root_252_and_nothing_before_two_sessions():
    assert sharpe([]) is sharpe([5]) is sharpe([7, 7, 7]) is None
    assert sharpe([10, 20, 30]) == round(2 * 252**0.5, 6)
    assert sharpe([-10, -20]) == round(-15 / 50**0.5 * 252**0.5, 6)


def test_max_drawdown_is_the_deepest_fall_under_a_peak_and_positive():
    assert max_drawdown(1000, [100, -220, 50, -10]) == 0.2
    assert max_drawdown(1000, [5, 5]) == 0.0


# ---------------------------------------------------------------- facts


def test_the_capital_comes_from_the_first_start_only():
    table = MoneyTable(capital=50_000.0)
    table.start_with({"desk": {"capital": 9.0}})
    assert (table.book.capital, table.book.cash) == (500_000_000, 500_000_000)


def test_the_capital_is_a_million_when_the_configuration_says_nothing():
    book = Book()
    table = MoneyTable()
    docket = SimpleNamespace(context=table.docket.context)
    book.apply(
        SimpleNamespace(body=table.started.model_copy(update={"config": {}})), table.effects[0], docket
    )
    assert book.capital == 10**10


@pytest.mark.rule("K11")
def test_k11_an_execution_that_breaks_a_rule_is_booked_all_the_same():
    table = MoneyTable()
    signal = table.signal()
    table.order(signal)
    env = table.execute(signal, 130)
    assert table.broke(env) == ("K11", "qty_filled")
    assert table.book.quantity("strat_1", "AAA") == 130
    assert table.state(signal).filled == 0


@pytest.mark.rule("K11")
def test_k11_a_late_execution_is_booked_as_its_signals_strategy_in_no_open_case():
    table = MoneyTable()
    signal = table.signal()
    table.order(signal)
    table.wait(minutes=21)
    assert table.ended(signal) == "unanswered"
    env = table.tell(TRADER, fact(100, client_order_id=f"{signal.case_id}-1", signal_id=signal.case_id))
    assert table.broke(env) == ("", None)
    assert table.book.quantity("strat_1", "AAA") == 100


def test_a_fill_of_an_unknown_signal_is_nobodys_and_still_counts():
    table = MoneyTable()
    table.tell(TRADER, fact(7))
    assert table.book.quantity(UNASSIGNED, "AAA") == 7
    assert table.book.cash == table.book.capital - 7 * units(100)


def test_a_fact_told_twice_under_one_id_is_booked_once():
    table = MoneyTable()
    for _ in range(2):
        env = table.tell(TRADER, fact(7, execution_id="broker-7"))
    assert table.broke(env) == ("K11", "execution_id")
    assert table.book.quantity(UNASSIGNED, "AAA") == 7


def test_finer_prices_than_four_decimals_are_a_violation_and_booked_rounded():
    table = MoneyTable()
    signal = table.signal()
    table.order(signal)
    env = table.execute(signal, 100, 10.00005)
    assert table.broke(env) == ("K11", "avg_price")
    assert table.book.positions[("strat_1", "AAA")].cost in (100 * 100_000, 100 * 100_001)


def test_other_messages_count_only_when_they_break_no_rule():
    table = MoneyTable()
    figures = {**table.book.measures({"AAA": 5.0}), "equity": 3.0}
    body = t.RiskCheck(nominal_at=table.now, marks={"AAA": 5.0}, var95=0.0, correlation=0.0, **figures)
    assert table.broke(table.tell(GUARDIAN, body, table.hall.case_id)) == ("R-B7", "equity")
    assert table.book.marks == {}


# ---------------------------------------------------------------- marks and figures


def test_a_fill_marks_a_symbol_without_a_mark_and_leaves_one_that_has_one():
    table = MoneyTable()
    table.trade("BUY", 100, 100.0)
    table.trade("BUY", 10, 120.0)
    assert table.book.marks == {"AAA": units(100)}


def test_a_price_of_nothing_is_no_mark():
    table = MoneyTable()
    table.check(AAA=50.0)
    table.check(AAA=0.0)
    assert table.book.marks == {"AAA": units(50)}


def test_measures_are_equity_pnl_exposure_largest_symbol_and_drawdowns():
    table = MoneyTable()
    table.put("strat_2")
    table.trade("BUY", 400, 100.0)
    table.trade("SELL", 100, 100.0, strategy_id="strat_2")
    table.trade("BUY", 200, 50.0, symbol="BBB", strategy_id="strat_2")
    assert table.book.measures({"AAA": 110.0, "BBB": 49.0}) == {
        "equity": 1_002_800.0,
        "daily_pnl_usd": 2_800.0,
        "daily_pnl_pct": 0.0028,
        "exposure": round((44_000 + 11_000 + 9_800) / 1_002_800, 6),
        "largest_symbol": "AAA",
        "largest_position": round(33_000 / 1_002_800, 6),
        "drawdowns": {"strat_1": 0.0, "strat_2": -0.012},
    }


def test_a_drawdown_is_measured_from_the_allocations_peak():
    table = MoneyTable()
    table.trade("BUY", 400, 100.0)
    table.check(AAA=125.0)
    assert table.book.allocation("strat_1") == units(100_000)
    assert table.book.measures({"AAA": 100.0})["drawdowns"] == {"strat_1": round(-10_000 / 110_000, 6)}
    table.check(AAA=130.0)
    assert table.book.measures()["drawdowns"] == {"strat_1": 0.0}


def test_a_day_counts_from_the_equity_at_its_opening():
    table = MoneyTable()
    table.trade("BUY", 400, 100.0, fee=2.5)
    table.day(AAA=105.0)
    assert table.book.opening == units(1_001_997.5)
    assert (table.book.trades_today, table.book.wins_today, table.book.losses_today) == (0, 0, 0)
    table.trade("SELL", 400, 104.0)
    assert table.book.close_figures({})["pnl_usd"] == -400.0


def test_wins_and_losses_are_fills_that_shrink_at_a_gain_or_a_loss():
    table = MoneyTable()
    table.trade("BUY", 300, 100.0)
    table.trade("SELL", 100, 101.0)
    table.trade("SELL", 100, 100.0)
    table.trade("SELL", 100, 99.0)
    assert (table.book.trades_today, table.book.wins_today, table.book.losses_today) == (4, 1, 1)
    assert report(table)["win_rate"] == 0.5


def test_partial_fills_of_one_order_are_one_trade():
    table = MoneyTable()
    signal = table.signal()
    table.order(signal)
    table.execute(signal, 30)
    assert table.book.reaches() == {("strat_1", "AAA"): (30, 100)}
    assert table.broke(table.execute(signal, 0, status="rejected")) == ("K11", "status")
    assert table.book.in_flight == {f"{signal.case_id}-1"}
    table.execute(signal, 70)
    assert (table.book.trades_today, table.book.in_flight) == (1, set())


def test_the_summary_says_what_the_book_counts():
    table = MoneyTable()
    table.put("strat_2", to="staging")
    table.trade("BUY", 400, 100.0)
    table.check(AAA=90.0)
    assert table.book.summary_figures(table.hall) == {
        "pnl_usd": -4_000.0,
        "pnl_pct": -0.004,
        "trades": 1,
        "wins": 0,
        "losses": 0,
        "active_strategies": ("strat_1",),
        "risk_status": "NORMAL",
    }


@pytest.mark.parametrize(
    ("var95", "status"),
    [(0.0299, "NORMAL"), (0.03, "WARNING"), (0.05, "CRITICAL"), (0.09, "CRITICAL")],
)
def test_the_risk_status_is_the_worst_level_of_the_last_check(var95, status):
    table = MoneyTable()
    table.check(var95=0.06)
    table.check(var95=var95)
    assert table.book.risk_status() == status
    table.day()
    assert table.book.risk_status() == "NORMAL"
    table.halt()
    assert table.book.risk_status() == "HALTED"


def test_attributions_of_a_day_add_up_to_its_pnl():
    table = MoneyTable()
    table.put("strat_2")
    table.trade("BUY", 400, 100.0, fee=1.25)
    table.day(AAA=110.0)
    table.trade("SELL", 100, 105.0, fee=1.0)
    table.trade("BUY", 200, 50.0, symbol="BBB", strategy_id="strat_2")
    table.check(AAA=104.0, BBB=51.0)
    figures = report(table, table.book.date)
    parts = figures["strategy_attribution"]
    assert [(part.id, part.trades) for part in parts] == [("strat_1", 1), ("strat_2", 1)]
    assert sum(part.pnl_pct for part in parts) == pytest.approx(figures["pnl_pct"], abs=2e-6)
    assert figures["pnl_usd"] == 300 * -6.0 + 100 * -5.0 - 1.0 + 200.0


@pytest.mark.rule("R-B10")
def test_r_b10_a_flag_is_named_in_the_next_daily_report_and_in_no_later_one():
    table = MoneyTable()
    table.put("strat_2")
    table.trade("BUY", 400, 100.0)
    table.trade("BUY", 400, 50.0, symbol="BBB", strategy_id="strat_2")
    for n in range(1, 6):
        table.day(AAA=100.0 - n * n, BBB=50.0 - n * n)
    daily(table)
    for strategy_id in ("strat_1", "strat_2"):
        figures = recall_figures(table.docket.context, strategy_id)
        body = t.RecallFlag(strategy_id=strategy_id, **figures)
        env = table.tell(GUARDIAN, body)
        assert table.broke(env) == ("", None), table.effects[env.seq - 1].violation
        assert report(table)["recall_flags"] == (strategy_id,)
        daily(table)
        assert report(table)["recall_flags"] == ()


def test_sharpe_and_drawdown_of_the_desk_are_those_of_its_last_30_days():
    table = MoneyTable()
    table.trade("BUY", 400, 100.0)
    table.day(AAA=110.0)
    table.day(AAA=100.0)
    table.check(AAA=105.0)
    figures = report(table, table.book.date)
    assert (figures["sharpe_30d"], figures["n"]) == (None, 3)
    assert figures["max_dd_30d"] == round(4_000 / 1_004_000, 6)
    assert figures["cumulative_pnl_pct"] == 0.002


@pytest.mark.rule("R-F6")
def test_r_f6_the_desks_sharpe_is_null_below_20_sessions_and_looks_back_30():
    table = MoneyTable()
    table.trade("BUY", 1, 100.0)
    closes = [100.0 + n * (n % 3) for n in range(35)]
    made = [units(after - before) for before, after in pairwise([100.0, *closes])]
    for n, close in enumerate(closes, 1):
        table.close_day(AAA=close)
        figures, last = report(table, table.book.date), made[:n][-30:]
        assert figures["n"] == len(last)
        assert figures["sharpe_30d"] == (sharpe(last) if n >= 20 else None)
        table.wait(hours=24)
        table.open_day()


@pytest.mark.rule("R-F6")
def test_r_f6_a_session_that_was_over_before_the_society_began_it_counts_nowhere():
    table = MoneyTable()
    table.trade("BUY", 400, 100.0)
    table.day(AAA=101.0)
    counted = report(table, table.book.date)["n"]
    table.wait(hours=24)
    table.open_day(late=True)
    assert report(table, table.book.date)["n"] == counted
    assert table.book.weekly_figures(SimpleNamespace(date=table.book.date))["sessions"] == counted
    assert report(table, table.book.date)["max_dd_30d"] == 0.0


@pytest.mark.rule("R-F6")
def test_r_f6_the_day_is_the_close_over_the_close_before_and_none_without_a_session():
    table = MoneyTable()
    table.trade("BUY", 400, 100.0)
    day_pnl_pct, hours = table.book.day_pnl_pct, timedelta(hours=1)
    assert day_pnl_pct(table.now - 24 * hours, table.now) is None
    table.close_day(AAA=101.0)
    first = table.now
    assert day_pnl_pct(first - hours, first) == 0.0004
    table.wait(hours=24)
    table.open_day()
    table.check(AAA=90.0)
    table.close_day(AAA=99.0)
    assert day_pnl_pct(first, table.now) == round(-800 / 1_000_400, 6)
    assert day_pnl_pct(first - hours, first) == 0.0004
    assert day_pnl_pct(table.now, table.now + 48 * hours) is None


def test_the_week_is_the_iso_week_of_the_session_and_forgets_what_came_before():
    table = MoneyTable()
    table.trade("BUY", 400, 100.0)
    for price in (101.0, 102.0, 103.0, 104.0):
        table.day(AAA=price)
    table.check(AAA=110.0)
    figures = table.book.weekly_figures(SimpleNamespace(date="2026-02-27"))
    assert (figures["week"], figures["sessions"], figures["pnl_usd"]) == ("2026-W09", 5, 4_000.0)
    assert figures["total_trades"] == 1
    assert figures["strategy_attribution"] == (t.Attribution(id="strat_1", pnl_pct=0.004, trades=1),)
    assert figures["promotions"] == ()
    table.close_day(AAA=110.0)
    table.wait(hours=72)
    table.open_day()
    table.put("strat_9")
    table.check(AAA=109.0)
    figures = table.book.weekly_figures(SimpleNamespace(date="2026-03-02"))
    assert (figures["sessions"], figures["pnl_usd"], figures["promotions"]) == (1, -400.0, ("strat_9",))


@pytest.mark.rule("R-F6")
def test_r_f6_what_is_filled_after_the_close_counts_from_that_close_on():
    table = MoneyTable()
    table.trade("BUY", 400, 100.0)
    table.close_day(AAA=100.0)
    table.trade("SELL", 400, 99.0)
    assert report(table, table.book.date)["pnl_usd"] == 0.0
    assert table.book.realised("strat_1")["pnl"] == 0.0
    table.wait(hours=24)
    table.open_day()
    assert table.book.weekly_figures(SimpleNamespace(date=table.book.date))["pnl_usd"] == -400.0
    assert report(table, table.book.date)["pnl_usd"] == -400.0
    assert table.book.realised("strat_1")["pnl"] == -400.0


# ---------------------------------------------------------------- strategies


def test_sessions_of_a_strategy_run_from_close_to_close_and_a_quiet_one_counts():
    table = MoneyTable()
    table.trade("BUY", 400, 100.0)
    table.day(AAA=101.0)
    table.day(AAA=101.0)
    table.day(AAA=99.0)
    assert [s.pnl for s in table.book.sessions("strat_1")] == [units(400), 0, units(-800)]
    assert table.book.ratio("strat_1") == (sharpe([units(400), 0, units(-800)]), 3)
    assert table.book.realised("strat_1") == {
        "pnl": 0.0,
        "sharpe_30d": None,
        "n": 3,
        "max_drawdown": round(800 / (99_960 + 400), 6),
        "trades": 1,
    }


def test_a_strategy_that_was_withdrawn_has_sessions_while_its_pnl_moves():
    table = MoneyTable()
    table.trade("BUY", 400, 100.0)
    table.close_day(AAA=100.0)
    table.withdraw()
    table.wait(hours=24)
    table.open_day()
    table.day(AAA=99.0)
    table.day(AAA=99.0)
    assert [s.pnl for s in table.book.sessions("strat_1")] == [0, units(-400)]


def test_metrics_show_the_days_pnl_after_the_close():
    table = MoneyTable()
    table.trade("BUY", 400, 100.0)
    table.close_day(AAA=101.0)
    assert table.book.realised("strat_1")["pnl"] == 400.0
    assert table.book.realised("strat_7") == {
        "pnl": 0.0,
        "sharpe_30d": None,
        "n": 0,
        "max_drawdown": 0.0,
        "trades": 0,
    }


def test_the_history_of_a_strategy_is_bounded():
    table = MoneyTable()
    table.trade("BUY", 1, 100.0)
    for n in range(KEPT + 3):
        table.day(AAA=100.0 + n)
    assert len(table.book.sessions("strat_1")) == KEPT
    assert len(table.book._days) == KEPT


def test_a_new_deployment_starts_the_statistics_anew_and_keeps_the_money():
    table = MoneyTable()
    table.trade("BUY", 400, 100.0)
    table.day(AAA=110.0)
    table.withdraw()
    back = table.last("STRATEGY_MOVED").body.model_copy(update={"from_": "withdrawn", "to": "production"})
    assert table.broke(table.tell(ADMIN, back)) == ("", None)
    assert table.book.sessions("strat_1") == ()
    assert table.book.paper_metrics("strat_1")["trades"] == 0
    table.trade("SELL", 400, 110.0)
    table.close_day()
    assert [s.pnl for s in table.book.sessions("strat_1")] == [0]
    assert table.book.drawdown("strat_1") == 0.0
    assert table.book.cash == table.book.capital + units(4_000)


def test_sessions_since_promotion_leave_out_those_before_it():
    table = MoneyTable()
    table.wait(hours=1)
    table.day()
    table.day()
    known = table.docket.context.fold_named("life").strategies
    assert len(table.book.sessions("strat_1", "promotion")) == 2
    known["strat_1"] = replace(known["strat_1"], stage="staging")
    table.tell(ADMIN, bodies.moved("strat_1", from_="staging", to="production"))
    assert table.book.sessions("strat_1", "promotion") == ()
    assert len(table.book.sessions("strat_1")) == 2


@pytest.mark.rule("R-F5")
def test_r_f5_of_the_session_of_a_promotion_only_what_came_after_it_is_live():
    table = MoneyTable()
    table.put("strat_2", to="staging")
    known = table.docket.context.fold_named("life").strategies
    known["strat_2"] = replace(known["strat_2"], is_deployed=True, deployed_at=table.now)
    table.trade("BUY", 100, 100.0, strategy_id="strat_2")
    table.day(AAA=100.0)
    table.check(AAA=110.0)
    table.trade("SELL", 10, 110.0, strategy_id="strat_2")
    assert table.book.sessions("strat_2", "promotion") == ()
    table.tell(ADMIN, bodies.moved("strat_2", from_="staging", to="production"))
    table.trade("SELL", 10, 110.0, strategy_id="strat_2")
    table.close_day(AAA=109.0)
    assert table.book.sessions("strat_2")[-1][2:4] == (units(920), 2)
    assert [s[2:4] for s in table.book.sessions("strat_2", "promotion")] == [(units(-80), 1)]
    figures = table.book.live_figures("strat_2")
    assert (figures["live_pnl"], figures["live_trades"], figures["live_n"]) == (-80.0, 1, 1)
    assert "live_sharpe" not in figures


def test_paper_metrics_count_fills_slippage_and_days_since_deployment():
    table = MoneyTable()
    table.trade("BUY", 300, 100.0, fee=1.0)
    signal = table.signal("SELL", 200)
    table.order(signal)
    table.execute(signal, 50, 102.0, slippage_bps=4.0)
    table.execute(signal, 0, status="cancelled")
    table.close_day(AAA=102.0)
    assert table.book.paper_metrics("strat_1") == {
        "n": 1,
        "max_drawdown": 0.0,
        "trades": 2,
        "pnl_usd": 599.0,
        "win_rate": 1.0,
        "avg_slippage_bps": round((300 * 1.0 + 50 * 4.0) / 350, 6),
        "fill_rate": 0.7,
        "days": 1,
    }


# ---------------------------------------------------------------- what minds are shown


def test_minds_compute_the_books_measures_from_the_brief_alone():
    table = MoneyTable()
    table.put("strat_2")
    table.trade("BUY", 333, 101.1234, fee=1.11)
    table.trade("SELL", 77, 100.0, strategy_id="strat_2", symbol="BBB")
    table.check(AAA=120.0)
    marks = {"AAA": 93.0001, "BBB": 104.4, "CCC": -1.0}
    assert measured(desk_brief(table.docket.context), marks) == table.book.measures(marks)


def test_the_brief_and_the_book_tell_the_same_of_every_strategy():
    table = MoneyTable()
    table.put("strat_2")
    table.put("strat_3", to="staging")
    table.trade("BUY", 333, 101.1234, fee=1.11)
    table.trade("SELL", 77, 100.0, strategy_id="strat_2", symbol="BBB")
    table.check(AAA=80.0, BBB=120.0)
    desk = desk_brief(table.docket.context)
    told = {name: known["drawdown"] for name, known in desk["strategies"].items()}
    assert told == {name: table.book.drawdown(name) for name in ("strat_1", "strat_2", "strat_3")}
    assert told["strat_1"] < told["strat_2"] < told["strat_3"] == 0.0
    assert desk["exposure"] == table.book.measures()["exposure"]
    assert sorted(desk["curves"]) == ["strat_1", "strat_2"]


def test_the_brief_tells_how_a_strategy_fared_that_is_traded_no_longer_or_holds_nothing():
    table = MoneyTable()
    table.put("strat_2")
    table.put("strat_3")
    table.trade("BUY", 333, 101.1234, fee=1.11)
    table.trade("BUY", 77, 100.0, strategy_id="strat_2", symbol="BBB")
    table.trade("SELL", 77, 90.0, strategy_id="strat_2", symbol="BBB")
    table.withdraw("strat_1")
    table.tell(OPERATOR, bodies.moved("strat_2", from_="production", to="staging"))
    desk = desk_brief(table.docket.context)
    told = {name: known["drawdown"] for name, known in desk["strategies"].items()}
    assert told == {name: table.book.drawdown(name) for name in ("strat_1", "strat_2", "strat_3")}
    assert told["strat_2"] < told["strat_1"] < told["strat_3"] == 0.0
    # Curves are those of what is held, and of what may trade.
    assert sorted(desk["curves"]) == sorted(table.book.curves()) == ["strat_1", "strat_3"]


def test_the_brief_shows_the_desk_in_dollars():
    table = MoneyTable()
    table.trade("BUY", 101, 100.5)
    table.put("strat_2", to="staging")
    table.put("strat_3", to="withdrawn")
    desk = desk_brief(table.docket.context)
    assert desk["cash"] == 1_000_000 - 10_150.5
    assert (desk["positions"], desk["reductions"]) == ({"strat_1": {"AAA": 101}}, {"strat_1": {"AAA": -51}})
    assert desk["limits"] == {"exposure": 0.80, "position": 0.05, "trades": 50}
    assert (desk["halted"], desk["trades_today"], desk["marks"]) == (False, 1, {"AAA": 100.5})
    assert desk["orders_under_way"] == len(table.book.in_flight) == 0
    assert sorted(desk["strategies"]) == ["strat_1", "strat_2"]
    known = desk["strategies"]["strat_1"]
    assert (known["stage"], known["symbols"], known["position_limit"]) == ("production", ["AAA", "BBB"], 0.05)


def test_the_desk_is_told_anew_only_when_it_took_something_in():
    table = MoneyTable()
    first = desk_brief(table.docket.context)
    table.tell(ADMIN, Note(text="well done"))
    assert desk_brief(table.docket.context)["strategies"] is first["strategies"]
    table.trade("BUY", 333, 101.1234)
    assert desk_brief(table.docket.context)["positions"] == {"strat_1": {"AAA": 333}}
    table.put("strat_2", to="staging")
    assert sorted(desk_brief(table.docket.context)["strategies"]) == ["strat_1", "strat_2"]


def test_strategies_that_were_never_traded_cost_a_brief_no_arithmetic(monkeypatch):
    table = MoneyTable()
    for n in range(2, 40):
        table.put(f"strat_{n}", to="staging")
    table.trade("BUY", 333, 101.1234)
    asked = []
    ratio = Book.ratio
    monkeypatch.setattr(Book, "ratio", lambda book, name: asked.append(name) or ratio(book, name))
    assert len(desk_brief(table.docket.context)["strategies"]) == 39
    assert asked == ["strat_1"]


def test_a_brief_shows_what_the_desk_holds_and_what_it_is_about_and_no_strategy_of_the_past():
    table = MoneyTable()
    for n in range(2, 40):
        table.put(f"strat_{n}", to="candidates")
    assert [*desk_brief(table.docket.context)["strategies"]] == ["strat_1"]
    asked = desk_brief(table.docket.context, "strat_7")["strategies"]
    assert [*asked] == ["strat_1", "strat_7"]
    assert (asked["strat_7"]["stage"], asked["strat_7"]["n"]) == ("candidates", 0)


def test_a_brief_that_somebody_asks_for_before_all_folds_took_a_message_in_is_made_anew_after_that():
    table, other = MoneyTable(), MoneyTable()
    other.put("strat_2", to="staging")
    moved, effects = other.log[-1], other.effects[-1]
    context = table.docket.context
    for fold in ("book", "life"):
        context.fold_named(fold).apply(moved, effects, table.docket)
        shown = desk_brief(context)["strategies"]
    assert [*shown] == ["strat_1", "strat_2"]
