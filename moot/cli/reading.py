"""A log as commands read it: lines or envelopes, beside whoever writes it, and folded as far as asked."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from moot.cli.errors import CheckFailed, Unusable
from moot.cli.output import Counting
from moot.cli.place import log_path

if TYPE_CHECKING:
    from moot.protocols.kernel.docket import Docket, Effects
    from moot.protocols.kernel.envelope import Envelope

PAGE: Final = 1000
"""Rows of one read; a reader never keeps the write-ahead log from being folded in for longer."""


class Log:
    """A log opened for reading only; the society that writes it is not disturbed.

    Attributes:
        path: The file.
        directory: Its data directory; None for an exported file.
    """

    def __init__(self, named: Path) -> None:
        """Find the log that a user names.

        Raises:
            Unusable: There is none.
        """
        self.path = log_path(named)
        self.directory = self.path.parent if self.path.suffix == ".sqlite" else None

    @property
    def head(self) -> int:
        """Seq of the last message, 0 for an empty log."""
        if self.directory is None:
            last = 0
            for last, _ in self._rows_of_file():  # noqa: B007  # the last one is wanted
                pass
            return last
        with closing(self._connect()) as db:
            ((seq,),) = self._query(db, "SELECT coalesce(max(seq), 0) FROM log")
        return int(seq)

    def lines(self, first: int = 1, last: int | None = None, *, having: Sequence[str] = ()) -> Iterator[str]:
        """Read lines with their hash, in order.

        Args:
            first: Seq of the first one.
            last: Seq of the last one; None: to the end as it is now.
            having: Only lines that hold all of these texts.
        """
        if self.directory is not None:
            yield from self._lines_of_database(first, last, having)
            return
        for seq, line in self._rows_of_file():
            if seq >= first and (last is None or seq <= last) and all(text in line for text in having):
                yield line

    def envelopes(
        self, first: int = 1, last: int | None = None, *, having: Sequence[str] = ()
    ) -> Iterator[Envelope]:
        """Read envelopes with typed bodies.

        Raises:
            CheckFailed: A line is none.
        """
        from moot.protocols.codec import decode_envelope
        from moot.protocols.kernel.errors import Violation

        for n, line in enumerate(self.lines(first, last, having=having), first):
            try:
                yield decode_envelope(line)
            except Violation as exc:
                raise CheckFailed(f"{self.path}: message {n} is none: {exc}") from exc

    def newest(self, *having: str) -> str | None:
        """Return the last line that holds all of these texts."""
        if self.directory is None:
            found = None
            for found in self.lines(having=having):  # noqa: B007  # the last one is wanted
                pass
            return found
        where = " AND ".join("instr(json, ?)" for _ in having) or "1"
        with closing(self._connect()) as db:
            sql = f"SELECT seq, json, hash FROM log WHERE {where} ORDER BY seq DESC LIMIT 1"
            rows = self._query(db, sql, *having)
        return self._line(rows[0]) if rows else None

    def count(self, sql: str) -> int:
        """Count something in the database of a data directory."""
        with closing(self._connect()) as db:
            return int(self._query(db, sql)[0][0])

    def _lines_of_database(self, first: int, last: int | None, having: Sequence[str]) -> Iterator[str]:
        where = "".join(" AND instr(json, ?)" for _ in having)
        sql = f"SELECT seq, json, hash FROM log WHERE seq >= ? AND seq <= ?{where} ORDER BY seq LIMIT {PAGE}"
        with closing(self._connect()) as db:
            if last is None:
                ((last,),) = self._query(db, "SELECT coalesce(max(seq), 0) FROM log")
            while True:
                rows = self._query(db, sql, first, last, *having)
                for row in rows:
                    yield self._line(row)
                if len(rows) < PAGE:
                    return
                first = rows[-1][0] + 1

    def _line(self, row: tuple[int, Any, Any]) -> str:
        from moot.protocols.kernel.envelope import with_hash

        seq, text, digest = row
        try:
            return with_hash(text, digest.hex())
        except (ValueError, TypeError, AttributeError):
            raise CheckFailed(f"{self.path}: message {seq} is damaged: moot verify says more") from None

    def _rows_of_file(self) -> Iterator[tuple[int, str]]:
        from moot.logs import open_log

        with open_log(self.path) as source:
            for number, text, _ in source.lines():
                try:
                    yield int(json.loads(text)["seq"]), text.strip()
                except (ValueError, KeyError, TypeError):
                    raise Unusable(
                        f"{self.path}: line {number} is no message: moot verify says more"
                    ) from None

    def _connect(self) -> sqlite3.Connection:
        from moot.channels.errors import ChannelError
        from moot.channels.log.file import check_schema

        uri = f"{self.path.absolute().as_uri()}?mode=ro"
        db = sqlite3.connect(uri, uri=True, isolation_level=None, timeout=30.0)
        try:
            try:
                version = check_schema(db, self.path)
            except sqlite3.OperationalError:
                # A directory that may not be written: its log cannot be locked, but nobody writes it either.
                db.close()
                db = sqlite3.connect(f"{uri}&immutable=1", uri=True, isolation_level=None)
                version = check_schema(db, self.path)
            if version == 0:
                raise Unusable(f"{self.path} is empty: no society ever ran there")
        except ChannelError as exc:
            db.close()
            raise Unusable(str(exc)) from exc
        except sqlite3.Error as exc:
            db.close()
            raise CheckFailed(f"{self.path} is damaged: {exc}") from exc
        except BaseException:
            db.close()
            raise
        return db

    def _query(self, db: sqlite3.Connection, sql: str, *values: object) -> list[Any]:
        try:
            return db.execute(sql, values).fetchall()
        except sqlite3.Error as exc:
            raise CheckFailed(f"{self.path} is damaged: {exc}") from exc


Watch = Callable[["Envelope", "Effects", "Docket"], None]


def folded(log: Log, until: int | None = None) -> Iterator[tuple[Envelope, Effects, Docket]]:
    """Fold a log from its first message on; yield each message, what it changed, and the docket after it.

    Args:
        log: The log.
        until: Seq of the last message to fold; None: all.

    Raises:
        CheckFailed: It breaks the rules, so that it cannot be folded further.
    """
    from moot.protocols.kernel.docket import Docket
    from moot.protocols.kernel.errors import LocalProtocolError
    from moot.protocols.rulebook import rules

    docket = Docket(rules())
    with Counting("reading") as told:
        for envelope in log.envelopes(last=until):
            try:
                effects = docket.fold(envelope)
            except LocalProtocolError as exc:
                raise CheckFailed(f"{log.path} cannot be folded: {exc}; moot verify says more") from exc
            yield envelope, effects, docket
            if not docket.seq % 5000:
                told(docket.seq)


def fold(log: Log, until: int | None = None, watch: Watch | None = None) -> Docket:
    """Fold a log and return the docket.

    Args:
        log: The log.
        until: Seq of the last message to fold; None: all.
        watch: Called with every message, what it changed, and the docket after it.

    Raises:
        CheckFailed: It breaks the rules.
    """
    from moot.protocols.kernel.docket import Docket
    from moot.protocols.rulebook import rules

    last: Docket | None = None
    for envelope, effects, docket in folded(log, until):
        last = docket
        if watch is not None:
            watch(envelope, effects, docket)
    return last or Docket(rules())


def key(name: str, value: str) -> str:
    """Return how a field with a text reads in a canonical line, to look for it."""
    return f'"{name}":{json.dumps(value, ensure_ascii=False)}'
