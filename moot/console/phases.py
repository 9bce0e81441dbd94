"""The phases that a kind of case knows, in the order in which they come."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from protocols.escalation import case as escalation
from protocols.research.debate_table import Phase

PHASES: Final[Mapping[str, tuple[str, ...]]] = {
    "debate": tuple(str(phase) for phase in Phase),
    "escalation": (escalation.OPEN, escalation.ACKNOWLEDGED, escalation.ANSWERED, escalation.ENDED),
}
"""Kinds whose phases are listed; of others a view shows the path alone."""


def phases_of(kind: str) -> tuple[str, ...]:
    """Return all phases of a kind of case, nothing when they are not listed."""
    return PHASES.get(kind, ())
