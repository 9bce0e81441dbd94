"""Performance figures of daily returns. Access: read-only.

Functions take daily returns as fractions, shape (days,), and return plain floats, never NaN: a figure of a series
that is too short or flat is 0. The definitions are those of the library empyrical, which the tests hold them to; it
would bring scipy, 140 MB, and 0.8 s to every start.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from moot.bots.tools.bars import Floats

DIGITS: Final = 6
"""Published figures are rounded to this many digits (R-D15)."""

SESSIONS_A_YEAR: Final = 252

LARGEST: Final = 1e6
"""Figures of absurd price files are cut off here; JSON knows no infinity."""


def sharpe(returns: Floats) -> float:
    """Measure the yearly Sharpe ratio without a risk-free rate; 0 for a flat or too short series."""
    if len(returns) < 2 or not np.ptp(returns):
        return 0.0
    with np.errstate(all="ignore"):
        return _finite(float(returns.mean() / returns.std(ddof=1)) * math.sqrt(SESSIONS_A_YEAR))


def max_drawdown(returns: Floats) -> float:
    """Measure the deepest fall from a peak as a positive fraction in [0, 1]."""
    if not len(returns):
        return 0.0
    with np.errstate(all="ignore"):
        value = np.concatenate(([1.0], np.cumprod(1.0 + returns)))
        return min(max(-_finite(float((value / np.maximum.accumulate(value) - 1.0).min())), 0.0), 1.0)


def annual_return(returns: Floats) -> float:
    """Measure the yearly compound growth as a fraction, at least -1."""
    if not len(returns):
        return 0.0
    with np.errstate(all="ignore"):
        grown = np.prod(1.0 + returns)
        return max(_finite(float(grown ** (SESSIONS_A_YEAR / len(returns))) - 1.0), -1.0)


def tail_loss(returns: Floats) -> float:
    """Measure the mean loss of the worst 5 % of days (CVaR 95 %) as a positive fraction; 0 when they gain."""
    if not len(returns):
        return 0.0
    worst = int((len(returns) - 1) * 0.05)
    return max(-_finite(float(np.partition(returns, worst)[: worst + 1].mean())), 0.0)


def correlation(one: Floats, other: Floats) -> float:
    """Measure the Pearson correlation of two series of equal length, in [-1, 1]; 0 when one is flat."""
    if len(one) < 3:
        return 0.0
    a, b = one - one.mean(), other - other.mean()
    # Sums, not a matrix product: BLAS kernels differ between machines in the last bits.
    spread = math.sqrt(float((a * a).sum()) * float((b * b).sum()))
    if not spread > 1e-18:
        return 0.0
    return min(max(float((a * b).sum()) / spread, -1.0), 1.0)


def published(value: float) -> float:
    """Round a figure as it is published; minus zero becomes zero."""
    return round(float(value), DIGITS) + 0.0


def _finite(value: float) -> float:
    return 0.0 if math.isnan(value) else float(min(max(value, -LARGEST), LARGEST))
