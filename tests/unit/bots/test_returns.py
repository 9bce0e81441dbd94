import numpy as np
import pytest

from moot.bots.tools import returns as module
from moot.bots.tools.bars import Bars
from moot.bots.tools.returns import Costs, run
from moot.bots.tools.splits import Span
from moot.bots.tools.strategies import StrategySpec
from moot.bots.tools.universe import Universe

FREE = Costs(0.0, 0.0)
SPEC = StrategySpec("momentum", {"fast": 2, "slow": 10, "allow_short": 1, "target_vol": 0.2}, ("A",))


def bars(symbol, open_, close, first="2020-01-01", dates=None):
    open_, close = np.asarray(open_, dtype=float), np.asarray(close, dtype=float)
    if dates is None:
        dates = np.datetime64(first, "D") + np.arange(len(close))
    high, low = np.maximum(open_, close), np.minimum(open_, close)
    return Bars(symbol, dates, open_, high, low, close, close, "file")


def lived(monkeypatch, decided, made, costs=FREE, lag=0, first=0):
    """Run over bars with decisions given by hand, symbol by symbol."""
    made = made if isinstance(made, list) else [made]
    by_symbol = dict(zip([one.symbol for one in made], decided if len(made) > 1 else [decided], strict=True))

    def given_by_hand(_, window):
        return np.array(by_symbol[window.symbol], dtype=float)[: len(window)]

    monkeypatch.setattr(module, "positions", given_by_hand)
    universe = Universe.of(made, "")
    days = universe.calendar
    span = Span(days[first].item(), days[-1].item())
    spec = StrategySpec("momentum", SPEC.params, tuple(by_symbol))
    # Past the cache: it knows nothing of decisions given by hand.
    return module._run.__wrapped__(spec, universe, span, costs, lag)


def test_a_decision_at_a_close_is_executed_at_the_next_open(monkeypatch):
    made = bars("A", [100, 100, 110, 120], [100, 105, 115, 130])
    found = lived(monkeypatch, [0, 1, 0, 0], made)
    # Bought at the open of day 2 (110), held to its close (115), sold at the open of day 3 (120).
    assert found.returns.tolist() == pytest.approx([0, 0, 115 / 110 - 1, 120 / 115 - 1])
    assert found.trades.tolist() == pytest.approx([115 / 110 - 1 + 120 / 115 - 1])


def test_being_always_long_earns_what_the_closes_do(monkeypatch):
    made = bars("A", [100, 101, 99, 103], [100, 102, 101, 104])
    found = lived(monkeypatch, [1, 1, 1, 1], made)
    assert found.returns[2:].tolist() == pytest.approx([101 / 102 - 1, 104 / 101 - 1])
    assert found.buy_and_hold[1:].tolist() == pytest.approx([0.02, 101 / 102 - 1, 104 / 101 - 1])


def test_a_lag_executes_a_session_later(monkeypatch):
    made = bars("A", [100] * 5, [100, 110, 105, 120, 100])
    found = lived(monkeypatch, [1, 0, 0, 0, 0], made, lag=1)
    assert found.returns.tolist() == pytest.approx([0, 0, 0.05, 100 / 105 - 1, 0])


def test_every_unit_traded_costs_commission_and_slippage(monkeypatch):
    flat = bars("A", [100] * 6, [100] * 6)
    found = lived(monkeypatch, [1, 1, 0.5, -1, 0, 0], flat, Costs(5.0, 2.0))
    # Bought 1, sold 0.5, turned by 1.5, bought back 1.
    assert found.turnover == pytest.approx(4.0)
    assert found.cost == pytest.approx(4.0 * 7e-4)
    assert found.returns.sum() == pytest.approx(-4.0 * 7e-4, rel=1e-3)
    # The long trade pays for 1 + 0.5 + 0.5, the short one for 1 + 1.
    assert found.trades.tolist() == pytest.approx([-2.0 * 7e-4, -2.0 * 7e-4])


def test_turning_closes_one_trade_and_opens_another(monkeypatch):
    made = bars("A", [100, 100, 110, 110, 100], [100, 110, 110, 100, 100])
    found = lived(monkeypatch, [1, -1, -1, 0, 0], made)
    assert found.opened == 2
    assert found.trades.tolist() == pytest.approx([0.1, 1 - 100 / 110])


