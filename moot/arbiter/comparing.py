"""Whether two runs answer differently: in what they decide, in what they say, in how it can be read, in what it costs.

Each is tested by permutation; p-values are adjusted for how many tests there are. Runs that drew their trials alike are
compared trial by trial, any others as a whole.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from moot.arbiter.comparable import (
    Sample,
    are_planned_alike,
    groups_of,
    labels_in_common,
    sample,
    warnings,
    why_vectors_differ,
)
from moot.arbiter.reading import ReadRun, Vectors, read_vectors
from moot.arbiter.vectors import unit
from moot.statistics.categories import compare_categories
from moot.statistics.energy import compare_clouds
from moot.statistics.means import compare_means, mean_difference_interval
from moot.statistics.permutation import Floats, Tested, holm
from moot.statistics.shares import Interval
from moot.statistics.wilson import difference_interval

ALPHA: Final = 0.05
"""Of intervals, and of when a difference is told as one."""

MOST_VECTORS: Final = 5_000
"""Of a run; of more, so many are drawn by the seed."""

RESAMPLES: Final = 2_000

Ids = NDArray[np.integer]

Quantity = Literal["decisions", "answers", "replies", "tokens", "cost"]

_STREAMS: Final[Mapping[Quantity, int]] = {"decisions": 1, "answers": 2, "replies": 3, "tokens": 4, "cost": 5}
"""Each test has draws of its own, so that one more changes no other."""


@dataclass(frozen=True, slots=True)
class CategoryDifference:
    """How often both runs had a category.

    Attributes:
        category: A decision, None for no decision; or what was read from a reply.
        first: Trials of the first run.
        second: Trials of the second run.
        difference: By how much its share is larger in the second run.
        interval: Bounds of that, each for itself at 95 %.
    """

    category: str | None
    first: int
    second: int
    difference: float
    interval: Interval


@dataclass(frozen=True, slots=True)
class Difference:
    """In what two runs may differ, and how sure that is.

    Attributes:
        tested: What was seen, what is to be expected by chance, and the p-value. Of decisions and replies it is the
            total variation distance, of answers the energy coefficient, each in [0, 1]; of tokens and cost how far
            the means lie apart, in tokens and US dollars a trial.
        p_adjusted: Of all tests of the comparison (Holm).
        trials: How many trials of each run were used.
        means: Of each run, of tokens and cost.
        interval: Of the second mean less the first one, or of the energy coefficient, at 95 %; None of categories,
            which have theirs each.
        categories: Of decisions and replies.
    """

    tested: Tested
    p_adjusted: float
    trials: tuple[int, int]
    means: tuple[float, float] | None = None
    interval: Interval | None = None
    categories: tuple[CategoryDifference, ...] = ()


@dataclass(frozen=True, slots=True)
class Comparison:
    """How two runs compare.

    Attributes:
        trials: That count, of each.
        is_paired: They drew their trials alike, and were compared trial by trial.
        differences: By quantity.
        skipped: Why a quantity was not compared.
        warnings: What makes the two hard to compare.
    """

    runs: tuple[ReadRun, ReadRun]
    trials: tuple[int, int]
    seed: int
    permutations: int
    is_paired: bool
    differences: Mapping[Quantity, Difference]
    skipped: Mapping[Quantity, str]
    warnings: tuple[str, ...]

    def differing(self) -> list[Quantity]:
        """List in what they differ beyond chance."""
        return [name for name, one in self.differences.items() if one.p_adjusted <= ALPHA]


def compare_runs(first: ReadRun, second: ReadRun, *, seed: int, permutations: int) -> Comparison:
    """Compare two runs.

    Args:
        seed: Of shuffles and draws; the same gives the same figures.
        permutations: Shuffles of each test; p-values are multiples of 1 / (permutations + 1).

    Raises:
        moot.config.arbiter.reading.Faulty: A run has no trials, or its embeddings cannot be read.
    """
    comparing = _Comparing(sample(first), sample(second), seed, permutations)
    comparing.decisions()
    comparing.answers()
    comparing.replies()
    for quantity in ("tokens", "cost"):
        comparing.spent(quantity)
    adjusted = holm({name: one.tested.p_value for name, one in comparing.found.items()})
    return Comparison(
        runs=(first, second),
        trials=(len(comparing.first.trial_ids), len(comparing.second.trial_ids)),
        seed=seed,
        permutations=permutations,
        is_paired=comparing.is_paired,
        differences={name: replace(one, p_adjusted=adjusted[name]) for name, one in comparing.found.items()},
        skipped=comparing.skipped,
        warnings=(*warnings(comparing.first, comparing.second), *comparing.remarks),
    )


class _Comparing:
    """Makes the tests of a comparison, one after the other; nothing is adjusted yet."""

    def __init__(self, first: Sample, second: Sample, seed: int, permutations: int) -> None:
        self.first, self.second = first, second
        self.is_paired = are_planned_alike(first, second)
        self.found: dict[Quantity, Difference] = {}
        self.skipped: dict[Quantity, str] = {}
        self.remarks: list[str] = []
        self._seed = seed
        self._permutations = permutations

    def decisions(self) -> None:
        labels = labels_in_common(self.first, self.second)
        if not labels:
            self.skipped["decisions"] = "no contract lists them, and too many different ones were made"
            return
        self._categories("decisions", labels, self.first.labels, self.second.labels)

    def replies(self) -> None:
        self._categories(
            "replies", ["success", "fallback", "failed"], self.first.statuses, self.second.statuses
        )

    def spent(self, quantity: Literal["tokens", "cost"]) -> None:
        given = [getattr(one, quantity) for one in (self.first, self.second)]
        if min(map(len, given)) < 2:
            self.skipped[quantity] = (
                "replies did not tell them" if quantity == "tokens" else "replies told none"
            )
            return
        ids = [list(one) for one in given]
        values = np.array([*given[0].values(), *given[1].values()])
        groups = groups_of(*ids, is_paired=self.is_paired)
        chance = self._chance(quantity)
        tested = compare_means(values, groups, self._permutations, chance)
        self.found[quantity] = Difference(
            tested,
            1.0,
            (len(ids[0]), len(ids[1])),
            means=(float(values[: groups.first].mean()), float(values[groups.first :].mean())),
            interval=mean_difference_interval(values, groups, ALPHA, RESAMPLES, chance),
        )

    def answers(self) -> None:
        why = why_vectors_differ(self.first, self.second)
        first, second = (read_vectors(one.run) for one in (self.first, self.second))
        if why is None and first is not None and second is not None:
            why = self._why_unlike(first, second)
        if why is not None or first is None or second is None:
            self.skipped["answers"] = why or "a run has no embeddings"
            return
        chance = self._chance("answers")
        kept = self._drawn(first, second, chance)
        if min(map(len, kept)) < 2:
            self.skipped["answers"] = "a run has fewer than two embeddings"
            return
        points: Floats = np.concatenate(
            [
                unit(vectors.rows[np.isin(vectors.trial_ids, ids)])
                for vectors, ids in zip((first, second), kept, strict=True)
            ]
        )
        groups = groups_of(kept[0].tolist(), kept[1].tolist(), is_paired=self.is_paired)
        found = compare_clouds(points, groups, self._permutations, chance, ALPHA)
        self.found["answers"] = Difference(
            found.tested, 1.0, (groups.first, groups.second), interval=found.interval
        )

    def _why_unlike(self, first: Vectors, second: Vectors) -> str | None:
        """Say why vectors that are there cannot be compared."""
        if first.rows.shape[1] != second.rows.shape[1]:
            return f"they differ in length: {first.rows.shape[1]} and {second.rows.shape[1]} dimensions"
        models = [_actual_model(one.run) for one in (self.first, self.second)]
        if None not in models and models[0] != models[1]:
            return f"embedding models differ: {models[0]} and {models[1]} answered"
        return None

    def _drawn(self, first: Vectors, second: Vectors, chance: np.random.Generator) -> list[Ids]:
        """Return whose vectors are compared: those of trials that count, and of too many some; of pairs, both."""
        counted = [
            vectors.trial_ids[vectors.trial_ids < len(one.trial_ids)]
            for vectors, one in ((first, self.first), (second, self.second))
        ]
        most = max(map(len, counted))
        if most <= MOST_VECTORS:
            return counted
        self.remarks.append(f"of {most:,} embeddings, {MOST_VECTORS:,} were drawn by seed {self._seed}")
        if self.is_paired:
            both = np.intersect1d(counted[0], counted[1])
            return [_some(both, chance)] * 2
        return [_some(ids, chance) for ids in counted]

    def _categories(
        self,
        quantity: Quantity,
        names: Sequence[str | None],
        first: Sequence[str | None],
        second: Sequence[str | None],
    ) -> None:
        code = {name: number for number, name in enumerate(names)}
        codes = np.array([code[one] for one in (*first, *second)], dtype=np.intp)
        groups = groups_of(self.first.trial_ids, self.second.trial_ids, is_paired=self.is_paired)
        tested = compare_categories(codes, groups, self._permutations, self._chance(quantity))
        n, m = len(first), len(second)
        told = []
        for name in names:
            one, other = first.count(name), second.count(name)
            bounds = difference_interval(one, n, other, m, ALPHA)
            told.append(CategoryDifference(name, one, other, other / m - one / n, bounds))
        self.found[quantity] = Difference(tested, 1.0, (n, m), categories=tuple(told))

    def _chance(self, quantity: Quantity) -> np.random.Generator:
        return np.random.default_rng((_STREAMS[quantity], self._seed))


def _some(ids: Ids, chance: np.random.Generator) -> Ids:
    return ids if len(ids) <= MOST_VECTORS else np.sort(chance.choice(ids, MOST_VECTORS, replace=False))


def _actual_model(run: ReadRun) -> str | None:
    """Return the embedding model that replies named; None when the run does not tell."""
    try:
        text = (run.directory / "embeddings.provenance.json").read_text(encoding="utf-8")
        found: Any = json.loads(text)
    except (OSError, ValueError):
        return None
    model = found.get("actual_embedding_model") if isinstance(found, dict) else None
    return model if isinstance(model, str) else None
