"""What one pass over a log finds for an explanation: where its cases and strategies are, and who names an id.

Texts are looked through, not decoded: of a log of 100,000 messages only those are decoded that are shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Final, Protocol

from moot.channels.showing.namebook import TELLING, NameBook
from moot.protocols.kernel.envelope import Envelope

CASE: Final = '"case_id":"'
STRATEGY: Final = '"strategy_id":"'
TYPE: Final = '"type":"'
SUBJECT: Final = '"subject":"'
"""How these fields begin in a line as the log holds it."""

ESCALATION: Final = "ESCALATION"
_TELLING: Final = frozenset(TELLING)


class Texts(Protocol):
    """A log whose lines can be looked through."""

    def texts(self) -> Iterator[tuple[int, str]]:
        """Yield the number of every line and its text, in order."""

    def at(self, numbers: Sequence[int]) -> Iterator[Envelope]:
        """Yield the messages with these numbers, in order."""


Opener = Callable[[], AbstractContextManager[Texts]]
"""Opens a log to be looked through."""


class Index:
    """Where things stand in a log.

    Attributes:
        cases: The lines of every case, by its id.
        strategies: The lines that say to which strategy they belong, by its id.
        escalated: The escalations of a case, by its id.
        naming: The lines that hold the text that was looked for.
        who: What the log says of who speaks.
    """

    def __init__(self, log: Opener, wanted: str) -> None:
        """Look through a log once.

        Args:
            log: Opens it; a file can be read once only.
            wanted: A text to look for besides.
        """
        self._log = log
        self.cases: dict[str, list[int]] = {}
        self.strategies: dict[str, list[int]] = {}
        self.escalated: dict[str, list[str]] = {}
        self.naming: list[int] = []
        telling: list[int] = []
        cases, strategies = self.cases, self.strategies
        with log() as source:
            # Written out, for it runs for every line of the log.
            for number, text in source.texts():
                at = text.find(CASE)
                case = ""
                if at >= 0:
                    at += len(CASE)
                    case = text[at : text.find('"', at)]
                    cases.setdefault(case, []).append(number)
                at = text.find(TYPE) + len(TYPE)
                kind = text[at : text.find('"', at)]
                if kind in _TELLING:
                    telling.append(number)
                elif kind == ESCALATION:
                    begin = text.find(SUBJECT, at) + len(SUBJECT)
                    self.escalated.setdefault(text[begin : text.find('"', begin)], []).append(case)
                at = text.find(STRATEGY, at)
                if at >= 0:
                    at += len(STRATEGY)
                    strategies.setdefault(text[at : text.find('"', at)], []).append(number)
                if wanted in text:
                    self.naming.append(number)
        book = NameBook()
        for env in self.messages(telling):
            book.note(env)
        self.who = book.who

    def messages(self, numbers: Iterable[int]) -> list[Envelope]:
        """Return the messages with these numbers, in order."""
        found = sorted(set(numbers))
        if not found:
            return []
        with self._log() as source:
            return [*source.at(found)]

    @property
    def ids(self) -> tuple[str, ...]:
        """Return the ids of all cases and strategies."""
        return (*self.cases, *self.strategies)
