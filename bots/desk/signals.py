"""What a strategy wants to hold at an instant (R-B12). Access: read-only."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from bots.desk.market import Market
from bots.tools.signals import WARM_UP_BARS, positions
from bots.tools.strategies import StrategySpec, validate


@dataclass(frozen=True, slots=True)
class Fault:
    """A strategy that raised when it was asked.

    Attributes:
        error: What it raised, one line.
    """

    error: str


def target(spec: StrategySpec, market: Market, symbol: str, instant: datetime) -> float | Fault:
    """Ask a strategy for its position in one symbol.

    The day so far counts as a day, with its last price as the close, so a signal may change until the close; what the
    strategy decides at the close is what its backtest decides there.

    Args:
        spec: The strategy.
        market: Where prices come from.
        symbol: One of its symbols.
        instant: Aware; nothing after it is read.

    Returns:
        The share of the symbol's capital in [-1, 1], negative for short; or a fault when it cannot say.
    """
    try:
        validate(spec, market.symbols)
        bars = market.tail(symbol, instant, WARM_UP_BARS)
        if bars is None or not len(bars):
            return Fault(f"no price of {symbol} is known")
        return float(positions(spec, bars)[-1])
    except Exception as fault:
        # Whatever a strategy raises is its own fault: the desk goes on with the others.
        return Fault(" ".join(f"{type(fault).__name__}: {fault}".split())[:200])
