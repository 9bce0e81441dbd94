"""What a strategy wants to hold at an instant (R-B12). Access: read-only."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Final

from moot.bots.desk.market import Market
from moot.bots.tools.signals import WARM_UP_BARS, positions
from moot.bots.tools.strategies import StrategySpec, validate

KEPT: Final = 4096
"""Targets that stay computed; a round asks for those of the round before too."""


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
        return _target(spec, market, symbol, instant)
    except Exception as fault:
        # Whatever a strategy raises is its own fault: the desk goes on with the others.
        return Fault(" ".join(f"{type(fault).__name__}: {fault}".split())[:200])


@lru_cache(maxsize=KEPT)
def _target(spec: StrategySpec, market: Market, symbol: str, instant: datetime) -> float | Fault:
    validate(spec, market.symbols)
    bars = market.tail(symbol, instant, WARM_UP_BARS)
    if bars is None or not len(bars):
        return Fault(f"no price of {symbol} is known")
    return float(positions(spec, bars)[-1])


def steady(before: float, now: float, held: int) -> float | None:
    """Return a target that stood for a while; None while it wavers, and what is held should stay.

    A day so far looks like a close that it may not keep: a strategy that enters and leaves within minutes pays twice
    for nothing. So a target that changes the side of what is held counts once it was on that side a round ago too.

    Args:
        before: The target a round ago.
        now: The target now.
        held: Signed shares that are held.
    """
    side_before, side_now, side = _side(before), _side(now), _side(held)
    if side_now == side or side_before == side_now:
        return now
    return None


def _side(number: float) -> int:
    return (number > 0) - (number < 0)
