"""One pass of one mind: with the debate's figures, evidence and search, and without a word of anybody else."""

from __future__ import annotations

from moot.bots.minds.simulated.debate.alone import judge_alone
from moot.bots.minds.simulated.temper import RELIABLE
from moot.compare.arms.arm import Answer, Trial
from moot.compare.arms.market import MarketArm, answered, spec_in, universe_in
from moot.protocols.kernel.errors import BadInput


class SingleJudge(MarketArm):
    """Judges a strategy alone."""

    least = most = 1

    def __init__(self, *, changes: bool = True) -> None:
        """Say whether it may change the strategy, as the Explorer of a debate may.

        Raises:
            BadInput: That is said by no yes or no.
        """
        if not isinstance(changes, bool):
            raise BadInput(f"changes is true or false, not {changes!r:.40}")
        self.changes = changes

    async def run(self, trial: Trial) -> Answer:
        """Approve or reject what is shown."""
        universe = universe_in(trial.case)
        found = judge_alone(spec_in(trial.case), universe, trial.seed, RELIABLE, changes=self.changes)
        return Answer(answer=answered(found.verdict, found.spec), confidence=found.confidence, calls=1)