def test_a_position_open_at_the_end_is_no_closed_trade(monkeypatch):
    made = bars("A", [100] * 4, [100] * 4)
    found = lived(monkeypatch, [1, 0, 1, 1], made)
    assert (found.opened, len(found.trades), found.held) == (2, 1, 2)


def test_a_span_begins_flat_and_pays_for_its_first_position(monkeypatch):
    made = bars("A", [100, 100, 100, 200], [100, 100, 150, 300])
    found = lived(monkeypatch, [1, 1, 1, 1], made, Costs(5.0, 2.0), first=3)
    # Not the overnight 150 to 200: it is bought at the open.
    assert found.returns.tolist() == pytest.approx([0.5 - 7e-4])


def test_capital_is_split_evenly_between_symbols(monkeypatch):
    made = [bars("A", [100] * 3, [100, 100, 120]), bars("B", [100] * 3, [100, 100, 90])]
    found = lived(monkeypatch, [[0, 1, 1], [0, 1, 1]], made)
    assert found.returns[2] == pytest.approx(0.5 * 0.2 - 0.5 * 0.1)
    assert found.exposure == pytest.approx(1 / 3)


def test_symbols_with_other_sessions_meet_on_the_common_calendar(monkeypatch):
    gaps = np.array(["2020-01-01", "2020-01-03", "2020-01-05"], "M8[D]")
    made = [
        bars("A", [100] * 5, [100, 110, 110, 110, 110]),
        bars("B", [100] * 3, [100, 100, 120], dates=gaps),
    ]
    found = lived(monkeypatch, [[1, 0, 0, 0, 0], [0, 1, 1]], made)
    assert found.returns.tolist() == pytest.approx([0, 0.05, 0.5 * (100 / 110 - 1), 0, 0.1])


def test_a_symbol_without_bars_in_the_span_stays_in_cash(monkeypatch):
    made = [bars("A", [100] * 3, [100] * 3), bars("B", [100] * 3, [100, 110, 110], "2021-01-01")]
    found = lived(monkeypatch, [[0, 0, 0], [1, 1, 1]], made, first=3)
    assert found.returns.tolist() == pytest.approx([0, 0.05, 0])
    assert found.opened == 1


def test_a_loss_of_everything_ends_the_run(monkeypatch):
    made = bars("A", [100, 100, 300, 900, 900], [100, 100, 800, 900, 100])
    found = lived(monkeypatch, [-1, -1, -1, -1, -1], made)
    assert found.returns[2] == -1.0
    assert not found.returns[3:].any()


def test_bars_after_the_span_are_not_read():
    rng = np.random.default_rng(1)
    close = 100 * np.cumprod(1 + 0.01 * rng.standard_normal(400))
    whole = Universe.of([bars("A", close, close)], "")
    cut = Universe.of([bars("A", close[:300], close[:300])], "")
    span = Span(whole.calendar[100].item(), whole.calendar[299].item())
    assert run(SPEC, whole, span).returns.tobytes() == run(SPEC, cut, span).returns.tobytes()


def test_a_span_without_sessions_is_empty():
    universe = Universe.of([bars("A", [1.0], [1.0])], "")
    found = run(
        SPEC, universe, Span(universe.last_date.replace(year=2030), universe.last_date.replace(year=2031))
    )
    assert (len(found.returns), found.opened, found.turnover) == (0, 0, 0.0)


def test_what_was_run_before_is_not_run_again_and_cannot_be_changed():
    rng = np.random.default_rng(4)
    close = 100.0 * np.cumprod(1.0 + 0.01 * rng.standard_normal(60))
    made = bars("A", close, close)
    days = made.dates
    span = Span(days[30].item(), days[-1].item())
    first = run(SPEC, Universe.of([made], ""), span)
    assert run(SPEC, Universe.of([bars("A", close, close)], "the same prices"), span) is first
    assert first.opened > 1 and len(first.trades)
    for series in (first.returns, first.buy_and_hold, first.trades):
        with pytest.raises(ValueError, match="read-only"):
            series[0] = 0.0
    late, dear = (
        run(SPEC, Universe.of([made], ""), span, lag=1),
        run(SPEC, Universe.of([made], ""), span, FREE),
    )
    assert not np.array_equal(late.returns, first.returns)
    assert dear.cost == 0.0 < first.cost
