"""Questions: the Advocate's claim alone, and a whole motion of Advocate, Critic and Judge."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from moot.api.options import seated
from moot.cases.motion.offline import SEATS, MotionOptions, MotionRun, again, hold_motion
from moot.clock import VirtualClock, in_thread
from moot.compare.arms.arm import Answer, Arm, Trial
from moot.compare.arms.logs import held, kept, spent
from moot.compare.cases.case import QUESTION
from moot.protocols.kernel.frozen import Json
from moot.protocols.kernel.minds import SILENT
from moot.protocols.kernel.seats import Seat
from moot.protocols.motion.seats import ADVOCATE
from moot.workshop import START


class MotionDebate(Arm):
    """Debates a question among its options, yes and no where it has none; the answer is the judgment's."""

    kinds = frozenset({QUESTION})
    least = most = 9
    """A claim, objections and replies of three rounds, an extension, a judgment; models may be asked again besides."""

    chooses = True
    speaks: tuple[Seat, ...] = SEATS

    def __init__(
        self,
        minds: Mapping[str, Any] | None = None,
        model: str | Mapping[str, Any] | None = None,
        usd: float = 0.0,
    ) -> None:
        """Take who sits where.

        Args:
            minds: What fills a seat; the others are the model's, or simulated.
            model: URL#NAME, or what a configuration says of one.
            usd: US dollars that an answer may cost, where a model sits somewhere; 0: as configured.
        """
        silent = {str(seat): SILENT for seat in SEATS if seat not in self.speaks}
        given = {**(minds or {}), **silent}
        self._filled = seated(given, SEATS, model=model, seats=None, budget=usd or None)

    async def run(self, trial: Trial) -> Answer:
        """Debate what is asked."""
        shown: Any = trial.case.shown
        options = held(
            trial,
            filled=self._filled,
            again=again,
            anew=lambda directory: MotionOptions(
                question=shown["question"],
                options=tuple(shown.get("options", ())),
                context=shown.get("context", ""),
                seed=trial.seed,
                minds=self._filled.minds,
                models=self._filled.models,
                budget=self._filled.budget,
                prompts=self._filled.settings.prompts,
                directory=directory,
            ),
        )
        # It lives on a clock of its own, and the loop that runs belongs to this one.
        done = await in_thread(trial.clock, partial(hold_motion, options, clock=VirtualClock(START)))
        calls, usd = spent(done.log, self.speaks)
        answer, confidence = self._answered(done)
        head = kept(done.log, None if options.directory is not None else trial.log)
        return Answer(answer=answer, confidence=confidence, calls=calls, usd=usd, head=head)

    def _answered(self, done: MotionRun) -> tuple[Json, float | None]:
        """Return what the judgment names, None where it names nothing."""
        return done.record["answer"] or None, done.record["confidence"]


class SingleAnswer(MotionDebate):
    """Asks the Advocate for its claim: what the debate begins with, and nobody to object."""

    least = most = 1
    speaks = (ADVOCATE,)

    def _answered(self, done: MotionRun) -> tuple[Json, float | None]:
        return done.record["claim"] or None, None
