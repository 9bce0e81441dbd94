"""How a market goes on after its source's last bar: a seeded continuation (R-M4). Access: read-only.

A stationary block bootstrap: days are drawn from the source itself in blocks of geometric length, the same day for
all symbols, so that what moves together goes on moving together. Of a drawn day its overnight and intraday relations
are taken (open to the close before; high, low and close to the open) and applied to the last close.

Source: Politis and Romano (1994), The Stationary Bootstrap, Journal of the American Statistical Association 89.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from moot.bots.tools.bars import Bars, Dates, Floats
from moot.bots.tools.price_rows import LAST_DATE, MAX_PRICE
from moot.bots.tools.seeding import generator
from moot.protocols.trading.hours import next_session

LABEL: Final = "simulated continuation"
"""What the bars after the source's last one are called wherever a source is described."""

MEAN_BLOCK: Final = 10
"""Mean length of a block in sessions."""

CHUNK: Final = 32
"""Sessions that are made at once; no bar depends on it."""

COMMON_DAYS: Final = 60
"""From so many days on that all symbols share, no other days are drawn."""

DECIMALS: Final = 4
LEAST_PRICE: Final = 1e-4


class _Relations(NamedTuple):
    """What is kept of the days that may be drawn, each of shape (days, symbols).

    A symbol that lacks a day of them stays at its close: ratios of 1, and no volume.
    """

    open: Floats
    high: Floats
    low: Floats
    close: Floats
    volume: Floats


class Continuation:
    """The bars after a source's last one, made when they are asked for.

    Asking for more never changes what was there before: the days are drawn one after the other from a generator of
    their own, and rounded prices follow from rounded prices.

    Attributes:
        seed: The society's seed.
    """

    def __init__(self, bars: Mapping[str, Bars], calendar: Dates, sha256: str, seed: int) -> None:
        """Prepare to go on; nothing is computed yet.

        Args:
            bars: The source's bars by symbol, at the dates at which a society sees them.
            calendar: Every date of theirs, at least one, shape (days,).
            sha256: The source's hash; with the seed it decides what is drawn.
            seed: The society's seed.
        """
        self.seed = seed
        self._source = bars
        self._calendar = calendar
        self._rng = generator("continuation", sha256, seed)
        self._relations: _Relations | None = None
        self._day = -1
        self._dates: Dates = np.empty(0, dtype="datetime64[D]")
        self._columns = [np.empty((0, len(bars))) for _ in _Relations._fields]
        self._closes = np.array([one.close[-1] if len(one) else LEAST_PRICE for one in bars.values()])
        self._whole: tuple[dict[str, Bars], Dates] = (dict(bars), calendar)

    def reaching(self, edge: np.datetime64) -> tuple[Mapping[str, Bars], Dates]:
        """Return source and continuation together, at least up to a day.

        Args:
            edge: The day, datetime64[D]; past the year 2200 nothing goes on.

        Returns:
            Bars by symbol in the source's order, and the calendar of all their dates.
        """
        edge = min(edge, LAST_DATE)
        if self._whole[1][-1] >= edge:
            return self._whole
        last = self._whole[1][-1]
        while last < edge and len(dates := sessions_after(last, CHUNK)):
            made = self._next(len(dates))
            self._columns = [np.concatenate(both) for both in zip(self._columns, made, strict=True)]
            self._dates = np.concatenate((self._dates, dates))
            last = dates[-1]
        self._whole = self._joined()
        return self._whole

    def _joined(self) -> tuple[dict[str, Bars], Dates]:
        joined = {}
        for at, (symbol, bars) in enumerate(self._source.items()):
            open_, high, low, close, volume = (
                np.concatenate((old, new[:, at]))
                for old, new in zip(bars.columns(), self._columns, strict=True)
            )
            dates = np.concatenate((bars.dates, self._dates))
            joined[symbol] = Bars(symbol, dates, open_, high, low, close, volume, bars.label)
        calendar = np.concatenate((self._calendar, self._dates))
        calendar.flags.writeable = False
        return joined, calendar

    def _next(self, count: int) -> list[Floats]:
        """Make the next bars of all symbols: open, high, low, close, volume, each of shape (count, symbols)."""
        relations = self._relations = self._relations or _relations(self._source, self._calendar)
        made = [np.empty((count, len(self._source))) for _ in relations]
        closes = self._closes
        for row, (luck, where) in enumerate(self._rng.random((count, 2)).tolist()):
            self._day = self._drawn(luck, where, len(relations.open))
            day = self._day
            open_ = _price(closes * relations.open[day])
            closes = _price(open_ * relations.close[day])
            made[0][row] = open_
            made[1][row] = np.maximum(_price(open_ * relations.high[day]), np.maximum(open_, closes))
            made[2][row] = np.minimum(_price(open_ * relations.low[day]), np.minimum(open_, closes))
            made[3][row] = closes
            made[4][row] = relations.volume[day]
        self._closes = closes
        return made

    def _drawn(self, luck: float, where: float, days: int) -> int:
        """Return the next day: the one after the last, or by a chance of 1 / `MEAN_BLOCK` any."""
        if self._day < 0 or luck < 1.0 / MEAN_BLOCK:
            return min(int(where * days), days - 1)
        return (self._day + 1) % days


def _price(values: Floats) -> Floats:
    rounded: Floats = np.clip(np.round(values, DECIMALS), LEAST_PRICE, MAX_PRICE)
    return rounded


def _relations(source: Mapping[str, Bars], calendar: Dates) -> _Relations:
    """Take the relations of every day that may be drawn: of those that all symbols share, if there are enough."""
    shape = (len(calendar), len(source))
    table = _Relations(np.ones(shape), np.ones(shape), np.ones(shape), np.ones(shape), np.zeros(shape))
    has: NDArray[np.bool_] = np.zeros(shape, dtype=bool)
    for at, bars in enumerate(source.values()):
        if len(bars) < 2:
            continue
        rows = np.searchsorted(calendar, bars.dates[1:])
        first = bars.open[1:]
        table.open[rows, at] = first / bars.close[:-1]
        table.high[rows, at] = bars.high[1:] / first
        table.low[rows, at] = bars.low[1:] / first
        table.close[rows, at] = bars.close[1:] / first
        table.volume[rows, at] = bars.volume[1:]
        has[rows, at] = True
    common = has.all(axis=1)
    if np.count_nonzero(common) < COMMON_DAYS:
        common = has.any(axis=1)
    if not common.any():  # a source of one day: every day is as flat as that
        common = np.ones(len(calendar), dtype=bool)
    return _Relations(*(column[common] for column in table))


def sessions_after(day: np.datetime64, count: int) -> Dates:
    """Return the next sessions of the exchange (R-D18).

    Args:
        day: A day, datetime64[D].
        count: How many sessions.

    Returns:
        Their dates after `day`, fewer than `count` past the year 2200.
    """
    found: list[date] = []
    last, end = date.fromisoformat(str(day)), date.fromisoformat(str(LAST_DATE))
    while len(found) < count and (last := next_session(last).date) < end:
        found.append(last)
    return np.array(found, dtype="datetime64[D]")
