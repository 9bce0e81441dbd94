"""A review panel as a trial: what its sprint contract makes of the scores, with the synthesis."""

from __future__ import annotations

from datetime import datetime
from functools import partial

from moot.arbiter.meetings.meeting import Meeting, Model
from moot.bots.minds.mind import Mind
from moot.bots.minds.model.mind import at_once
from moot.bots.minds.model.writing import ModelPanelWriter
from moot.bots.minds.simulated.panel.writer import SimulatedPanelWriter
from moot.bots.minds.simulated.temper import RELIABLE
from moot.bots.seats.panel import PanelMind
from moot.cases.panel.offline import KIND
from moot.config.arbiter.moot_protocols import decision_of
from moot.memory.evidence import InMemoryEvidence, text_of
from moot.protocols.arbiter.generated import ResolvedConfiguration
from moot.protocols.kernel.message import Message
from moot.protocols.kernel.seats import Seat
from moot.protocols.panel.contract import as_json, contract_from, prepared
from moot.protocols.panel.messages import PanelAborted, PanelDecided, PanelOpened, Synthesis
from moot.protocols.panel.rights import PLACE


class Panel(Meeting):
    """Reviewers commit to a standard, judge the question's text by it, and a Synthesizer concludes from the scores."""

    name = "panel"
    place = PLACE

    def __init__(self, config: ResolvedConfiguration, trial_id: int) -> None:
        super().__init__(config, trial_id)
        panel = config.protocol.panel
        assert panel is not None
        self._panel = panel
        evidence = InMemoryEvidence()
        self._ref = evidence.put(KIND, {"text": self._question})
        self.contents = partial(text_of, evidence)
        self._synthesis = ""

    def opener(self, now: datetime) -> Message:
        panel = self._panel
        return PanelOpened(
            contract=as_json(prepared(contract_from(panel.contract), now)),
            title=panel.title,
            field=panel.field,
            word_count=len(self._question.split()),
            content_ref=self._ref,
        )

    def simulated(self, seat: Seat) -> Mind:
        return PanelMind(SimulatedPanelWriter(self.seed, RELIABLE))

    def modelled(self, seat: Seat, model: Model) -> Mind:
        return PanelMind(
            ModelPanelWriter(model.caller, model.options, model.prompts, delay=at_once, tell=model.tell)
        )

    def said(self, body: Message) -> str | None:
        if isinstance(body, Synthesis):
            self._synthesis = body.text
        return super().said(body)

    def told(self, body: Message) -> None:
        if isinstance(body, PanelDecided):
            self.decide(decision_of(body.decision), self._synthesis)
        elif isinstance(body, PanelAborted):
            self.failure = f"the panel decided nothing: {body.why} {body.tag}"
