"""Embedding vectors as arrays, and how alike they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float32]
"""An embedding, shape (dimensions,)."""

Floats = NDArray[np.float64]

DECIMALS: Final = 12
"""Cosines are rounded to so many: in what order a processor adds up must not decide what is new or where it belongs,
and equal vectors are exactly 1 alike."""

BLOCK: Final = 256
"""How many answers are compared at once: it bounds the memory that takes."""


def stacked(vectors: Sequence[Vector], dimensions: int | None = None) -> NDArray[np.float32]:
    """Stack embeddings into an array of shape (vectors, dimensions).

    Args:
        dimensions: What each must have; None takes those of the first.

    Raises:
        ValueError: They differ in length, are empty, or hold what is no finite number.
    """
    lengths = {vector.shape for vector in vectors} | ({(dimensions,)} if dimensions is not None else set())
    if len(lengths) != 1 or not all(len(shape) == 1 and shape[0] for shape in lengths):
        raise ValueError(f"embeddings of one run have one length, not {sorted(lengths)}")
    rows = np.stack(vectors).astype(np.float32, copy=False)
    if not np.isfinite(rows).all():
        raise ValueError("an embedding holds what is no finite number")
    return rows


def unit(rows: NDArray[np.floating]) -> Floats:
    """Scale vectors to length 1, in float64; zero stays zero.

    Args:
        rows: Shape (..., dimensions), of any finite length.
    """
    wide = rows.astype(np.float64)
    lengths = np.sqrt((wide * wide).sum(axis=-1, keepdims=True))
    scaled: Floats = np.divide(wide, lengths, out=np.zeros_like(wide), where=lengths > 0)
    return scaled


def cosines(left: Floats, right: Floats) -> Floats:
    """Measure how alike unit vectors are.

    Args:
        left: Shape (n, dimensions) or (dimensions,).
        right: Shape (m, dimensions).

    Returns:
        Shape (n, m) or (m,), rounded; 0 where either is the zero vector.
    """
    return rounded(left @ right.T)


def rounded(products: Floats) -> Floats:
    """Make cosines of products of unit vectors, in place: rounded to `DECIMALS`, and in [-1, 1].

    Source: ruling R-S4.
    """
    np.round(products, DECIMALS, out=products)
    np.clip(products, -1.0, 1.0, out=products)
    return products
