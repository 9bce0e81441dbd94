"""The file `log.sqlite` as a source of lines: read-only, while a society writes it or when none does."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from json.encoder import encode_basestring
from pathlib import Path
from typing import Self

from moot.channels.bus import Head
from moot.channels.errors import ChannelError, CorruptLog
from moot.channels.log.file import LOG_NAME, disk_error, reading
from moot.channels.log.head import read_head
from moot.channels.log.reader import LEAST, PAGE, LogRows, Row, having
from moot.logs.errors import Damaged, LogError
from moot.logs.source import EVERYTHING, Line, LogSource, Wanted
from moot.protocols.kernel.envelope import Envelope


class Database(LogSource):
    """The rows of a log file; their number is the `seq` under which they are stored."""

    def __init__(self, name: str, path: Path, rows: LogRows, head: Head | None, exits: ExitStack) -> None:
        """Take what `open` opened."""
        super().__init__(name, "directory", head, path.parent)
        self._path = path
        self._rows = rows
        self._exits = exits

    @classmethod
    def open(cls, name: str, path: Path) -> Self:
        """Open a log file without writing to it.

        The head is read first, so the log reaches at least as far, even while it grows.

        Raises:
            Damaged: The file, or the file `head`, is damaged.
            LogError: It is no log, or the file does not let itself be opened.
        """
        if not path.exists():
            raise LogError(name, f"is a directory without {LOG_NAME}: no society was ever started in it")
        exits = ExitStack()
        try:
            head = read_head(path.parent) if path.name == LOG_NAME else None
            return cls(name, path, exits.enter_context(reading(path)), head, exits)
        except CorruptLog as exc:
            raise Damaged(name, str(exc)) from exc
        except ChannelError as exc:
            raise LogError(name, str(exc)) from exc

    def lines(self, wanted: Wanted = EVERYTHING) -> Iterator[Line]:
        return self._lines(self._rows.walk(LEAST, where=having(wanted)))

    def texts(self) -> Iterator[tuple[int, str]]:
        try:
            yield from self._rows.texts()
        except sqlite3.Error as exc:
            raise Damaged(self.name, str(disk_error(self._path, exc))) from exc

    def at(self, numbers: Sequence[int]) -> Iterator[Envelope]:
        pages = (self._rows.these(numbers[n : n + PAGE]) for n in range(0, len(numbers), PAGE))
        for line in self._lines(row for page in pages for row in page):
            yield self._envelope(*line)

    def _lines(self, rows: Iterable[Row]) -> Iterator[Line]:
        number = 0
        try:
            for row in rows:
                number = row.seq
                self._check(row)
                yield Line(number, row.text, row.hash.hex())
        except sqlite3.Error as exc:
            raise Damaged(self.name, str(disk_error(self._path, exc)), line=number + 1) from exc

    def count(self) -> int:
        try:
            return self._rows.count()
        except sqlite3.Error as exc:
            raise Damaged(self.name, str(disk_error(self._path, exc))) from exc

    def _check(self, row: Row) -> None:
        """Check what only the table shows: the types of its cells, and that `id` is the text's own."""
        if not isinstance(row.text, str) or not isinstance(row.hash, bytes):
            raise Damaged(self.name, f"row {row.seq} holds no text with a hash", line=row.seq)
        if not isinstance(row.id, str) or f'"id":{encode_basestring(row.id)},"channel":' not in row.text:
            raise Damaged(
                self.name, f"row {row.seq} is stored under another id than its text names", line=row.seq
            )

    def close(self) -> None:
        self._exits.close()
