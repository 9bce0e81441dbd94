"""The simulated Trader: what strategies want becomes legal orders, and what the broker did is told as it was."""

from datetime import timedelta

import pytest

from moot.bots.desk.broker import Ticket, fills
from moot.bots.desk.signals import steady, target
from moot.bots.minds.simulated.debate.specs import spec_of
from moot.bots.minds.simulated.desk.trader import ASSET, HEADROOM, Room, Round
from moot.bots.minds.simulated.tools import SimulatedTools
from moot.memory.evidence import InMemoryEvidence
from moot.protocols.kernel.officers import Ruling
from moot.protocols.trading import messages as t
from moot.protocols.trading.book_figures import Position
from moot.protocols.trading.seats import GUARDIAN, OPERATOR
from moot.protocols.trading.seats import TRADER as TRADER_SEAT
from tests.doubles import bodies
from tests.doubles.copying import replace
from tests.doubles.desk_minds import MindedDesk, at, tools, trend

TRADER = TRADER_SEAT


def room(**over):
    limits = {"position": 0.05, "exposure": 0.8, "trades": 50}
    return Room(
        **{"equity": 1e6, "gross": 0.0, "net": {}, "trades": 0, "limits": limits, "may_grow": True, **over}
    )


@pytest.fixture(scope="module")
def morning():
    """A morning of two strategies: one trends up, one may go short."""
    desk = MindedDesk()
    desk.trade("strat_1", trend("SP500", "SIM-GOLF", "SIM-ECHO"))
    desk.trade("strat_2", trend("NASDAQ", "SIM-HOTEL", allow_short=1, fast=5, slow=20))
    desk.live(at(12))
    return desk


def test_a_round_every_15_minutes_names_its_instant_and_counts(morning):
    rounds = morning.all("DESK_CHECK")
    assert [r.nominal_at for r in rounds] == [at(9, 30) + n * timedelta(minutes=15) for n in range(10)]
    assert all(r.strategies == 2 and r.faults == () for r in rounds)
    assert sum(r.signals for r in rounds) == len(morning.all("SIGNAL")) > 0


def test_every_signal_becomes_its_order_and_the_brokers_fill_and_the_book_holds_it(morning):
    signals, orders, executions = (morning.all(k) for k in ("SIGNAL", "ORDER", "EXECUTION"))
    assert {o.client_order_id for o in orders} == {f"{s.signal_id}-1" for s in signals}
    assert sum(e.qty_filled for e in executions) == sum(o.quantity for o in orders) > 0
    held = {}
    for e in executions:
        signal = next(s for s in signals if s.signal_id == e.signal_id)
        key = (signal.strategy_id, e.symbol)
        held[key] = held.get(key, 0) + e.qty_filled * (1 if e.action == "BUY" else -1)
    assert {k: p.quantity for k, p in morning.book.positions.items()} == {k: q for k, q in held.items() if q}
    assert not morning.all("VIOLATION")


@pytest.mark.rule("R-B7")
def test_r_b7_positions_stay_below_their_limit_and_follow_the_signal(morning):
    market, equity = morning.tools.market, 1e6
    for (strategy_id, symbol), position in morning.book.positions.items():
        worth = abs(position.quantity) * market.price(symbol, morning.now)
        assert worth <= 0.05 * equity * 1.01
        wish = target(spec_of(morning.life.strategies[strategy_id].strategy), market, symbol, at(11, 45))
        assert wish * position.quantity > 0
        assert worth == pytest.approx(abs(wish) * 0.05 * HEADROOM * equity, rel=0.35)


