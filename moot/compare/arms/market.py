"""What arms on cases of the kind `MARKET` have in common: what is shown, as tools take it, and what they answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from moot.bots.tools.bars import Bars
from moot.bots.tools.strategies import StrategySpec
from moot.bots.tools.universe import Universe
from moot.compare.arms.arm import Arm
from moot.compare.cases.case import MARKET, Case
from moot.protocols.kernel.frozen import Json


class MarketArm(Arm):
    """Decides on a strategy; those who agree in the verdict agree, whatever they changed."""

    kinds = frozenset({MARKET})

    def counted(self, answer: Json) -> Json:
        """Return the verdict."""
        given: Any = answer
        return str(given["verdict"])


def spec_in(case: Case) -> StrategySpec:
    """Return the strategy that is put forward."""
    given: Any = case.shown["strategy"]
    return StrategySpec(given["archetype"], dict(given["params"]), tuple(given["symbols"]))


def universe_in(case: Case) -> Universe:
    """Return the prices that are shown."""
    bars: Any = case.shown["bars"]
    return Universe.of([_bars(symbol, one) for symbol, one in bars.items()], f"case {case.id}")


def answered(verdict: str, spec: StrategySpec) -> dict[str, Json]:
    """Return an answer: what was decided, and on which strategy."""
    strategy: dict[str, Json] = {
        "archetype": spec.archetype,
        "params": dict(spec.params),
        "symbols": spec.symbols,
    }
    return {"verdict": verdict, "strategy": strategy}


def _bars(symbol: str, columns: Mapping[str, Any]) -> Bars:
    open_, high, low, close, volume = (
        np.asarray(columns[name], dtype=np.float64) for name in ("open", "high", "low", "close", "volume")
    )
    dates = np.asarray(columns["dates"], dtype="datetime64[D]")
    return Bars(symbol, dates, open_, high, low, close, volume, "simulated")
