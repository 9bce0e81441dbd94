"""What a study found: each arm's figures, and how arms differ, case by case; computed from its results alone."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from moot.compare.arm_labels import labels_of
from moot.compare.cases.case import CORRECT, SHARES
from moot.compare.columns import Column
from moot.compare.results import Result
from moot.statistics.calibration import Bin, reliability
from moot.statistics.clusters import Estimate, difference, estimate, ratio
from moot.statistics.permutation import Floats
from moot.statistics.shares import Interval
from moot.statistics.votes import effective_votes

DIGITS: Final = 9
"""Decimal places of a figure that are kept."""

SHARE: Final = Interval(0.0, 1.0)
"""Between what a share lies."""

OF_SHARES: Final = Interval(-1.0, 1.0)
"""Between what a difference of shares lies."""

Rows = NDArray[np.intp]
"""Places of cases, in the order in which they were met."""


@dataclass(frozen=True, slots=True)
class ArmFound:
    """What an arm did.

    Attributes:
        arm: Its name.
        answers: How many, those that are none included.
        silent: Those that are none.
        calls: For an answer, on average.
        usd: For an answer, on average.
        scores: Each figure, by name.
        brier: Of its stated confidences; None where it states none or nothing says what is right.
        reliability: How often stated confidences came true.
        effective_votes: How many independent votes its votes are worth; None where it has none.
        per_correct: Calls for each right answer; None where nothing says what is right.
        label: "simulated, no model", or which of its seats are simulated; "" where no simulated mind answers.
    """

    arm: str
    answers: int
    silent: int
    calls: float
    usd: float
    scores: Mapping[str, Estimate]
    brier: Estimate | None
    reliability: tuple[Bin, ...]
    effective_votes: Estimate | None
    per_correct: Estimate | None
    label: str = ""


@dataclass(frozen=True, slots=True)
class Differing:
    """By how much one arm exceeds another in a score, over the same cases.

    Attributes:
        arm: The one.
        than: The other.
        score: In what.
        calls: What either used for an answer, on average.
        found: The difference.
        is_primary: Whether it was registered as what decides the study; else it is exploratory.
        labels: Labels of the one and of the other arm (`ArmFound.label`).
    """

    arm: str
    than: str
    score: str
    calls: tuple[float, float]
    found: Estimate
    is_primary: bool
    labels: tuple[str, str] = ("", "")


@dataclass(frozen=True, slots=True)
class Summary:
    """What a study found.

    Attributes:
        study: Its name.
        question: What it asks.
        answers: Results there are.
        planned: How many there are to be.
        cases: That every arm answered as often as it should.
        arms: In the study's order.
        differences: Of each two arms in each score; the primary one first.
    """

    study: str
    question: str
    answers: int
    planned: int
    cases: int
    arms: tuple[ArmFound, ...]
    differences: tuple[Differing, ...]

    @property
    def left(self) -> int:
        """Return how many answers are missing."""
        return self.planned - self.answers

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON data; figures that there are not are null, and labels that there are not are left out."""
        plain: dict[str, Any] = _plain(asdict(self))
        for one in plain["arms"]:
            if not one["label"]:
                del one["label"]
        for one in plain["differences"]:
            if not any(one["labels"]):
                del one["labels"]
        return plain

    @property
    def labels(self) -> dict[str, str]:
        """Label of each arm, "" where it has none."""
        return {one.arm: one.label for one in self.arms}

    def with_labels(self, labels: Mapping[str, str]) -> Summary:
        """Return the same figures under other labels of the arms."""
        return replace(
            self,
            arms=tuple(replace(one, label=labels.get(one.arm, "")) for one in self.arms),
            differences=tuple(
                replace(one, labels=(labels.get(one.arm, ""), labels.get(one.than, "")))
                for one in self.differences
            ),
        )

    @classmethod
    def of_json(cls, plain: Mapping[str, Any]) -> Summary:
        """Return it from what `as_json` gave.

        Raises:
            ValueError: It gave no such thing.
        """
        try:
            arms = [
                ArmFound(
                    **{
                        **one,
                        "scores": {name: _estimate_of(score) for name, score in one["scores"].items()},
                        "reliability": tuple(
                            Bin(**{**bin_, "interval": _interval_of(bin_["interval"])})
                            for bin_ in one["reliability"]
                        ),
                        **{
                            name: None if one[name] is None else _estimate_of(one[name])
                            for name in ("brier", "effective_votes", "per_correct")
                        },
                    }
                )
                for one in plain["arms"]
            ]
            differences = [
                Differing(
                    **{
                        **one,
                        "calls": tuple(one["calls"]),
                        "found": _estimate_of(one["found"]),
                        "labels": tuple(one.get("labels", ("", ""))),
                    }
                )
                for one in plain["differences"]
            ]
            return cls(**{**plain, "arms": tuple(arms), "differences": tuple(differences)})
        except (TypeError, KeyError, AttributeError) as exc:
            raise ValueError(f"no summary of a study: {exc}") from None


