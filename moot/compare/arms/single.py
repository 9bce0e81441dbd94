"""One pass of one mind: with the debate's figures and evidence, and without a word of anybody else."""

from __future__ import annotations

from moot.bots.minds.simulated.debate.alone import judge_alone
from moot.bots.minds.simulated.temper import RELIABLE
from moot.compare.arms.arm import Answer, Arm, Trial
from moot.compare.arms.market import answered, spec_in, universe_in
from moot.compare.cases.case import MARKET


class SingleJudge(Arm):
    """Judges a strategy alone."""

    kinds = frozenset({MARKET})
    least = most = 1

    async def run(self, trial: Trial) -> Answer:
        """Approve or reject what is shown."""
        spec = spec_in(trial.case)
        found = judge_alone(spec, universe_in(trial.case), trial.seed, RELIABLE)
        return Answer(answer=answered(found.verdict, spec), confidence=found.confidence, calls=1)
