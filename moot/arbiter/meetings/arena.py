"""A run of the Arena as a trial: whether the Reviewer approved, with the Finalizer's text."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from moot.arbiter.meetings.meeting import Meeting, Model
from moot.bots.minds.mind import Mind, View
from moot.bots.minds.model.mind import at_once
from moot.bots.minds.model.writing import ModelWriter
from moot.bots.minds.simulated.arena.writer import SimulatedWriter
from moot.bots.minds.simulated.temper import RELIABLE
from moot.bots.seats.arena import ArenaMind
from moot.bots.seats.sessions import SessionStore
from moot.bots.seats.writer import Writer
from moot.config.arbiter.moot_protocols import APPROVED, UNRESOLVED, arena_task
from moot.protocols.arbiter.generated import ResolvedConfiguration
from moot.protocols.arena.messages import FinalOutput, RunTerminated
from moot.protocols.arena.relevance import cleanse
from moot.protocols.arena.rights import PLACE
from moot.protocols.arena.states import State
from moot.protocols.kernel.message import Message
from moot.protocols.kernel.seats import Seat

DECISIONS: Final = {State.TERMINATED_APPROVED: APPROVED, State.TERMINATED_MAX_ROUNDS: UNRESOLVED}


class ArenaRun(Meeting):
    """Planner, Reviewer and Finalizer work on the question, without a notebook."""

    name = "arena"
    place = PLACE

    def __init__(self, config: ResolvedConfiguration, trial_id: int) -> None:
        super().__init__(config, trial_id)
        arena = config.protocol.arena
        assert arena is not None
        self._max_rounds = arena.max_rounds
        self._sessions = SessionStore()
        self._output: str | None = None

    def opener(self, now: datetime) -> Message:
        return arena_task(self._question, self._max_rounds)

    def simulated(self, seat: Seat) -> Mind:
        return self._mind(SimulatedWriter(self.seed, RELIABLE))

    def modelled(self, seat: Seat, model: Model) -> Mind:
        return self._mind(
            ModelWriter(model.caller, model.options, model.prompts, delay=at_once, tell=model.tell)
        )

    def said(self, body: Message) -> str | None:
        text = super().said(body)
        if text is None:
            return None
        # As the run keeps it.
        text = cleanse(text).text
        if isinstance(body, FinalOutput):
            self._output = text
        return text

    def told(self, body: Message) -> None:
        if not isinstance(body, RunTerminated):
            return
        decision = DECISIONS.get(State(body.state))
        if decision is None or self._output is None:
            self.failure = f"the run ended in {body.state}: {body.reason}"
        else:
            self.decide(decision, self._output)

    def _mind(self, writer: Writer) -> Mind:
        return ArenaMind(writer, _no_notebook, self._sessions)


def _no_notebook(_view: View) -> None:
    """Have no notebook."""
