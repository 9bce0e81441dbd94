"""The money of a whole study: a case is asked only while what it may cost at most is there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, TypeVar

from moot.compare.study import ArmIs, Study
from moot.protocols.kernel.errors import BadInput

T = TypeVar("T")

ROUNDING: Final = 1e-9
"""US dollars that sums of millionths may be off."""


class Purse:
    """What a study may cost, and what it has cost.

    Attributes:
        budget: US dollars for the whole study; None: as many as it takes.
        at_most: US dollars that one more case may cost, once, with all arms.
        spent: US dollars so far.
    """

    def __init__(self, study: Study, budget: float | None) -> None:
        """Open it.

        Args:
            study: The study.
            budget: US dollars for all of it, what it has cost already included; None: as many as it takes.

        Raises:
            BadInput: An arm asks a model, and nothing says what an answer may cost.
        """
        self.budget = budget
        self.at_most = 0.0 if budget is None else sum(_most(name, study) for name in study.arms)
        self.spent = 0.0
        self._asked = 0

    @property
    def has_enough(self) -> bool:
        """Return whether one more case can be paid, beside all that are being answered."""
        if self.budget is None:
            return True
        return self.spent + (self._asked + 1) * self.at_most <= self.budget + ROUNDING

    def paid(self, tasks: Iterator[T]) -> Iterator[T]:
        """Yield tasks as long as they can be paid; whoever goes on later finds the others still there."""
        while self.has_enough:
            task = next(tasks, None)
            if task is None:
                return
            self._asked += 1
            yield task

    def settle(self, usd: float) -> None:
        """Book what a case has cost."""
        self._asked -= 1
        self.spent += usd

    def told(self) -> str:
        """Say why it is not enough."""
        left = max((self.budget or 0.0) - self.spent, 0.0)
        return (
            f"the budget of ${self.budget:,.2f} ends the study for now: ${self.spent:,.4f} are spent, and the next "
            f"case may cost ${self.at_most:,.4f}, more than the ${left:,.4f} that are left"
        )


def _most(name: str, study: Study) -> float:
    """Return the US dollars that an answer of an arm may cost.

    Raises:
        BadInput: It asks a model, and nothing says so.
    """
    arm = study.arms[name]
    if not _asks_a_model(arm):
        return 0.0
    if not arm.usd:
        raise BadInput(
            f"--budget: arms.{name} asks a model and has no usd: say there what an answer may cost at most, and "
            "nothing is asked that the budget might not cover"
        )
    return arm.usd * (_calls(arm, study) if arm.is_ == "vote" else 1)


def _asks_a_model(arm: ArmIs) -> bool:
    return arm.model is not None or any(isinstance(mind, dict) for mind in arm.minds.values())


def _calls(arm: ArmIs, study: Study) -> int:
    """Return how many calls an arm may make: of a vote, how many answers at most."""
    return arm.budget if isinstance(arm.budget, int) else _calls(study.arms[arm.budget], study)
