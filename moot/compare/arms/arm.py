"""What all arms have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path

from moot.clock import Clock
from moot.compare.cases.case import Case
from moot.protocols.kernel.frozen import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One answer that is asked for.

    Attributes:
        case: The case. An arm shows minds what is in `case.shown`, and nothing else of it.
        repetition: Counted from 1.
        seed: Of this arm, case and repetition.
        budget: Calls that it may make.
        clock: The clock that runs.
        log: The file that takes its log, as JSON Lines; None: nobody asked for it.
        past: Where the log of the same answer lies that is given again, with what models said; None: it is new.
    """

    case: Case
    repetition: int
    seed: int
    budget: int
    clock: Clock
    log: Path | None = None
    past: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What an arm answered.

    Attributes:
        answer: As the kind of case has it; None for no answer.
        confidence: That it is right, in [0, 1], where the arm states one.
        calls: What minds were asked for, and answered.
        usd: What that cost, where a model was paid.
        votes: The single answers that it was made of; none where there is one only.
        head: The hash of the last message of its log; "" without one.
    """

    answer: Json
    confidence: float | None = None
    calls: int
    usd: float = 0.0
    votes: tuple[Json, ...] = ()
    head: str = ""


class Arm(ABC):
    """A way of answering cases.

    Attributes:
        kinds: The kinds of case that it takes.
        least: The smallest budget that it can do with, in calls for an answer.
        most: The largest that it may use up; None: whatever it is given.
        chooses: Whether it answers a question with one of its options, with yes or no where there are none.
        simulated: Whether an arm of one's own answers without a language model; reports label it so.
    """

    kinds: frozenset[str]
    least: int
    most: int | None
    chooses: bool = False
    simulated: bool = False

    @abstractmethod
    async def run(self, trial: Trial) -> Answer:
        """Answer a case."""

    def counted(self, answer: Json) -> Json:
        """Return what of an answer is voted on: all of it, unless an arm knows better."""
        return answer
