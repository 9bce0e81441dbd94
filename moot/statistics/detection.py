"""How well what was there was found: tables of cases whose `ratio` is precision, recall, F1 or false alarms.

Totals are taken over cases, not means of each case's own figure, which a case without anything to find does not have.

Source: van Rijsbergen, 1979, "Information Retrieval", chapter 7.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from moot.statistics.permutation import Floats


class Found(NamedTuple):
    """What was found in each case, shape (cases,) each; means over repetitions where a case has several.

    Attributes:
        right: How many of the things that were there.
        wrong: How many that were not there.
        missed: How many that were there were not found.
    """

    right: Floats
    wrong: Floats
    missed: Floats


def precision(found: Found) -> Floats:
    """Return a table of which share of what was said to be there was there, shape (cases, 2)."""
    return np.stack([found.right, found.right + found.wrong], axis=1)


def recall(found: Found) -> Floats:
    """Return a table of which share of what was there was found, shape (cases, 2)."""
    return np.stack([found.right, found.right + found.missed], axis=1)


def f1(found: Found) -> Floats:
    """Return a table of the harmonic mean of precision and recall, shape (cases, 2)."""
    return np.stack([2.0 * found.right, 2.0 * found.right + found.wrong + found.missed], axis=1)


def false_alarms(found: Found) -> Floats:
    """Return a table of how often something was said to be there in a case where nothing was, shape (cases, 2)."""
    clean = found.right + found.missed == 0.0
    return np.stack([np.where(clean, found.wrong, 0.0), clean.astype(np.float64)], axis=1)
