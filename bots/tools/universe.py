"""All symbols of a society, and what of them exists at one instant. Access: read-only."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta
from types import MappingProxyType
from typing import Final

import numpy as np

from moot.bots.tools.bars import Bars, Dates
from moot.bots.tools.continuation import LABEL, Continuation

SESSION_ENDS_AT: Final = time(21, 0)
"""UTC time at which a daily bar comes into existence.

New York closes at 16:00 local time, which is 20:00 UTC in summer and 21:00 UTC in winter. The later one
serves all year: in summer the bar arrives an hour late, and nothing ever leaks (R-D15, R-D18).
"""

VIEWS_KEPT: Final = 4
"""So many days' views stay: whoever asks on one day shares bars, and what is computed from them."""


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
        sourced: How many days of the calendar are the source's; later ones are its continuation (R-M4).
        seed: Of the continuation; 0 without one.
        continuation: How the market goes on after the source's last bar; None in a view and where it does not.

    Two universes are equal when the same bars exist in them: same ``sha256``, same shift, same last date, and the
    same seed where one reaches beyond its source.
    """

    bars: Mapping[str, Bars]
    calendar: Dates
    shift_weeks: int
    sha256: str
    description: str
    sourced: int = 0
    seed: int = 0
    continuation: Continuation | None = None
    _views: dict[date, Universe] = field(default_factory=dict, init=False, repr=False)

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
        calendar, digest = _union(by_symbol.values()), _hash(by_symbol.values())
        return cls(MappingProxyType(by_symbol), calendar, 0, digest, description, len(calendar))

    def continued(self, seed: int) -> Universe:
        """Let the market go on after the last bar (R-M4).

        Nothing is computed before `until` asks for it. Equal source, shift and seed give the same bars, however far and
        in what steps they are asked for.

        Args:
            seed: The society's seed.

        Returns:
            The same universe, whose `until` knows later bars too; itself when it holds no bars.
        """
        if not len(self.calendar):
            return self
        return replace(
            self,
            description=f"{self.description}; after {self.calendar[-1]} {LABEL} (seed {seed})",
            seed=seed,
            continuation=Continuation(self.bars, self.calendar, self.sha256, seed),
        )

    @property
    def symbols(self) -> tuple[str, ...]:
        """Names of all symbols, in the source's order."""
        return tuple(self.bars)

    @property
    def last_date(self) -> date | None:
        """Date of the latest bar, or None while there is none; of the source where the market goes on."""
        return self.calendar[-1].item() if len(self.calendar) else None

    @property
    def is_continued(self) -> bool:
        """Whether bars exist in it that are not its source's (R-M4)."""
        return len(self.calendar) > self.sourced

    def until(self, instant: datetime) -> Universe:
        """Show what exists at an instant of the society.

        The bar of date D exists from D ``SESSION_ENDS_AT`` on.

        Args:
            instant: An aware instant, of any zone.

        Returns:
            A view over the same memory with all symbols and only existing bars (perhaps none), which has no future
            of its own; itself, when all bars exist and there are none to come.

        Raises:
            ValueError: The instant is naive.
        """
        if instant.tzinfo is None:
            raise ValueError("until() needs an aware instant")
        instant = instant.astimezone(UTC)
        last = instant.date() if instant.time() >= SESSION_ENDS_AT else instant.date() - timedelta(days=1)
        edge = np.datetime64(last, "D")
        if self.continuation is None and (not len(self.calendar) or self.calendar[-1] <= edge):
            return self
        view = self._views.get(last)
        if view is None:
            known = (
                (self.bars, self.calendar) if self.continuation is None else self.continuation.reaching(edge)
            )
            if len(self._views) >= VIEWS_KEPT:
                del self._views[next(iter(self._views))]
            view = self._views[last] = self._cut(*known, edge)
        return view

    def _cut(self, bars: Mapping[str, Bars], calendar: Dates, edge: np.datetime64) -> Universe:
        """Make a view of what these bars hold up to a day."""
        days = int(np.searchsorted(calendar, edge, side="right"))
        seen = {
            symbol: one.between(0, int(np.searchsorted(one.dates, edge, "right")))
            for symbol, one in bars.items()
        }
        return replace(
            self,
            bars=MappingProxyType(seen),
            calendar=calendar[:days],
            sourced=min(self.sourced, days),
            continuation=None,
        )

    def shifted(self, weeks: int) -> Universe:
        """Move every date by whole weeks, so that weekdays stay (R-M2).

        Args:
            weeks: How many, negative for earlier; added to the shift there is.

        Returns:
            The moved universe, with the same ``sha256``; itself for no weeks.

        Raises:
            ValueError: The universe goes on after its source (a bug of ours): shift first.
        """
        if weeks == 0:
            return self
        if self.continuation is not None or self.is_continued:
            raise ValueError("a universe is shifted before it goes on")
        moved = {symbol: bars.moved(7 * weeks) for symbol, bars in self.bars.items()}
        calendar = self.calendar + np.timedelta64(7 * weeks, "D")
        calendar.flags.writeable = False
        return replace(
            self, bars=MappingProxyType(moved), calendar=calendar, shift_weeks=self.shift_weeks + weeks
        )

    def __eq__(self, other: object) -> bool:
        """Compare by the bars that exist."""
        if not isinstance(other, Universe):
            return NotImplemented
        return self._identity() == other._identity()

    def __hash__(self) -> int:
        """Hash by the bars that exist, so that a universe can key a cache."""
        return hash(self._identity())

    def _identity(self) -> tuple[str, int, int, int]:
        seed = self.seed if self.is_continued else 0
        return (self.sha256, self.shift_weeks, len(self.calendar), seed)


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
