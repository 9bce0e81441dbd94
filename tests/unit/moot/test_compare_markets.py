"""Markets of which the process is known, and what a strategy truly earns on them."""

import itertools
import math
from dataclasses import replace
from statistics import mean, stdev
from typing import Any

import numpy as np
import pytest

from moot.bots.tools.backtest import backtest
from moot.bots.tools.bars import Bars
from moot.bots.tools.seeding import generator
from moot.bots.tools.simulated_prices import SYNTHETIC_FROM, simulated_bars, simulated_market
from moot.bots.tools.splits import Span, splits
from moot.bots.tools.strategies import StrategySpec, validate
from moot.bots.tools.universe import Universe
from moot.compare.cases.markets import Markets
from moot.compare.cases.process import STOCKS, true_sharpe
from moot.protocols.kernel.canonical import canonical_json

HISTORIES, SESSIONS = 40, 3024
TREND = StrategySpec("momentum", {"allow_short": 1, "fast": 10, "slow": 40, "target_vol": 0.2}, ("SIM-ONE",))
REVERSION = StrategySpec(
    "mean_reversion",
    {"allow_short": 1, "window": 30, "entry": 1.0, "exit": 0.2, "target_vol": 0.2},
    ("SIM-ONE",),
)


def _histories(kind: str, spec: StrategySpec) -> list[float]:
    """Return what a strategy earned in histories of twelve years each, which share nothing."""
    dates = np.busday_offset(SYNTHETIC_FROM, np.arange(SESSIONS), roll="forward")
    found = []
    for n in range(HISTORIES):
        rng = generator("test", kind, n)
        stock = replace(STOCKS[kind], symbol="SIM-ONE")
        bars = simulated_bars(stock, dates, simulated_market(SESSIONS, rng), rng)
        universe = Universe.of([bars], "a history")
        found.append(backtest(spec, universe, Span(dates[300].item(), dates[-1].item())).metrics["sharpe"])
    return found


@pytest.mark.parametrize(
    ("kind", "spec", "is_good"),
    [
        ("trend-1.5-0.2", TREND, True),
        ("trend-1.5-0.2", REVERSION, False),
        ("revert-1.0-1.0", REVERSION, True),
    ],
)
def test_a_true_sharpe_ratio_is_what_independent_histories_give(
    kind: str, spec: StrategySpec, is_good: bool
) -> None:
    truth = true_sharpe(spec, {"SIM-ONE": kind})
    found = _histories(kind, spec)
    error = stdev(found) / math.sqrt(len(found))
    assert abs(truth.value - mean(found)) < 3.0 * math.hypot(truth.error, error)
    assert (truth.value > 0.3) == is_good
    # Twelve years of a history, two hundred of the truth: its error is smaller by the root of their ratio.
    assert truth.error == pytest.approx(stdev(found) * math.sqrt(12 / 200), rel=0.5)


def test_what_a_symbol_is_must_be_said() -> None:
    with pytest.raises(KeyError):
        true_sharpe(TREND, {"SIM-TWO": "plain-1.0-0.2"})


def test_a_seed_gives_the_same_cases_and_another_one_others() -> None:
    first, again, other = (list(Markets(seed, 3)) for seed in (1, 1, 2))
    assert [one.sha256 for one in first] == [one.sha256 for one in again]
    assert not {one.sha256 for one in first} & {one.sha256 for one in other}
    # The first cases of a longer list are those of a shorter one.
    assert next(iter(Markets(1, 9))).sha256 == first[0].sha256


def test_what_is_shown_is_a_legal_strategy_on_prices_and_says_nothing_of_the_truth() -> None:
    for case in Markets(1, 8):
        shown = case.shown
        spec = StrategySpec(**shown["strategy"])  # type: ignore[arg-type]
        validate(spec, shown["bars"])  # type: ignore[arg-type]
        said = canonical_json(shown)
        assert not any(kind in said for kind in STOCKS)
        assert "sharpe" not in said
        truth = true_sharpe(spec, case.truth["stocks"])  # type: ignore[index, arg-type, call-overload]
        assert (truth.value, truth.error) == (case.truth["sharpe"], case.truth["error"])  # type: ignore[index, call-overload]


def test_searching_among_many_is_no_proof() -> None:
    # What looked best in training earns less where nobody looked: the gap grows with the search.
    gaps: dict[int, list[float]] = {1: [], 4: [], 16: []}
    for case in Markets(5, 60):
        universe = Universe.of(itertools.starmap(_bars, case.shown["bars"].items()), "a case")  # type: ignore[union-attr]
        spec = StrategySpec(**case.shown["strategy"])  # type: ignore[arg-type]
        train = backtest(spec, universe, splits(universe).train).metrics["sharpe"]
        gaps[case.truth["searched"]].append(train - case.truth["sharpe"])  # type: ignore[index, call-overload, arg-type]
    assert mean(gaps[16]) > mean(gaps[1]) + 0.2


def _bars(symbol: str, columns: Any) -> Bars:
    prices = (np.asarray(columns[name]) for name in ("open", "high", "low", "close", "volume"))
    return Bars(symbol, np.asarray(columns["dates"], dtype="datetime64[D]"), *prices, "simulated")
