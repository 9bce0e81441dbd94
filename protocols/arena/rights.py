"""Who posts the messages of the Arena: one row a type, all in `#r-arena`."""

from __future__ import annotations

from typing import Final

from moot.protocols.kernel.catalogue import Right
from moot.protocols.kernel.seats import ARENA, Seat

PLACE: Final = "#r-arena"
_HERE: Final = frozenset({PLACE})

RIGHTS: Final = (
    Right("ARENA_TASK", frozenset({Seat.ADMIN, Seat.EVOLVER}), _HERE),
    Right("HOOK_RESULT", ARENA, _HERE),
    Right("DRAFT", frozenset({Seat.PLANNER}), _HERE),
    Right("REVIEW", frozenset({Seat.REVIEWER}), _HERE),
    Right("RUN_FAULT", ARENA, _HERE),
    Right("FINAL_OUTPUT", frozenset({Seat.FINALIZER}), _HERE),
    Right("RUN_TERMINATED", frozenset({Seat.ORCHESTRATOR}), _HERE),
)
