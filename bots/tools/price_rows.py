"""Raw price columns into checked bars; the first fault becomes one clear line. Access: read-only."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from moot.bots.tools.bars import Bars, Dates, Floats
from moot.bots.tools.errors import PriceFileError

REQUIRED: Final = ("date", "open", "high", "low", "close", "volume")
PRICES: Final = ("open", "high", "low", "close")
FIGURES: Final[tuple[str, ...]] = (*PRICES, "volume", "adj_close")

ALIASES: Final[Mapping[str, tuple[str, ...]]] = {
    "date": ("datetime", "timestamp", "time", "trade_date", "trading_day", "trading_date"),
    "open": ("open_price", "opening_price"),
    "high": ("high_price", "max"),
    "low": ("low_price", "min"),
    "close": ("close_price", "closing_price", "close_last", "last", "price"),
    "volume": ("vol", "total_volume", "trade_volume", "share_volume"),
    "adj_close": (
        "adjclose",
        "adjusted_close",
        "adjustedclose",
        "close_adj",
        "close_adjusted",
        "closeadj",
        "adj_close_price",
        "adjusted_close_price",
        "adj_closing_price",
        "adjusted_closing_price",
        "adjusted_price",
        "adj_price",
    ),
    "symbol": ("ticker", "tic", "sym", "instrument", "stock", "asset", "security", "code", "name"),
}
"""Usual names of each column, as `normalized` writes them; the first that a file has is used."""

ADVICE: Final = "give a CSV or Parquet file with the columns date, open, high, low, close, volume"

MIN_PRICE: Final = 1e-9
MAX_PRICE: Final = 1e12
"""Beyond these a figure is a typing error or an overflow, not a price."""

MAX_VOLUME: Final = 1e18

MAX_JUMP: Final = 3.0
"""Largest factor between two closes that is not worth a warning."""

MAX_GAP_DAYS: Final = 7
"""Most calendar days between two bars that are not worth a warning."""

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
        ignored: Columns that are not used, as the file names them.
        notes: What a user should know of how cells were read.
    """

    source: str
    numbers: NDArray[np.int64]
    dates: Dates
    figures: Mapping[str, Floats]
    symbols: Sequence[str] | str
    ignored: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Columns:
    """Positions of the columns that are used, and the names of the others.

    Attributes:
        places: Index of each used column, by its canonical name.
        ignored: Names of the other columns as the file writes them.
    """

    places: Mapping[str, int]
    ignored: tuple[str, ...]


def find_columns(source: str, header: Sequence[str]) -> Columns:
    """Find the columns that are used, by any of their usual names (``ALIASES``).

    Args:
        source: Name of the file, for messages.
        header: Column names as the file writes them.

    Raises:
        PriceFileError: A column is missing, or a used one is there twice.
    """
    names = [normalized(name) for name in header]
    places: dict[str, int] = {}
    for canonical, aliases in ALIASES.items():
        name = next((one for one in (canonical, *aliases) if one in names), None)
        if name is None:
            continue
        if names.count(name) > 1:
            raise PriceFileError(source, f"column '{name}' is there twice — remove one")
        places[canonical] = names.index(name)
    if missing := [name for name in REQUIRED if name not in places]:
        found = ", ".join(repr(name[:40]) for name in names[:12] if name) or "none"
        raise PriceFileError(
            source,
            f"column '{missing[0]}' is missing (found: {found}) — fix the header: "
            "date, open, high, low, close[, adj_close], volume[, symbol]",
        )
    used = set(places.values())
    ignored = tuple(name.strip() for at, name in enumerate(header) if at not in used and name.strip())
    return Columns(places, ignored)


def normalized(name: str) -> str:
    """Return a column name as we write it: ``"Adj Close**"`` and ``"adjClose"`` become ``"adj_close"``."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name).lower()
    parts = re.sub(r"[^\w]+|_", " ", words).split()
    # Some vendors number their columns: "5. adjusted close".
    return "_".join(parts[1:] if len(parts) > 1 and parts[0].isdigit() else parts)


def notes(rows: Rows, bars: Sequence[Bars]) -> list[str]:
    """Return what a user should know of a table that is used, a line each."""
    found = []
    if rows.ignored:
        shown = ", ".join(repr(name[:40]) for name in rows.ignored[:12])
        more = f" and {len(rows.ignored) - 12} more" if len(rows.ignored) > 12 else ""
        found.append(f"ignored columns: {shown}{more}")
    found += rows.notes
    found += _each(bars, _weekend_bars, "on a weekend: {first}, so every day counts as a session")
    found += _each(
        bars,
        _jumps,
        f"whose close moves by more than a factor of {MAX_JUMP:g}: {{first}}, an unadjusted split?",
    )
    found += _each(bars, _gaps, f"after a gap of more than {MAX_GAP_DAYS} days: {{first}}")
    return [f"{rows.source}: {line}" for line in found]


def _each(bars: Sequence[Bars], find: Callable[[Bars], NDArray[np.intp]], text: str) -> list[str]:
    places = [(one, find(one)) for one in bars]
    count = sum(len(at) for _, at in places)
    if not count:
        return []
    one, at = next(place for place in places if len(place[1]))
    first = (
        f"first {one.dates[at[0]]} of {one.symbol}" if count > 1 else f"{one.dates[at[0]]} of {one.symbol}"
    )
    return [f"{count} {'bar' if count == 1 else 'bars'} {text.format(first=first)}"]


def _weekend_bars(bars: Bars) -> NDArray[np.intp]:
    # 1970-01-01 was a Thursday.
    return np.flatnonzero((bars.dates.astype(np.int64) + 3) % 7 >= 5)


def _jumps(bars: Bars) -> NDArray[np.intp]:
    ratio = bars.close[1:] / bars.close[:-1]
    return np.flatnonzero((ratio > MAX_JUMP) | (ratio < 1 / MAX_JUMP)) + 1


def _gaps(bars: Bars) -> NDArray[np.intp]:
    return np.flatnonzero(np.diff(bars.dates).astype(np.int64) > MAX_GAP_DAYS) + 1


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
