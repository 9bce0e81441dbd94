"""Questions put to a run of the Arena: Planner, Reviewer and Finalizer; the answer is the final output."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from moot.api.options import seated
from moot.cases.arena.offline import RunOptions, again, run_many
from moot.clock import VirtualClock, in_thread
from moot.compare.arms.arm import Answer, Arm, Trial
from moot.compare.arms.logs import held, kept, spent
from moot.compare.cases.case import QUESTION
from moot.protocols.arena.seats import ARENA
from moot.protocols.kernel.envelope import Envelope
from moot.workshop import START


class ArenaRun(Arm):
    """Has a question refined in rounds; an answer is there where the Reviewer approved.

    Simulated writers understand no question: this is for models, and minds of one's own.
    """

    kinds = frozenset({QUESTION})

    def __init__(
        self,
        minds: Mapping[str, Any] | None = None,
        model: str | None = None,
        usd: float = 0.0,
        rounds: int = 2,
    ) -> None:
        """Take who sits where.

        Args:
            minds: What fills a seat; the others are the model's, or simulated.
            model: URL#NAME.
            usd: US dollars that an answer may cost, where a model sits somewhere; 0: as configured.
            rounds: How many there may be, 1 to 5.
        """
        self._filled = seated(minds or {}, ARENA, model=model, seats=None, budget=usd or None)
        self._rounds = rounds
        self.least = self.most = 2 * rounds + 1

    async def run(self, trial: Trial) -> Answer:
        """Refine an answer to what is asked."""
        options = held(trial, filled=self._filled, again=again, anew=partial(self._options, trial))
        log: list[Envelope] = []
        hold = partial(run_many, [options], clock=VirtualClock(START), log=log)
        (record,) = await in_thread(trial.clock, hold)
        calls, usd = spent(log, ARENA)
        is_approved = record["terminal_state"] == "TERMINATED_APPROVED"
        return Answer(
            answer=(record["final_output"] or None) if is_approved else None,
            calls=calls,
            usd=usd,
            head=kept(log, None if options.directory is not None else trial.log),
        )

    def _options(self, trial: Trial, directory: Path | None) -> RunOptions:
        shown: Any = trial.case.shown
        asked = [shown["question"], shown.get("context", "")]
        if options := shown.get("options"):
            asked.append(f"Answer with one of these, and nothing else: {', '.join(options)}.")
        prompt = "\n\n".join(part for part in asked if part)
        return RunOptions(
            task={"task_id": "question", "initial_prompt": prompt, "session_id": "question"},
            config={"max_rounds": self._rounds, "notebook_enabled": False},
            seed=trial.seed,
            minds=self._filled.minds,
            models=self._filled.models,
            budget=self._filled.budget,
            prompts=self._filled.settings.prompts,
            directory=directory,
        )
