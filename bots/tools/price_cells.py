"""Single cells of a price table: dates, numbers and symbols from a user's text. Access: read-only."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import date, datetime, time, timedelta
from typing import Final
from zoneinfo import ZoneInfo

import numpy as np

from moot.bots.tools.bars import Floats
from moot.bots.tools.errors import PriceFileError

MAX_SYMBOL_LENGTH: Final = 32

EXCHANGE_ZONE: Final = "America/New_York"
"""Time zone of the sessions that the desk trades in (R-D18)."""


def decimal_mark(columns: Iterable[Sequence[str]]) -> str:
    """Return the decimal mark of a table, "." or ","; "" if its cells leave it open.

    A cell with both marks, or with one that does not stand before groups of three digits, decides.
    """
    votes = {vote for column in columns for cell in column if (vote := _vote(cell))}
    return next(iter(votes)) if len(votes) == 1 else ("?" if votes else "")


def grouped_note(columns: Iterable[Sequence[str]], decimal: str) -> str:
    """Return a line that says how grouped numbers were read, "" without one."""
    for column in columns:
        for cell in column:
            if (number := plain_number(cell, decimal)) is not None and number != cell.strip():
                return (
                    f"numbers are written with separators or units: {shown(cell.strip())} is read as {number}"
                )
    return ""


def plain_number(cell: str, decimal: str) -> str | None:
    """Return a number as Python reads it; None if it is none, or can be read in two ways.

    Args:
        cell: The text, such as "1,234.56", "1.234,56", "$12", "1 234" or "3.4M".
        decimal: The table's decimal mark, as `decimal_mark` found it.
    """
    text = _bare(cell)
    unit = _UNITS.get(text[-1:].upper(), 0) if text[:1].isdigit() or text[:1] in "+-." else 0
    text = text[:-1] if unit else text
    if "," in text:
        if decimal == ",":
            text = text.replace(".", "").replace(",", ".")
        elif decimal == "." or (not decimal and text.count(",") > 1 and _GROUPED.fullmatch(text)):
            text = text.replace(",", "")
        else:
            return None
    elif decimal == "," and "." in text:
        text = text.replace(".", "")
    try:
        float(text)
    except ValueError:
        return None
    return f"{float(text) * 10**unit:.10g}" if unit else text


def _vote(cell: str) -> str:
    """Return the decimal mark that a cell shows, "" if it shows none."""
    text = _bare(cell).rstrip("kKmMbB")
    comma, point = text.rfind(","), text.rfind(".")
    if comma < 0 and point < 0:
        return ""
    if comma >= 0 and point >= 0:
        return "," if comma > point else "."
    mark = "," if comma >= 0 else "."
    if text.count(mark) > 1:
        return "." if mark == "," else ","
    if mark == "." or not _GROUPED.fullmatch(text):
        return mark
    return ""


def _bare(cell: str) -> str:
    text = "".join(c for c in cell.strip() if c not in _BLANKS)
    return text[1:] if text[:1] in _SIGNS else text


_GROUPED: Final = re.compile(r"[+-]?\d{1,3}(?:,\d{3})+")
_BLANKS: Final = " '\u00a0\u2009\u202f\u2019"
"""Thousands separators besides comma and point."""
_SIGNS: Final = "$€£"
_UNITS: Final = {"K": 3, "M": 6, "B": 9}
"""Powers of ten by the letter behind a number."""


def to_numbers(
    cells: Sequence[str], numbers: Sequence[int], column: str, source: str, decimal: str = "."
) -> Floats:
    """Parse a column of numbers.

    Args:
        cells: Texts, shape (rows,).
        numbers: Row numbers, for messages.
        column: Name of the column, for messages.
        source: Name of the file, for messages.
        decimal: The table's decimal mark, as `decimal_mark` found it.

    Returns:
        Floats, shape (rows,); NaN and infinity pass here and are refused with the rows.

    Raises:
        PriceFileError: Names the first cell that is not a number, or can be read in two ways.
    """
    if decimal != ",":
        try:
            return np.array([float(cell) for cell in cells], dtype=np.float64)
        except ValueError:
            pass
    # Shares are whole, so that a comma in their number separates thousands.
    mark = "." if column == "volume" and not decimal else decimal
    found = []
    for cell, number in zip(cells, numbers, strict=True):
        text = plain_number(cell, mark)
        if text is None:
            raise PriceFileError(source, _no_number(cell, decimal), row=number, column=column)
        found.append(float(text))
    return np.array(found, dtype=np.float64)


def _no_number(cell: str, decimal: str) -> str:
    if not cell.strip():
        return "is empty — fix it or remove the row"
    if "," in cell and any(c.isdigit() for c in cell):
        why = "the file writes decimals in two ways" if decimal == "?" else "it can be read in two ways"
        return f"{shown(cell)} is not clear, {why} — write numbers without thousands separators"
    return f"{shown(cell)} is not a number — fix it or remove the row"


def to_days(cells: Sequence[str], numbers: Sequence[int], source: str) -> list[date]:
    """Parse a column of dates written YYYY-MM-DD, or of time stamps, of which the day at the exchange counts.

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
        if (day := _day_of_instant(text)) is not None:
            return day
        text = text[:10]
    try:
        if len(text) != 10 or text[4] != "-" or text[7] != "-":  # fromisoformat also takes 2026-W09-1
            raise ValueError(text)
        return date.fromisoformat(text)
    except ValueError:
        problem = f"{shown(cell)} is not a date — write it as YYYY-MM-DD"
        raise PriceFileError(source, problem, row=number, column="date") from None


def _day_of_instant(text: str) -> date | None:
    """Return the session of a time stamp in UTC that is not midnight: its day where the exchange is; else None.

    A stamp at midnight names a day, and one with another offset is written in the exchange's own time.
    """
    try:
        instant = datetime.fromisoformat(text)
    except ValueError:
        return None
    if instant.utcoffset() != timedelta(0) or instant.time() == time(0):
        return None
    return instant.astimezone(ZoneInfo(EXCHANGE_ZONE)).date()
