"""A synchronous society that holds one motion, its seats in the test's hands."""

from __future__ import annotations

from typing import Any

from moot.protocols.kernel.effects import Effects
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.seats import ADMIN, Seat
from moot.protocols.motion import messages as m
from moot.protocols.motion.seats import ADVOCATE, JUDGE
from moot.protocols.motion.state import MotionState
from moot.protocols.research.seats import CRITIC
from tests.doubles.debating import beside, ruling
from tests.doubles.table import Table

QUESTION = "Should we adopt a four-day week?"


class MotionTable(Table):
    """Opens a motion; then each seat says what the test wants it to say."""

    def __init__(self, **motion: Any) -> None:
        """Open a motion in a society without any schedule."""
        super().__init__(schedules={})
        body = m.Motion(**{"question": QUESTION, **motion})
        self.motion_id = self.say(ADMIN, body, channel="#motions").case_id or ""

    @property
    def state(self) -> MotionState:
        """Return the motion's state."""
        state = self.docket.cases[self.motion_id]
        assert isinstance(state, MotionState)
        return state

    @property
    def outcome(self) -> str:
        """Return how the motion ended."""
        return self.docket.ended[self.motion_id].outcome

    def claim(self, option: str = "yes", **over: Any) -> Envelope:
        """Claim an option."""
        fields = {"claim": f"It is {option}.", "grounds": (m.Ground(text="People work better rested."),)}
        return self.say(ADVOCATE, m.Claim(option=option, **{**fields, **over}))

    def object(self, *severities: str, first: int | None = None, **over: Any) -> Envelope:
        """Raise an objection of each severity, numbered on."""
        first = self.state.numbers.stop if first is None else first
        found = tuple(
            m.Objection(number=n, text="Shops must stay open.", severity=severity)  # type: ignore[arg-type]
            for n, severity in enumerate(severities, first)
        )
        fields = {"round": self._round(CRITIC), "objections": found, "confidence": 0.7}
        return self.say(CRITIC, m.Objections(**{**fields, **over}))

    def reply(self, *answered: int, conceded: tuple[int, ...] = (), **over: Any) -> Envelope:
        """Answer and concede objections."""
        replies = (
            *(m.Reply(number=n, answer="They take turns.") for n in answered),
            *(m.Reply(number=n, concede=True) for n in conceded),
        )
        return self.say(ADVOCATE, m.Replies(**{"round": self._round(ADVOCATE), "replies": replies, **over}))

    def extend(self, for_score: float = 0.6, against_score: float = 0.65) -> Envelope:
        """Ask for a third round."""
        body = m.ExtendMotion(for_score=for_score, against_score=against_score, reason="both are strong")
        return self.say(JUDGE, body, owed=self.owed(JUDGE, "JUDGMENT"))

    def judge(self, outcome: str = "UPHELD", **over: Any) -> Envelope:
        """Judge, by default so that the table allows it."""
        state = self.state
        fields = {
            "option": state.option if outcome == "UPHELD" else "",
            "confidence": 0.8,
            "for_score": 0.7,
            "against_score": 0.4,
            "standing": (*state.unanswered, *sorted(state.conceded)),
            "reasoning": "It was shown.",
        }
        return self.say(JUDGE, m.Judgment(outcome=outcome, **{**fields, **over}))  # type: ignore[arg-type]

    def two_rounds(self) -> None:
        """Claim, object and reply twice."""
        self.claim()
        for n in (1, 2):
            self.object("minor")
            self.reply(n)

    def _round(self, seat: Seat) -> int:
        return int(next(due for due in self.docket.open.values() if due.seat == seat).step.rpartition("-")[2])

    def effects_of(self, env: Envelope) -> Effects:
        """Return what a message changed."""
        return self.effects[env.seq - 1]

    def broke(self, env: Envelope) -> tuple[str, str | None]:
        """Return the rule and the field that a message broke, as the VIOLATION beside it says."""
        note = beside(self, env)
        return note.rule, note.field

    def ruling(self) -> tuple[str, str, str]:
        """Return the newest ruling: outcome, reason, rule."""
        return ruling(self)
