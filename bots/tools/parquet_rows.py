"""A Parquet price table into raw columns. Access: read-only."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from moot.bots.tools.bars import Dates, Floats
from moot.bots.tools.errors import PriceFileError
from moot.bots.tools.price_cells import EXCHANGE_ZONE, reason, symbol_of, to_days, to_symbols
from moot.bots.tools.price_rows import ADVICE, FIGURES, Rows, find_columns

MAX_CELLS: Final = 64 * 1024 * 1024
"""Largest table read: a few bytes of Parquet can promise any number of rows."""

UTC_NAMES: Final = frozenset({"UTC", "Etc/UTC", "Z", "+00:00", "GMT"})


def parquet_rows(content: bytes, source: str) -> Rows:
    """Parse a Parquet file; its rows count from 1.

    Args:
        content: Any bytes.
        source: Name of the file, for messages and for a single symbol's name.

    Returns:
        The columns that we use; others are ignored.

    Raises:
        PriceFileError: The only thing that wrong bytes raise.
    """
    # Imported here because it takes longer than all else a society without Parquet files does at its start.
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(io.BytesIO(content))
        names = list(file.schema_arrow.names)
        found = find_columns(source, names)
        if file.metadata.num_rows * len(names) > MAX_CELLS:
            raise PriceFileError(source, f"promises {file.metadata.num_rows} rows — give fewer bars")
        wanted = found.places
        columns = [names[i] for i in wanted.values()]
        table = file.read(columns=columns, use_threads=False).rename_columns(list(wanted))
    except PriceFileError:
        raise
    except (pa.ArrowException, OSError, ValueError, TypeError, KeyError, MemoryError, OverflowError) as exc:
        raise PriceFileError(source, f"is not a readable Parquet file ({reason(exc)}) — {ADVICE}") from exc
    numbers = range(1, table.num_rows + 1)
    figures: dict[str, Floats] = {}
    for name in FIGURES:
        if name in wanted:
            figures[name] = _arrow_figures(table, name, pa, source)
    days = _arrow_days(table, numbers, pa, source)
    symbols: Sequence[str] | str = symbol_of(source)
    if "symbol" in wanted:
        symbols = to_symbols(_arrow_texts(table, "symbol", pa, source), numbers, source)
    return Rows(source, np.array(numbers, dtype=np.int64), days, figures, symbols, found.ignored)


# pyarrow has no types: the table and the module are Any within these three.
def _arrow_figures(table: Any, name: str, pa: Any, source: str) -> Floats:
    kind = table.schema.field(name).type
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
        raise PriceFileError(source, f"holds {kind} instead of numbers — store it as double", column=name)
    try:
        column = table[name].cast(pa.float64(), safe=False)
        return np.asarray(column.to_numpy(), dtype=np.float64)
    except (pa.ArrowException, ValueError, TypeError) as exc:
        raise PriceFileError(
            source, f"cannot be read ({reason(exc)}) — store it as double", column=name
        ) from exc


def _arrow_days(table: Any, numbers: Sequence[int], pa: Any, source: str) -> Dates:
    kind = table.schema.field("date").type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        days = to_days(_arrow_texts(table, "date", pa, source), numbers, source)
        return np.array(days, dtype="datetime64[D]")
    if not (pa.types.is_timestamp(kind) or pa.types.is_date(kind)):
        raise PriceFileError(source, f"holds {kind} instead of dates — store it as date", column="date")
    try:
        column = table["date"]
        if pa.types.is_date64(kind):
            column = column.cast(pa.timestamp("ms"))
        if pa.types.is_timestamp(kind) and kind.tz in UTC_NAMES and _has_times(column, pa):
            column = column.cast(pa.timestamp(kind.unit, EXCHANGE_ZONE))
        if not pa.types.is_date32(kind):
            # A bar belongs to the day its time stamp begins with in its own zone; safe=False drops the time
            # of day.
            column = column.cast(pa.date32(), safe=False)
        return np.asarray(column.to_numpy()).astype("datetime64[D]")
    except (pa.ArrowException, ValueError, TypeError, OverflowError) as exc:
        raise PriceFileError(
            source, f"cannot be read ({reason(exc)}) — store it as date", column="date"
        ) from exc


def _has_times(column: Any, pa: Any) -> bool:
    """Return whether some time stamp is not midnight, so that it names an instant and not a day."""
    import pyarrow.compute as pc

    seconds = pc.cast(pc.cast(column, pa.timestamp("s", "UTC"), safe=False), pa.int64())
    return any(one is not None and one % 86_400 for one in seconds.to_pylist())


def _arrow_texts(table: Any, name: str, pa: Any, source: str) -> list[str]:
    kind = table.schema.field(name).type
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        raise PriceFileError(source, f"holds {kind} instead of text — store it as string", column=name)
    try:
        return ["" if cell is None else cell for cell in table[name].to_pylist()]
    except (pa.ArrowException, ValueError) as exc:
        raise PriceFileError(
            source, f"cannot be read ({reason(exc)}) — store it as string", column=name
        ) from exc
