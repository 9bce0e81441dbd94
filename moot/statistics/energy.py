"""Whether two clouds of points are alike: energy distance, by permutation.

It is 0 only if both come from one distribution: it sees shifts as well as another spread or another number of heaps.

Source: Székely and Rizzo, 2013, "Energy statistics: a class of statistics based on distances" (also for the coefficient
of inhomogeneity); Arvesen, 1969, on the jackknife of U-statistics.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from statistics import NormalDist
from typing import Final, NamedTuple

import numpy as np

from moot.statistics.permutation import Floats, Groups, Tested, judged, shuffles
from moot.statistics.shares import Interval

_ROWS: Final = 512
"""Of how many points the distances to the others are held at once: it bounds the memory that takes."""


class EnergyTested(NamedTuple):
    """What a test of two clouds found.

    Attributes:
        tested: The statistic is the share in which the mean distance between the clouds exceeds those within them:
            about 0 when they are alike (also slightly below), 1 when each is one point and the two differ.
        interval: Bounds of that share, in [-1, 1]; rough when the clouds are alike, and all of it for two points.
    """

    tested: Tested
    interval: Interval


class _Sums(NamedTuple):
    """Sums of distances, each pair in both orders.

    Attributes:
        inside: Among the first cloud, as seen and by shuffle, shape (permutations + 1,).
        touched: From all points to the first cloud, shape (permutations + 1,).
        to_first: From each point to the first cloud as seen, shape (points,).
        to_all: From each point to all others, shape (points,).
    """

    inside: Floats
    touched: Floats
    to_first: Floats
    to_all: Floats


def compare_clouds(
    points: Floats, groups: Groups, permutations: int, chance: np.random.Generator, alpha: float = 0.05
) -> EnergyTested:
    """Test whether two clouds of points come from one distribution.

    Args:
        points: Shape (points, dimensions), the first cloud's before the second's; distances are Euclidean.
        alpha: Of the interval.

    Raises:
        ValueError: A cloud has fewer than two points.
    """
    if min(groups.first, groups.second) < 2:
        raise ValueError("a cloud needs two points")
    belongs = np.concatenate(list(shuffles(groups, permutations, chance)), axis=1).astype(np.float64)
    sums = _sums(points, belongs)
    n, m = groups.first, groups.second
    values = _inhomogeneity(sums.inside, sums.touched, float(sums.to_all.sum()), n, m)
    spread = NormalDist().inv_cdf(1.0 - alpha / 2.0) * math.sqrt(_variance(sums, n, m))
    seen = float(values[0])
    return EnergyTested(
        judged(values),
        Interval(max(seen - spread, -1.0), min(seen + spread, 1.0)),
    )


def _distances(points: Floats) -> Iterator[tuple[int, Floats]]:
    """Yield from which point on, and the distances of some points to all from there on."""
    squares = (points * points).sum(axis=1)
    for start in range(0, len(points), _ROWS):
        rows = points[start : start + _ROWS]
        found = rows @ points[start:].T
        found *= -2.0
        found += squares[start : start + _ROWS, np.newaxis]
        found += squares[start:]
        # Of equal points, rounding leaves a little either way.
        found[found < 1e-12 * max(1.0, float(squares.max()))] = 0.0
        yield start, np.sqrt(found, out=found)


def _sums(points: Floats, belongs: Floats) -> _Sums:
    inside = np.zeros(belongs.shape[1])
    to_first, to_all = np.zeros(len(points)), np.zeros(len(points))
    for start, found in _distances(points):
        stop = start + len(found)
        to_all[start:stop] += found.sum(axis=1)
        to_first[start:stop] += found @ belongs[start:, 0]
        # What lies beyond the block stands in it only once.
        beyond = found[:, stop - start :]
        to_all[stop:] += beyond.sum(axis=0)
        to_first[stop:] += belongs[start:stop, 0] @ beyond
        beyond *= 2.0
        inside += np.einsum("ij,ij->j", found @ belongs[start:], belongs[start:stop])
    return _Sums(inside, to_all @ belongs, to_first, to_all)


def _inhomogeneity(inside: Floats, touched: Floats, total: Floats | float, n: int, m: int) -> Floats:
    """Return by how much of it the mean distance between clouds exceeds those within, without bias."""
    between = (touched - inside) / (n * m)
    first = inside / (n * (n - 1))
    second = (total - 2.0 * touched + inside) / (m * (m - 1))
    return np.divide(
        2.0 * between - first - second, 2.0 * between, out=np.zeros_like(between), where=between > 0
    )


def _variance(sums: _Sums, n: int, m: int) -> float:
    """Return the jackknife variance of what was seen: how it changes when a point is left out."""
    if min(n, m) < 3:
        return math.inf
    inside, touched, total = sums.inside[0], sums.touched[0], sums.to_all.sum()
    to_first, to_all = sums.to_first[:n], sums.to_all[:n]
    without = _inhomogeneity(
        inside - 2.0 * to_first, touched - to_all - to_first, total - 2.0 * to_all, n - 1, m
    )
    variance = (n - 1) / n * float(((without - without.mean()) ** 2).sum())
    to_first, to_all = sums.to_first[n:], sums.to_all[n:]
    without = _inhomogeneity(np.full(m, inside), touched - to_first, total - 2.0 * to_all, n, m - 1)
    return variance + (m - 1) / m * float(((without - without.mean()) ** 2).sum())
