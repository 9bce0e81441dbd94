"""How files of a run are written: whole or not at all, or line by line, each line whole."""

from __future__ import annotations

import errno
import json
import os
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final

from moot.protocols.arbiter.hashes import ecma_json, whole_numbers
from moot.protocols.arbiter.record import Record


def line_of(record: Record) -> bytes:
    """Return a record as a line of JSON.

    What Unicode calls a line end is escaped, so that everybody's lines end where ours do.
    """
    line = record.__pydantic_serializer__.to_json(record)
    if not line.isascii():
        for end, escaped in _LINE_ENDS:
            line = line.replace(end, escaped)
    return line + b"\n"


def _ecma_line(record: Record) -> bytes:
    line = line_of(record)
    if not _EXPONENT.search(line):
        return line
    text = ecma_json(json.loads(line), key=None)
    for end, escaped in _LINE_ENDS:
        text = text.replace(end.decode(), escaped.decode())
    return f"{text}\n".encode()


_EXPONENT: Final = re.compile(rb"\de[-+]?\d")
"""How numbers look that programs write differently; it may also stand in a text."""

_LINE_ENDS: Final = tuple((end.encode(), f"\\u{ord(end):04x}".encode()) for end in "\u0085\u2028\u2029")


def write_json(path: Path, value: Record | dict[str, Any]) -> None:
    """Write a file of one JSON document, indented by two, whole numbers as such.

    Raises:
        OSError: It cannot be written; what was there is still there.
    """
    found = value.as_json() if isinstance(value, Record) else value
    write_text(path, json.dumps(whole_numbers(found), ensure_ascii=False, indent=2) + "\n")


def write_lines(path: Path, records: Iterable[Record]) -> None:
    """Write a file of lines that are all known, numbers as ECMAScript writes them: a plan is the same whoever draws it.

    Raises:
        OSError: It cannot be written; what was there is still there.
    """

    def write(part: Path) -> None:
        with part.open("wb") as file:
            file.writelines(map(_ecma_line, records))

    write_whole(path, write)


def write_text(path: Path, text: str) -> None:
    """Write a file of text.

    Raises:
        OSError: It cannot be written; what was there is still there.
    """

    def write(part: Path) -> None:
        part.write_text(text, encoding="utf-8")

    write_whole(path, write)


def write_whole(path: Path, write: Callable[[Path], object]) -> None:
    """Have a file written beside its place, and put it there.

    Raises:
        OSError: It cannot be written; what was there is still there.
    """
    part = path.with_name(f"{path.name}.part")
    try:
        write(part)
        part.replace(path)
    except OSError as error:
        raise _of(path, error) from error
    finally:
        part.unlink(missing_ok=True)


class Lines:
    """A file that grows by a line at a time; each is with the system before the next one is written.

    Attributes:
        count: Lines in it.
    """

    def __init__(self, path: Path) -> None:
        """Make the file, empty.

        Raises:
            OSError: It cannot be made.
        """
        self.path = path
        self.count = 0
        self._file = path.open("wb", buffering=0)
        self._size = 0

    def add(self, record: Record) -> None:
        """Add a line.

        Raises:
            OSError: It cannot be written, as when the disk is full; the file then ends with the line before it.
        """
        self._add(line_of(record), 1)

    def extend(self, records: Iterable[Record]) -> None:
        """Add lines, all or none.

        Raises:
            OSError: They cannot be written; the file then ends with the line before them.
        """
        lines = [line_of(record) for record in records]
        self._add(b"".join(lines), len(lines))

    def _add(self, block: bytes, count: int) -> None:
        try:
            if (written := self._file.write(block)) != len(block):
                written += self._file.write(block[written:])
            if written != len(block):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError as error:
            self._file.truncate(self._size)
            self._file.seek(self._size)
            raise _of(self.path, error) from error
        self._size += len(block)
        self.count += count

    def close(self) -> None:
        """Close it; closing twice is no fault."""
        self._file.close()


def _of(path: Path, error: OSError) -> OSError:
    """Return an error of a file that names it."""
    return type(error)(error.errno, error.strerror, str(path))
