"""A synchronous society that holds one panel, its reviewers in the test's hands."""

from __future__ import annotations

from typing import Any

from moot.protocols.kernel.effects import Effects
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.seats import ADMIN, Seat
from moot.protocols.panel.contract import ROLES, Contract, as_json
from moot.protocols.panel.messages import PanelOpened, Phase1, Phase2, Synthesis
from moot.protocols.panel.seats import SYNTHESIZER
from moot.protocols.panel.state import PanelState
from tests.doubles.panel_samples import FOCUS, phase1, report, synthesis
from tests.doubles.table import Table


class PanelTable(Table):
    """Opens a panel; then each reviewer says what the test wants it to say."""

    def __init__(self, contract: Contract = FOCUS) -> None:
        """Start without any schedule; `contract` is that of the next panel."""
        super().__init__(schedules={})
        self.contract = contract
        self.panel_id = ""

    @property
    def roles(self) -> tuple[str, ...]:
        """Return the roles of the panel."""
        return ROLES[self.contract.mode]

    def panel(self, contract: Any = None, **over: Any) -> Envelope:
        """Open a panel under the table's contract, or another as plain data."""
        fields: dict[str, Any] = {
            "contract": as_json(self.contract) if contract is None else contract,
            "title": "On widgets",
            "field": "widgetry",
            "word_count": 1234,
            "content_ref": "paper/0123456789abcdef",
            **over,
        }
        env = self.say(ADMIN, PanelOpened(**fields), channel="#r-panel")
        self.panel_id = env.case_id or ""
        return env

    @property
    def state(self) -> PanelState:
        """Return the panel's state."""
        state = self.docket.cases[self.panel_id]
        assert isinstance(state, PanelState)
        return state

    @property
    def outcome(self) -> str:
        """Return how the panel ended."""
        return self.docket.ended[self.panel_id].outcome

    def commit(self, role: str, text: str | None = None) -> Envelope:
        """Let a reviewer give its Phase 1."""
        return self.say(Seat(role), Phase1(text=phase1(self.contract) if text is None else text))

    def review(self, role: str, text: str | None = None, **scores: Any) -> Envelope:
        """Let a reviewer give its Phase 2."""
        written = report(role, scores, contract=self.contract) if text is None else text
        return self.say(Seat(role), Phase2(text=written))

    def all_review(self, **scores: Any) -> None:
        """Let every reviewer commit and review, with the same scores."""
        for role in self.roles:
            self.commit(role)
            self.review(role, **scores)

    def conclude(self, text: str | None = None) -> Envelope:
        """Let the synthesizer conclude; by default as the scores say."""
        if text is None:
            state = self.state
            text = synthesis(
                state.scores, self.contract, majority=state.majority, on_none_fired=state.on_none_fired
            )
        return self.say(SYNTHESIZER, Synthesis(text=text))

    def effects_of(self, env: Envelope) -> Effects:
        """Return what a message changed."""
        return self.effects[env.seq - 1]
