"""Who may write which shelf: A its lessons and candidates, B the rest of a strategy's life (R-B11)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from memory.shelves import (
    ARCHITECTURE,
    CAUSAL,
    HYPOTHESES,
    METRICS,
    PRINCIPLES,
    PROPOSALS,
    REFLECTIONS,
    THRESHOLDS,
    Shelf,
)
from protocols.kernel.seats import PEOPLE, SYSTEM_A, SYSTEM_B, Seat

A: Final = SYSTEM_A
B: Final = SYSTEM_B
REFEREE: Final = frozenset({Seat.REFEREE})

WRITERS: Final[Mapping[Shelf[Any], frozenset[Seat]]] = {
    CAUSAL: A | REFEREE,
    REFLECTIONS: A | REFEREE,
    PRINCIPLES: A,
    ARCHITECTURE: A,
    THRESHOLDS: A,
    METRICS: B,
    HYPOTHESES: A | PEOPLE,
    PROPOSALS: A,
}
"""Who may write each shelf; strategies go by stage. People write by overriding a debate (K23)."""

STAGE_WRITERS: Final[Mapping[str, frozenset[Seat]]] = {
    "candidates": A,
    "staging": B,
    "production": B,
    "withdrawn": B,
}
"""Who may put a strategy into each stage."""

HELD_BY_B: Final = frozenset({"staging", "production"})
"""What stands here only System B may move, wherever to: also back to candidates (R-B3)."""


def may_write(shelf: Shelf[Any], seat: Seat) -> bool:
    """Say whether a seat may write a shelf; for strategies ask `may_move`."""
    return seat in WRITERS.get(shelf, frozenset())


def may_move(seat: Seat, stands: str | None, to: str) -> bool:
    """Say whether a seat may move a strategy from where memory says it stands, None for a new one."""
    return seat in (B if stands in HELD_BY_B else STAGE_WRITERS[to])
