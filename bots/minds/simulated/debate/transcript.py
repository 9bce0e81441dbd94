"""What the messages of a case say: the strategy as it stands, the last assessment, the answers to it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

from moot.bots.minds.simulated.debate.criteria import mentioned
from moot.bots.tools.strategies import StrategySpec
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.message import Message
from moot.protocols.kernel.officers import Ruling, Violation
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


class Transcript:
    """A case's messages in effect: those that the referee called violations are left out (K10)."""

    def __init__(self, envelopes: Sequence[Envelope]) -> None:
        """Read envelopes, oldest first."""
        broken = {env.body.of_seq for env in envelopes if isinstance(env.body, Violation)}
        self.envelopes = tuple(env for env in envelopes if env.seq not in broken)

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
        """Return the strategy as it stands, after a revision the revised one."""
        texts = [e.body for e in self.envelopes if isinstance(e.body, Hypothesis | RevisedHypothesis)]
        return texts[-1].strategy if texts else None

    @property
    def first_strategy(self) -> Strategy | None:
        """Return the strategy as it was before a revision."""
        return self.hypothesis.strategy if self.hypothesis is not None else None

    @property
    def assessment(self) -> RiskAssessment | None:
        """Return the last assessment of the text as it stands; none counts after a revision but its own."""
        for env in reversed(self.envelopes):
            if isinstance(env.body, RiskAssessment):
                return env.body
            if isinstance(env.body, RevisedHypothesis | Hypothesis):
                return None
        return None

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
    def answered(self) -> tuple[str, ...] | None:
        """Name the criteria that the rebuttals of the present text addressed; None without a rebuttal."""
        if self.rebuttal is None:
            return None
        found: dict[str, None] = {}
        for rebuttal in self.all(Rebuttal):
            for response in rebuttal.responses:
                found.update(dict.fromkeys(mentioned(response.critique_point)))
        return tuple(found)

    @property
    def responses(self) -> int:
        """Count the points that were answered in the whole debate."""
        return sum(len(rebuttal.responses) for rebuttal in self.all(Rebuttal))

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


def spec_of(strategy: Strategy) -> StrategySpec:
    """Turn the part of a message into a strategy; nothing is checked."""
    return StrategySpec(strategy.archetype, dict(strategy.params), tuple(strategy.symbols))


def part_of(spec: StrategySpec) -> Strategy:
    """Turn a strategy into the part of a message."""
    return Strategy(archetype=spec.archetype, params=dict(spec.params), symbols=spec.symbols)
