"""How a run is stopped by hand: by a signal, a person in #lab, a test."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum


class Level(IntEnum):
    """How much of a run goes on.

    * `NONE`: all of it.
    * `GRACEFUL`: no trial begins; those in flight end, within the engine's grace.
    * `NOW`: those in flight are cancelled.
    """

    NONE = 0
    GRACEFUL = 1
    NOW = 2


class Interrupt:
    """One for a run; it is used on the loop's thread.

    Attributes:
        why: Why the run ends, in a line; "" where a person wanted it, or nobody.
    """

    def __init__(self) -> None:
        """Let the run go on."""
        self._level = Level.NONE
        self.why = ""
        self._told: list[Callable[[Level], None]] = []

    @property
    def level(self) -> Level:
        return self._level

    def ask(self) -> None:
        """Ask once more: the first time it is graceful, the second at once."""
        self.raise_to(Level.NOW if self._level else Level.GRACEFUL)

    def raise_to(self, level: Level, why: str = "") -> None:
        """Stop at least so much; nothing is ever taken back.

        Args:
            level: How much.
            why: Why it ends, where that is not plain: a line that the run's notes keep; the first one stands.
        """
        self.why = self.why or why
        if level > self._level:
            self._level = level
            for tell in tuple(self._told):
                tell(level)

    def subscribe(self, tell: Callable[[Level], None]) -> None:
        """Have the level told whenever it rises."""
        self._told.append(tell)
