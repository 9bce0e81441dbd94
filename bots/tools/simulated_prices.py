"""Seeded daily bars: the eight stocks of ``sample`` and the whole of ``synthetic``. Access: read-only.

A simulated stock's daily return is beta × its market's return + its own noise. The noise has volatility
regimes (calm and stormy spells) and a character: ``trend`` stocks drift up or down for months, ``revert``
stocks are pulled back to their market, ``plain`` ones do neither. Nothing here is a real security, and every
symbol says so: ``SIM-…``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from moot.bots.tools.bars import Bars, Dates, Floats
from moot.bots.tools.seeding import generator

Character = Literal["trend", "revert", "plain"]


@dataclass(frozen=True, slots=True)
class Stock:
    """What one simulated stock is like.

    Attributes:
        symbol: Its name.
        market: Symbol of the index that it follows (``sample`` only; ``synthetic`` has one market).
        beta: How much of the market's return it takes on.
        noise: Standard deviation of its own daily return in calm times, as a fraction.
        character: What its own noise does over months.
        price: First close.
        strength: Of its character, in units of the usual one.
    """

    symbol: str
    market: str
    beta: float
    noise: float
    character: Character
    price: float
    strength: float = 1.0


SAMPLE_STOCKS: Final = (
    Stock("SIM-ALFA", "SP500", 0.6, 0.006, "trend", 40.0),
    Stock("SIM-BRAVO", "SP500", 0.8, 0.008, "revert", 65.0),
    Stock("SIM-CHARLIE", "NASDAQ", 0.9, 0.010, "trend", 25.0),
    Stock("SIM-DELTA", "SP500", 1.1, 0.009, "plain", 80.0),
    Stock("SIM-ECHO", "NASDAQ", 0.7, 0.007, "revert", 55.0),
    Stock("SIM-FOXTROT", "NASDAQ", 1.2, 0.013, "trend", 30.0),
    Stock("SIM-GOLF", "SP500", 0.4, 0.006, "revert", 95.0),
    Stock("SIM-HOTEL", "NASDAQ", 1.0, 0.011, "plain", 45.0),
)

SYNTHETIC_STOCKS: Final = (
    *SAMPLE_STOCKS,
    Stock("SIM-INDIA", "", 0.5, 0.009, "trend", 70.0),
    Stock("SIM-JULIETT", "", 0.9, 0.008, "revert", 35.0),
)

SYNTHETIC_FROM: Final = np.datetime64("2006-01-02", "D")
SYNTHETIC_BARS: Final = 3130
"""Twelve years of Mondays to Fridays."""

STORM: Final = 2.2
"""Volatility of a stormy spell relative to a calm one."""

CALM_DAYS: Final = 150.0
STORMY_DAYS: Final = 40.0
TREND_DAYS: Final = 90.0
"""Mean lengths of spells, in sessions."""

TREND_DRIFT: Final = 0.17
"""Daily drift of a trend, as a fraction of the stock's own noise."""

PULL: Final = 0.08
"""Share of its distance from the market that a ``revert`` stock makes good a day."""

LARGEST_MOVE: Final = 0.35
"""Daily returns are cut off here, so that no price falls to zero."""


def sample_stocks(indices: tuple[Bars, ...], seed: int) -> list[Bars]:
    """Simulate the eight stocks that go with the two real indices (R-M1).

    Args:
        indices: Real bars of every market that ``SAMPLE_STOCKS`` names.
        seed: Seed of the society; it moves the stocks' own noise, never the indices.

    Returns:
        One ``Bars`` per stock, on its market's dates, labelled ``simulated``.
    """
    markets = {bars.symbol: bars for bars in indices}
    made = []
    for stock in SAMPLE_STOCKS:
        market = markets[stock.market]
        returns = np.zeros(len(market))
        returns[1:] = market.close[1:] / market.close[:-1] - 1.0
        made.append(simulated_bars(stock, market.dates, returns, generator("sample", seed, stock.symbol)))
    return made


