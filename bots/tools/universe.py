"""All symbols of a society, and what of them exists at one instant. Access: read-only."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from types import MappingProxyType
from typing import Final

import numpy as np

from bots.tools.bars import Bars, Dates

SESSION_ENDS_AT: Final = time(21, 0)
"""UTC time at which a daily bar comes into existence.

New York closes at 16:00 local time, which is 20:00 UTC in summer and 21:00 UTC in winter. The later one
serves all year: in summer the bar arrives an hour late, and nothing ever leaks (R-D15, R-D18).
"""


@dataclass(frozen=True, slots=True, eq=False)
class Universe:
    """Symbols with their bars, as a society sees them.

    Attributes:
        bars: Bars by symbol, in the source's order.
        calendar: Every date on which at least one symbol has a bar, sorted, shape (days,).
        shift_weeks: By how many whole weeks the source's dates were moved (R-M2); 0 for no shift.
        sha256: Hash of symbols, labels, unshifted dates and prices of the whole source, in hex. Views keep
            it, so it says which data a society runs on, not how much of it exists yet.
        description: One human line about the source.

    Two universes are equal when the same bars exist in them: same ``sha256``, same shift, same last date.
    """

    bars: Mapping[str, Bars]
    calendar: Dates
    shift_weeks: int
    sha256: str
    description: str

    @classmethod
    def of(cls, bars: Iterable[Bars], description: str) -> Universe:
        """Assemble bars into a universe without shift.

        Args:
            bars: One per symbol; at least one.
            description: One human line about the source.

        Returns:
            The universe, hashed.

        Raises:
            ValueError: No bars, or a symbol twice.
        """
        by_symbol: dict[str, Bars] = {}
        for one in bars:
            if one.symbol in by_symbol:
                raise ValueError(f"symbol {one.symbol} twice")
            by_symbol[one.symbol] = one
        if not by_symbol:
            raise ValueError("a universe needs at least one symbol")
        return cls(
            MappingProxyType(by_symbol), _union(by_symbol.values()), 0, _hash(by_symbol.values()), description
        )

    @property
    def symbols(self) -> tuple[str, ...]:
        """Names of all symbols, in the source's order."""
        return tuple(self.bars)

    @property
    def last_date(self) -> date | None:
        """Date of the latest bar, or None while there is none."""
        return self.calendar[-1].item() if len(self.calendar) else None

    def until(self, instant: datetime) -> Universe:
        """Show what exists at an instant of the society.

        The bar of date D exists from D ``SESSION_ENDS_AT`` on.

        Args:
            instant: An aware instant, of any zone.

        Returns:
            A view over the same memory with all symbols and only existing bars (perhaps none); itself, when
            all bars exist.

        Raises:
            ValueError: The instant is naive.
        """
        if instant.tzinfo is None:
            raise ValueError("until() needs an aware instant")
        instant = instant.astimezone(UTC)
        last = instant.date() if instant.time() >= SESSION_ENDS_AT else instant.date() - timedelta(days=1)
        edge = np.datetime64(last, "D")
        days = int(np.searchsorted(self.calendar, edge, side="right"))
        if days == len(self.calendar):
            return self
        ends = {symbol: int(np.searchsorted(bars.dates, edge, "right")) for symbol, bars in self.bars.items()}
        seen = {symbol: bars.between(0, ends[symbol]) for symbol, bars in self.bars.items()}
        return Universe(
            MappingProxyType(seen), self.calendar[:days], self.shift_weeks, self.sha256, self.description
        )

    def shifted(self, weeks: int) -> Universe:
        """Move every date by whole weeks, so that weekdays stay (R-M2).

        Args:
            weeks: How many, negative for earlier; added to the shift there is.

        Returns:
            The moved universe, with the same ``sha256``; itself for no weeks.
        """
        if weeks == 0:
            return self
        moved = {symbol: bars.moved(7 * weeks) for symbol, bars in self.bars.items()}
        calendar = self.calendar + np.timedelta64(7 * weeks, "D")
        calendar.flags.writeable = False
        return Universe(
            MappingProxyType(moved), calendar, self.shift_weeks + weeks, self.sha256, self.description
        )

    def __eq__(self, other: object) -> bool:
        """Compare by the bars that exist."""
        if not isinstance(other, Universe):
            return NotImplemented
        return self._identity() == other._identity()

    def __hash__(self) -> int:
        """Hash by the bars that exist, so that a universe can key a cache."""
        return hash(self._identity())

    def _identity(self) -> tuple[str, int, int]:
        return (self.sha256, self.shift_weeks, len(self.calendar))


def _union(bars: Iterable[Bars]) -> Dates:
    """Merge the dates of all symbols into one sorted, read-only calendar."""
    union = np.empty(0, dtype="datetime64[D]")
    for one in bars:
        # Most sources have one calendar for all symbols; merging equal ones would be most of loading.
        if not np.array_equal(union, one.dates):
            union = np.union1d(union, one.dates)
    union = union.view()
    union.flags.writeable = False
    return union


def _hash(bars: Iterable[Bars]) -> str:
    """Hash the content in a fixed byte order, independent of the machine and of the symbols' order."""
    digest = hashlib.sha256(b"moot-universe-1")
    for one in sorted(bars, key=lambda b: b.symbol):
        digest.update(f"\n{one.symbol!r} {one.label} {len(one)}\n".encode())
        digest.update(one.dates.astype("<M8[D]").tobytes())
        for column in one.columns():
            digest.update(column.astype("<f8").tobytes())
    return digest.hexdigest()
