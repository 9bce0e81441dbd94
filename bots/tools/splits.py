"""Three spans by time: seats argue on train and validation, the test is seen by nobody. Access: read-only."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Final

from moot.bots.tools.errors import TooFewBarsError
from moot.bots.tools.universe import Universe

MAX_BARS: Final = 2520
"""How far back the splits look: ten years of sessions."""

MIN_BARS: Final = 3
"""One bar per split; fewer cannot be split."""


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of sessions, both ends included.

    Attributes:
        first: Its first session.
        last: Its last session.
    """

    first: date
    last: date


@dataclass(frozen=True, slots=True)
class Splits:
    """Train, validation and test, in this order, without gap or overlap (R-D15)."""

    train: Span
    validation: Span
    test: Span

    @property
    def evidence(self) -> Span:
        """What seats may argue on: train and validation as one span."""
        return Span(self.train.first, self.validation.last)


def splits(universe: Universe, train: float = 0.6, validation: float = 0.2) -> Splits:
    """Split the last ten years that exist by time.

    Args:
        universe: What exists at the society's instant (``Universe.until``).
        train: Share of sessions in the first span, in (0, 1).
        validation: Share in the second; the rest is the test.

    Returns:
        Three spans of at least one session each.

    Raises:
        TooFewBarsError: Fewer than three sessions exist.
        ValueError: The shares leave no test.

    Source: Ruling R-D15.
    """
    if not (train > 0 and validation > 0 and train + validation < 1):
        raise ValueError(f"shares {train} and {validation} leave no train, validation or test")
    days = universe.calendar[-MAX_BARS:]
    count = len(days)
    if count < MIN_BARS:
        raise TooFewBarsError(count, MIN_BARS)
    # Rounding before int: 0.6 + 0.2 of 10 sessions is 8, not 7.999….
    first = min(max(int(round(count * train, 6)), 1), count - 2)
    second = min(max(int(round(count * (train + validation), 6)), first + 1), count - 1)
    edges = [
        day.item()
        for day in (days[0], days[first - 1], days[first], days[second - 1], days[second], days[-1])
    ]
    return Splits(Span(edges[0], edges[1]), Span(edges[2], edges[3]), Span(edges[4], edges[5]))
