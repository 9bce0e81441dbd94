"""The phases that a kind of case knows, in the order in which they come; taken from the protocols' tables."""

from __future__ import annotations

from moot.protocols.kernel.steps import ENDED
from moot.protocols.rulebook import rulebook


def phases_of(kind: str) -> tuple[str, ...]:
    """Return all phases of a kind of case, nothing when the rules do not know it."""
    machine = rulebook().types.get(kind)
    return () if machine is None else (*machine.phases, ENDED)
