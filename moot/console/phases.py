"""The phases that a kind of case knows, in the order in which they come; taken from the protocols' tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from moot.protocols.kernel.steps import ENDED
from moot.protocols.rulebook import rulebook
from moot.protocols.trading import session

_WRITTEN: Final[Mapping[str, tuple[str, ...]]] = {session.KIND: (session.OPEN,)}
"""Kinds that are no machine yet."""


def phases_of(kind: str) -> tuple[str, ...]:
    """Return all phases of a kind of case, nothing when the rules do not know it."""
    case_type = rulebook().types.get(kind)
    if case_type is None:
        return ()
    phases = case_type.machine.phases if case_type.machine is not None else _WRITTEN[kind]
    return (*phases, ENDED)
