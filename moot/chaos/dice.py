"""Draws from a seed and names: the same on every machine, whatever else is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import TypeVar

T = TypeVar("T")


class Dice:
    """Draws in order from a seed and names; dice of other names draw without disturbing them."""

    def __init__(self, *names: object) -> None:
        """Take what tells these dice from all others."""
        self._names = names
        # Bytes, unlike a tuple, are hashed the same in every process; what guests send may hold half a character.
        self._random = Random("/".join(map(str, names)).encode("utf-8", "surrogatepass"))

    def of(self, *names: object) -> Dice:
        """Return dice of their own, which draw the same whatever these have drawn."""
        return Dice(*self._names, *names)

    def share(self) -> float:
        """Draw a number in [0, 1)."""
        return self._random.random()

    def chance(self, of_one: float) -> bool:
        """Say yes in a share of cases."""
        return self.share() < of_one

    def between(self, least: float, most: float) -> float:
        """Draw a number in [least, most)."""
        return least + (most - least) * self.share()

    def whole(self, least: int, most: int) -> int:
        """Draw a whole number from least to most, both included."""
        return least + int(self.share() * (most - least + 1))

    def pick(self, things: Sequence[T]) -> T:
        """Draw one of several things."""
        return things[self.whole(0, len(things) - 1)]

    def weighed(self, things: Sequence[tuple[T, float]]) -> T:
        """Draw one of several things by their weights."""
        left = self.share() * sum(weight for _, weight in things)
        for thing, weight in things:
            left -= weight
            if left < 0:
                return thing
        return things[-1][0]
