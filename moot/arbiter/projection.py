"""Put answers on a plane: the two directions in which they differ most (principal component analysis).

Source: Jolliffe, Principal Component Analysis, 2nd ed., 2002.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from moot.arbiter.vectors import Floats, unit

NOISE: Final = 1e-12
"""Variance below which answers differ by rounding only."""


class Plane(NamedTuple):
    """Answers on a plane.

    Attributes:
        points: Shape (answers, 2), without a unit, their mean at 0.
        explained: Share of the variance that each of the two directions holds, in [0, 1].
    """

    points: Floats
    explained: tuple[float, float]


def project(rows: NDArray[np.floating]) -> Plane:
    """Project embeddings on their first two principal components, each scaled to length 1 beforehand, as cosines are.

    A direction is turned so that its largest entry is positive: the same embeddings give the same picture.

    Args:
        rows: Shape (answers, dimensions), finite numbers, both at least 1.

    Raises:
        ValueError: There are no answers, or they have no dimensions.
    """
    if rows.ndim != 2 or 0 in rows.shape:
        raise ValueError(f"a map needs answers, not an array of shape {rows.shape}")
    around = unit(rows)
    around -= around.mean(axis=0)
    _, spread, directions = np.linalg.svd(around, full_matrices=False)
    first = directions[:2]
    turned = np.sign(first[np.arange(len(first)), np.abs(first).argmax(axis=1)])
    points = np.zeros((len(rows), 2))
    total = float((spread**2).sum())
    if total < NOISE * len(rows):
        return Plane(points, (0.0, 0.0))
    points[:, : len(first)] = around @ (first * turned[:, None]).T
    shares = [float(one) ** 2 / total for one in (*spread[:2], 0.0)]
    return Plane(points, (shares[0], shares[1]))


def sample(count: int, most: int) -> NDArray[np.intp]:
    """Choose which answers are drawn: all of them, or `most` that lie evenly apart, shape (drawn,), ascending."""
    return np.unique(np.linspace(0, count - 1, min(count, most)).astype(np.intp)) if count else np.arange(0)
