"""The user's own 15-minute bars, checked against the sessions and the daily bars (R-M3). Access: read-only."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from moot.bots.desk.quarters import QUARTER, Quarter, quarters_of
from moot.bots.tools.bars import Bars
from moot.bots.tools.errors import PriceFileError
from moot.bots.tools.price_cells import reason, shown, symbol_of
from moot.bots.tools.price_files import MAX_BYTES
from moot.bots.tools.price_rows import LAST_DATE, MAX_PRICE, normalized
from moot.bots.tools.universe import Universe
from moot.protocols.trading.hours import NEW_YORK, day_in_new_york, session_on

COLUMNS: Final = ("timestamp", "open", "high", "low", "close", "volume")
SYMBOL: Final = "symbol"
ADVICE: Final = "give a CSV or Parquet file with the columns timestamp, open, high, low, close, volume"

FIRST_DATE: Final = np.datetime64("1900-01-01", "D")

JUMP: Final = 0.25
"""A price that differs by more than this from what the daily bars say was split, or is another symbol's."""


class _Row(NamedTuple):
    """A row of the file: its number as an editor counts it, its symbol, its bar."""

    number: int
    symbol: str
    bar: Quarter


class Intraday:
    """15-minute bars by symbol and day, at the dates at which a society sees them."""

    def __init__(self, days: Mapping[tuple[str, date], tuple[Quarter, ...]]) -> None:
        """Take bars that were checked, see `read_intraday`."""
        self._days = days

    def day(self, symbol: str, day: date) -> tuple[Quarter, ...]:
        """Return the bars of a symbol on a day, oldest first; none where the file lacks it."""
        return self._days.get((symbol, day), ())


def read_intraday(path: Path, universe: Universe) -> Intraday:
    """Read and check a file of 15-minute bars.

    Timestamps are starts of bars and name their zone. Rows of one symbol are in the order of time, and a day that is
    there at all is there from open to close. Dates move by as many weeks as the daily bars did (R-M2).

    Args:
        path: A CSV or Parquet file; without a `symbol` column it is the universe's only symbol, or the file's name.
        universe: The daily bars, shifted.

    Returns:
        The bars.

    Raises:
        PriceFileError: It cannot be read, or a row is wrong; one line names row and column.
    """
    source = path.name or str(path)
    try:
        if path.stat().st_size > MAX_BYTES:
            raise PriceFileError(source, f"is larger than {MAX_BYTES // 2**20} MiB — give fewer bars")
        content = path.read_bytes()
    except (OSError, ValueError) as exc:
        raise PriceFileError(source, f"cannot be read ({reason(exc)}) — {ADVICE}") from exc
    table = _parquet(content, source) if content.startswith(b"PAR1") else _csv(content, source)
    only = universe.symbols[0] if len(universe.symbols) == 1 else symbol_of(source)
    rows = _checked(table, source, only)
    if not rows:
        raise PriceFileError(source, f"holds no bars — {ADVICE}")
    days = _by_day(rows, source)
    for symbol in dict.fromkeys(symbol for symbol, _ in days):
        daily = universe.bars.get(symbol)
        if daily is None:
            first = next(row for row in rows if row.symbol == symbol)
            problem = f"{shown(symbol)} has no daily prices ({', '.join(universe.symbols[:12])}) — name one of these"
            raise PriceFileError(source, problem, row=first.number, column=SYMBOL)
        own = [(day, found) for (owner, day), found in days.items() if owner == symbol]
        _check_splits(own, daily.moved(-7 * universe.shift_weeks), source)
    shift = timedelta(weeks=universe.shift_weeks)
    return Intraday(
        {
            (symbol, day + shift): tuple(_moved(row.bar, day, shift) for row in found)
            for (symbol, day), found in days.items()
        }
    )


def _moved(bar: Quarter, day: date, shift: timedelta) -> Quarter:
    """Move a bar by whole weeks of New York time, so that it stays at its place in the session."""
    local = bar.starts_at.astimezone(NEW_YORK)
    moved = datetime.combine(day + shift, local.time(), NEW_YORK)
    return bar._replace(starts_at=moved.astimezone(UTC))


# ---------------------------------------------------------------- reading


