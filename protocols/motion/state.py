"""The state of a motion, its phases and its limits (R-Q1, R-Q2)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from moot.protocols.kernel.case import CaseState
from moot.protocols.kernel.times import minutes
from moot.protocols.motion.messages import ROUNDS, Severity

KIND: Final = "motion"

WITHIN: Final = minutes(20)
THIRD_WITHIN: Final = minutes(10)
GRACE: Final = minutes(10)
"""Time for each message, less of it in the third round (R-Q2)."""

YES_OR_NO: Final = ("yes", "no")
"""What is chosen from where a motion names no options."""


class Phase(StrEnum):
    """Conditions of a motion."""

    CLAIMING = "claiming"
    OBJECTING_1 = "objecting_1"
    REPLYING_1 = "replying_1"
    OBJECTING_2 = "objecting_2"
    REPLYING_2 = "replying_2"
    JUDGING = "judging"
    OBJECTING_3 = "objecting_3"
    REPLYING_3 = "replying_3"
    CONCLUDING = "concluding"


@dataclass(frozen=True, kw_only=True)
class MotionState(CaseState):
    """State of a motion.

    Attributes:
        question: What is asked.
        options: The answers to choose from.
        context_ref: A work that all seats are shown, "" for none.
        option: What the Advocate claims, "" before.
        is_examined: Whether the Critic spoke at all (R-D10).
        raised: The severity of each objection; the first is number 1.
        answered: Numbers of objections that were answered.
        conceded: Numbers of objections that were conceded.
        rounds: Rounds that had both objections and replies.
        is_extended: Whether a third round was opened.
        limit: Rounds before the judgment.
        verdict: The judgment, "" before.
        confidence: That of the judgment, None before.
        standing: Numbers of the objections that stand by the judgment.
    """

    question: str
    options: tuple[str, ...]
    context_ref: str = ""
    option: str = ""
    is_examined: bool = False
    raised: tuple[Severity, ...] = ()
    answered: frozenset[int] = frozenset()
    conceded: frozenset[int] = frozenset()
    rounds: int = 0
    is_extended: bool = False
    limit: int = ROUNDS
    verdict: str = ""
    confidence: float | None = None
    standing: tuple[int, ...] = ()

    @property
    def numbers(self) -> range:
        """Return the numbers of the objections so far."""
        return range(1, len(self.raised) + 1)

    @property
    def unanswered(self) -> tuple[int, ...]:
        """Return the numbers of the objections that were neither answered nor conceded."""
        return tuple(number for number in self.numbers if number not in self.answered | self.conceded)

    @property
    def may_extend(self) -> bool:
        """Say whether a third round is possible at all: after two full ones, once (R-D5)."""
        return self.rounds == ROUNDS == self.limit and not self.is_extended
