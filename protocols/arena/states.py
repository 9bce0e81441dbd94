"""The nine states of section 4.4; where each leads stands in the machine of `run`."""

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
"""States that no state follows (5.2)."""
