"""Seats: the roles that own obligations and author messages."""

from __future__ import annotations

from enum import StrEnum
from typing import Final


class Seat(StrEnum):
    """A role in the society; the value is the `author` of an envelope."""

    EXPLORER = "explorer"
    CRITIC = "critic"
    EVOLVER = "evolver"
    OPERATOR = "operator"
    GUARDIAN = "guardian"
    TRADER = "trader"
    PLANNER = "planner"
    REVIEWER = "reviewer"
    FINALIZER = "finalizer"
    ORCHESTRATOR = "orchestrator"
    EIC = "eic"
    METHODOLOGY = "methodology"
    DOMAIN = "domain"
    PERSPECTIVE = "perspective"
    DA = "da"
    SYNTHESIZER = "synthesizer"
    REFEREE = "referee"
    TIMEKEEPER = "timekeeper"
    LIAISON = "liaison"
    ADMIN = "admin"
    VIEWER = "viewer"


SYSTEM_A: Final = frozenset({Seat.EXPLORER, Seat.CRITIC, Seat.EVOLVER})
SYSTEM_B: Final = frozenset({Seat.OPERATOR, Seat.GUARDIAN, Seat.TRADER})
ARENA: Final = frozenset({Seat.PLANNER, Seat.REVIEWER, Seat.FINALIZER})
PANELISTS: Final = frozenset({Seat.EIC, Seat.METHODOLOGY, Seat.DOMAIN, Seat.PERSPECTIVE, Seat.DA})
"""The reviewers of panels, by the role that a contract gives them."""
PANEL: Final = PANELISTS | {Seat.SYNTHESIZER}
OFFICERS: Final = frozenset({Seat.REFEREE, Seat.TIMEKEEPER, Seat.LIAISON, Seat.ORCHESTRATOR})
"""Seats that are code and hold the rest to the rules; their messages never cause violations (K5)."""
PEOPLE: Final = frozenset({Seat.ADMIN, Seat.VIEWER})
BOTS: Final = SYSTEM_A | SYSTEM_B | ARENA | PANEL
"""Seats that a mind fills and that a person may take."""


def system_of(seat: Seat) -> str:
    """Name the system a seat belongs to: "A", "B" or "" for officers, people, the arena and panels."""
    if seat in SYSTEM_A:
        return "A"
    if seat in SYSTEM_B:
        return "B"
    return ""
