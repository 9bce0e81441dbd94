"""A strategy and one symbol's bars into target positions. Access: read-only."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from moot.bots.tools.bars import Bars, Floats
from moot.bots.tools.indicators import (
    held_state,
    lagged,
    log_returns,
    ratio,
    rolling_max,
    rolling_mean,
    rolling_min,
    rolling_std,
)
from moot.bots.tools.strategies import Number, StrategySpec

SESSIONS_A_YEAR: Final = 252

VOLATILITY_DAYS: Final = 20
"""Window of the volatility that caps exposure."""

LONG_VOLATILITY_DAYS: Final = 120
"""Window of a symbol's usual volatility, against which multi-factor calls a market calm."""

EXPOSURE_STEP: Final = 0.1
"""Exposure moves in tenths, so that small changes of volatility cause no trades."""

ROUNDING: Final = 1e-9
"""Means of equal prices differ by rounding; a difference this small, as a fraction, is none."""

WARM_UP_BARS: Final = 300
"""Bars before a span that signals may look at: above every lookback, so that it begins with a full signal."""

SERIES_KEPT: Final = 2048
"""So many series stay computed: many strategies look at the same bars through the same windows."""

Params = Mapping[str, Number]
Sides = tuple[NDArray[np.bool_], NDArray[np.bool_]]
"""Whether to be long, and whether to be short, after each bar."""


def positions(spec: StrategySpec, bars: Bars) -> Floats:
    """Decide the position in one symbol at the close of every bar.

    The decision at bar t rests on bars up to t alone and is held from the open of bar t + 1 on.

    Args:
        spec: A legal strategy.
        bars: The symbol's bars; any number.

    Returns:
        Share of the symbol's capital, in [-1, 1], negative for short, shape (bars,).
    """
    if len(bars) == 0:
        return np.zeros(0)
    be_long, be_short = _SIDES[spec.archetype](bars, spec.params)
    direction = be_long.astype(np.float64)
    if spec.params["allow_short"]:
        direction -= be_short
    return direction * _series(bars, _exposure, float(spec.params["target_vol"]))


@lru_cache(maxsize=SERIES_KEPT)
def _series(bars: Bars, make: Callable[..., Floats], *how: float) -> Floats:
    """Compute a series of some bars once; what it rests on is looked up here too.

    Args:
        bars: The bars; the same ones, not equal ones.
        make: Takes them and `how`.
        how: A window in bars, or another number.

    Returns:
        Shape (bars,), read-only.
    """
    made = make(bars, *how)
    made.flags.writeable = False
    return made


def forget() -> None:
    """Forget what was computed of bars, where nobody will ask again: of centuries of them that takes memory."""
    _series.cache_clear()


def _logs(bars: Bars) -> Floats:
    return np.log(bars.close)


def _returns(bars: Bars) -> Floats:
    return log_returns(bars.close)


def _volatility(bars: Bars, days: int) -> Floats:
    return rolling_std(_series(bars, _returns), days)


def _exposure(bars: Bars, target_vol: float) -> Floats:
    """Size a position so that its yearly volatility stays at the target, never above the whole capital."""
    yearly = _series(bars, _volatility, VOLATILITY_DAYS) * SESSIONS_A_YEAR**0.5
    # NaN while the window fills: nothing is traded before risk can be measured.
    size = np.nan_to_num(ratio(np.full(len(bars), target_vol), yearly, otherwise=1.0), nan=0.0)
    tenths = np.floor(np.minimum(size, 1.0) / EXPOSURE_STEP + 1e-9)
    # A position of less than one step would be none at all; one step is the least that is held.
    return np.where(size > 0.0, np.maximum(tenths, 1.0), 0.0) * EXPOSURE_STEP


def _mean(bars: Bars, window: int) -> Floats:
    return rolling_mean(bars.close, window)


def _momentum(bars: Bars, params: Params) -> Sides:
    fast = _series(bars, _mean, int(params["fast"]))
    slow = _series(bars, _mean, int(params["slow"]))
    return fast > slow * (1.0 + ROUNDING), fast < slow * (1.0 - ROUNDING)


def _z_score(bars: Bars, window: int) -> Floats:
    """Measure how far the logarithm of the close is from its mean, in standard deviations."""
    logs = _series(bars, _logs)
    return ratio(logs - rolling_mean(logs, window), rolling_std(logs, window))


def _mean_reversion(bars: Bars, params: Params) -> Sides:
    score = _series(bars, _z_score, int(params["window"]))
    entry, leave = float(params["entry"]), float(params["exit"])
    return held_state(score < -entry, score >= -leave), held_state(score > entry, score <= leave)


# The channel ends the bar before: today's high cannot be above itself.
def _top(bars: Bars, channel: int) -> Floats:
    return lagged(rolling_max(bars.high, channel), 1)


def _bottom(bars: Bars, channel: int) -> Floats:
    return lagged(rolling_min(bars.low, channel), 1)


def _breakout(bars: Bars, params: Params) -> Sides:
    channel, leave = int(params["channel"]), int(params["exit_channel"])
    top, bottom = _series(bars, _top, channel), _series(bars, _bottom, channel)
    near_top, near_bottom = _series(bars, _top, leave), _series(bars, _bottom, leave)
    close = bars.close
    return held_state(close > top, close < near_bottom), held_state(close < bottom, close > near_top)


def _trend(bars: Bars, days: int) -> Floats:
    """Measure the return over some days in units of two standard deviations, cut to [-1, 1]."""
    logs, daily = _series(bars, _logs), _series(bars, _volatility, VOLATILITY_DAYS)
    return np.clip(ratio(logs - lagged(logs, days), 2.0 * daily * days**0.5), -1.0, 1.0)


def _calm(bars: Bars, days: int) -> Floats:
    """Measure how much calmer than usual the market is, cut to [-1, 1]."""
    usual = _series(bars, _volatility, LONG_VOLATILITY_DAYS)
    return np.clip(1.0 - ratio(_series(bars, _volatility, days), usual, 1.0), -1.0, 1.0)


def _multi_factor(bars: Bars, params: Params) -> Sides:
    weights = [float(params[f"{name}_weight"]) for name in ("momentum", "reversal", "volatility")]
    factors = [
        _series(bars, _trend, int(params["momentum_days"])),
        -_series(bars, _trend, int(params["reversal_days"])),
        _series(bars, _calm, int(params["volatility_days"])),
    ]
    total = sum(weights)
    score = np.sum([w * f for w, f in zip(weights, factors, strict=True)], axis=0) / total
    threshold = float(params["threshold"])
    return held_state(score > threshold, score <= 0.0), held_state(score < -threshold, score >= 0.0)


_SIDES: Final[Mapping[str, Callable[[Bars, Params], Sides]]] = {
    "momentum": _momentum,
    "mean_reversion": _mean_reversion,
    "breakout": _breakout,
    "multi_factor": _multi_factor,
}
