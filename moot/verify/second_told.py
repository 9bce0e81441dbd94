"""What the second opinion on the desk is told: messages whose VIOLATIONs are all known."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from decimal import Decimal
from typing import Any, Final, NamedTuple, TypeVar

from moot.protocols.kernel.envelope import Envelope
from moot.verify.report import Invariant

REMEMBERED: Final = 4096
"""So many orders, signals, rulings are remembered, the latest."""

K = TypeVar("K")
V = TypeVar("V")


class Told(NamedTuple):
    """A message of a log.

    Attributes:
        env: The message.
        body: Its body.
        up: When it was sent, in up time.
        line: Where it stands in the file.
        is_struck: Whether a VIOLATION stands beside it.
    """

    env: Envelope
    body: Any
    up: datetime
    line: int
    is_struck: bool

    @property
    def seq(self) -> int:
        """Return its seq."""
        return self.env.seq

    @property
    def case_id(self) -> str:
        """Return the case it belongs to, "" for none."""
        return self.env.case_id or ""


class Doubt(NamedTuple):
    """Something that cannot be; `seq` 0 stands for the message in hand."""

    invariant: Invariant
    rule: str
    why: str
    seq: int = 0
    line: int = 0


Doubts = Iterable[Doubt]


def exact(number: float) -> Decimal:
    """Return a figure with the digits that it is written with."""
    return Decimal(number) if type(number) is int else Decimal(repr(number))


def remember(memory: dict[K, V], key: K, value: V) -> None:
    """Keep something under a key, and forget the oldest when there is too much."""
    memory[key] = value
    if len(memory) > REMEMBERED:
        del memory[next(iter(memory))]


def step_of(told: Told) -> str:
    """Return the step of the obligation that a RULING is about, "" when it is about a case."""
    return (told.body.obligation_id or "").partition("/")[2]
