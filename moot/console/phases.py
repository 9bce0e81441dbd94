"""The phases that a kind of case knows, in the order in which they come; taken from the protocols' tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from moot.protocols.kernel.steps import ENDED
from moot.protocols.rulebook import CASE_TYPES
from moot.protocols.trading import session

_WRITTEN: Final[Mapping[str, tuple[str, ...]]] = {
    session.KIND: (session.OPEN, session.ENDED),
}
"""Kinds that are no machine yet."""

PHASES: Final[Mapping[str, tuple[str, ...]]] = {
    kind: (*case_type.machine.phases, ENDED) if case_type.machine is not None else _WRITTEN[kind]
    for kind, case_type in CASE_TYPES.items()
}
"""Every kind that the rules know; of one from a newer version a view shows the path alone."""


def phases_of(kind: str) -> tuple[str, ...]:
    """Return all phases of a kind of case, nothing when they are not listed."""
    return PHASES.get(kind, ())
