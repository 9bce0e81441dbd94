"""Price files, CSV or Parquet, into bars. Access: read-only."""

from __future__ import annotations

import gzip
import io
import warnings
import zlib
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from typing import Final

from moot.bots.tools.bars import Bars
from moot.bots.tools.csv_rows import csv_rows
from moot.bots.tools.errors import PriceFileError, PriceFileWarning
from moot.bots.tools.parquet_rows import parquet_rows
from moot.bots.tools.price_cells import reason, shown
from moot.bots.tools.price_rows import ADVICE, Rows, notes, to_bars

MAX_BYTES: Final = 256 * 1024 * 1024
"""Largest file read, also after decompression: daily prices never need more, a zip bomb does."""


def read_price_file(path: Path) -> list[Bars]:
    """Read a CSV (plain or gzip) or Parquet file of daily bars.

    The content decides the format, not the name. Columns may have any of their usual names (``ALIASES``); one symbol
    needs no ``symbol`` column (it is then named after the file), several do. What a user should know of the file, such
    as ignored columns and jumps, is a ``PriceFileWarning`` each.

    Args:
        path: The file.

    Returns:
        Bars sorted by symbol, labelled ``file``.

    Raises:
        PriceFileError: The file cannot be read or holds something else; one line names the row and column.
    """
    source = path.name or str(path)
    try:
        status = path.stat()
        if not (S_ISREG(status.st_mode) or S_ISDIR(status.st_mode)):
            raise PriceFileError(source, f"is not a regular file — {ADVICE}")
        if status.st_size > MAX_BYTES:
            raise PriceFileError(source, f"is larger than {MAX_BYTES // 2**20} MiB — give fewer bars")
        content = path.read_bytes()
    except FileNotFoundError as exc:
        raise PriceFileError(source, f"no such file ({shown(str(path))}) — {ADVICE}") from exc
    except IsADirectoryError as exc:
        raise PriceFileError(source, f"is a directory — {ADVICE}") from exc
    except (OSError, ValueError) as exc:  # ValueError: a NUL byte in the path
        raise PriceFileError(source, f"cannot be read ({reason(exc)}) — {ADVICE}") from exc
    return parse_prices(content, source)


def parse_prices(content: bytes, source: str) -> list[Bars]:
    """Parse the content of a price file.

    Args:
        content: Any bytes.
        source: Name of the file, for messages and for a single symbol's name.

    Returns:
        Bars sorted by symbol, labelled ``file``.

    Raises:
        PriceFileError: The only thing that wrong bytes raise.
    """
    if content.startswith(b"\x1f\x8b"):
        content = _gunzip(content, source)
    if content.startswith(b"PAR1"):
        return _noted(parquet_rows(content, source))
    if source.lower().endswith((".parquet", ".pq")):
        raise PriceFileError(source, f"is not a Parquet file (it does not begin with PAR1) — {ADVICE}")
    return _noted(csv_rows(content, source))


def _noted(rows: Rows) -> list[Bars]:
    bars = to_bars(rows)
    for line in notes(rows, bars):
        warnings.warn(line, PriceFileWarning, stacklevel=3)
    return bars


def _gunzip(content: bytes, source: str) -> bytes:
    try:
        with gzip.open(io.BytesIO(content)) as stream:
            plain = stream.read(MAX_BYTES + 1)
    except (OSError, EOFError, zlib.error) as exc:
        raise PriceFileError(source, f"is damaged gzip ({reason(exc)}) — compress it anew") from exc
    if len(plain) > MAX_BYTES:
        raise PriceFileError(source, f"unpacks to more than {MAX_BYTES // 2**20} MiB — give fewer bars")
    return plain
