"""How target positions become net daily returns and trades. Access: read-only.

Execution: a position decided at one close is traded at the next open. Overnight the old position earns open ÷
previous close, during the session the new one earns close ÷ open. Costs are paid on what is traded.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np

from moot.bots.tools import signals
from moot.bots.tools.bars import Bars, Dates, Floats
from moot.bots.tools.signals import WARM_UP_BARS, positions
from moot.bots.tools.splits import Span
from moot.bots.tools.strategies import StrategySpec
from moot.bots.tools.universe import Universe

BASIS_POINT: Final = 1e-4


@dataclass(frozen=True, slots=True)
class Costs:
    """What trading costs, per unit of turnover (one unit = the whole capital bought or sold once).

    Attributes:
        commission_bps: Fees and half the spread, in basis points.
        slippage_bps: Loss between decision and fill, in basis points.
    """

    commission_bps: float = 5.0
    slippage_bps: float = 2.0

    @property
    def rate(self) -> float:
        """Cost of one unit of turnover as a fraction of the capital."""
        return (self.commission_bps + self.slippage_bps) * BASIS_POINT


DEFAULT_COSTS: Final = Costs()


RUNS_KEPT: Final = 512
MOVES_KEPT: Final = 256
"""So many runs, and what so many bars earn, stay computed."""


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """A strategy's life over a span, before it is measured; the arrays are read-only.

    Attributes:
        dates: Sessions of the span, shape (days,).
        returns: Net daily returns of the whole capital as fractions, at least -1, shape (days,).
        buy_and_hold: Daily returns of holding all its symbols in equal parts, without costs, shape (days,).
        trades: Net result of each closed trade as a fraction of its symbol's part of the capital, shape
            (trades,).
        turnover: Bought and sold in all, in units of the capital.
        cost: Paid in all, as a fraction of the capital.
        exposure: Mean of the absolute position, in [0, 1].
        held: Sessions with a position, summed over symbols.
        opened: Trades opened, closed or not.
    """

    dates: Dates
    returns: Floats
    buy_and_hold: Floats
    trades: Floats
    turnover: float
    cost: float
    exposure: float
    held: int
    opened: int


def run(
    spec: StrategySpec, universe: Universe, span: Span, costs: Costs = DEFAULT_COSTS, lag: int = 0
) -> Run:
    """Let a strategy trade over a span, beginning without a position.

    The capital is split into equal parts, one per symbol, and rebalanced daily without cost (what drifts
    within a day is small beside what is traded). Bars before the span only warm the signals up; bars after it
    are not read.

    Args:
        spec: A legal strategy whose symbols are in the universe.
        universe: What exists at the society's instant.
        span: Which sessions to trade.
        costs: What trading costs.
        lag: Sessions by which every decision is executed late.

    Returns:
        What happened, from a cache if it is there. A position still open at the end counts in returns and costs,
        not in ``trades``.
    """
    return _run(spec, universe, span, costs, lag)


# Equal specs, universes and spans mean equal content (see their __eq__).
@lru_cache(maxsize=RUNS_KEPT)
def _run(spec: StrategySpec, universe: Universe, span: Span, costs: Costs, lag: int) -> Run:
    days = universe.calendar
    first, last = np.datetime64(span.first, "D"), np.datetime64(span.last, "D")
    dates = days[np.searchsorted(days, first, side="left") : np.searchsorted(days, last, side="right")]
    total, market = np.zeros(len(dates)), np.zeros(len(dates))
    part = 1.0 / len(spec.symbols)
    closed: list[Floats] = []
    turnover = exposure = 0.0
    held = opened = 0
    for symbol in spec.symbols:
        bars = universe.bars[symbol]
        start = int(np.searchsorted(bars.dates, first, side="left"))
        stop = int(np.searchsorted(bars.dates, last, side="right"))
        if stop <= start:
            continue
        begin = max(start - WARM_UP_BARS, 0)
        window = bars.between(begin, stop)
        leg = _trade(window, _executed(positions(spec, window), lag), start - begin, costs.rate)
        if stop - start == len(dates):
            total += leg.returns
            market += leg.market
        else:
            at = np.searchsorted(dates, bars.dates[start:stop])
            total[at] += leg.returns
            market[at] += leg.market
        closed.append(leg.trades)
        turnover += leg.turnover * part
        exposure += leg.exposure * part / max(len(dates), 1)
        held += leg.held
        opened += leg.opened
    trades = np.concatenate(closed) if closed else np.zeros(0)
    net, buy_and_hold = _solvent(total * part), market * part
    for series in (net, buy_and_hold, trades):
        series.flags.writeable = False
    return Run(dates, net, buy_and_hold, trades, turnover, turnover * costs.rate, exposure, held, opened)


def forget() -> None:
    """Forget every run that was computed, and what it rests on."""
    _run.cache_clear()
    _moves.cache_clear()
    signals.forget()


@dataclass(frozen=True, slots=True, eq=False)
class _Leg:
    """One symbol's share of a run; ``exposure`` is summed over its sessions."""

    returns: Floats
    market: Floats
    trades: Floats
    turnover: float
    exposure: float
    held: int
    opened: int


