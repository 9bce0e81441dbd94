"""Escalations judged from their raw messages alone: answered once, ended once and not too early (spec 5.3, R-E2)."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, Final

from moot.protocols.kernel.envelope import Envelope
from moot.verify.second_debate import Breach

ANSWER_WITHIN: Final = timedelta(hours=4)
TYPES: Final = frozenset({"ESCALATION", "ESCALATION_ANSWER", "ESCALATION_RESOLVED"})
"""Types that `Escalations` is shown."""


class Raised:
    """An escalation that is open.

    Attributes:
        at: When it was raised, in up time.
        answers: Seqs of its answers; only the first counts.
    """

    __slots__ = ("answers", "at")

    def __init__(self, at: datetime) -> None:
        """Start unanswered."""
        self.at = at
        self.answers: list[int] = []


class Escalations:
    """Follows all that are open."""

    def __init__(self) -> None:
        """Start with none."""
        self._open: dict[str, Raised] = {}

    def take(self, env: Envelope, up_at: datetime, *, is_void: bool) -> Breach | None:
        """Take in a message; return the rule it breaks.

        Args:
            env: The message.
            up_at: Its instant, outages aside.
            is_void: Whether it is an officer's that came too late to matter.
        """
        body: Any = env.body
        if is_void:
            return None
        if body.type == "ESCALATION":
            self._open[body.escalation_id] = Raised(up_at)
            return None
        if body.type == "ESCALATION_ANSWER":
            return self._answered(env.seq, body.escalation_id)
        return self._resolved(body, up_at)

    def strike(self, case_id: str, seq: int) -> int | None:
        """Take an answer out that a VIOLATION stands beside; return the seq of the one that counts instead."""
        raised = self._open.get(case_id)
        if raised is None or seq not in raised.answers:
            return None
        was_first = raised.answers[0] == seq
        raised.answers.remove(seq)
        return raised.answers[0] if was_first and raised.answers else None

    def _answered(self, seq: int, escalation_id: str) -> Breach | None:
        raised = self._open.get(escalation_id)
        if raised is None:
            return Breach("R-E4", f"{escalation_id} is not open")
        raised.answers.append(seq)
        if len(raised.answers) > 1:
            return Breach("R-E4", f"{escalation_id} was answered before")
        return None

    def _resolved(self, body: Any, up_at: datetime) -> Breach | None:
        raised = self._open.pop(body.escalation_id, None)
        if raised is None:
            return Breach("R-E2", f"{body.escalation_id} is not open")
        if body.how == "answered" and not raised.answers:
            return Breach("R-E2", f"nobody answered {body.escalation_id}")
        if body.how == "expired" and up_at - raised.at < ANSWER_WITHIN:
            return Breach("R-E2", f"{body.escalation_id} had not been open for 4 h")
        return None
