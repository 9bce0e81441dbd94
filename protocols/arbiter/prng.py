"""Draws that a seed decides: each trial has streams of its own, so no trial depends on how many there are.

Source: mulberry32 (T. Ettinger, public domain), seeded by 32-bit FNV-1a (Fowler, Noll, Vo).
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import accumulate
from struct import iter_unpack
from typing import Final, Literal

Purpose = Literal["plan", "decode", "embedding", "debate", "arena", "panel"]
"""What a stream is for: what a trial asks, how it is decoded, vectors of a mock run, simulated minds."""

_MASK: Final = 0xFFFFFFFF

OFFSET: Final = 0x811C9DC5
"""The hash of an empty text."""


class Stream:
    """A stream of draws in [0, 1)."""

    def __init__(self, seed: str, after: int = OFFSET) -> None:
        """Begin the stream of a seed.

        Args:
            seed: The text, or the end of it.
            after: The hash of what stands before.
        """
        self._state = fnv1a(seed, after)

    def draw(self) -> float:
        """Draw a number in [0, 1), a multiple of 2^-32."""
        self._state = (self._state + 0x6D2B79F5) & _MASK
        state = self._state
        mixed = ((state ^ state >> 15) * (state | 1)) & _MASK
        mixed ^= (mixed + ((mixed ^ mixed >> 7) * (mixed | 61))) & _MASK
        return (mixed ^ mixed >> 14) / 2**32

    def choose(self, weights: Sequence[float]) -> int:
        """Draw an index with a probability in proportion to its weight.

        Args:
            weights: At least one, none negative, shape (choices,).

        Raises:
            ValueError: They add up to nothing.
        """
        cumulative = _cumulative(tuple(weights))
        mark = self.draw() * cumulative[-1]
        # A weight of 0 is never drawn, not even by a mark of exactly 0.
        return bisect_left(cumulative, mark) if mark else bisect_right(cumulative, 0)

    def between(self, least: float, most: float) -> float:
        """Draw a number in [least, most)."""
        return least + self.draw() * (most - least)

    def whole(self, least: float, most: float) -> int:
        """Draw a whole number, least and most among them."""
        low, high = math.ceil(least), math.floor(most)
        return low + math.floor(self.draw() * (high - low + 1))


def stream(seed: int | str, purpose: Purpose, trial_id: int) -> Stream:
    """Begin the stream that a trial of a run has for a purpose."""
    return Stream(str(trial_id), _begun(f"{seed}:{purpose}:"))


def fnv1a(text: str, after: int = OFFSET) -> int:
    """Hash a text to 32 bits, over its UTF-16 code units.

    Args:
        text: The text, or the end of it.
        after: The hash of what stands before.
    """
    found = after
    for unit in text.encode() if text.isascii() else _units(text):
        found = ((found ^ unit) * 0x01000193) & _MASK
    return found


_begun = lru_cache(maxsize=64)(fnv1a)


def _units(text: str) -> Iterator[int]:
    units = text.encode("utf-16-le", "surrogatepass")
    return (unit for (unit,) in iter_unpack("<H", units))


@lru_cache(maxsize=64)
def _cumulative(weights: tuple[float, ...]) -> tuple[float, ...]:
    found = tuple(accumulate(weights))
    if not 0 < found[-1] < math.inf:
        raise ValueError("the weights add up to nothing: give one of them a weight above 0")
    return found