def _executed(decided: Floats, lag: int) -> Floats:
    """Turn decisions at closes into positions held during sessions, each one session later."""
    held = np.zeros(len(decided))
    late = 1 + lag
    if late < len(decided):
        held[late:] = decided[: len(decided) - late]
    return held


def _trade(bars: Bars, held: Floats, start: int, rate: float) -> _Leg:
    """Earn and pay for one symbol from bar ``start`` on, beginning flat; ``held`` has one value per bar."""
    now = held[start:]
    before = np.concatenate(([0.0], now[:-1]))
    overnight, session, market = _moves(bars, start)
    turned = before * now < 0.0
    # A trade that turns from long to short closes one position and opens another: each pays for its own part.
    had_one = before != 0.0
    paid_by_old = np.where(turned, np.abs(before), np.where(had_one, np.abs(now - before), 0.0)) * rate
    paid_by_new = np.where(turned | ~had_one, np.abs(now), 0.0) * rate
    # A position can lose its part of the capital and no more: two losses above it would multiply into a gain.
    old = np.maximum(before * overnight - paid_by_old, -1.0)
    new = np.maximum(now * session - paid_by_new, -1.0)
    returns = (1.0 + old) * (1.0 + new) - 1.0
    begins = (now != 0.0) & (turned | ~had_one)
    number = np.cumsum(begins)
    opened = int(number[-1])
    results = np.bincount(number, np.where(now != 0.0, new, 0.0), opened + 1).astype(np.float64)
    number_before = np.concatenate(([0], number[:-1]))
    results += np.bincount(number_before, np.where(had_one, old, 0.0), opened + 1)
    still_open = 1 if now[-1] != 0.0 else 0
    trades = results[1 : opened + 1 - still_open]
    turnover = float(np.abs(now - before).sum())
    exposure = float(np.abs(now).sum())
    return _Leg(returns, market, trades, turnover, exposure, int(np.count_nonzero(now)), opened)


@lru_cache(maxsize=MOVES_KEPT)
def _moves(bars: Bars, start: int) -> tuple[Floats, Floats, Floats]:
    """Return what each session from bar `start` on earns overnight, from open to close, and in all; read-only."""
    close_before = np.empty(len(bars) - start)
    # A symbol's very first bar has no close before it; its overnight return is none.
    close_before[0] = bars.close[start - 1] if start > 0 else bars.open[start]
    close_before[1:] = bars.close[start:-1]
    overnight = bars.open[start:] / close_before - 1.0
    session = bars.close[start:] / bars.open[start:] - 1.0
    market = (1.0 + overnight) * (1.0 + session) - 1.0
    for series in (overnight, session, market):
        series.flags.writeable = False
    return overnight, session, market


def _solvent(returns: Floats) -> Floats:
    """End a run at ruin: a loss of the whole capital is -1, and nothing follows it."""
    ruined = returns <= -1.0
    if not ruined.any():
        return returns
    at = int(np.argmax(ruined))
    out = returns.copy()
    out[at] = -1.0
    out[at + 1 :] = 0.0
    return out