@pytest.mark.rule("K11")
def test_k11_the_execution_waits_for_the_broker_and_a_restart_tells_the_same(morning):
    desk = MindedDesk()
    desk.trade("strat_1", trend("SIM-ECHO"))
    desk.until(at(9, 46))
    signal = t.Signal(
        session_id=desk.session.case_id, strategy_id="strat_1", symbol="SIM-ECHO", action="BUY", quantity=200,
        order_type="market", limit_price=115.0, confidence=0.6, reason="it rises",
    )  # fmt: skip
    said = desk.tell(TRADER, signal)
    desk.respond(desk.of_case(said, "ORDER"))
    owed = desk.of_case(said, "EXECUTION")
    ordered_at = desk.now
    delay = desk.mind.consider(desk.shown(owed))
    desk.now = owed.opened_at + delay
    first = desk.think(owed).body
    desk.now += timedelta(minutes=7)
    assert desk.think(owed).body == first
    assert first.status == "filled"
    assert first.avg_price == round(first.avg_price, 4)
    assert delay > timedelta(0)
    assert desk.now > ordered_at
    assert not desk.broke(desk.say(TRADER, first, owed=owed))


def test_a_strategy_that_raises_is_a_fault_and_keeps_what_it_holds(morning):
    desk = MindedDesk()
    desk.trade("good", trend("SP500"))
    desk.trade("bad", trend("NOT-HERE"))
    desk.until(
        at(
            9,
            30,
        )
    )
    desk.hold("bad", "NOT-HERE", 10)
    reply = desk.think(desk.owed(TRADER, "DESK_CHECK"))
    assert [f.strategy_id for f in reply.body.faults] == ["bad"]
    assert "NOT-HERE" in reply.body.faults[0].error
    assert reply.body.strategies == 2
    assert all(aside.body.strategy_id == "good" for aside in reply.asides)


def test_what_a_strategy_holds_that_is_not_traded_any_more_is_sold():
    desk = MindedDesk()
    desk.trade("gone", trend("SIM-GOLF"))
    desk.until(at(9, 46))
    desk.hold("gone", "SIM-GOLF", 50, 115.0)
    desk.tell(OPERATOR, bodies.moved(strategy_id="gone", from_="production", to="withdrawn"))
    desk.now = at(9, 47)
    (aside,) = desk.think(desk.owed(TRADER, "DESK_CHECK")).asides
    assert (aside.body.action, aside.body.quantity, aside.body.symbol) == ("SELL", 50, "SIM-GOLF")


@pytest.mark.rule("R-B5")
def test_r_b5_while_halted_nothing_opens_and_what_is_unwanted_is_still_closed():
    desk = MindedDesk()
    desk.trade("strat_1", trend("SP500", "SIM-GOLF", "SIM-ECHO"))
    desk.until(at(9, 45))
    assert desk.think(desk.owed(TRADER, "DESK_CHECK")).asides
    desk.tell(GUARDIAN, t.Halt(session_id=desk.session.case_id, reason="a test", by="guardian"))
    assert desk.think(desk.owed(TRADER, "DESK_CHECK")).asides == ()


def test_after_the_close_a_late_round_signals_nothing():
    desk = MindedDesk()
    desk.trade("gone", trend("SIM-GOLF"))
    desk.until(at(9, 46))
    desk.hold("gone", "SIM-GOLF", 50, 115.0)
    desk.tell(OPERATOR, bodies.moved(strategy_id="gone", from_="production", to="withdrawn"))
    owed = desk.owed(TRADER, "DESK_CHECK")
    assert desk.think(owed, now=at(15, 59)).asides
    assert desk.think(owed, now=at(16)).asides == ()


@pytest.mark.rule("R-F17")
def test_r_f17_at_a_sessions_edges_a_round_opens_nothing_by_market_order():
    desk = MindedDesk()
    desk.trade("strat_1", trend("SIM-GOLF"))
    desk.until(at(9, 45))
    owed = desk.owed(TRADER, "DESK_CHECK")
    shown = {
        now: bool(desk.think(owed, now=at(*now)).asides) for now in ((9, 44), (9, 45), (15, 44), (15, 45))
    }
    assert shown == {(9, 44): False, (9, 45): True, (15, 44): True, (15, 45): False}
    brief = desk.brief(owed)
    brief["desk"]["strategies"]["strat_1"]["order_type"] = "limit"
    (aside,) = desk.think(owed, brief=brief, now=at(9, 44)).asides
    assert (aside.body.order_type, aside.body.action) == ("limit", "SELL")


