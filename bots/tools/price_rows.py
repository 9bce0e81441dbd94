"""Raw price columns into checked bars; the first fault becomes one clear line. Access: read-only."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from moot.bots.tools.bars import Bars, Dates, Floats
from moot.bots.tools.errors import PriceFileError

REQUIRED: Final = ("date", "open", "high", "low", "close", "volume")
OPTIONAL: Final = ("adj_close", "symbol")
PRICES: Final = ("open", "high", "low", "close")
FIGURES: Final[tuple[str, ...]] = (*PRICES, "volume", "adj_close")

ADVICE: Final = "give a CSV or Parquet file with the columns date, open, high, low, close, volume"

MIN_PRICE: Final = 1e-9
MAX_PRICE: Final = 1e12
"""Beyond these a figure is a typing error or an overflow, not a price."""

MAX_VOLUME: Final = 1e18

FIRST_DATE: Final = np.datetime64("1800-01-01", "D")
LAST_DATE: Final = np.datetime64("2200-01-01", "D")

ROUNDING: Final = 1e-6
"""Relative slack for high and low: data vendors round each column on its own."""


@dataclass(frozen=True, slots=True)
class Rows:
    """A price table after parsing, before judging.

    Attributes:
        source: Name of the file, for messages.
        numbers: Row numbers as an editor counts them, shape (rows,).
        dates: Sessions, shape (rows,).
        figures: Columns by name (``FIGURES``; ``adj_close`` may be missing), each of shape (rows,).
        symbols: Symbol of each row; one symbol for all rows when the file has no such column.
    """

    source: str
    numbers: NDArray[np.int64]
    dates: Dates
    figures: Mapping[str, Floats]
    symbols: Sequence[str] | str


def check_columns(source: str, names: Sequence[str]) -> None:
    """Refuse a table whose columns cannot be used.

    Args:
        source: Name of the file, for messages.
        names: Normalised column names.

    Raises:
        PriceFileError: A column is missing, or a used one is there twice.
    """
    missing = [name for name in REQUIRED if name not in names]
    if missing:
        found = ", ".join(repr(name[:40]) for name in names[:12] if name) or "none"
        raise PriceFileError(
            source,
            f"column '{missing[0]}' is missing (found: {found}) — fix the header: "
            "date, open, high, low, close[, adj_close], volume[, symbol]",
        )
    for name in (*REQUIRED, *OPTIONAL):
        if names.count(name) > 1:
            raise PriceFileError(source, f"column '{name}' is there twice — remove one")


def normalised(name: str) -> str:
    """Write a column name as we do: ``"Adj Close"`` becomes ``"adj_close"``."""
    return "_".join(name.strip().lower().replace("-", " ").split())


def to_bars(rows: Rows) -> list[Bars]:
    """Judge every row, then sort the rows into one ``Bars`` per symbol.

    Rows may come in any order; two rows of one symbol and date are a fault. Where there is an adjusted close,
    the four prices are scaled by adjusted ÷ plain close (splits and dividends).

    Args:
        rows: The parsed table.

    Returns:
        Bars sorted by symbol, labelled ``file``.

    Raises:
        PriceFileError: Names the first faulty row.
    """
    if len(rows.numbers) == 0:
        raise PriceFileError(rows.source, "holds no rows of prices — give it at least one")
    _refuse_faults(rows)
    figures = dict(rows.figures)
    if "adj_close" in figures:
        factor = figures["adj_close"] / figures["close"]
        figures |= {name: figures[name] * factor for name in PRICES}
    if isinstance(rows.symbols, str):
        groups = {rows.symbols: np.arange(len(rows.numbers))}
    else:
        names, inverse = np.unique(np.array(rows.symbols, dtype=object), return_inverse=True)
        by_group = np.argsort(inverse, kind="stable")
        edges = np.searchsorted(inverse[by_group], np.arange(len(names) + 1))
        groups = {str(name): by_group[edges[i] : edges[i + 1]] for i, name in enumerate(names)}
    return [_one_symbol(rows, figures, symbol, members) for symbol, members in groups.items()]


def _one_symbol(rows: Rows, figures: Mapping[str, Floats], symbol: str, members: NDArray[np.int64]) -> Bars:
    order = members[np.argsort(rows.dates[members], kind="stable")]
    dates = rows.dates[order]
    twice = np.flatnonzero(dates[1:] == dates[:-1])
    if len(twice):
        at = int(twice[0])
        first, second = sorted((int(rows.numbers[order[at]]), int(rows.numbers[order[at + 1]])))
        raise PriceFileError(
            rows.source,
            f"{dates[at]} of {symbol} is already in row {first} — remove one of the two",
            row=second,
            column="date",
        )
    open_, high, low, close, volume = (figures[name][order] for name in (*PRICES, "volume"))
    # The slack of ROUNDING is taken out here, so that bars keep their promise exactly.
    high = np.maximum(high, np.maximum(open_, close))
    low = np.minimum(low, np.minimum(open_, close))
    return Bars(symbol, dates, open_, high, low, close, volume, "file")


def _refuse_faults(rows: Rows) -> None:
    """Raise for the first faulty row, by row and then by the order of the checks."""
    figures = rows.figures
    top = np.maximum(np.maximum(figures["open"], figures["close"]), figures["low"])
    bottom = np.minimum(figures["open"], figures["close"])
    prices = [name for name in (*PRICES, "adj_close") if name in figures]
    checks: list[tuple[str, NDArray[np.bool_], Callable[[int], str]]] = [
        (
            "date",
            (rows.dates < FIRST_DATE) | (rows.dates > LAST_DATE) | np.isnat(rows.dates),
            lambda i: f"{rows.dates[i]} is not a date between {FIRST_DATE} and {LAST_DATE} — fix it",
        )
    ]
    for name in (*prices, "volume"):
        column = figures[name]
        checks.append((name, ~np.isfinite(column), _not_a_number))
        if name == "volume":
            wrong = (column < 0) | (column > MAX_VOLUME)
            checks.append((name, wrong, lambda i: f"{figures['volume'][i]:g} is not a volume — fix it"))
        else:
            checks.append((name, (column < MIN_PRICE) | (column > MAX_PRICE), _bad_price(column)))
    if "adj_close" in figures:
        with np.errstate(all="ignore"):
            scaled = figures["high"] / figures["close"] * figures["adj_close"]
            low = figures["low"] / figures["close"] * figures["adj_close"]
        wrong = ~((low >= MIN_PRICE) & (scaled <= MAX_PRICE))
        checks.append(
            ("adj_close", wrong, lambda i: "scales this row's prices beyond reason — fix it or close")
        )
    checks.append(
        (
            "high",
            figures["high"] < top * (1 - ROUNDING),
            lambda i: (
                f"{figures['high'][i]:g} is below another price of the row ({top[i]:g}) — fix one of them"
            ),
        )
    )
    checks.append(
        (
            "low",
            figures["low"] > bottom * (1 + ROUNDING),
            lambda i: (
                f"{figures['low'][i]:g} is above another price of the row ({bottom[i]:g}) — fix one of them"
            ),
        )
    )
    first: tuple[int, str, Callable[[int], str]] | None = None
    for column_name, wrong, say in checks:
        where = int(np.argmax(wrong))
        if wrong[where] and (first is None or where < first[0]):
            first = (where, column_name, say)
    if first is not None:
        where, column_name, say = first
        raise PriceFileError(rows.source, say(where), row=int(rows.numbers[where]), column=column_name)


def _not_a_number(_: int) -> str:
    return "is empty or not a finite number — fill it in or remove the row"


def _bad_price(column: Floats) -> Callable[[int], str]:
    def say(i: int) -> str:
        if column[i] <= 0:
            return f"{column[i]:g} is not a price (it must be above 0) — fix it or remove the row"
        return f"{column[i]:g} is not a plausible price ({MIN_PRICE:g} to {MAX_PRICE:g}) — fix it"

    return say