def synthetic_stocks(seed: int) -> list[Bars]:
    """Simulate ten stocks and the market behind them, with no real data.

    Args:
        seed: Seed of the society.

    Returns:
        One ``Bars`` per stock over twelve years of business days, labelled ``simulated``.
    """
    dates = np.busday_offset(SYNTHETIC_FROM, np.arange(SYNTHETIC_BARS), roll="forward")
    market = simulated_market(SYNTHETIC_BARS, generator("synthetic", seed, "market"))
    return [
        simulated_bars(stock, dates, market, generator("synthetic", seed, stock.symbol))
        for stock in SYNTHETIC_STOCKS
    ]


def simulated_market(count: int, rng: np.random.Generator) -> Floats:
    """Draw the daily returns of a market, as fractions, shape (count,)."""
    storms = _spells(rng, count, (CALM_DAYS, STORMY_DAYS))
    drift = np.where(storms == 1, -0.0004, 0.0005)
    return drift + rng.standard_normal(count) * np.where(storms == 1, 0.007 * STORM, 0.007)


def simulated_bars(stock: Stock, dates: Dates, market: Floats, rng: np.random.Generator) -> Bars:
    """Make one stock's bars from its market's daily returns, shape (bars,)."""
    count = len(dates)
    storms = _spells(rng, count, (CALM_DAYS, STORMY_DAYS))
    sigma = stock.noise * np.where(storms == 1, STORM, 1.0)
    own = rng.standard_normal(count) * sigma
    if stock.character == "trend":
        # Spells alternate up, down: the drift is what a trend follower can find, and it sums to about
        # nothing.
        own += (
            np.where(_spells(rng, count, (TREND_DAYS, TREND_DAYS)) == 1, -1.0, 1.0)
            * (TREND_DRIFT * stock.strength)
            * stock.noise
        )
    elif stock.character == "revert":
        own = _pulled_back(own, PULL * stock.strength)
    returns = np.clip(stock.beta * market + own, -LARGEST_MOVE, LARGEST_MOVE)
    returns[0] = 0.0
    close = stock.price * np.cumprod(1.0 + returns)
    before = np.concatenate(([stock.price], close[:-1]))
    open_ = before * (1.0 + 0.3 * returns + 0.2 * sigma * rng.standard_normal(count))
    reach = 0.6 * (sigma + stock.beta * 0.006)
    high = np.maximum(open_, close) * (1.0 + reach * np.abs(rng.standard_normal(count)))
    low = np.minimum(open_, close) * (1.0 - np.minimum(reach * np.abs(rng.standard_normal(count)), 0.5))
    volume = 1e6 * (1.0 + 30.0 * np.abs(returns)) * (0.7 + 0.6 * rng.random(count))
    # Four decimals, as a vendor would print: the last bits of exp and log differ between machines, these do
    # not.
    open_, high, low, close = (np.maximum(np.round(column, 4), 0.01) for column in (open_, high, low, close))
    return Bars(stock.symbol, dates, open_, high, low, close, np.round(volume), "simulated")


def _spells(rng: np.random.Generator, count: int, mean_days: tuple[float, float]) -> Floats:
    """Draw alternating spells 0, 1, 0, 1 … of geometric length.

    Args:
        rng: Source of the lengths.
        count: Number of sessions.
        mean_days: Mean length of a spell of 0 and of 1, in sessions.

    Returns:
        The state of each session, 0.0 or 1.0, shape (count,).
    """
    states = np.empty(count)
    at, state = 0, 0
    while at < count:
        length = int(rng.geometric(1.0 / mean_days[state]))
        states[at : at + length] = state
        at, state = at + length, 1 - state
    return states


def _pulled_back(shocks: Floats, pull: float) -> Floats:
    """Turn shocks into returns whose sum keeps returning to zero (a discrete Ornstein-Uhlenbeck process)."""
    distance, returns = 0.0, np.empty(len(shocks))
    for i, shock in enumerate(shocks.tolist()):
        returns[i] = shock - pull * distance
        distance += returns[i]
    return returns
