"""The simulated reviewers and synthesizer of panels, as a writer of their seats."""

from __future__ import annotations

from datetime import timedelta

from moot.bots.minds.mind import View
from moot.bots.minds.simulated.delays import delay
from moot.bots.minds.simulated.panel import reviewer
from moot.bots.minds.simulated.temper import DEFAULT, Temper
from moot.bots.seats.panel import PanelWriter
from moot.bots.seats.panel_prompts import Prompt


class SimulatedPanelWriter(PanelWriter):
    """Writes for all seats of a panel; what it is not shown it does not know. The same view gives the same text."""

    def __init__(self, seed: int, temper: Temper = DEFAULT) -> None:
        """Take the society's seed and the constants of behaviour."""
        self._seed = seed
        self._temper = temper

    def delay(self, view: View) -> timedelta | None:
        """Take a seeded time with a heavy tail, as every simulated mind."""
        return delay(self._seed, view.obligation, view.attempt, view.now, self._temper)

    async def write(self, view: View, prompt: Prompt) -> str:
        """Write what is owed."""
        brief = view.brief
        kind = view.obligation.expects[0]
        if kind == "SYNTHESIS":
            return reviewer.synthesize_text(
                brief["contract"], brief["scores"], brief["majority"], brief["on_none_fired"]
            )
        if kind == "PHASE1":
            return reviewer.commit(
                brief["role"],
                brief["contract"],
                brief["title"],
                brief["field"],
                brief["word_count"],
                brief["gaps"],
                self._seed,
                view.rules_version,
            )
        return reviewer.review(
            brief["role"], brief["contract"], brief["phase1_output"], view.content, self._seed
        )
