"""The seats of the Arena."""

from __future__ import annotations

from typing import Final

from moot.protocols.kernel.seats import Seat, SeatInfo

PLANNER: Final = Seat("planner")
REVIEWER: Final = Seat("reviewer")
FINALIZER: Final = Seat("finalizer")

ARENA: Final = frozenset({PLANNER, REVIEWER, FINALIZER})

SEATS: Final = (
    SeatInfo(PLANNER, "drafts an artifact and revises it", "cyan", ":memo:", "arena"),
    SeatInfo(REVIEWER, "approves a draft or asks for a revision", "red", ":eye:", "arena"),
    SeatInfo(FINALIZER, "writes the final output", "green", ":checkered_flag:", "arena"),
)
