"""What the results of a study add up to, by arm and case: a few numbers a case, however much was answered."""

from __future__ import annotations

from array import array
from typing import Final

import numpy as np
from numpy.typing import NDArray

from moot.compare.cases.case import CORRECT
from moot.compare.results import Result
from moot.statistics.calibration import brier
from moot.statistics.permutation import Floats

DOUBLE: Final = "d"


class Column:
    """What the results of one arm add up to; a row for each case, by its place among all that were met.

    Attributes:
        answers: How many there are.
        silent: Those that are none.
        usd: US dollars for all of them.
        said: Stated confidences that can be judged.
        came: Whether each of them came true.
    """

    def __init__(self) -> None:
        """Begin without any."""
        self.answers = 0
        self.silent = 0
        self.usd = 0.0
        self.said = array(DOUBLE)
        self.came = array("b")
        self._said_of = array("q")
        self._calls = array(DOUBLE)
        self._scores: dict[str, array[float]] = {}
        self._votes: dict[int, list[bytes]] = {}

    def take(self, one: Result, row: int) -> None:
        """Add a result.

        Args:
            one: The result.
            row: Of its case.
        """
        self.answers += 1
        self.silent += one.answer is None
        self.usd += one.usd
        _reach(self._calls, row + 1)
        self._calls[row] += one.calls
        for name, (part, of) in one.scores.items():
            totals = self._scores.get(name)
            if totals is None:
                totals = self._scores[name] = array(DOUBLE)
            _reach(totals, 2 * row + 2)
            totals[2 * row] += part
            totals[2 * row + 1] += of
        right = one.scores.get(CORRECT)
        if one.confidence is not None and right is not None:
            self._said_of.append(row)
            self.said.append(one.confidence)
            self.came.append(bool(right[0]))
        if len(one.votes_correct) > 1:
            self._votes.setdefault(row, []).append(bytes(vote < 0.5 for vote in one.votes_correct))

    @property
    def scores(self) -> tuple[str, ...]:
        """Return the names of all scores, in the order in which they were met."""
        return tuple(self._scores)

    def calls_a_case(self) -> float:
        """Return the calls for an answer, on average."""
        return sum(self._calls) / max(self.answers, 1)

    def calls(self, rows: NDArray[np.intp]) -> Floats:
        """Return the calls that cases took, shape (cases,)."""
        return _table(self._calls, 1, rows)[:, 0]

    def table(self, score: str, rows: NDArray[np.intp]) -> Floats | None:
        """Return part and of by case, shape (cases, 2); None where there is nothing."""
        totals = self._scores.get(score)
        return None if totals is None or not len(rows) else _table(totals, 2, rows)

    def brier_table(self) -> Floats:
        """Return the sum of Brier scores and their number by case that states a confidence, shape (cases, 2)."""
        rows = np.frombuffer(self._said_of, dtype=np.int64)
        errors = brier(np.frombuffer(self.said), np.frombuffer(self.came, dtype=np.int8) != 0)
        sums, counts = np.bincount(rows, errors), np.bincount(rows).astype(np.float64)
        table: Floats = np.stack([sums, counts], axis=1)[counts > 0]
        return table

    def errors(self) -> NDArray[np.bool_] | None:
        """Return which voters erred, shape (answers, voters), as many as every answer has; None: not all have some."""
        given = [one for votes in self._votes.values() for one in votes]
        if len(given) < 2 or len(given) < self.answers:
            return None
        voters = min(map(len, given))
        return np.array([list(one[:voters]) for one in given], dtype=np.bool_)


def _reach(numbers: array[float], count: int) -> None:
    """Make numbers so many that there is room for one more case."""
    if len(numbers) < count:
        numbers.frombytes(bytes(numbers.itemsize * (count - len(numbers))))


def _table(numbers: array[float], columns: int, rows: NDArray[np.intp]) -> Floats:
    """Return the rows of cases; those that came behind the last one with a number are 0."""
    most = int(rows.max(initial=-1)) + 1
    whole = np.zeros((max(most, len(numbers) // columns), columns))
    whole.ravel()[: len(numbers)] = np.frombuffer(numbers)
    table: Floats = whole[rows]
    return table
