"""What a study found: each arm's figures, and how arms differ, case by case; computed from its results alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np

from moot.compare.cases.case import CORRECT
from moot.compare.results import Result
from moot.statistics.calibration import Bin, brier, reliability
from moot.statistics.clusters import Estimate, difference, estimate, ratio
from moot.statistics.permutation import Floats
from moot.statistics.votes import effective_votes


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
    """

    arm: str
    than: str
    score: str
    calls: tuple[float, float]
    found: Estimate
    is_primary: bool


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
        """Return it as JSON data; figures that there are not are null."""
        plain: dict[str, Any] = _plain(asdict(self))
        return plain


class _Column:
    """What the results of one arm add up to, by case."""

    def __init__(self) -> None:
        self.scores: dict[str, dict[str, list[float]]] = {}
        self.calls: dict[str, float] = {}
        self.usd = 0.0
        self.answers = 0
        self.silent = 0
        self.stated: list[tuple[str, float, bool]] = []
        self.votes: dict[str, list[tuple[float, ...]]] = {}
        self.tables: dict[str, Floats] = {}
        """Each score by case, once all results are taken."""

    def take(self, one: Result) -> None:
        self.answers += 1
        self.silent += one.answer is None
        self.usd += one.usd
        self.calls[one.case] = self.calls.get(one.case, 0.0) + one.calls
        for name, (part, of) in one.scores.items():
            total = self.scores.setdefault(name, {}).setdefault(one.case, [0.0, 0.0])
            total[0] += part
            total[1] += of
        right = one.scores.get(CORRECT)
        if one.confidence is not None and right is not None:
            self.stated.append((one.case, one.confidence, bool(right[0])))
        if len(one.votes_correct) > 1:
            self.votes.setdefault(one.case, []).append(one.votes_correct)


def is_part(score: str) -> bool:
    """Say whether a score is that of a part of another one, such as one difficulty (`case.Scorer`)."""
    return " " in score


def summarise(
    registration: Mapping[str, Any], results: Iterable[Result], planned: int | None = None
) -> Summary:
    """Compute all figures; the same results give the same figures.

    Args:
        registration: What was registered.
        results: In any order.
    """
    names = list(registration["arms"])
    columns = {name: _Column() for name in names}
    answered: dict[str, int] = {}
    for one in results:
        columns[one.arm].take(one)
        answered[one.case] = answered.get(one.case, 0) + 1
    whole = len(names) * registration["repetitions"]
    cases = [case for case, count in answered.items() if count == whole]
    arms = tuple(_arm(name, columns[name], cases, registration["seed"]) for name in names)
    return Summary(
        study=registration["study"],
        question=registration["question"],
        answers=sum(answered.values()),
        planned=registration["planned"],
        cases=len(cases),
        arms=arms,
        differences=tuple(_differences(registration, columns, cases)) if cases else (),
    )


def _arm(name: str, column: _Column, cases: list[str], seed: int) -> ArmFound:
    answers = max(column.answers, 1)
    right = _table(column, CORRECT, cases)
    per_correct = None
    if right is not None:
        calls = np.array([column.calls[case] for case in cases])
        per_correct = _estimated(np.stack([calls, right[:, 0]], axis=1), ratio, seed)
    stated = [(confidence, came) for case, confidence, came in column.stated]
    score: Estimate | None = None
    bins: tuple[Bin, ...] = ()
    if stated and cases:
        said, came = np.array([one for one, _ in stated]), np.array([one for _, one in stated])
        squares: dict[str, list[float]] = {}
        for (case, *_), error in zip(column.stated, brier(said, came).tolist(), strict=True):
            squares.setdefault(case, []).append(error)
        score = _estimated(np.array([[sum(one), len(one)] for one in squares.values()]), ratio, seed)
        bins = reliability(said, came)
    return ArmFound(
        arm=name,
        answers=column.answers,
        silent=column.silent,
        calls=sum(column.calls.values()) / answers,
        usd=column.usd / answers,
        scores={
            score: _estimated(table, ratio, seed)
            for score in column.scores
            if (table := _table(column, score, cases)) is not None
        },
        brier=score,
        reliability=bins,
        effective_votes=_worth(column, seed),
        per_correct=per_correct,
    )


def _worth(column: _Column, seed: int) -> Estimate | None:
    """Estimate effective votes of as many voters as every case has."""
    given = [one for votes in column.votes.values() for one in votes]
    if len(given) < 2 or len(given) < column.answers:
        return None
    voters = min(map(len, given))
    errors = np.array([one[:voters] for one in given]) < 0.5
    return effective_votes(errors, np.random.default_rng(seed))


def _differences(
    registration: Mapping[str, Any], columns: Mapping[str, _Column], cases: list[str]
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
            first, second = (_table(columns[one], score, cases) for one in (than, arm))
            if first is None or second is None:
                continue
            table = np.concatenate([first, second], axis=1)
            found.append(
                Differing(
                    arm=arm,
                    than=than,
                    score=score,
                    calls=(_calls(columns[arm]), _calls(columns[than])),
                    found=_estimated(table, difference(ratio), registration["seed"]),
                    is_primary=(arm, than, score) == asked,
                )
            )
    return sorted(found, key=lambda one: not one.is_primary)


def _calls(column: _Column) -> float:
    return sum(column.calls.values()) / max(column.answers, 1)


def _table(column: _Column, score: str, cases: list[str]) -> Floats | None:
    """Return part and of by case, shape (cases, 2); None where there is nothing."""
    by_case = column.scores.get(score)
    if by_case is None or not cases:
        return None
    if score not in column.tables:
        flat = [each for case in cases for each in by_case.get(case, (0.0, 0.0))]
        column.tables[score] = np.array(flat, dtype=np.float64).reshape(-1, 2)
    return column.tables[score]


def _estimated(table: Floats, figure: Any, seed: int) -> Estimate:
    return estimate(table, figure, np.random.default_rng(abs(seed)))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    if hasattr(value, "_asdict"):
        return _plain(value._asdict())
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, float):
        return None if value != value else round(value, 9)
    return value
