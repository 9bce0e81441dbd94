"""A log as commands read it: lines or envelopes, beside whoever writes it, and folded as far as asked."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

from moot.channels.log.reader import LogRows, Row, holding
from moot.cli.errors import CheckFailed, Unusable
from moot.cli.output import Counting, say
from moot.place import log_path

if TYPE_CHECKING:
    from moot.channels.showing.namebook import NameBook
    from moot.protocols.kernel.docket import Docket, Effects
    from moot.protocols.kernel.envelope import Envelope


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
            return max((seq for seq, _ in self._rows_of_file()), default=0)
        with self._reading() as rows:
            return rows.head()

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

    def namebook(self) -> NameBook:
        """Return what it says of who speaks, from its first message to its last."""
        from moot.channels.log.lines import open_line
        from moot.channels.showing.namebook import TELLING, NameBook

        book = NameBook()
        kinds = tuple(key("type", kind) for kind in TELLING)
        for line in self._telling(kinds) if self.directory is not None else self.lines():
            if any(kind in line for kind in kinds):
                book.note(open_line(line))
        return book

    def _telling(self, kinds: tuple[str, ...]) -> Iterator[str]:
        """Yield the lines of a database whose body has one of these types; its type is the first that a line says.

        To look through the texts here takes half the time that the database takes to.
        """
        with self._reading() as rows:
            found = [seq for seq, text in rows.texts() if text.startswith(kinds, text.find('"type":"'))]
            for row in filter(None, map(rows.at, found)):
                yield self._line(row)

    def newest(self, *having: str) -> str | None:
        """Return the last line that holds all of these texts."""
        if self.directory is None:
            found = None
            for found in self.lines(having=having):  # noqa: B007  # the last one is wanted
                pass
            return found
        with self._reading() as rows:
            row = rows.newest(holding(*having))
        return self._line(row) if row is not None else None

    def _lines_of_database(self, first: int, last: int | None, having: Sequence[str]) -> Iterator[str]:
        with self._reading() as rows:
            for row in rows.walk(first, rows.head() if last is None else last, holding(*having)):
                yield self._line(row)

    def _line(self, row: Row) -> str:
        from moot.protocols.kernel.envelope import with_hash

        try:
            return with_hash(row.text, row.hash.hex())
        except (ValueError, TypeError, AttributeError):
            raise CheckFailed(f"{self.path}: message {row.seq} is damaged: moot verify says more") from None

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

    def _reading(self) -> AbstractContextManager[LogRows]:
        from moot.channels.log.file import reading

        return reading(self.path)


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
    """Fold a log and return the docket; of a rehearsal's the user is told that it is one.

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
    if last is not None and last.context.fold_named("minds").is_rehearsal:
        say("a rehearsal: things are made to go wrong on purpose, and nothing in this log is for real")
    return last or Docket(rules())


def key(name: str, value: str) -> str:
    """Return how a field with a text reads in a canonical line, to look for it."""
    return f'"{name}":{json.dumps(value, ensure_ascii=False)}'
