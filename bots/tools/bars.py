"""One symbol's daily bars: immutable columns, sliced without copying. Access: read-only."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

Dates = NDArray[np.datetime64]
"""Days, dtype datetime64[D], shape (bars,)."""

Floats = NDArray[np.float64]
"""Numbers, dtype float64; the shape is stated where it is used."""

SLICES_KEPT: Final = 512
"""So many slices stay: whoever asks for the same one gets the same bars, and shares what is computed from them."""

Label = Literal["real", "simulated", "file"]
"""Where a symbol's bars come from: a shipped sample, a seed, or the user's own file."""


@dataclass(frozen=True, slots=True, eq=False)
class Bars:
    """Daily bars of one symbol, oldest first.

    Attributes:
        symbol: Its name, as strategies and messages write it.
        dates: Sessions, strictly increasing, shape (bars,).
        open: First price of each session, in the file's currency or points, shape (bars,).
        high: Highest price, never below ``open``, ``low`` and ``close``.
        low: Lowest price, never above ``open`` and ``close``.
        close: Last price.
        volume: Shares or contracts traded, never negative.
        label: Where the bars come from.

    The columns are read-only views: a slice shares memory with its source.
    """

    symbol: str
    dates: Dates
    open: Floats
    high: Floats
    low: Floats
    close: Floats
    volume: Floats
    label: Label

    def __post_init__(self) -> None:
        """Lock the columns and check that they belong together.

        Raises:
            ValueError: The columns differ in length or the dates are not strictly increasing (a bug of ours;
                what a user's file can get wrong is a ``PriceFileError`` before it comes here).
        """
        for name in ("dates", "open", "high", "low", "close", "volume"):
            # A view, so that locking it does not lock the caller's own array.
            kind = "datetime64[D]" if name == "dates" else "float64"
            column = np.asarray(getattr(self, name), dtype=kind).view()
            if column.shape != (len(self.dates),):
                raise ValueError(f"{self.symbol}: column {name} has shape {column.shape}")
            column.flags.writeable = False
            object.__setattr__(self, name, column)
        if not bool(np.all(self.dates[1:] > self.dates[:-1])):
            raise ValueError(f"{self.symbol}: dates must be strictly increasing")

    def __len__(self) -> int:
        """Count the bars."""
        return len(self.dates)

    def columns(self) -> tuple[Floats, Floats, Floats, Floats, Floats]:
        """Name open, high, low, close and volume in this order, each of shape (bars,)."""
        return self.open, self.high, self.low, self.close, self.volume

    def between(self, start: int, stop: int) -> Bars:
        """Slice by position.

        Args:
            start: Index of the first bar kept.
            stop: Index after the last bar kept.

        Returns:
            Bars of the same symbol over the same memory.
        """
        if start <= 0 and stop >= len(self):
            return self
        return _sliced(self, max(start, 0), max(stop, 0))

    def moved(self, days: int) -> Bars:
        """Move every date.

        Args:
            days: By how many days, negative for earlier.

        Returns:
            Bars with the same prices, over the same memory.
        """
        return Bars(self.symbol, self.dates + np.timedelta64(days, "D"), *self.columns(), self.label)


@lru_cache(maxsize=SLICES_KEPT)
def _sliced(bars: Bars, start: int, stop: int) -> Bars:
    at = slice(start, stop)
    open_, high, low, close, volume = (column[at] for column in bars.columns())
    return Bars(bars.symbol, bars.dates[at], open_, high, low, close, volume, bars.label)
