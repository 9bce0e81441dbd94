"""How answers spread over clusters: how many clusters they are worth, and how far a batch moved them."""

from __future__ import annotations

import math
from collections.abc import Sequence


def entropy(counts: Sequence[int]) -> float:
    """Measure how evenly answers spread over clusters.

    Args:
        counts: Answers in each cluster, shape (clusters,), each at least 0.

    Returns:
        Shannon entropy in nats; 0 without answers.
    """
    total = sum(counts)
    return math.fsum(count / total * math.log(total / count) for count in counts if count)


def effective_clusters(counts: Sequence[int]) -> float:
    """Count clusters by their weight: so many of equal size would have the same entropy; 0 without answers.

    Args:
        counts: Answers in each cluster, shape (clusters,), each at least 0.

    Source: Hill number of order 1 (Hill, 1973).
    """
    return math.exp(entropy(counts)) if any(counts) else 0.0


def js_divergence(prior: Sequence[int], current: Sequence[int]) -> float | None:
    """Measure how far a batch moved the spread of answers over clusters.

    Args:
        prior: Answers in each cluster before the batch, shape (clusters_before,), each at least 0.
        current: The same after it, shape (clusters_now,); clusters missing from either have no answers there.

    Returns:
        Jensen–Shannon divergence in bits, in [0, 1]; None while there were no answers before.

    Source: Lin, 1991; Arbiter spec, "Phase C monitoring"; ruling R-S3.
    """
    before, now = sum(prior), sum(current)
    if not before or not now:
        return None
    width = max(len(prior), len(current))
    terms = []
    for a, b in zip(_shares(prior, before, width), _shares(current, now, width), strict=True):
        middle = (a + b) / 2
        terms += [share * math.log2(share / middle) for share in (a, b) if share]
    return min(1.0, max(0.0, math.fsum(terms) / 2))


def _shares(counts: Sequence[int], total: int, width: int) -> list[float]:
    return [count / total for count in counts] + [0.0] * (width - len(counts))
