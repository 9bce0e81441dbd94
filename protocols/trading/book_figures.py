"""Arithmetic of the book: exact money, and the ratios that reports show.

Money is counted in *units*, integers of 1/10,000 dollar; shares are fractions, rounded to 6 digits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import sqrt
from typing import Any, Final, NamedTuple

UNIT: Final = 10_000
"""Units of a dollar; prices have at most 4 decimals."""

CENT: Final = UNIT // 100
SESSIONS_A_YEAR: Final = 252
WINDOW: Final = 30
"""Reports look back so many sessions (R-B9, R-B10)."""
ENOUGH: Final = 20
"""A Sharpe ratio over fewer sessions is published for what is decided by it, and nowhere else (R-F6)."""


class Position(NamedTuple):
    """What a strategy holds of a symbol: signed shares, and their signed cost in units."""

    quantity: int
    cost: int


FLAT: Final = Position(0, 0)


def units(dollars: float) -> int:
    """Turn dollars into units, half to even; exact for at most 4 decimals."""
    return round(dollars * UNIT)


def exact(amount: int) -> float:
    """Turn units into dollars with all their decimals."""
    return amount / UNIT


def dollars(amount: int) -> float:
    """Turn units into dollars, rounded to cents, half to even."""
    return divide(amount, CENT) / 100


def divide(whole: int, by: int) -> int:
    """Divide integers exactly and round the quotient half to even."""
    quotient, rest = divmod(whole, by)
    twice = 2 * rest
    return quotient + (twice > by or (twice == by and quotient % 2 == 1))


def share(part: int, whole: int) -> float:
    """Return a part of the whole as a fraction with 6 digits; a whole of nothing or less counts as one dollar."""
    return round(part / (whole if whole > 0 else UNIT), 6) + 0.0


def filled(before: Position, quantity: int, price: int) -> tuple[Position, int]:
    """Book a fill.

    A position that shrinks gives up its cost in proportion, rounded to units; one that crosses zero is closed first
    and then opened anew at the price.

    Args:
        before: The position before.
        quantity: Signed shares that were bought (+) or sold (-).
        price: Units a share.

    Returns:
        The position after it, and the P&L that it realised in units. `cost after - cost before` is always
        `quantity × price + P&L`: no unit appears or disappears.
    """
    held, cost = before
    if held == 0 or (held > 0) == (quantity > 0):
        return Position(held + quantity, cost + quantity * price), 0
    closed = -held if abs(quantity) > abs(held) else quantity
    released = divide(cost * abs(closed), abs(held))
    opened = quantity - closed
    return Position(held + quantity, cost - released + opened * price), -closed * price - released


def sharpe(results: Sequence[int]) -> float | None:
    """Return the annual Sharpe ratio of P&L by session: mean / deviation (ddof 1) × √252, 6 digits.

    Returns:
        None for fewer than two sessions, or when all are equal.
    """
    n = len(results)
    total = sum(results)
    spread = n * sum(x * x for x in results) - total * total
    if n < 2 or spread == 0:
        return None
    return round(total / n / sqrt(spread / (n * (n - 1))) * sqrt(SESSIONS_A_YEAR), 6) + 0.0


class Ratio(NamedTuple):
    """A Sharpe ratio and the number of sessions that it rests on."""

    sharpe: float | None
    n: int

    @property
    def reported(self) -> float | None:
        """Return the ratio as reports and texts show it: None over fewer than 20 sessions (R-F6)."""
        return self.sharpe if self.n >= ENOUGH else None


def too_few(n: int) -> str:
    """Say in words that so many sessions give no Sharpe ratio to show (R-F6)."""
    return f"too few sessions ({n} of {ENOUGH})"


def ratio(results: Sequence[int]) -> Ratio:
    """Return the Sharpe ratio of the last sessions, 30 at most, with their number (R-B9, R-B10, R-F6)."""
    last = results[-WINDOW:]
    return Ratio(sharpe(last), len(last))


def drawdown(allocation: int, pnl: int, peak: int) -> float:
    """Return how far a curve (allocation + P&L) stands under its peak: a fraction, 0 or negative.

    Args:
        allocation: What the curve starts from, in units.
        pnl: P&L since then, in units.
        peak: The highest P&L so far, in units, at least 0.
    """
    return share(min(pnl - peak, 0), allocation + peak)


def max_drawdown(start: int, results: Sequence[int]) -> float:
    """Return the deepest fall under a peak of a curve over some sessions, as a positive fraction.

    Args:
        start: Where the curve stands before them, in units.
        results: P&L by session, in units.
    """
    deepest, pnl, peak = 0.0, 0, 0
    for result in results:
        pnl += result
        peak = max(peak, pnl)
        deepest = min(deepest, drawdown(start, pnl, peak))
    return -deepest + 0.0


def value(held: Mapping[str, int], marks: Mapping[str, int]) -> int:
    """Return what signed shares by symbol are worth at marks in units; a symbol without a mark is worth nothing."""
    return sum(quantity * marks.get(symbol, 0) for symbol, quantity in held.items())


class Curve(NamedTuple):
    """What a strategy's drawdown is computed from, in units.

    Attributes:
        allocation: What its curve starts from.
        cash: What its fills since the deployment paid and earned; with its shares at some marks that is its P&L.
        peak: Its highest P&L so far, at least 0.
    """

    allocation: int
    cash: int
    peak: int


def measure(
    cash: int,
    opening: int,
    positions: Mapping[str, Mapping[str, int]],
    marks: Mapping[str, int],
    curves: Mapping[str, Curve],
) -> dict[str, Any]:
    """Return RISK_CHECK's figures, all but `var95` and `correlation`, in dollars and fractions (R-B7).

    Args:
        cash: Units that are not in positions.
        opening: Equity of the day's start in units.
        positions: Signed shares by strategy and symbol.
        marks: Units a share by symbol.
        curves: The strategies whose drawdown is measured.
    """
    by_symbol: dict[str, int] = {}
    gross = 0
    for held in positions.values():
        for symbol, quantity in held.items():
            worth = quantity * marks.get(symbol, 0)
            gross += abs(worth)
            by_symbol[symbol] = by_symbol.get(symbol, 0) + worth
    equity = cash + sum(by_symbol.values())
    largest = max(sorted(by_symbol), key=lambda symbol: abs(by_symbol[symbol]), default=None)
    drawdowns = {}
    for strategy_id, curve in sorted(curves.items()):
        pnl = curve.cash + value(positions.get(strategy_id, {}), marks)
        drawdowns[strategy_id] = drawdown(curve.allocation, pnl, max(curve.peak, pnl))
    return {
        "equity": dollars(equity),
        "daily_pnl_usd": dollars(equity - opening),
        "daily_pnl_pct": share(equity - opening, opening),
        "exposure": share(gross, equity),
        "largest_symbol": largest,
        "largest_position": share(abs(by_symbol[largest]), equity) if largest is not None else 0.0,
        "drawdowns": drawdowns,
    }