class _Table(NamedTuple):
    """Raw cells by column, with the row numbers that an editor shows."""

    numbers: Sequence[int]
    cells: Mapping[str, Sequence[Any]]


def _named(names: Sequence[str], source: str) -> None:
    missing = [name for name in COLUMNS if name not in names]
    if missing:
        raise PriceFileError(source, f"column '{missing[0]}' is missing — {ADVICE}[, symbol]")


def _csv(content: bytes, source: str) -> _Table:
    try:
        reader = csv.reader(io.StringIO(content.decode("utf-8-sig"), newline=""))
        header = [normalized(name) for name in next(reader, [])]
        _named(header, source)
        numbers: list[int] = []
        lines: list[list[str]] = []
        for line in reader:
            if not line:
                continue
            if len(line) != len(header):
                problem = f"holds {len(line)} cells instead of {len(header)} — fix the row"
                raise PriceFileError(source, problem, row=reader.line_num)
            numbers.append(reader.line_num)
            lines.append(line)
    except (UnicodeDecodeError, csv.Error) as exc:
        raise PriceFileError(source, f"is not CSV in UTF-8 ({reason(exc)}) — {ADVICE}") from exc
    return _Table(numbers, {name: [line[at] for line in lines] for at, name in enumerate(header)})


def _parquet(content: bytes, source: str) -> _Table:
    # Imported here because it takes longer than all else a society without Parquet files does at its start.
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(io.BytesIO(content), use_threads=False)
        names = [normalized(name) for name in table.schema.names]
        _named(names, source)
        cells = {
            name: table.column(at).to_pylist()
            for at, name in enumerate(names)
            if name in COLUMNS or name == SYMBOL
        }
    except (pa.ArrowException, OSError, ValueError, TypeError, MemoryError) as exc:
        raise PriceFileError(source, f"is not a readable Parquet file ({reason(exc)}) — {ADVICE}") from exc
    return _Table(range(1, table.num_rows + 1), cells)


# ---------------------------------------------------------------- checking


def _checked(table: _Table, source: str, only: str) -> list[_Row]:
    """Turn raw cells into bars that are legal each by itself."""
    names = table.cells.get(SYMBOL)
    rows = []
    for at, number in enumerate(table.numbers):
        stamp = _instant(table.cells["timestamp"][at], number, source)
        figures = [_number(table.cells[name][at], number, name, source) for name in COLUMNS[1:]]
        bar = Quarter(stamp, *figures)
        for name in ("open", "high", "low", "close"):
            price = getattr(bar, name)
            if not 0.0 < price <= MAX_PRICE:
                problem = f"{price:g} is not a price (it must be above 0) — fix it or remove the day"
                raise PriceFileError(source, problem, row=number, column=name)
        if bar.volume < 0.0:
            raise PriceFileError(
                source, f"{bar.volume:g} is not a volume — fix it", row=number, column="volume"
            )
        if bar.high < max(bar.open, bar.low, bar.close):
            problem = f"{bar.high:g} is below another price of the row — fix one of them"
            raise PriceFileError(source, problem, row=number, column="high")
        if bar.low > min(bar.open, bar.close):
            problem = f"{bar.low:g} is above another price of the row — fix one of them"
            raise PriceFileError(source, problem, row=number, column="low")
        rows.append(_Row(number, str(names[at] or "").strip() if names is not None else only, bar))
    return rows


def _instant(cell: Any, number: int, source: str) -> datetime:
    try:
        found = cell if isinstance(cell, datetime) else datetime.fromisoformat(str(cell).strip())
    except ValueError:
        problem = f"{shown(str(cell))} is not an instant — write it as 2018-12-31T14:30:00Z"
        raise PriceFileError(source, problem, row=number, column="timestamp") from None
    if found.tzinfo is None:
        problem = f"{shown(str(cell))} names no zone — write it as 2018-12-31T14:30:00Z"
        raise PriceFileError(source, problem, row=number, column="timestamp")
    return found.astimezone(UTC)


def _number(cell: Any, number: int, column: str, source: str) -> float:
    try:
        found = float(cell)
    except (TypeError, ValueError):
        found = math.nan
    if not math.isfinite(found):
        problem = f"{shown(str(cell))} is not a finite number — fix it or remove the day"
        raise PriceFileError(source, problem, row=number, column=column)
    return found


