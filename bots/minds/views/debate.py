"""A debate as its messages tell it: the strategy as it stands, the last assessment, the answers to it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, TypeVar

from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.message import Message
from moot.protocols.kernel.officers import Ruling
from moot.protocols.research.messages import (
    Concede,
    ExtendDebate,
    FinalVerdict,
    Hypothesis,
    Rebuttal,
    RevisedHypothesis,
    ReviseRequest,
    RiskAssessment,
    Strategy,
    Verdict,
)

M = TypeVar("M", bound=Message)


Round = Literal[1, 2, 3, "revision"]


class Debate:
    """A debate, read from its messages.

    Attributes:
        envelopes: Its messages in effect, oldest first.
    """

    def __init__(self, envelopes: Sequence[Envelope], owed_round: Round | None = None) -> None:
        """Read a debate.

        Args:
            envelopes: Its messages in effect, oldest first.
            owed_round: The round that an answer is owed in; None where rounds do not matter.
        """
        self.envelopes = tuple(envelopes)
        self._owed_round = owed_round

    def __repr__(self) -> str:
        return f"<Debate: round {self.round}, {len(self.envelopes)} messages>"

    @property
    def round(self) -> Round:
        """Return the round of the answer that is owed, or else the last that was spoken in."""
        if self._owed_round is not None:
            return self._owed_round
        if self.is_revised:
            return "revision"
        if self.is_extended:
            return 3
        return 2 if self.rebuttals or self.is_conceded else 1

    @property
    def assessments(self) -> tuple[RiskAssessment, ...]:
        """Return all assessments, oldest first."""
        return tuple(self.all(RiskAssessment))

    @property
    def rebuttals(self) -> tuple[Rebuttal, ...]:
        """Return all rebuttals, oldest first."""
        return tuple(self.all(Rebuttal))

    def all(self, kind: type[M]) -> Iterator[M]:
        """Yield the bodies of a class, oldest first."""
        for env in self.envelopes:
            if isinstance(env.body, kind):
                yield env.body

    def last(self, kind: type[M]) -> M | None:
        """Return the newest body of a class."""
        return next((env.body for env in reversed(self.envelopes) if isinstance(env.body, kind)), None)

    @property
    def hypothesis(self) -> Hypothesis | None:
        """Return what opened the debate."""
        return self.last(Hypothesis)

    @property
    def strategy(self) -> Strategy | None:
        """Return the strategy as it stands, after a revision or a change in a rebuttal the new one."""
        return next((found for env in reversed(self.envelopes) if (found := _put_forward(env.body))), None)

    @property
    def first_strategy(self) -> Strategy | None:
        """Return the strategy as the debate began."""
        return self.hypothesis.strategy if self.hypothesis is not None else None

    @property
    def assessment(self) -> RiskAssessment | None:
        """Return the last assessment of the strategy as it stands; none of an earlier one counts."""
        for env in reversed(self.envelopes):
            if isinstance(env.body, RiskAssessment):
                return env.body
            if _put_forward(env.body) is not None:
                return None
        return None

    @property
    def change(self) -> tuple[Strategy, Strategy] | None:
        """Return the strategy before and after a rebuttal that changed it, until that is assessed."""
        found = [(env.body, one) for env in self.envelopes if (one := _put_forward(env.body)) is not None]
        if len(found) < 2 or not isinstance(found[-1][0], Rebuttal) or self.assessment is not None:
            return None
        return found[-2][1], found[-1][1]

    @property
    def rebuttal(self) -> Rebuttal | None:
        """Return the last rebuttal of the text as it stands."""
        for env in reversed(self.envelopes):
            if isinstance(env.body, Rebuttal):
                return env.body
            if isinstance(env.body, RevisedHypothesis | Hypothesis):
                return None
        return None

    @property
    def responses(self) -> int:
        """Count the points that were answered in the whole debate."""
        return sum(len(rebuttal.responses) for rebuttal in self.rebuttals)

    @property
    def verdict(self) -> Verdict | FinalVerdict | None:
        """Return the last verdict."""
        found = [e.body for e in self.envelopes if isinstance(e.body, Verdict | FinalVerdict)]
        return found[-1] if found else None

    @property
    def request(self) -> ReviseRequest | None:
        """Return the request to revise."""
        return self.last(ReviseRequest)

    @property
    def is_conceded(self) -> bool:
        """Say whether the Explorer gave up."""
        return self.last(Concede) is not None

    @property
    def is_extended(self) -> bool:
        """Say whether a third round was asked for."""
        return self.last(ExtendDebate) is not None

    @property
    def is_revised(self) -> bool:
        """Say whether a revision stands."""
        return self.last(RevisedHypothesis) is not None

    @property
    def silences(self) -> int:
        """Count the deadlines that were ruled missed."""
        return sum(1 for ruling in self.all(Ruling) if ruling.reason == "timeout")


def _put_forward(body: Message) -> Strategy | None:
    """Return the strategy that a message puts forward, or leaves changed."""
    if isinstance(body, Hypothesis | RevisedHypothesis | Rebuttal):
        return body.strategy
    return None
