"""Changes to a strategy that answer an objection: tried on train and validation, the best one is kept."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from moot.bots.minds.simulated.debate.casefile import CaseFile, Pool, measure
from moot.bots.minds.simulated.debate.criteria import CRITERIA, listed
from moot.bots.minds.simulated.debate.lessons import is_legal
from moot.bots.minds.simulated.temper import Temper
from moot.bots.minds.simulated.wording import percent
from moot.bots.tools.backtest import backtest
from moot.bots.tools.risk import RiskReport
from moot.bots.tools.splits import splits
from moot.bots.tools.strategies import PARAM_SPACE, Number, StrategySpec, mutate
from moot.bots.tools.universe import Universe

UNHARMED: Final = 0.5
"""A score may rise to this by a change that answers another objection."""

SLOWER: Final = frozenset(
    {"fast", "slow", "window", "channel", "exit_channel", "momentum_days", "reversal_days", "volatility_days"}
)
"""Lookbacks: longer ones trade less and move later."""


PARAM_NAMES: Final[Mapping[str, str]] = {
    "fast": "the fast average",
    "slow": "the slow average",
    "window": "the window",
    "entry": "the entry",
    "exit": "the exit",
    "channel": "the channel",
    "exit_channel": "the exit channel",
    "momentum_days": "the momentum window",
    "reversal_days": "the reversal window",
    "volatility_days": "the volatility window",
    "momentum_weight": "the weight of momentum",
    "reversal_weight": "the weight of reversal",
    "volatility_weight": "the weight of calm",
    "threshold": "the threshold",
    "target_vol": "the volatility target",
}
"""Parameters as a sentence names them."""


@dataclass(frozen=True, slots=True, eq=False)
class Repair:
    """A strategy that was changed to answer objections.

    Attributes:
        spec: The changed strategy.
        report: Its figures.
        gain: By how much the scores in question came down, summed; may be negative.
        tried: How many changes were tried.
    """

    spec: StrategySpec
    report: RiskReport
    gain: float
    tried: int


def repair(
    file: CaseFile,
    issues: Sequence[str],
    universe: Universe,
    pool: Pool,
    rng: np.random.Generator,
    tries: int,
    temper: Temper,
) -> Repair | None:
    """Look for the change that brings the scores in question down most and keeps the edge.

    Changes aimed at the issues come first, then small random ones; all are measured, none is believed.

    Args:
        file: The strategy that was criticised.
        issues: Criteria to improve, most important first; none means overfitting.
        universe: What exists.
        pool: Approved strategies.
        rng: What to draw.
        tries: How many changes to look at.
        temper: The constants.

    Returns:
        The best change that keeps the edge; None when none does.
    """
    wanted = tuple(issues) or ("overfitting",)
    base = file.spec
    queue = [
        one
        for name in wanted
        for one in _AIMED[name](base, universe.symbols, rng)
        if one != base and is_legal(one, universe)
    ]
    while len(queue) < tries:
        queue.append(mutate(queue[0] if queue and int(rng.integers(2)) else base, rng, universe.symbols))
    found: list[Repair] = []
    least = temper.keeps * max(file.train["sharpe"], 0.0)
    span = splits(universe).train
    for spec in dict.fromkeys(queue[:tries]):
        # A change that loses the edge answers nothing, and need not be looked at any further.
        if backtest(spec, universe, span).metrics["sharpe"] < least:
            continue
        changed, _ = measure(spec, universe, pool)
        gain = sum(file.scores[name] - changed.scores[name] for name in wanted)
        # What it makes worse elsewhere, beyond what a score may be anyway, it does not gain.
        gain -= sum(
            max(changed.scores[name] - max(file.scores[name], UNHARMED), 0.0)
            for name in CRITERIA
            if name not in wanted
        )
        lost = max(-changed.validation_metrics["sharpe"], 0.0)
        found.append(Repair(spec, changed, round(gain - 2.0 * lost, 9), len(queue[:tries])))
    return max(found, key=lambda one: one.gain) if found else None


def changes(old: StrategySpec, new: StrategySpec) -> str:
    """Name what differs between two strategies, such as "raising the fast average from 12 to 20 and dropping SP500"."""
    if old.archetype != new.archetype:
        return f"turning to {new.archetype.replace('_', ' ')}"
    moved: dict[str, list[str]] = {"raising": [], "lowering": []}
    for name, value in new.params.items():
        if name in PARAM_NAMES and value != (was := old.params.get(name, 0)):
            said = f"{PARAM_NAMES[name]} from {_shown(name, was)} to {_shown(name, value)}"
            moved["raising" if value > was else "lowering"].append(said)
    parts = [f"{verb} {listed(said)}" for verb, said in moved.items() if said]
    if new.params.get("allow_short") != old.params.get("allow_short"):
        parts.append("going short as well" if new.params.get("allow_short") else "staying long")
    gone = [symbol for symbol in old.symbols if symbol not in new.symbols]
    come = [symbol for symbol in new.symbols if symbol not in old.symbols]
    if gone and come:
        parts.append(f"trading {listed(come)} instead of {listed(gone)}")
    else:
        parts += [f"dropping {listed(gone)}"] if gone else []
        parts += [f"adding {listed(come)}"] if come else []
    return listed(parts) or "changing nothing but the order of its symbols"


def _shown(name: str, value: Number) -> str:
    return percent(value, 0) if name == "target_vol" else f"{value:g}"


Aim = Callable[[StrategySpec, Sequence[str], np.random.Generator], list[StrategySpec]]


def _with(base: StrategySpec, params: Mapping[str, Number], symbols: Collection[str] = ()) -> StrategySpec:
    return StrategySpec(base.archetype, {**base.params, **params}, tuple(symbols) or base.symbols)


def _stepped(base: StrategySpec, name: str, factor: float) -> Number:
    """Scale a parameter and put it back on its grid."""
    grid = PARAM_SPACE[base.archetype][name].grid()
    wanted = base.params[name] * factor
    return min(grid, key=lambda value: (abs(value - wanted), value))


def _smaller(base: StrategySpec, symbols: Sequence[str], rng: np.random.Generator) -> list[StrategySpec]:
    return [_with(base, {"target_vol": _stepped(base, "target_vol", factor)}) for factor in (0.6, 0.4)]


def _slower(base: StrategySpec, symbols: Sequence[str], rng: np.random.Generator) -> list[StrategySpec]:
    names = [name for name in base.params if name in SLOWER]
    made = [_with(base, {name: _stepped(base, name, factor) for name in names}) for factor in (1.4, 1.9)]
    if "entry" in base.params:
        made.append(_with(base, {"entry": _stepped(base, "entry", 1.3)}))
    if "threshold" in base.params:
        made.append(_with(base, {"threshold": _stepped(base, "threshold", 1.5)}))
    return made


def _elsewhere(base: StrategySpec, symbols: Sequence[str], rng: np.random.Generator) -> list[StrategySpec]:
    fresh = [symbol for symbol in symbols if symbol not in base.symbols]
    if not fresh:
        return [_with(base, {}, base.symbols[:1])]
    order = [fresh[int(i)] for i in rng.permutation(len(fresh))]
    count = max(len(base.symbols), 2)
    return [_with(base, {}, order[:count]), _with(base, {}, (*base.symbols[:1], *order[:1]))]


def _wider(base: StrategySpec, symbols: Sequence[str], rng: np.random.Generator) -> list[StrategySpec]:
    fresh = [symbol for symbol in symbols if symbol not in base.symbols]
    order = [fresh[int(i)] for i in rng.permutation(len(fresh))]
    return [_with(base, {}, (*base.symbols, *order[:count])) for count in (1, 2) if order]


def _both_ways(base: StrategySpec, symbols: Sequence[str], rng: np.random.Generator) -> list[StrategySpec]:
    turned = _with(base, {"allow_short": 1 - base.params["allow_short"]})
    return [turned, *_elsewhere(base, symbols, rng)]


_AIMED: Final[Mapping[str, Aim]] = {
    "tail_risk": _smaller,
    "overfitting": _slower,
    "execution_risk": _slower,
    "correlation_risk": _elsewhere,
    "signal_decay": _slower,
    "crowding_risk": _both_ways,
    "event_window_risk": _wider,
}
"""Which changes aim at which score."""