@pytest.mark.rule("R-F17")
def test_r_f17_what_strategies_disagree_on_is_closed_but_not_opened():
    desk = MindedDesk()
    desk.trade("down", trend("SIM-ALFA"))
    desk.until(at(9, 45))
    (aside,) = desk.think(desk.owed(TRADER, "DESK_CHECK")).asides
    assert (aside.body.action, aside.body.confidence) == ("SELL", 0.6)
    desk.trade("up", trend("SIM-ALFA", fast=5, slow=50))
    assert desk.think(desk.owed(TRADER, "DESK_CHECK")).asides == ()
    desk.hold("down", "SIM-ALFA", 50, 100.0)
    (aside,) = desk.think(desk.owed(TRADER, "DESK_CHECK")).asides
    assert (aside.body.action, aside.body.quantity, aside.body.confidence) == ("SELL", 50, 0.45)


@pytest.mark.rule("R-B8")
def test_r_b8_what_was_sold_to_reduce_exposure_is_not_bought_back_in_that_session():
    desk = MindedDesk()
    desk.trade("strat_1", trend("SP500", "SIM-GOLF", "SIM-ECHO"))
    desk.until(at(9, 45))
    owed = desk.owed(TRADER, "DESK_CHECK")
    shown = desk.shown(owed)
    last = shown.transcript[-1]
    ruling = Ruling(
        obligation_id=None, case_id=owed.case_id, outcome="reduce_exposure", reason="expired", rule="R-B8"
    )
    ruled = (*shown.transcript, replace(last, body=ruling, seq=last.seq + 1))
    assert desk.think(owed).asides
    assert desk.think(owed, transcript=ruled).asides == ()


@pytest.mark.rule("R-B8")
def test_r_b8_an_owed_reduction_is_signalled_as_it_was_fixed_and_carried_out():
    desk = MindedDesk()
    desk.trade("strat_1", trend("SIM-GOLF"))
    desk.until(at(9, 46))
    desk.hold("strat_1", "SIM-GOLF", 101, 115.0)
    alert = t.RiskAlert(
        session_id=desk.session.case_id, level="CRITICAL", metric="daily_pnl", current_value=-0.06, threshold=-0.05,
        message="a test", action_required="reduce_exposure",
    )  # fmt: skip
    said = desk.tell(GUARDIAN, alert)
    desk.respond(desk.of_case(said, "RISK_DECISION"))
    signal = desk.respond(desk.owed(TRADER, "SIGNAL"))
    assert (signal.body.action, signal.body.quantity) == ("SELL", 51)
    desk.respond(desk.of_case(signal, "ORDER"))
    owed = desk.of_case(signal, "EXECUTION")
    desk.now += timedelta(minutes=1)
    desk.respond(owed)
    assert desk.book.quantity("strat_1", "SIM-GOLF") == 50


def falling(desk, quantity, symbol="SIM-GOLF"):
    """Let the Trader signal a sale."""
    return desk.tell(TRADER, t.Signal(
        session_id=desk.session.case_id, strategy_id="strat_1", symbol=symbol, action="SELL", quantity=quantity,
        order_type="market", limit_price=115.0, confidence=0.6, reason="it falls",
    ))  # fmt: skip


@pytest.mark.rule("R-B5")
def test_r_b5_the_trader_sells_no_share_twice_and_waits_for_what_is_under_way():
    desk = MindedDesk()
    desk.trade("strat_1", trend("SIM-GOLF"))
    desk.until(at(9, 46))
    desk.hold("strat_1", "SIM-GOLF", 100, 115.0)
    first, second, third = falling(desk, 60), falling(desk, 60), falling(desk, 60)
    desk.respond(desk.of_case(first, "ORDER"))
    assert desk.respond(desk.of_case(second, "ORDER")).body.quantity == 40
    assert desk.think(desk.of_case(third, "ORDER")).body == t.NoOrder(reason="position_gone")
    # A round wants more of it, but not while it is being sold.
    assert desk.think(desk.owed(TRADER, "DESK_CHECK")).asides == ()


