"""Who speaks in the trials of a run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from moot.protocols.arbiter.generated import (
    ArenaSeats,
    Assignments,
    DebateSeats,
    PanelSeats,
    ResolvedProtocol,
    Role,
    Roles,
    Speaker,
)

SYNTHESIZER: Final = "synthesizer"

_KINDS: Final[Mapping[str, type[Assignments]]] = {
    "debate_v1": Roles,
    "moot:debate": DebateSeats,
    "moot:arena": ArenaSeats,
    "moot:panel": PanelSeats,
}


def seats_of(protocol: ResolvedProtocol) -> tuple[Speaker, ...]:
    """Return who speaks in a trial, in the order in which personas are drawn; nobody by name in an independent one."""
    if protocol.panel is not None:
        return (*protocol.panel.reviewers, SYNTHESIZER)
    kind = _KINDS.get(protocol.type)
    return () if kind is None else tuple(kind.model_fields)  # type: ignore[arg-type]


def assignments_of(protocol: ResolvedProtocol, roles: Mapping[Speaker, Role]) -> Assignments:
    """Return who fills the seats of a trial as its records say it."""
    return _KINDS[protocol.type].model_validate(dict(roles))


def roles_of(given: Assignments) -> Iterator[tuple[Speaker, Role]]:
    """Yield who fills which seat."""
    for name in type(given).model_fields:
        role: Role | None = getattr(given, name)
        if role is not None:
            yield name, role  # type: ignore[misc]
