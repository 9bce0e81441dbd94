"""Who posts the messages of the Arena: one row a type, all in `#r-arena`."""

from __future__ import annotations

from typing import Final

from moot.protocols.arena.seats import ARENA, FINALIZER, PLANNER, REVIEWER
from moot.protocols.kernel.catalogue import Channel, Right
from moot.protocols.kernel.seats import ADMIN, ORCHESTRATOR

PLACE: Final = "#r-arena"
_HERE: Final = frozenset({PLACE})

CHANNELS: Final = (Channel(PLACE, "arena", "plan, review, finalise: the artifact arena", "Arena and panels"),)

RIGHTS: Final = (
    Right("ARENA_TASK", frozenset({ADMIN}), _HERE),
    Right("HOOK_RESULT", ARENA, _HERE),
    Right("DRAFT", frozenset({PLANNER}), _HERE),
    Right("REVIEW", frozenset({REVIEWER}), _HERE),
    Right("RUN_FAULT", ARENA, _HERE),
    Right("FINAL_OUTPUT", frozenset({FINALIZER}), _HERE),
    Right("RUN_TERMINATED", frozenset({ORCHESTRATOR}), _HERE),
)
