"""What a society in memory logged, as a source of lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from moot.logs.source import EVERYTHING, Line, LogSource, Wanted, holds
from moot.protocols.kernel.envelope import Envelope


class Kept(LogSource):
    """Envelopes that are at hand."""

    def __init__(self, name: str, messages: Sequence[Envelope]) -> None:
        """Take them in their order."""
        super().__init__(name, "memory")
        self._messages = messages

    def lines(self, wanted: Wanted = EVERYTHING) -> Iterator[Line]:
        for number, env in enumerate(self._messages, 1):
            yield Line(number, env.json, env.hash)

    def envelopes(self, wanted: Wanted = EVERYTHING) -> Iterator[Envelope]:
        yield from (env for env in self._messages if holds(env, wanted))

    def at(self, numbers: Sequence[int]) -> Iterator[Envelope]:
        yield from (self._messages[number - 1] for number in sorted(numbers))

    def close(self) -> None:
        """Nothing is open."""
