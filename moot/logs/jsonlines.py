"""JSON Lines, plain or gzip, from a file or the standard input."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterator
from contextlib import suppress
from typing import BinaryIO, Final

from moot.logs.errors import Damaged
from moot.logs.source import EVERYTHING, Kind, Line, LogSource, Wanted
from moot.protocols.codec import LAID_OUT_ANEW

MAX_LINE: Final = 16 * 2**20
"""Longest line in bytes; the largest legal envelope is far below, a file of zeros is not."""


_HASH_LAST: Final = re.compile(r',"hash":"[0-9a-f]{64}"\}\s*$')


def is_laid_out_anew(line: str) -> bool:
    """Say whether a line has a hash that does not stand where a log's own export puts it (K15)."""
    if '"hash"' not in line or _HASH_LAST.search(line):
        return False
    with suppress(ValueError, RecursionError):
        value = json.loads(line)
        return isinstance(value, dict) and "hash" in value
    return False


class JsonLines(LogSource):
    """One envelope a line, separated by LF (CR LF is taken too); empty lines are passed over."""

    def __init__(self, name: str, kind: Kind, stream: BinaryIO, *, below: BinaryIO | None = None) -> None:
        """Take an open stream of bytes, and the packed one below it that is to be closed too."""
        super().__init__(name, kind)
        self._stream = stream
        self._below = below

    def lines(self, wanted: Wanted = EVERYTHING) -> Iterator[Line]:
        number = 0
        try:
            while raw := self._stream.readline(MAX_LINE + 1):
                number += 1
                if len(raw) > MAX_LINE:
                    raise Damaged(self.name, f"line {number} is longer than 16 MiB", line=number)
                text = raw.decode().rstrip("\r\n")
                if not text or text.isspace():
                    continue
                if not raw.endswith(b"\n") and not text.rstrip().endswith("}"):
                    raise Damaged(self.name, f"line {number} is cut off in the middle", line=number)
                if number == 1 and is_laid_out_anew(text):
                    raise Damaged(self.name, f"line 1: {LAID_OUT_ANEW}", line=1)
                yield Line(number, text, "")
        except UnicodeDecodeError as exc:
            raise Damaged(
                self.name, f"line {number} is not UTF-8, at byte {exc.start + 1} of the line", line=number
            ) from exc
        except (OSError, EOFError, zlib.error) as exc:
            raise Damaged(self.name, f"cannot be read after line {number}: {exc}", line=number + 1) from exc

    def close(self) -> None:
        if self.kind == "stdin":
            return
        self._stream.close()
        if self._below is not None:
            self._below.close()
