"""Figures over cases, and how far they may be off: each case, with all that belongs to it, is drawn as a whole.

Repetitions of one case are alike, so they are no further cases: a table has a row for each case, which holds the sums
of its repetitions, and a figure is computed from the means of the columns. So are differences of means and every ratio
of totals: precision, recall, F1, cost for each correct answer.

Cases that all give the same say nothing of others by being drawn, but their number does: what was seen in none of n
cases has a share of z² ÷ (n + z²) at most (Wilson's bound), and a figure that has bounds is bounded by what so many
other cases could make of it. Of a share of 0 or 1 that is Wilson's interval, of a paired difference of 0 Tango's.

Source: Efron, 1987, "Better bootstrap confidence intervals" (BCa); Field and Welsh, 2007, on drawing clusters; Wilson,
1927; Tango, 1998, "Equivalence test and confidence interval for the difference in proportions for the paired-sample
design".
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
from moot.statistics.wilson import wilson_interval

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
    within: Interval | None = None,
) -> Estimate:
    """Estimate a figure, and bound it but for about `alpha`.

    Good for tens of cases and more. Where all draws give the same, the interval is that value, unless the figure has
    bounds.

    Args:
        table: A row for each case, shape (cases, columns). Those of a figure with bounds are pairs, of which the second
            is what the first is in units of: a case has the figure where that is not 0.
        figure: What is computed from the means of the columns.
        chance: Draws the cases.
        within: Between what the figure lies whatever the cases are; None: it has no bounds.

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
        low = high = value
    elif cases > MOST_DRAWN:
        low, high = _bounds(_grouped(table, chance), _of_groups(figure), chance, alpha, resamples)
    else:
        low, high = _bounds(table, figure, chance, alpha, resamples)
    if low == high and within is not None:
        low, high = _alike(value, table, within, alpha)
    return Estimate(value, Interval(low, high), cases)


def _alike(value: float, table: Floats, within: Interval, alpha: float) -> Interval:
    """Bound a figure to which no case that has it adds anything else than another."""
    other = wilson_interval(0, int(np.count_nonzero(table[:, 1::2], axis=0).min()), alpha).high
    return Interval(value - other * (value - within.low), value + other * (within.high - value))


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