@pytest.mark.rule("R-B5")
def test_r_b5_a_round_closes_what_remains_beside_an_order_under_way():
    desk = MindedDesk()
    desk.trade("strat_1", trend("SIM-GOLF"))
    desk.until(at(9, 46))
    desk.hold("strat_1", "SIM-GOLF", 100, 115.0)
    desk.respond(desk.of_case(falling(desk, 60), "ORDER"))
    desk.tell(OPERATOR, bodies.moved(strategy_id="strat_1", from_="production", to="withdrawn"))
    (aside,) = desk.think(desk.owed(TRADER, "DESK_CHECK")).asides
    assert (aside.body.action, aside.body.quantity) == ("SELL", 40)


@pytest.mark.rule("K11")
def test_k11_what_a_late_fill_opened_is_signalled_as_it_was_fixed_and_carried_out():
    desk = MindedDesk()
    desk.trade("strat_1", trend("SIM-GOLF"))
    desk.until(at(9, 46))
    entry = falling(desk, 20)
    order = desk.respond(desk.of_case(entry, "ORDER")).body
    desk.tell(GUARDIAN, t.Halt(session_id=desk.session.case_id, reason="a test", by="guardian"))
    desk.until(desk.now + timedelta(minutes=11))
    desk.tell(TRADER, t.Execution(
        client_order_id=order.client_order_id, signal_id=entry.case_id, symbol="SIM-GOLF", action="SELL",
        qty_filled=20, avg_price=115.0, slippage_bps=0.0, status="filled", fill_after_halt=True,
    ))  # fmt: skip
    signal = desk.respond(desk.owed(TRADER, "SIGNAL"))
    assert (signal.body.action, signal.body.quantity, signal.body.signal_sources) == ("BUY", 20, ("flatten",))
    assert not desk.broke(desk.respond(desk.of_case(signal, "ORDER")))
    desk.now += timedelta(minutes=1)
    assert not desk.broke(desk.respond(desk.of_case(signal, "EXECUTION")))
    assert desk.book.positions == {}


@pytest.mark.rule("R-B8")
def test_r_b8_nothing_is_signalled_where_nothing_is_left_to_be_reduced():
    desk = MindedDesk()
    desk.trade("strat_1", trend("SIM-GOLF"))
    desk.until(at(9, 46))
    desk.hold("strat_1", "SIM-GOLF", 100, 115.0)
    desk.tell(GUARDIAN, t.RiskAlert(
        session_id=desk.session.case_id, level="CRITICAL", metric="daily_pnl", current_value=-0.06, threshold=-0.05,
        message="a test", action_required="reduce_exposure",
    ))  # fmt: skip
    desk.respond(desk.owed(OPERATOR, "RISK_DECISION"))
    owed = desk.owed(TRADER, "SIGNAL")
    desk.respond(desk.of_case(falling(desk, 100), "ORDER"))
    assert desk.think(owed) is None


@pytest.mark.rule("R-B5")
def test_r_b5_an_order_under_way_at_a_halt_is_cancelled_or_told_as_filled_after_it():
    desk = MindedDesk()
    desk.trade("strat_1", trend("SIM-GOLF"))
    desk.until(at(9, 46))
    outcomes = set()
    for wait in (0, 30):
        signal = desk.tell(TRADER, t.Signal(
            session_id=desk.session.case_id, strategy_id="strat_1", symbol="SIM-GOLF", action="BUY", quantity=20,
            order_type="market", limit_price=115.0, confidence=0.6, reason="it rises",
        ))  # fmt: skip
        desk.respond(desk.of_case(signal, "ORDER"))
        desk.now += timedelta(seconds=wait)
        desk.tell(GUARDIAN, t.Halt(session_id=desk.session.case_id, reason="a test", by="guardian"))
        desk.now += timedelta(seconds=5)
        told = desk.respond(desk.of_case(signal, "EXECUTION")).body
        outcomes.add((told.status, told.qty_filled, told.fill_after_halt))
        if told.qty_filled:
            break
        desk.tell(OPERATOR, t.Resume(reason="on"), case_id=desk.book.halt_id)
        desk.respond(desk.owed(GUARDIAN, "RESUME_CONFIRMED"))
    assert outcomes == {("cancelled", 0, False), ("filled", 20, True)}