def has_labels(plain: Any) -> bool:
    """Return whether what `as_json` gave labels an arm; an older Moot labelled none."""
    arms = plain.get("arms") if isinstance(plain, Mapping) else None
    return isinstance(arms, list) and any(isinstance(one, Mapping) and "label" in one for one in arms)


def is_part(score: str) -> bool:
    """Say whether a score is that of a part of another one, such as one difficulty (`case.Scorer`)."""
    return " " in score


def is_share(score: str) -> bool:
    """Say whether a score is a share, or a part of one."""
    return score.partition(" ")[0] in SHARES


def summarise(
    registration: Mapping[str, Any], results: Iterable[Result], planned: int | None = None
) -> Summary:
    """Compute all figures; the same results give the same figures.

    Args:
        registration: What was registered.
        results: In any order.
    """
    names = list(registration["arms"])
    columns = {name: Column() for name in names}
    rows: dict[str, int] = {}
    answered = array("q")
    for one in results:
        row = rows.setdefault(one.case, len(rows))
        if row == len(answered):
            answered.append(0)
        columns[one.arm].take(one, row)
        answered[row] += 1
    whole = len(names) * registration["repetitions"]
    cases = np.flatnonzero(np.array(answered) == whole)
    arms = tuple(_arm(name, columns[name], cases, registration["seed"]) for name in names)
    found = Summary(
        study=registration["study"],
        question=registration["question"],
        answers=sum(answered),
        planned=registration["planned"],
        cases=len(cases),
        arms=arms,
        differences=tuple(_differences(registration, columns, cases)) if len(cases) else (),
    )
    # As it is kept: what is drawn from results and what is drawn from kept figures is the same to the last digit.
    return Summary.of_json(found.with_labels(labels_of(registration)).as_json())


def _arm(name: str, column: Column, cases: Rows, seed: int) -> ArmFound:
    right = column.table(CORRECT, cases)
    is_judged = bool(column.said) and len(cases) > 0
    errors = column.errors()
    return ArmFound(
        arm=name,
        answers=column.answers,
        silent=column.silent,
        calls=column.calls_a_case(),
        usd=column.usd / max(column.answers, 1),
        scores={
            score: _estimated(table, ratio, seed, SHARE if is_share(score) else None)
            for score in column.scores
            if (table := column.table(score, cases)) is not None
        },
        brier=_estimated(column.brier_table(), ratio, seed, SHARE) if is_judged else None,
        reliability=reliability(np.array(column.said), np.array(column.came) != 0) if is_judged else (),
        effective_votes=None if errors is None else effective_votes(errors, np.random.default_rng(seed)),
        per_correct=None
        if right is None
        else _estimated(np.stack([column.calls(cases), right[:, 0]], axis=1), ratio, seed),
    )


def _differences(
    registration: Mapping[str, Any], columns: Mapping[str, Column], cases: Rows
) -> list[Differing]:
    primary = registration.get("primary")
    asked = (primary["arm"], primary["than"], primary["score"]) if primary else None
    found = []
    for than, arm in combinations(registration["arms"], 2):
        if asked is not None and (asked[1], asked[0]) == (arm, than):
            than, arm = arm, than  # noqa: PLW2901  # the registered direction
        for score in columns[arm].scores:
            if is_part(score) and (arm, than, score) != asked:
                continue
            first, second = (columns[one].table(score, cases) for one in (than, arm))
            if first is None or second is None:
                continue
            table = np.concatenate([first, second], axis=1)
            found.append(
                Differing(
                    arm=arm,
                    than=than,
                    score=score,
                    calls=(columns[arm].calls_a_case(), columns[than].calls_a_case()),
                    found=_estimated(
                        table,
                        difference(ratio),
                        registration["seed"],
                        OF_SHARES if is_share(score) else None,
                    ),
                    is_primary=(arm, than, score) == asked,
                )
            )
    return sorted(found, key=lambda one: not one.is_primary)


def _estimated(table: Floats, figure: Any, seed: int, within: Interval | None = None) -> Estimate:
    return estimate(table, figure, np.random.default_rng(abs(seed)), within=within)


def _estimate_of(plain: Mapping[str, Any]) -> Estimate:
    return Estimate(_number(plain["value"]), _interval_of(plain["interval"]), plain["cases"])


def _interval_of(plain: Mapping[str, Any]) -> Interval:
    return Interval(_number(plain["low"]), _number(plain["high"]))


def _number(plain: float | None) -> float:
    return math.nan if plain is None else plain


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    if hasattr(value, "_asdict"):
        return _plain(value._asdict())
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, float):
        return None if value != value else round(value, DIGITS)
    return value
