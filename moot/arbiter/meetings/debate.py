"""A debate of Moot's as a trial: its judgment is the last turn, and the final text."""

from __future__ import annotations

from datetime import datetime

from moot.arbiter.meetings.meeting import Meeting, Model
from moot.bots.minds.mind import Mind
from moot.bots.minds.model.mind import ModelMind, at_once
from moot.bots.minds.simulated.motion.debater import SimulatedDebater
from moot.bots.minds.simulated.temper import RELIABLE
from moot.config.arbiter.moot_protocols import UNDECIDED, options_of
from moot.protocols.kernel.message import Message
from moot.protocols.kernel.seats import Seat
from moot.protocols.motion.messages import Judgment, Motion
from moot.protocols.motion.rights import PLACE
from moot.protocols.motion.spoken import spoken


class Debate(Meeting):
    """Advocate, Critic and Judge debate which of a contract's answers holds."""

    name = "debate"
    place = PLACE

    def opener(self, now: datetime) -> Message:
        return Motion(question=self._question, options=options_of(self._contract))

    def simulated(self, seat: Seat) -> Mind:
        return SimulatedDebater(self.seed, RELIABLE)

    def modelled(self, seat: Seat, model: Model) -> Mind:
        return ModelMind(
            model.caller,
            model.options,
            model.prompts,
            delay=at_once,
            tell=model.tell,
            fault_of=model.fault_of,
        )

    def said(self, body: Message) -> str | None:
        if isinstance(body, Judgment):
            return self.decide(body.option or UNDECIDED, body.reasoning, body.confidence)
        return spoken(body)