# ---------------------------------------------------------------- room and wishes


@pytest.mark.rule("R-B7")
def test_r_b7_growth_fits_the_position_the_exposure_the_symbol_and_the_days_trades():
    assert room().most("A", 0, 500, 490.0, 100.0) == 490
    assert room(gross=770_000.0).most("A", 0, 500, 500.0, 100.0) == 140
    assert room(gross=800_000.0).most("A", 0, 500, 500.0, 100.0) == 0
    assert room(trades=50).most("A", 0, 500, 500.0, 100.0) == 0
    assert room(net={"A": ASSET * 1e6 - 10_000}).most("A", 0, 500, 500.0, 100.0) == 100
    assert room(net={"A": ASSET * 1e6 - 10_000}).most("A", 0, -500, 500.0, 100.0) == -500
    assert room(net={"B": ASSET * 1e6}).most("A", 100, 500, 500.0, 100.0) == 400


@pytest.mark.rule("R-B5")
def test_r_b5_what_shrinks_is_never_held_back_and_a_turn_is_cut_to_its_closing():
    tight = room(may_grow=False, trades=99, gross=9e6)
    assert tight.most("A", 300, 100, 500.0, 100.0) == -200
    assert tight.most("A", 300, -100, 500.0, 100.0) == -300
    assert tight.most("A", -300, 100, 500.0, 100.0) == 300
    assert tight.most("A", 300, 400, 500.0, 100.0) == 0
    assert room().most("A", 300, -100, 500.0, 100.0) == -400


def test_room_counts_what_was_signalled_in_the_round():
    left = room()
    left.take("A", 0, 500, 100.0)
    left.take("B", 200, -100, 100.0)
    assert (left.gross, left.net, left.trades) == (40_000.0, {"A": 50_000.0, "B": -10_000.0}, 2)


def test_a_target_that_wavers_is_not_traded():
    assert steady(0.0, 0.5, 0) is None
    assert steady(0.5, 0.6, 0) == 0.6
    assert steady(0.5, 0.0, 100) is None
    assert steady(0.0, 0.0, 100) == 0.0
    assert steady(0.0, 0.4, 100) == 0.4
    assert steady(0.3, -0.3, 100) is None


def test_confidence_grows_with_confluence_and_falls_with_conflict():
    asked = Round({("a", "X"): 0.5, ("b", "X"): 1.0, ("c", "X"): -0.2, ("d", "Y"): 1.0, ("e", "X"): None})
    assert asked.confidence("Y", 1.0) == 0.6
    assert asked.confidence("X", 0.5) == 0.6
    assert asked.confidence("X", -0.2) == 0.3


@pytest.mark.rule("R-B12")
def test_r_b12_an_order_that_would_open_what_is_not_traded_is_not_given():
    """A reduction that comes twice would turn a closed position around."""
    desk = MindedDesk()
    desk.trade("gone", trend("SIM-GOLF"))
    desk.until(at(9, 46))
    desk.hold("gone", "SIM-GOLF", 50, 115.0)
    desk.tell(OPERATOR, bodies.moved(strategy_id="gone", from_="production", to="candidates"))
    signals = [
        desk.tell(TRADER, t.Signal(
            session_id=desk.session.case_id, strategy_id="gone", symbol="SIM-GOLF", action="SELL", quantity=quantity,
            order_type="market", confidence=0.6, reason="it goes",
        ))
        for quantity in (50, 25)
    ]  # fmt: skip
    desk.respond(desk.of_case(signals[0], "ORDER"))
    owed = desk.of_case(signals[0], "EXECUTION")
    desk.now += timedelta(seconds=10)
    desk.respond(owed)
    assert desk.book.quantity("gone", "SIM-GOLF") == 0
    assert desk.think(desk.of_case(signals[1], "ORDER")).body == t.NoOrder(reason="position_gone")


