"""A simulated solver of questions, alone."""

from __future__ import annotations

from moot.bots.minds.simulated.solving import Solver
from moot.compare.arms.arm import Answer, Arm, Trial
from moot.compare.cases.case import QUESTION


class OneSolver(Arm):
    """Has a question answered once."""

    kinds = frozenset({QUESTION})
    least = most = 1

    def __init__(self, slip: float = Solver().slip) -> None:
        """Take the chance to err in a step."""
        self.solver = Solver(slip)

    async def run(self, trial: Trial) -> Answer:
        """Answer what is shown."""
        answer, confidence = self.solver.solve(trial.case.shown, trial.seed)
        return Answer(answer=answer, confidence=confidence, calls=1)
