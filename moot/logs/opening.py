"""Telling apart what a user may name as a log."""

from __future__ import annotations

import gzip
import sys
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO, Final, cast

from moot.channels.log.file import LOG_NAME
from moot.logs.database import Database
from moot.logs.errors import LogError
from moot.logs.jsonlines import JsonLines
from moot.logs.source import STDIN, Kind, LogSource

_SQLITE: Final = b"SQLite format 3\x00"
_GZIP: Final = b"\x1f\x8b"
_NEEDS: Final = "give a data directory, a .jsonl file or - for the standard input"


def open_log(path: Path | str) -> LogSource:
    """Open a log for reading; what it holds decides what it is, not its name.

    Args:
        path: A data directory (K24), a file of JSON Lines, plain or gzip, a `log.sqlite`, or `-`.

    Returns:
        A source to be closed.

    Raises:
        LogError: There is nothing, or it is no log; one line says what and what to do.
    """
    name = str(path)
    if name == STDIN:
        return _stream("standard input", "stdin", cast("BufferedReader", sys.stdin.buffer))
    place = Path(path)
    try:
        if place.is_dir():
            return Database.open(name, place / LOG_NAME)
        stream = place.open("rb")
    except FileNotFoundError as exc:
        raise LogError(name, f"there is no such file or directory: {_NEEDS}") from exc
    except (OSError, ValueError) as exc:
        why = exc.strerror if isinstance(exc, OSError) and exc.strerror else exc
        raise LogError(name, f"cannot be opened: {why}") from exc
    try:
        return _file(name, place, stream)
    except OSError as exc:
        stream.close()
        raise LogError(name, f"cannot be read: {exc.strerror or exc}") from exc
    except BaseException:
        stream.close()
        raise


def _file(name: str, place: Path, stream: BufferedReader) -> LogSource:
    if stream.peek(len(_SQLITE))[: len(_SQLITE)] == _SQLITE:
        stream.close()
        return Database.open(name, place)
    return _stream(name, "file", stream)


def _stream(name: str, kind: Kind, stream: BufferedReader) -> LogSource:
    """Take a stream of JSON Lines, unpacking gzip; refuse at once what cannot be one."""
    start = stream.peek(len(_SQLITE))[: len(_SQLITE)]
    if start.startswith(_GZIP):
        return JsonLines(name, kind, cast("BinaryIO", gzip.GzipFile(fileobj=stream)), below=stream)
    if start.strip() and not start.lstrip().startswith(b"{"):
        raise LogError(name, f"is no Moot log, whose lines begin with {{: {_NEEDS}")
    return JsonLines(name, kind, stream)