@pytest.mark.rule("R-B7")
def test_r_b7_an_order_is_cut_to_what_the_limits_leave_by_then():
    desk = MindedDesk()
    desk.trade("strat_1", trend("SIM-GOLF"))
    desk.until(at(9, 46))
    signal = desk.tell(TRADER, t.Signal(
        session_id=desk.session.case_id, strategy_id="strat_1", symbol="SIM-GOLF", action="BUY", quantity=5000,
        order_type="market", limit_price=115.0, confidence=0.6, reason="it rises",
    ))  # fmt: skip
    order = desk.respond(desk.of_case(signal, "ORDER")).body
    assert order.quantity == int(0.05 * 1e6 / 115.0)


def test_spec_4_2_feasibility_says_when_the_exchange_is_closed_and_when_nothing_is_held():
    desk = MindedDesk()
    desk.trade("strat_1", trend("SIM-GOLF"))
    desk.until(at(9, 46))
    owed = desk.owed(TRADER, "DESK_CHECK")
    owed = replace(owed, expects=("FEASIBILITY",))
    brief = {**desk.brief(desk.owed(TRADER, "DESK_CHECK")), "affected": ()}
    nothing = desk.think(owed, brief=brief).body
    assert (nothing.feasible, nothing.cost_bps) == (True, 0.0)
    desk.hold("strat_1", "SIM-GOLF", 100, 115.0)
    brief = {**desk.brief(desk.owed(TRADER, "DESK_CHECK")), "affected": ("strat_1",)}
    assert desk.think(owed, brief=brief).body.feasible
    closed = desk.think(owed, brief=brief, now=at(17)).body
    assert not closed.feasible
    assert "open" in closed.note


@pytest.mark.rule("R-B7")
def test_r_b7_before_the_first_mark_a_market_order_names_a_price():
    desk = MindedDesk()
    desk.trade("strat_1", trend("SP500", "SIM-GOLF"))
    desk.until(at(9, 45))
    owed = desk.owed(TRADER, "DESK_CHECK")
    assert all(aside.body.limit_price for aside in desk.think(owed).asides)
    desk.respond(desk.owed(GUARDIAN, "RISK_CHECK"))
    assert [aside.body.limit_price for aside in desk.think(owed).asides] == [None, None]
    assert {aside.body.order_type for aside in desk.think(owed).asides} == {"market"}


@pytest.mark.rule("K11")
def test_k11_each_part_is_told_when_it_happened_and_not_before():
    desk = MindedDesk()
    desk.trade("strat_1", trend("SIM-GOLF"))
    desk.until(at(9, 46))
    desk.now = at(12, 33)
    volume = desk.tools.market.liquidity("SIM-GOLF", desk.now)
    quantity = int(volume * 0.25)
    # So many shares are within the limits only when they close a position.
    desk.book.positions["strat_1", "SIM-GOLF"] = Position(-quantity, 0)
    signal = desk.tell(TRADER, t.Signal(
        session_id=desk.session.case_id, strategy_id="strat_1", symbol="SIM-GOLF", action="BUY", quantity=quantity,
        order_type="market", limit_price=115.0, confidence=0.6, reason="it goes",
    ))  # fmt: skip
    order = desk.respond(desk.of_case(signal, "ORDER"))
    ticket = Ticket(order.body.client_order_id, "SIM-GOLF", "BUY", quantity, order.sent_at)
    parts = fills(ticket, desk.tools.market, desk.tools.market.seed)
    assert len(parts) == 3
    for part in parts:
        owed = desk.of_case(signal, "EXECUTION")
        at_ = owed.opened_at + desk.mind.consider(desk.shown(owed))
        assert at_ >= part.at
        desk.now = at_
        told = desk.respond(owed).body
        assert (told.qty_filled, told.avg_price) == (part.quantity, part.price)
    assert told.status == "filled"


@pytest.mark.rule("K11")
def test_k11_a_society_that_goes_on_under_another_seed_keeps_prices_and_fills():
    universe = tools().market.universe
    other = SimulatedTools(universe, InMemoryEvidence(), seed=99)
    assert (other.seed, other.market.seed) == (99, 7)
    assert other.market.price("SIM-GOLF", at(12)) == tools().market.price("SIM-GOLF", at(12))
