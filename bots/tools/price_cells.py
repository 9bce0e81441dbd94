"""Single cells of a price table: dates, numbers and symbols from a user's text. Access: read-only."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Final

import numpy as np

from moot.bots.tools.bars import Floats
from moot.bots.tools.errors import PriceFileError

MAX_SYMBOL_LENGTH: Final = 32


def to_numbers(cells: Sequence[str], numbers: Sequence[int], column: str, source: str) -> Floats:
    """Parse a column of numbers.

    Args:
        cells: Texts, shape (rows,).
        numbers: Row numbers, for messages.
        column: Name of the column, for messages.
        source: Name of the file, for messages.

    Returns:
        Floats, shape (rows,); NaN and infinity pass here and are refused with the rows.

    Raises:
        PriceFileError: Names the first cell that is not a number.
    """
    try:
        return np.array([float(cell) for cell in cells], dtype=np.float64)
    except ValueError:
        for cell, number in zip(cells, numbers, strict=True):
            try:
                float(cell)
            except ValueError:
                said = f"{shown(cell)} is not a number" if cell.strip() else "is empty"
                problem = f"{said} — fix it or remove the row"
                raise PriceFileError(source, problem, row=number, column=column) from None
        raise


def to_days(cells: Sequence[str], numbers: Sequence[int], source: str) -> list[date]:
    """Parse a column of dates written YYYY-MM-DD; a time of day behind one is dropped.

    Raises:
        PriceFileError: Names the first cell that is not a date.
    """
    return [_to_day(cell, number, source) for cell, number in zip(cells, numbers, strict=True)]


def to_symbols(cells: Sequence[str], numbers: Sequence[int], source: str) -> list[str]:
    """Strip a column of symbols.

    Raises:
        PriceFileError: Names the first cell that is empty, too long or not printable.
    """
    names = [cell.strip() for cell in cells]
    wrong = {name for name in set(names) if not _is_symbol(name)}
    if wrong:
        at = next(i for i, name in enumerate(names) if name in wrong)
        legal = f"1 to {MAX_SYMBOL_LENGTH} printable characters"
        problem = f"{shown(cells[at])} is not a symbol ({legal}) — fix it"
        raise PriceFileError(source, problem, row=numbers[at], column="symbol")
    return names


def symbol_of(source: str) -> str:
    """Name the single symbol of a file after it: ``spy.csv.gz`` holds ``spy``."""
    stem = source.split(".", 1)[0].strip()
    return stem if _is_symbol(stem) else "PRICES"


def shown(cell: str) -> str:
    """Quote a user's text on one line, cut and with control characters escaped."""
    return repr(cell if len(cell) <= 40 else cell[:39] + "…")


def reason(exc: BaseException) -> str:
    """Say a driver's error in one short line."""
    text = getattr(exc, "strerror", None) or str(exc) or type(exc).__name__
    return " ".join(str(text).split())[:120]


def _is_symbol(name: str) -> bool:
    return 0 < len(name) <= MAX_SYMBOL_LENGTH and name.isprintable()


def _to_day(cell: str, number: int, source: str) -> date:
    text = cell.strip()
    if len(text) > 10 and text[10] in "T ":
        text = text[:10]
    try:
        if len(text) != 10 or text[4] != "-" or text[7] != "-":  # fromisoformat also takes 2026-W09-1
            raise ValueError(text)
        return date.fromisoformat(text)
    except ValueError:
        problem = f"{shown(cell)} is not a date — write it as YYYY-MM-DD"
        raise PriceFileError(source, problem, row=number, column="date") from None
