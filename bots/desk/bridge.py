"""A path through one day's open, high, low and close that keeps all four (R-M3). Access: read-only."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

import numpy as np

from moot.bots.tools.bars import Floats

DECIMALS: Final = 4
"""The book counts no finer (K11)."""

LEAST: Final = 1e-4

RANGE: Final = 1.6
"""A driftless walk's range is about so many standard deviations of its end (Feller 1951)."""

LEANS: Final = 0.75
"""Chance that a day that rises sees its low before its high, and one that falls its high first."""


def bridge(
    open_: float, high: float, low: float, close: float, steps: int, rng: np.random.Generator
) -> Floats:
    """Draw a path from open to close that reaches high and low, and nothing beyond them.

    The extremes lie at drawn places; between them and the ends run Brownian bridges, folded back at high and low.

    Args:
        open_: First price.
        high: Highest, not below the others.
        low: Lowest, not above the others.
        close: Last price.
        steps: How many steps from open to close, at least 3.
        rng: Source of the path.

    Returns:
        Prices, shape (steps + 1,), rounded to 4 decimals as are the four; the first is `open_`, the last `close`, the
        largest `high`, the smallest `low`.
    """
    open_, high, low, close = (
        max(round(float(price), DECIMALS), LEAST) for price in (open_, high, low, close)
    )
    places, lean = rng.random(2), float(rng.random())
    noise = rng.standard_normal(steps) * ((high - low) / (RANGE * steps**0.5))
    anchors = [(0, open_), *_extremes(open_, high, low, close, steps, places, lean), (steps, close)]
    path = np.empty(steps + 1)
    for (start, first), (stop, last) in pairwise(anchors):
        walk = np.cumsum(noise[start:stop])
        path[start + 1 : stop + 1] = walk + np.arange(1, stop - start + 1) * (
            (last - first - walk[-1]) / (stop - start)
        )
        path[start] = 0.0
        path[start : stop + 1] += first
    path = np.where(path > high, 2.0 * high - path, path)
    path = np.where(path < low, 2.0 * low - path, path)
    path = np.clip(np.round(np.clip(path, low, high), DECIMALS), low, high)
    for place, price in anchors:
        path[place] = price
    return path


def _extremes(
    open_: float, high: float, low: float, close: float, steps: int, places: Floats, lean: float
) -> list[tuple[int, float]]:
    """Return where the high and the low are reached, if not at an end; in the order of time."""
    wanted = [price for price in (low, high) if price not in (open_, close)]
    if len(wanted) == 2 and (lean < LEANS) != (close >= open_):
        wanted.reverse()
    one = 1 + int(places[0] * (steps - 1))
    other = 1 + int(places[1] * (steps - 2))
    other += other >= one
    return list(zip(sorted((one, other)[: len(wanted)]), wanted, strict=True))
