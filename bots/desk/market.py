"""The market within a day: prices, 15-minute bars and marks at an instant (R-M3). Access: read-only."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, date, datetime, time
from typing import Final, NamedTuple

import numpy as np

from moot.bots.desk.bridge import DECIMALS, LEAST, bridge
from moot.bots.desk.intraday import Intraday
from moot.bots.desk.quarters import MINUTE, QUARTER, Quarter, quarters_of
from moot.bots.tools.bars import Bars, Floats
from moot.bots.tools.seeding import generator
from moot.bots.tools.universe import Universe
from moot.protocols.trading.hours import Session, session_on

DAYS_KEPT: Final = 4
"""So many days stay computed."""

TAILS_KEPT: Final = 64
"""So many symbols' bars up to an instant stay: all strategies of a round look at the same ones."""

STEPS: Final = 15
"""Prices change every minute: so many steps a 15-minute bar."""

SMILE: Final = 1.5
"""How much more is traded in the first and last minutes than at noon."""

MIDNIGHT: Final = time(23, 59)


class DayBar(NamedTuple):
    """A day so far: prices in the file's currency, shares traded."""

    open: float
    high: float
    low: float
    last: float
    volume: float


class _Path(NamedTuple):
    """One symbol's day: a price each minute, shape (minutes + 1,), its 15-minute bars, and what both come to so far."""

    prices: Floats
    highs: Floats
    lows: Floats
    quarters: tuple[Quarter, ...]
    traded: Floats


