"""Rolling windows over past bars. Access: read-only.

Every function takes series of shape (bars,) and returns one of the same shape whose element t depends on
elements up to t alone, and is NaN while the window is not full. Windows are computed each on its own (no
running sums), so a value does not depend on where the series begins.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from moot.bots.tools.bars import Floats

FLAT: Final = 1e-6
"""A standard deviation of logarithms below this is that of a flat series: rounding, not movement."""


def rolling_mean(series: Floats, window: int) -> Floats:
    """Average the last ``window`` elements."""
    return _windows(series, window, np.add) / window


def rolling_std(series: Floats, window: int) -> Floats:
    """Measure the (population) standard deviation of the last ``window`` elements; 0 when they are flat."""
    mean = rolling_mean(series, window)
    variance = rolling_mean(series * series, window) - mean * mean
    # The difference of two close numbers may come out a little below zero.
    spread = np.sqrt(np.maximum(variance, 0.0))
    spread[spread < FLAT] = 0.0
    return spread


def rolling_max(series: Floats, window: int) -> Floats:
    """Find the largest of the last ``window`` elements."""
    return _windows(series, window, np.maximum)


def rolling_min(series: Floats, window: int) -> Floats:
    """Find the smallest of the last ``window`` elements."""
    return _windows(series, window, np.minimum)


def lagged(series: Floats, bars: int) -> Floats:
    """Show each element ``bars`` later; the first ones are NaN."""
    out = np.full(len(series), np.nan)
    if bars < len(series):
        out[bars:] = series[: len(series) - bars]
    return out


def ratio(numerator: Floats, denominator: Floats, otherwise: float = 0.0) -> Floats:
    """Divide elementwise.

    Args:
        numerator: Shape (bars,).
        denominator: Shape (bars,), never negative.
        otherwise: Result where the denominator is 0; where either is NaN the result is NaN.

    Returns:
        Quotients, shape (bars,).
    """
    out = np.where(np.isnan(numerator) | np.isnan(denominator), np.nan, otherwise)
    np.divide(numerator, denominator, out=out, where=denominator > 0.0)
    return out


def log_returns(close: Floats) -> Floats:
    """Take the logarithmic return of each bar; that of the first is NaN."""
    logs = np.log(close)
    return logs - lagged(logs, 1)


def held_state(enter: NDArray[np.bool_], leave: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Remember an entry until an exit.

    Args:
        enter: Bars that switch on; where both are set, the exit wins. Shape (bars,).
        leave: Bars that switch off.

    Returns:
        Whether the switch is on after each bar; it is off before the first.
    """
    event = enter | leave
    # The position of the latest event at or before each bar; -1 while there was none.
    latest = np.maximum.accumulate(np.where(event, np.arange(len(event)), -1))
    state = enter & ~leave
    return (latest >= 0) & state[latest]


def _windows(series: Floats, window: int, combine: np.ufunc) -> Floats:
    """Combine the elements of every window by doubling: windows of 1, 2, 4 … make up one of any length.

    That takes log2(window) passes instead of window ones, and every window is combined in the same order.
    """
    out = np.full(len(series), np.nan)
    if len(series) < window:
        return out
    power, length = series, 1
    whole, covered = series[:0], 0
    while True:
        if window & length:
            if covered == 0:
                whole = power
            else:
                rest = power[covered:]
                whole = combine(whole[: len(rest)], rest)
            covered += length
        if covered == window:
            break
        power = combine(power[:-length], power[length:])
        length *= 2
    out[window - 1 :] = whole
    return out
