"""Whose word is taken: opinions, which nobody can compute again, counted by whose they are."""

from __future__ import annotations

from collections import Counter
from typing import Final

from moot.protocols.kernel.envelope import BOT, Envelope
from moot.protocols.kernel.minds import LABELS, SIMULATED, Minds

PLAYED: Final = frozenset({SIMULATED, "scene"})
"""From these platforms no person speaks; the first is that of the simulated admin."""


class Hearsay:
    """Counts messages of seats that are not computed again: of people, of minds by their names."""

    def __init__(self) -> None:
        """Start with nothing heard."""
        self._heard: Counter[str] = Counter()

    def hear(self, env: Envelope, minds: Minds) -> None:
        """Take in a message of a bot or a person that is an opinion, and what filled the seats then."""
        if env.actor != BOT:
            self._heard["by people" if env.actor.platform not in PLAYED else SIMULATED] += 1
        elif (mind := minds.of(env.author, env.seq)) in LABELS:
            self._heard[mind] += 1
        else:
            self._heard[f"{env.author} by the mind {mind[:60]!r}"] += 1

    def figures(self) -> dict[str, int]:
        """Return how many messages are whose: people's, of shipped minds, of each seat with a mind of its own."""
        return dict(sorted(self._heard.items()))
