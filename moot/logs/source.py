"""A source of log lines, as they stand."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, Literal, NamedTuple, Self

from moot.channels.bus import Head
from moot.logs.errors import Damaged
from moot.protocols.codec import decode_envelope, decode_stored
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.errors import Malformed

Kind = Literal["directory", "file", "stdin", "memory"]

STDIN: Final = "-"

Wanted = Mapping[str, Collection[str]]
"""What fields of an envelope must hold, one of some values each: channel, case_id, type, author."""

EVERYTHING: Final[Wanted] = {}


class Line(NamedTuple):
    """One line of a log, not judged.

    Attributes:
        number: Line of the file, or row of the table, from 1.
        text: The envelope as JSON; with its `hash` in it in JSON Lines, without in a database.
        hash: The hash in hex that is kept beside the text, "" when it stands in the text, if at all.
    """

    number: int
    text: str
    hash: str


class LogSource(ABC):
    """A log that is open for reading; close it, or use it as a context manager.

    Attributes:
        name: As the user named it.
        kind: What it is.
        head: The end of the log by the file `head` as it was at the opening, None where there is none.
        directory: The data directory that it stands in, None where it stands in none.
    """

    def __init__(
        self, name: str, kind: Kind, head: Head | None = None, directory: Path | None = None
    ) -> None:
        """Keep what `open_log` found."""
        self.directory = directory
        self.name = name
        self.kind: Kind = kind
        self.head = head

    @abstractmethod
    def lines(self, wanted: Wanted = EVERYTHING) -> Iterator[Line]:
        """Yield the lines in the order in which they stand, in constant memory.

        Args:
            wanted: What their fields must hold; a source that cannot tell yields others, too.

        Raises:
            Damaged: It cannot be read on; the line is named.
        """

    def count(self) -> int:
        """Return how many lines there are; raises as `lines` does."""
        return sum(1 for _ in self.lines())

    @abstractmethod
    def close(self) -> None:
        """Close it; safe to call twice. The standard input stays open."""

    def envelopes(self, wanted: Wanted = EVERYTHING) -> Iterator[Envelope]:
        """Yield the lines as envelopes, for those who trust the log; only those whose fields hold what is wanted.

        Raises:
            Damaged: A line is no envelope, or it cannot be read on.
        """
        for number, text, beside in self.lines(wanted):
            env = self._envelope(number, text, beside)
            if holds(env, wanted):
                yield env

    def texts(self) -> Iterator[tuple[int, str]]:
        """Yield the number of every line and its text, unchecked, for who looks for something; raises as `lines`."""
        for number, text, _ in self.lines():
            yield number, text

    def at(self, numbers: Sequence[int]) -> Iterator[Envelope]:
        """Yield the lines with these numbers as envelopes, in order; raises as `envelopes` does."""
        wanted = frozenset(numbers)
        for number, text, beside in self.lines() if wanted else ():
            if number in wanted:
                yield self._envelope(number, text, beside)

    def _envelope(self, number: int, text: str, beside: str) -> Envelope:
        try:
            return decode_stored(text, beside) if beside else decode_envelope(text)
        except Malformed as exc:
            raise Damaged(self.name, f"line {number} is no envelope: {exc}", line=number) from exc

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def holds(env: Envelope, wanted: Wanted) -> bool:
    """Say whether the fields of an envelope hold what is wanted."""
    return all(
        (env.body.type if name == "type" else getattr(env, name)) in values for name, values in wanted.items()
    )
