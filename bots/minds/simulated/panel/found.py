"""What was measured: a figure, and a few places where it was seen."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

MOST_EXAMPLES: Final = 3


class Found(NamedTuple):
    """A measured figure.

    Attributes:
        value: In the unit of its measure; None when the text states no such quantity.
        examples: Where it was seen, at most `MOST_EXAMPLES`, as the text has it.
    """

    value: float | None
    examples: tuple[str, ...] = ()


def number_of(there: Iterable[str]) -> Found:
    """Count things, and keep the first of them as examples."""
    all_of_them = list(there)
    return Found(len(all_of_them), tuple(all_of_them[:MOST_EXAMPLES]))


def share(part: float, whole: float) -> float:
    """Return a part in per cent of a whole; of nothing it is 0."""
    return 100.0 * part / whole if whole else 0.0
