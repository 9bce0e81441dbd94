"""What the auditor of the desk's money is told: messages whose VIOLATIONs are all known, and who is traded then."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any, Final, NamedTuple, TypeVar

from moot.protocols.kernel.envelope import Envelope
from moot.protocols.trading.standing import Standing

MOST: Final = Decimal("0.05")
"""Of the equity one position may have so much (R-B7)."""
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
        standings: Where strategies stand after it.
        is_struck: Whether a VIOLATION stands beside it.
    """

    env: Envelope
    body: Any
    up: datetime
    line: int
    standings: Mapping[str, Standing]
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
    """A figure that cannot be: the rule, and one sentence."""

    rule: str
    why: str


class Standings:
    """Where strategies stand when a message is judged, as the docket knows them.

    Attributes:
        known: They, by id.
    """

    def __init__(self) -> None:
        """Start with none."""
        self.known: Mapping[str, Standing] = {}

    @property
    def traded(self) -> set[str]:
        """Return those whose signals are traded (R-B12)."""
        return {name for name, known in self.known.items() if known.is_traded}

    def get(self, strategy_id: str) -> Standing | None:
        """Return where a strategy stands, None when the log does not say."""
        return self.known.get(strategy_id)

    def share(self, strategy_id: str) -> Decimal:
        """Return the share of the equity that a strategy's curve starts from: its limit for each of its symbols."""
        known = self.known.get(strategy_id)
        if known is None:
            return MOST
        symbols = len(known.strategy.symbols) if known.strategy is not None else 1
        return exact(known.position_limit) * max(symbols, 1)


def exact(number: float) -> Decimal:
    """Return a figure with the digits that it is written with."""
    return Decimal(number) if type(number) is int else Decimal(repr(number))


def remember(memory: dict[K, V], key: K, value: V) -> None:
    """Keep something under a key, and forget the oldest when there is too much."""
    memory[key] = value
    if len(memory) > REMEMBERED:
        del memory[next(iter(memory))]
