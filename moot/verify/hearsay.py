"""Whose word is taken: opinions, which nobody can compute again, counted by whose they are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

from moot.protocols.kernel.envelope import BOT, Envelope
from moot.protocols.kernel.officers import SocietyStarted

SIMULATED: Final = "simulated"
"""The mind that is shipped; the platform of the simulated admin."""

PLAYED: Final = frozenset({SIMULATED, "scene"})
"""From these platforms no person speaks."""


class Hearsay:
    """Counts messages of seats that are not computed again: of people, of minds by their names."""

    def __init__(self) -> None:
        """Start with nothing heard."""
        self._minds: Mapping[str, Any] = {}
        self._heard: Counter[str] = Counter()

    def start(self, body: SocietyStarted) -> None:
        """Take in what fills the seats from here on."""
        given = body.config.get("minds")
        self._minds = given if isinstance(given, Mapping) else {}

    def hear(self, env: Envelope) -> None:
        """Take in a message of a bot or a person that is an opinion."""
        if env.actor != BOT:
            self._heard["people" if env.actor.platform not in PLAYED else SIMULATED] += 1
        elif (mind := self._minds.get(env.author, SIMULATED)) == SIMULATED:
            self._heard[SIMULATED] += 1
        else:
            self._heard[f"{env.author} by the mind {str(mind)[:60]!r}"] += 1

    def figures(self) -> dict[str, int]:
        """Return how many messages are whose: "people", "simulated", and each seat with a mind of its own."""
        return dict(sorted(self._heard.items()))
