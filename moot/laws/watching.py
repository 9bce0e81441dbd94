"""Watch a log for many laws at once: each message goes to the laws that hear its type."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Final, NamedTuple

from moot.laws.law import EVERY, Findings, Handler, Law, Memory, Message, Observer

_Heard = tuple[Law, Handler]

PATIENCE: Final = 64
"""A VIOLATION stands at most so many messages after the message that it refuses; so long each is held back."""

FACTS: Final = frozenset({"EXECUTION"})
"""Has happened, also where a VIOLATION says that it should not have (K11)."""


class Broken(NamedTuple):
    """A law that a log breaks.

    Attributes:
        law: Which one.
        seq: Of the message at which it showed; the last one's for what was missing at the end.
        about: That message's type, and its case or id; "" for what was missing at the end.
        why: What is wrong.
    """

    law: Law
    seq: int
    about: str
    why: str

    @property
    def says(self) -> str:
        """Say what is wrong, with seq, type and ids."""
        return f"seq {self.seq} {self.about}: {self.why}" if self.about else self.why


class Watch:
    """Watch one log; not to be used again for another."""

    def __init__(self, laws: Sequence[Law]) -> None:
        """Begin before the first message."""
        self._memories = [(one, one.memory()) for one in laws]
        self._raw = _Table([one for one in self._memories if one[1].is_raw])
        self._counting = _Table([one for one in self._memories if not one[1].is_raw])
        self._facts = _Table([one for one in self._memories if one[1].hears_facts])
        self._held: deque[Message] = deque()
        self._refused: set[int] = set()
        self._seq = 0

    def see(self, message: Message) -> list[Broken]:
        """Take in the next message; return what it shows of laws broken by it or by one shortly before."""
        self._seq = message["seq"]
        found = self._raw.judge(message)
        body = message["body"]
        if body["type"] == "VIOLATION":
            self._refused.add(body["of_seq"])
        self._held.append(message)
        if len(self._held) > PATIENCE:
            found += self._judge(self._held.popleft())
        return found

    def end(self, before: str | None = None) -> list[Broken]:
        """Take in that the log is over; return what breaks a law still.

        Args:
            before: What was sent from this instant on may yet be refused, and is not judged; None: all is.
        """
        found = []
        while self._held and (before is None or self._held[0]["sent_at"] < before):
            found += self._judge(self._held.popleft())
        for one, memory in self._memories:
            found += [Broken(one, self._seq, "", why) for why in memory.end()]
        return found

    def _judge(self, message: Message) -> list[Broken]:
        if message["seq"] in self._refused:
            self._refused.discard(message["seq"])
            return self._facts.judge(message) if message["body"]["type"] in FACTS else []
        return self._counting.judge(message)

    def alone(self) -> Observer:
        """Return this watch as one that finds plain sentences."""
        return _Alone(self)


class _Table:
    """Who hears which type."""

    def __init__(self, memories: Sequence[tuple[Law, Memory]]) -> None:
        hearing = [(one, memory.handlers()) for one, memory in memories]
        kinds = {kind for _, handlers in hearing for kind in handlers} - {EVERY}
        self._by_type: dict[str, list[_Heard]] = {kind: [] for kind in kinds}
        self._every: list[_Heard] = []
        for one, handlers in hearing:
            for handler in handlers.pop(EVERY, ()):
                for heard in (self._every, *self._by_type.values()):
                    heard.append((one, handler))
            for kind, named in handlers.items():
                self._by_type[kind] += [(one, handler) for handler in named]

    def judge(self, message: Message) -> list[Broken]:
        kind = message["body"]["type"]
        found: list[Broken] = []
        for one, handler in self._by_type.get(kind, self._every):
            for why in handler(message):
                about = f"{kind} {message['case_id'] or message['id']}"
                found.append(Broken(one, message["seq"], about, why))
        return found


class _Alone(NamedTuple):
    watch: Watch

    def see(self, message: Message) -> Findings:
        return [found.says for found in self.watch.see(message)]

    def end(self) -> Findings:
        return [found.says for found in self.watch.end()]
