"""Figures over cases, and how far they may be off: each case, with all that belongs to it, is drawn as a whole.

Repetitions of one case are alike, so they are no further cases: a table has a row for each case, which holds the sums
of its repetitions, and a figure is computed from the means of the columns. So are differences of means and every ratio
of totals: precision, recall, F1, cost for each correct answer.

Source: Efron, 1987, "Better bootstrap confidence intervals" (BCa); Field and Welsh, 2007, on drawing clusters.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from moot.statistics.permutation import Floats
from moot.statistics.shares import Interval

RESAMPLES: Final = 4_000
MOST_DRAWN: Final = 1_000
GROUPS: Final = 500
"""Of more cases, so many random groups are drawn instead, which takes no longer and bounds as well."""

DIGITS: Final = 12
"""Decimal places of a figure in which draws are told apart."""

_AT_ONCE: Final = 4_000_000
"""How many numbers a bootstrap holds at once: it bounds the memory that takes."""

Figure = Callable[[Floats], Floats]
"""Computes a figure from the means of columns, shape (columns, ...), at once for all draws; NaN where it has none."""


class Estimate(NamedTuple):
    """A figure over cases.

    Attributes:
        value: The figure; NaN where the cases do not determine it.
        interval: Bounds of it; both NaN where there are fewer than two cases or no value.
        cases: Of how many cases.
    """

    value: float
    interval: Interval
    cases: int


def mean(means: Floats) -> Floats:
    """Return the first column's mean: a figure."""
    first: Floats = means[0]
    return first


def ratio(means: Floats) -> Floats:
    """Return the first column's total in units of the second's: a figure."""
    found: Floats = np.full_like(means[0], np.nan)
    np.divide(means[0], means[1], out=found, where=np.asarray(means[1] != 0.0))
    return found


def difference(figure: Figure) -> Figure:
    """Return the figure of by how much the second half of the columns exceeds the first half in a figure."""

    def of_both(means: Floats) -> Floats:
        half = len(means) // 2
        found: Floats = figure(means[half:]) - figure(means[:half])
        return found

    return of_both


def estimate(
    table: Floats,
    figure: Figure,
    chance: np.random.Generator,
    *,
    alpha: float = 0.05,
    resamples: int = RESAMPLES,
) -> Estimate:
    """Estimate a figure, and bound it but for about `alpha`.

    Good for tens of cases and more. Where every case gives the same, the interval is that value: so few kinds of cases
    were seen that nothing speaks about others.

    Args:
        table: A row for each case, shape (cases, columns).
        figure: What is computed from the means of the columns.
        chance: Draws the cases.

    Raises:
        ValueError: There is no case.
    """
    cases = len(table)
    if not cases:
        raise ValueError("there is no case")
    value = float(figure(table.mean(axis=0)))
    if math.isnan(value) or cases < 2:
        return Estimate(value, Interval(math.nan, math.nan), cases)
    if (table == table[0]).all():
        return Estimate(value, Interval(value, value), cases)
    if cases > MOST_DRAWN:
        table, figure = _grouped(table, chance), _of_groups(figure)
    return Estimate(value, Interval(*_bounds(table, figure, chance, alpha, resamples)), cases)


def _bounds(
    table: Floats, figure: Figure, chance: np.random.Generator, alpha: float, resamples: int
) -> tuple[float, float]:
    from scipy.stats import bootstrap

    rows, columns = table.shape

    def of_rows(drawn: NDArray[np.intp], axis: int) -> Floats:
        assert axis == -1
        # How often each row was drawn, times the rows: a tenth of the time that gathering the rows takes.
        *shape, count = drawn.shape
        flat = drawn.reshape(-1, count)
        places = flat + rows * np.arange(len(flat))[:, np.newaxis]
        often = np.bincount(places.ravel(), minlength=len(flat) * rows).reshape(len(flat), rows)
        means: Floats = (often @ table).T / count
        # Draws that give the same are the same, in whichever order a processor adds them up.
        return np.round(figure(means.reshape(columns, *shape)), DIGITS)

    with np.errstate(invalid="ignore"), warnings.catch_warnings():
        # A figure that no row moves has no correction of its bias: NaN, and seen to below.
        warnings.simplefilter("ignore", RuntimeWarning)
        found = bootstrap(
            (np.arange(rows),),
            of_rows,
            n_resamples=resamples,
            batch=max(1, _AT_ONCE // (rows * columns)),
            confidence_level=1.0 - alpha,
            rng=chance,
        )
    low, high = (float(one) for one in found.confidence_interval)
    if math.isnan(low) or math.isnan(high):
        drawn = found.bootstrap_distribution
        low, high = (float(one) for one in np.nanquantile(drawn, (alpha / 2.0, 1.0 - alpha / 2.0)))
    return low, high


def _grouped(table: Floats, chance: np.random.Generator) -> Floats:
    """Add up random groups of cases; a last column counts them."""
    mixed = np.column_stack([table, np.ones(len(table))])[chance.permutation(len(table))]
    starts = np.arange(GROUPS) * len(table) // GROUPS
    sums: Floats = np.add.reduceat(mixed, starts, axis=0)
    return sums


def _of_groups(figure: Figure) -> Figure:
    return lambda means: figure(means[:-1] / means[-1])
