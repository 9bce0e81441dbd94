"""How many independent votes some voters are worth, who err together.

Voters that make the same mistakes are fewer than they seem: n voters whose errors correlate by r on average are worth
n / (1 + (n - 1) r) independent ones, which is n without correlation and 1 where all err at once.

Source: Kish, 1965, "Survey Sampling" (the design effect).
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from moot.statistics.clusters import RESAMPLES, Estimate, estimate
from moot.statistics.permutation import Floats


def effective_votes(
    errors: NDArray[np.bool_],
    chance: np.random.Generator,
    *,
    alpha: float = 0.05,
    resamples: int = RESAMPLES,
) -> Estimate:
    """Say how many independent votes the voters are worth.

    Args:
        errors: Whether each voter erred in each case, shape (cases, voters).

    Returns:
        From 1 on; more than the voters where their errors even out. NaN where no two voters ever err and ever do not.

    Raises:
        ValueError: There is no case.
    """
    voters = errors.shape[1]
    pairs = np.array(list(combinations(range(voters), 2)), dtype=np.intp).reshape(-1, 2)
    votes = errors.astype(np.float64)
    table = np.concatenate([votes, votes[:, pairs[:, 0]] * votes[:, pairs[:, 1]]], axis=1)

    def figure(means: Floats) -> Floats:
        alone, both = means[:voters], means[voters:]
        if not len(pairs):
            return np.ones_like(means[0])
        first, second = alone[pairs[:, 0]], alone[pairs[:, 1]]
        scale = np.sqrt(first * (1.0 - first) * second * (1.0 - second))
        varied = scale > 0.0
        correlation = np.divide(both - first * second, scale, out=np.zeros_like(scale), where=varied)
        known = varied.sum(axis=0)
        average = np.divide(correlation.sum(axis=0), known, out=np.full(known.shape, np.nan), where=known > 0)
        effect = 1.0 + (voters - 1) * average
        worth: Floats = voters / np.maximum(effect, 1.0 / voters)
        return worth

    return estimate(table, figure, chance, alpha=alpha, resamples=resamples)
