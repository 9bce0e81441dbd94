"""Whose word is taken: opinions, which nobody can compute again, counted by whose they are."""

from __future__ import annotations

from collections import Counter
from typing import Final

from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.minds import LABELS, SIMULATED, Minds, is_models

PLAYED: Final = frozenset({SIMULATED, "scene"})
"""From these platforms no person speaks; the first is that of the simulated admin."""


class Hearsay:
    """Counts messages of seats that are not computed again: of people, of minds by their names."""

    def __init__(self) -> None:
        """Start with nothing heard."""
        self._heard: Counter[str] = Counter()
        self._people: Counter[str] = Counter()

    def hear(self, env: Envelope, minds: Minds) -> None:
        """Take in a message of a bot or a person that is an opinion, and what filled the seats then."""
        if env.actor.kind == "human":
            if env.actor.platform in PLAYED:
                self._heard[SIMULATED] += 1
            else:
                self._heard["by people"] += 1
                self._people[env.actor.name[:100]] += 1
        elif (mind := minds.writer(env)) in LABELS:
            self._heard[mind] += 1
        else:
            who = mind if is_models(mind) else f"the mind {mind[:60]!r}"
            self._heard[f"{env.author} by {who[:80]}"] += 1

    def figures(self) -> dict[str, int]:
        """Return how many messages are whose: people's, of shipped minds, of each seat with a mind of its own."""
        return dict(sorted(self._heard.items()))

    def people(self) -> dict[str, int]:
        """Return how many messages each person wrote."""
        return dict(sorted(self._people.items()))