class Market:
    """Tells prices of an instant, as the daily bars and the society's seed make them.

    No method shows what lies after the instant that it is given. Within a day the path is a bridge: it was drawn from
    the day's close, so it knows that by construction, and whoever knew how bridges are drawn could guess the close
    better than in a real market. What is shown is the past part alone.

    Days are computed once and kept for a while; equal universe, seed and file give equal prices in any process.

    Attributes:
        universe: The whole universe, its future included.
        seed: What days, and the broker's fills, are drawn from.
        intraday: The user's own 15-minute bars, where there are some.
    """

    def __init__(self, universe: Universe, seed: int, intraday: Intraday | None = None) -> None:
        """Open a market.

        Args:
            universe: Daily bars; `until` must know those of every day that is asked for.
            seed: The society's seed.
            intraday: The user's own 15-minute bars, where there are some.
        """
        self.universe = universe
        self.seed = seed
        self.intraday = intraday
        self._days: dict[date, Universe] = {}
        self._paths: dict[tuple[date, str], _Path | None] = {}
        self._tails: dict[tuple[date, str, int], Bars] = {}
        self._latest: dict[tuple[datetime, str, int], Bars] = {}

    @property
    def symbols(self) -> tuple[str, ...]:
        """Name all symbols."""
        return self.universe.symbols

    # ---------------------------------------------------------------- when

    def hours(self, instant: datetime) -> Session | None:
        """Return the exchange's hours on the day of an instant, None when it stays closed."""
        return session_on(instant.astimezone(UTC).date())

    def is_open(self, symbol: str, instant: datetime) -> bool:
        """Say whether a symbol can be traded at an instant: the exchange is open, and the day has a bar of it."""
        found = self._now(symbol, instant)
        return found is not None and instant < found[1].closes_at

    # ---------------------------------------------------------------- prices

    def price(self, symbol: str, instant: datetime) -> float | None:
        """Return the last price of a symbol at an instant.

        Args:
            symbol: Its name.
            instant: Aware, of any zone. Outside a session it is the last close before.

        Returns:
            The price, rounded to 4 decimals; None for a foreign symbol or before its first bar.
        """
        found = self._now(symbol, instant)
        if found is not None:
            path, hours = found
            return float(path.prices[_minute(path, hours, instant)])
        past = self._past(symbol, instant)
        if past is None or not len(past):
            return None
        return max(round(float(past.close[-1]), DECIMALS), LEAST)

    def marks(self, symbols: Iterable[str], instant: datetime) -> dict[str, float]:
        """Return the last prices of symbols at an instant, by name; those without a price are left out."""
        found = ((symbol, self.price(symbol, instant)) for symbol in sorted(set(symbols)))
        return {symbol: price for symbol, price in found if price is not None}

    def bars(self, symbol: str, day: date, instant: datetime) -> tuple[Quarter, ...]:
        """Return the 15-minute bars of a day that ended by an instant, oldest first; none on a day without prices."""
        hours, path = session_on(day), self._path(symbol, day)
        if path is None or hours is None:
            return ()
        ended = (instant - hours.opens_at) // QUARTER
        return path.quarters[: max(ended, 0)]

    def partial_day(self, symbol: str, instant: datetime) -> DayBar | None:
        """Return a day's open, high, low and last so far, and what was traded in the bars that ended.

        Returns:
            None before the open, on a day without prices of it and for a foreign symbol.
        """
        found = self._now(symbol, instant)
        if found is None:
            return None
        path, hours = found
        at = _minute(path, hours, instant)
        ended = min((instant - hours.opens_at) // QUARTER, quarters_of(hours))
        return DayBar(
            float(path.prices[0]),
            float(path.highs[at]),
            float(path.lows[at]),
            float(path.prices[at]),
            float(path.traded[ended]),
        )

    def tail(self, symbol: str, instant: datetime, count: int) -> Bars | None:
        """Return the last daily bars at an instant; the last of them is the day so far, once the exchange has opened.

        Args:
            symbol: Its name.
            instant: Aware, of any zone.
            count: How many bars at most, at least 2.

        Returns:
            The bars, None for a foreign symbol.
        """
        asked = (instant, symbol, count)
        known = self._latest.get(asked)
        if known is not None:
            return known
        past = self._past(symbol, instant)
        if past is None:
            return None
        today = self.partial_day(symbol, instant)
        if today is None:
            return past.between(len(past) - count, len(past))
        day = instant.astimezone(UTC).date()
        key = (day, symbol, count)
        if key not in self._tails:
            before = past.between(len(past) - count + 1, len(past))
            dates = np.append(before.dates, np.datetime64(day, "D"))
            open_, high, low, close, volume = (np.append(column, 0.0) for column in before.columns())
            self._tails[key] = Bars(symbol, dates, open_, high, low, close, volume, before.label)
        if len(self._latest) >= TAILS_KEPT:
            del self._latest[next(iter(self._latest))]
        latest = self._latest[asked] = _ending_with(self._tails[key], today)
        return latest

    def liquidity(self, symbol: str, instant: datetime) -> float | None:
        """Return the shares that trade in the 15-minute bar of an instant; for the broker alone.

        The bar may end after the instant: what others trade in it is a fact of the world that an order meets, and no
        mind is shown it.

        Returns:
            None when the exchange is closed or nobody counted.
        """
        found = self._now(symbol, instant)
        if found is None:
            return None
        path, hours = found
        return (
            path.quarters[min((instant - hours.opens_at) // QUARTER, len(path.quarters) - 1)].volume or None
        )

    # ---------------------------------------------------------------- days

    def _now(self, symbol: str, instant: datetime) -> tuple[_Path, Session] | None:
        """Return the path of a symbol on the day of an instant, None before the open and where there is none."""
        day = instant.astimezone(UTC).date()
        hours = session_on(day)
        if hours is None or instant < hours.opens_at:
            return None
        path = self._path(symbol, day)
        return None if path is None else (path, hours)

    def _past(self, symbol: str, instant: datetime) -> Bars | None:
        """Return the daily bars of a symbol before the day of an instant."""
        day = instant.astimezone(UTC).date()
        bars = self._through(day).bars.get(symbol)
        if bars is None or not len(bars) or bars.dates[-1] != np.datetime64(day, "D"):
            return bars
        return bars.between(0, len(bars) - 1)

    def _through(self, day: date) -> Universe:
        """Return the daily bars up to and with a day."""
        found = self._days.get(day)
        if found is None:
            if len(self._days) >= DAYS_KEPT:
                gone = next(iter(self._days))
                del self._days[gone]
                self._paths = {key: path for key, path in self._paths.items() if key[0] != gone}
                self._tails = {key: bars for key, bars in self._tails.items() if key[0] != gone}
            found = self._days[day] = self.universe.until(datetime.combine(day, MIDNIGHT, UTC))
        return found

    def _path(self, symbol: str, day: date) -> _Path | None:
        key = (day, symbol)
        bars = self._through(day).bars.get(symbol)
        if key not in self._paths:
            hours = session_on(day)
            is_there = bars is not None and len(bars) > 0 and bars.dates[-1] == np.datetime64(day, "D")
            self._paths[key] = self._drawn(bars, day, hours) if is_there and bars and hours else None
        return self._paths[key]

    def _drawn(self, bars: Bars, day: date, hours: Session) -> _Path:
        rng = generator("bridge", self.universe.sha256, self.seed, bars.symbol, day.isoformat())
        own = self.intraday.day(bars.symbol, day) if self.intraday is not None else ()
        if len(own) == quarters_of(hours):
            # Each of its bars is walked through by itself; its close is the price of its last minute.
            walks = [bridge(q.open, q.high, q.low, q.close, STEPS - 1, rng) for q in own]
            prices = np.concatenate([*walks, walks[-1][-1:]])
            quarters = tuple(own)
        else:
            last = (float(column[-1]) for column in bars.columns())
            open_, high, low, close, volume = last
            prices = bridge(open_, high, low, close, quarters_of(hours) * STEPS, rng)
            quarters = _quarters(prices, volume, hours, rng)
        traded = np.concatenate(([0.0], np.cumsum([quarter.volume for quarter in quarters])))
        highs, lows = np.maximum.accumulate(prices), np.minimum.accumulate(prices)
        return _Path(prices, highs, lows, quarters, traded)


def _minute(path: _Path, hours: Session, instant: datetime) -> int:
    return min((instant - hours.opens_at) // MINUTE, len(path.prices) - 1)


def _quarters(prices: Floats, volume: float, hours: Session, rng: np.random.Generator) -> tuple[Quarter, ...]:
    """Cut a path into 15-minute bars; each begins where the one before ended. More is traded early and late."""
    count = quarters_of(hours)
    noon = np.linspace(-1.0, 1.0, count)
    weights = (1.0 + SMILE * noon * noon) * rng.uniform(0.7, 1.3, count)
    shares = np.floor(volume * weights / weights.sum())
    shares[-1] += volume - shares.sum()
    made = []
    for n in range(count):
        walk = prices[n * STEPS : (n + 1) * STEPS + 1]
        made.append(
            Quarter(
                hours.opens_at + n * QUARTER,
                float(walk[0]),
                float(walk.max()),
                float(walk.min()),
                float(walk[-1]),
                float(shares[n]),
            )
        )
    return tuple(made)


def _ending_with(bars: Bars, today: DayBar) -> Bars:
    """Fill in the last bar, which was kept free for the day so far."""
    columns = []
    for column, value in zip(bars.columns(), today, strict=True):
        filled = column.copy()
        filled[-1] = value
        columns.append(filled)
    open_, high, low, close, volume = columns
    return Bars(bars.symbol, bars.dates, open_, high, low, close, volume, bars.label)
