"""What all arms have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

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
        clock: The clock that runs.
        log: The directory that keeps its log; None: nobody asked for it.
    """

    case: Case
    repetition: int
    seed: int
    clock: Clock
    log: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What an arm answered.

    Attributes:
        answer: As the kind of case has it; None for no answer.
        confidence: That it is right, in [0, 1], where the arm states one.
        calls: What minds were asked for, and answered.
        usd: What that cost, where a model was paid.
        votes: The single answers that it was made of; none where there is one only.
        log: The directory that keeps its log, if any.
    """

    answer: Json
    confidence: float | None = None
    calls: int
    usd: float = 0.0
    votes: tuple[Json, ...] = ()
    log: Path | None = None


class Arm(ABC):
    """A way of answering cases.

    Attributes:
        kinds: The kinds of case that it takes; empty: any.
        name: Of the arm in its study.
    """

    kinds: ClassVar[frozenset[str]]
    name: str

    @property
    @abstractmethod
    def calls(self) -> float:
        """How many calls it makes for a case at its natural cost: exactly, or the mean that it was registered with."""

    @abstractmethod
    async def run(self, trial: Trial) -> Answer:
        """Answer a case."""
