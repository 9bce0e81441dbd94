"""Performance figures of daily returns. Access: read-only.

The only module that names ``empyrical``, which has no types and answers NaN where a series is too short or
flat; here such a figure is 0. Functions take daily returns as fractions, shape (days,), and return plain
floats, never NaN.
"""

from __future__ import annotations

import math
from typing import Final

import empyrical
import numpy as np

from bots.tools.bars import Floats

DIGITS: Final = 6
"""Published figures are rounded to this many digits (R-D15)."""

LARGEST: Final = 1e6
"""Figures of absurd price files are cut off here; JSON knows no infinity."""


def sharpe(returns: Floats) -> float:
    """Measure the yearly Sharpe ratio without a risk-free rate; 0 for a flat or too short series."""
    return _finite(empyrical.sharpe_ratio, returns)


def max_drawdown(returns: Floats) -> float:
    """Measure the deepest fall from a peak as a positive fraction in [0, 1]."""
    return min(max(-_finite(empyrical.max_drawdown, returns), 0.0), 1.0)


def annual_return(returns: Floats) -> float:
    """Measure the yearly compound growth as a fraction, at least -1."""
    return max(_finite(empyrical.annual_return, returns), -1.0)


def tail_loss(returns: Floats) -> float:
    """Measure the mean loss of the worst 5 % of days (CVaR 95 %) as a positive fraction; 0 when they gain."""
    return max(-_finite(empyrical.conditional_value_at_risk, returns), 0.0)


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


def _finite(measure: object, returns: Floats) -> float:
    if len(returns) == 0 or not callable(measure):
        return 0.0
    with np.errstate(all="ignore"):
        value = float(measure(returns))
    return 0.0 if math.isnan(value) else min(max(value, -LARGEST), LARGEST)
