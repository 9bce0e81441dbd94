"""The nine states and the transition table of section 5.1, as data."""

from __future__ import annotations

from enum import StrEnum
from typing import Final


class State(StrEnum):
    """A state of a run (4.4)."""

    INIT = "INIT"
    SEEDING = "SEEDING"
    DRAFTING = "DRAFTING"
    REVIEWING = "REVIEWING"
    REVISING = "REVISING"
    FINALIZING = "FINALIZING"
    TERMINATED_APPROVED = "TERMINATED_APPROVED"
    TERMINATED_MAX_ROUNDS = "TERMINATED_MAX_ROUNDS"
    TERMINATED_ERROR = "TERMINATED_ERROR"


TERMINAL: Final = frozenset({State.TERMINATED_APPROVED, State.TERMINATED_MAX_ROUNDS, State.TERMINATED_ERROR})
"""States that nothing leaves (5.2)."""

TABLE: Final[dict[State, frozenset[State]]] = {
    State.INIT: frozenset({State.SEEDING, State.DRAFTING, State.TERMINATED_ERROR}),
    State.SEEDING: frozenset({State.DRAFTING, State.TERMINATED_ERROR}),
    State.DRAFTING: frozenset({State.REVIEWING, State.TERMINATED_ERROR}),
    State.REVIEWING: frozenset({State.FINALIZING, State.REVISING, State.TERMINATED_ERROR}),
    State.REVISING: frozenset({State.DRAFTING, State.TERMINATED_MAX_ROUNDS, State.TERMINATED_ERROR}),
    State.FINALIZING: frozenset({State.TERMINATED_APPROVED, State.TERMINATED_ERROR}),
    State.TERMINATED_APPROVED: frozenset(),
    State.TERMINATED_MAX_ROUNDS: frozenset(),
    State.TERMINATED_ERROR: frozenset(),
}
"""Where each state may lead; what is not here is refused (5.2)."""


class UndefinedTransition(ValueError):
    """A step between two states that the table lacks."""

    def __init__(self, before: State, after: State) -> None:
        """Name both ends."""
        super().__init__(f"{before} does not lead to {after}")


def check_transition(before: State, after: State) -> None:
    """Refuse what the table lacks (5.2).

    Raises:
        UndefinedTransition: It lacks this step.
    """
    if after not in TABLE[before]:
        raise UndefinedTransition(before, after)