def _by_day(rows: Sequence[_Row], source: str) -> dict[tuple[str, date], list[_Row]]:
    """Sort bars into days of a symbol; each bar must be the next of its day, and each day whole."""
    days: dict[tuple[str, date], list[_Row]] = {}
    last: dict[str, _Row] = {}

    def refuse(row: _Row, problem: str) -> PriceFileError:
        return PriceFileError(source, problem, row=row.number, column="timestamp")

    for row in rows:
        before, at = last.get(row.symbol), row.bar.starts_at
        if before is not None and at == before.bar.starts_at:
            raise refuse(row, f"the bar of {at:%Y-%m-%d %H:%M} UTC is there twice — remove one")
        if before is not None and at < before.bar.starts_at:
            raise refuse(row, "is earlier than the row before it — sort the bars by time")
        if not FIRST_DATE.item() < at.date() < LAST_DATE.item():
            raise refuse(row, f"{at:%Y-%m-%d} is not a day between {FIRST_DATE} and {LAST_DATE} — fix it")
        day = day_in_new_york(at)
        hours = session_on(day)
        if hours is None:
            raise refuse(row, f"the exchange was closed on {day} — remove the row")
        found = days.setdefault((row.symbol, day), [])
        expected = hours.opens_at + len(found) * QUARTER
        if before is not None and not found:
            _check_whole(days, before, refuse)
        if at != expected:
            raise refuse(row, f"the bar of {expected:%Y-%m-%d %H:%M} UTC is missing before it — fill the gap")
        if at >= hours.closes_at:
            raise refuse(row, f"the exchange closed at {hours.closes_at:%H:%M} UTC — remove the row")
        found.append(row)
        last[row.symbol] = row
    for row in last.values():
        _check_whole(days, row, refuse)
    return days


def _check_whole(days: Mapping[tuple[str, date], Sequence[_Row]], last: _Row, refuse: Any) -> None:
    """Check that a day goes on to the close.

    Raises:
        PriceFileError: It ends early.
    """
    day = day_in_new_york(last.bar.starts_at)
    hours = session_on(day)
    assert hours is not None
    count = len(days[last.symbol, day])
    if count < quarters_of(hours):
        missing = hours.opens_at + count * QUARTER
        raise refuse(last, f"the bar of {missing:%Y-%m-%d %H:%M} UTC is missing after it — fill the gap")


def _check_splits(days: Sequence[tuple[date, Sequence[_Row]]], daily: Bars, source: str) -> None:
    """Hold every day against the daily bars: no jump that they lack, and their own height.

    Raises:
        PriceFileError: A price jumps overnight where the daily bars do not, or is on another scale.
    """
    index = {day: at for at, day in enumerate(daily.dates.tolist())}
    before: tuple[_Row, int] | None = None
    for day, rows in days:
        at = index.get(day)
        if at is None:
            problem = f"the daily prices have no {day} — remove the day, or give its daily bar"
            raise PriceFileError(source, problem, row=rows[0].number, column="timestamp")
        if before is not None:
            jump = rows[0].bar.open / before[0].bar.close
            known = float(daily.open[at] / daily.close[before[1]])
            if _differ(jump, known):
                problem = (
                    f"the price jumps to {jump:.3g} times the close before, in the daily prices to {known:.3g} times: "
                    "a split? — adjust the bars before it"
                )
                raise PriceFileError(source, problem, row=rows[0].number, column="open")
        top, bottom = float(daily.high[at]), float(daily.low[at])
        for row in rows:
            is_above = row.bar.high > top * (1.0 + JUMP)
            if is_above or row.bar.low < bottom / (1.0 + JUMP):
                name, price, bound = ("high", row.bar.high, top) if is_above else ("low", row.bar.low, bottom)
                problem = (
                    f"{price:g} is far from the day's {name} of {bound:g} in the daily bars — adjust it alike"
                )
                raise PriceFileError(source, problem, row=row.number, column=name)
        before = rows[-1], at


def _differ(one: float, other: float) -> bool:
    return abs(math.log(one / other)) > math.log(1.0 + JUMP)
