"""A CSV price table into raw columns. Access: read-only."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from datetime import date

import numpy as np

from moot.bots.tools.bars import Floats
from moot.bots.tools.errors import PriceFileError
from moot.bots.tools.price_cells import (
    decimal_mark,
    grouped_note,
    reason,
    symbol_of,
    to_days,
    to_numbers,
    to_symbols,
)
from moot.bots.tools.price_rows import ADVICE, FIGURES, Rows, find_columns


def csv_rows(content: bytes, source: str) -> Rows:
    """Parse comma-, semicolon- or tab-separated text with a header row.

    Args:
        content: Any bytes; UTF-8, with or without a byte order mark.
        source: Name of the file, for messages and for a single symbol's name.

    Returns:
        The columns that we use; others are ignored.

    Raises:
        PriceFileError: The only thing that wrong bytes raise.
    """
    if b"\x00" in content[:4096]:
        raise PriceFileError(source, f"is a binary file — {ADVICE}")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as exc:
        line = content[: exc.start].count(b"\n") + 1
        raise PriceFileError(source, "is not UTF-8 text — save the file as UTF-8", row=line) from exc
    first_line = text.split("\n", 1)[0]
    delimiter = max(",;\t", key=first_line.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        header = next(reader, [])
        if not any(name.strip() for name in header):
            raise PriceFileError(source, f"is empty — {ADVICE}")
        found = find_columns(source, header)
        numbers: list[int] = []
        cells: list[list[str]] = []
        for record in reader:
            if not record:
                continue
            if len(record) != len(header):
                problem = f"holds {len(record)} cells instead of {len(header)} — fix the row"
                raise PriceFileError(source, problem, row=reader.line_num)
            numbers.append(reader.line_num)
            cells.append(record)
    except csv.Error as exc:
        problem = f"is not CSV ({reason(exc)}) — fix the row"
        raise PriceFileError(source, problem, row=reader.line_num) from exc
    columns = list(zip(*cells, strict=True)) if cells else [() for _ in header]
    table = {name: columns[at] for name, at in found.places.items()}
    figures: dict[str, Floats] = {}
    symbols: Sequence[str] | str = symbol_of(source)
    days: list[date] = []
    faults: list[PriceFileError] = []
    try:
        days = to_days(table["date"], numbers, source)
    except PriceFileError as fault:
        faults.append(fault)
    written = {name: table[name] for name in FIGURES if name in table}
    decimal = decimal_mark(written.values())
    for name, texts in written.items():
        try:
            figures[name] = to_numbers(texts, numbers, name, source, decimal)
        except PriceFileError as fault:
            faults.append(fault)
    try:
        if "symbol" in table:
            symbols = to_symbols(table["symbol"], numbers, source)
    except PriceFileError as fault:
        faults.append(fault)
    if faults:
        # Columns are parsed one after the other, but people mend a file from the top.
        raise min(faults, key=lambda fault: fault.row or 0)
    told = grouped_note(written.values(), decimal)
    return Rows(
        source,
        np.array(numbers, dtype=np.int64),
        np.array(days, "datetime64[D]"),
        figures,
        symbols,
        found.ignored,
        (told,) if told else (),
    )
