"""Who may write which shelf: A its lessons and candidates, B the rest of a strategy's life (R-B11)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from moot.memory.shelves import (
    ARCHITECTURE,
    CAUSAL,
    HYPOTHESES,
    METRICS,
    PRINCIPLES,
    PROPOSALS,
    REFLECTIONS,
    RUNS,
    THRESHOLDS,
    Shelf,
)
from moot.protocols.arena.seats import FINALIZER
from moot.protocols.kernel.seats import ORCHESTRATOR, PEOPLE, REFEREE, Seat
from moot.protocols.research.seats import SYSTEM_A
from moot.protocols.trading.seats import SYSTEM_B

A: Final = SYSTEM_A
B: Final = SYSTEM_B

WRITERS: Final[Mapping[Shelf[Any], frozenset[Seat]]] = {
    CAUSAL: A | {REFEREE},
    REFLECTIONS: A | {REFEREE},
    PRINCIPLES: A,
    ARCHITECTURE: A | {ORCHESTRATOR},
    THRESHOLDS: A,
    METRICS: B,
    HYPOTHESES: A | PEOPLE,
    PROPOSALS: A,
    RUNS: A | {FINALIZER},
}
"""Who may write each shelf; strategies go by `moves.may_move`. People write by overriding a debate (K23).
The Orchestrator ends the run whose output refines a change."""


def may_write(shelf: Shelf[Any], seat: Seat) -> bool:
    """Say whether a seat may write a shelf; for strategies ask `moves.may_move`."""
    return seat in WRITERS.get(shelf, frozenset())
