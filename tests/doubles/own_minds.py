"""Minds of one's own, as somebody who has never seen Moot's insides would write them."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Any

from moot.minds import Mind
from moot.protocols.research.messages import RiskAssessment, RiskScores


def assessment(round_, rating="PASS", score=0.1):
    scores = RiskScores(**dict.fromkeys(RiskScores.model_fields, score))
    return RiskAssessment(
        round=round_,
        risk_rating=rating,
        confidence=0.9,
        scores=scores,
        conditions=(),
        fatal_flaws=(),
        reasoning="It will do.",
    )


def line_of(kind):
    """Return where the class says its one answer, as a reader would look it up."""
    return f"own_minds.py:{kind.answer.__code__.co_firstlineno + 1}"


class Lenient(Mind):
    """Passes everything; it counts its answers, and says on which thread it gave them."""

    def __init__(self, score: float = 0.1, pause_s: float = 0.0) -> None:
        self.score = score
        self.pause_s = pause_s
        self.answers = 0
        self.inside = 0
        self.most_inside = 0
        self.threads: set[str] = set()

    def answer(self, view):
        self.inside += 1
        self.most_inside = max(self.most_inside, self.inside)
        self.threads.add(threading.current_thread().name)
        if self.pause_s:
            time.sleep(self.pause_s * (self.answers % 3))
        self.answers += 1
        self.inside -= 1
        said = assessment(view.brief["round"], score=self.score)
        return said.model_copy(update={"reasoning": f"It will do, for the {self.answers}. time."})


class Pure(Lenient):
    pure = True


class Async(Lenient):
    async def answer(self, view):
        await asyncio.sleep(self.pause_s)
        return super().answer(view)


class Raises(Mind):
    def answer(self, view):
        raise RuntimeError(f"no idea, says {object()!r}\nand nothing more")


class Exits(Mind):
    def answer(self, view):
        raise SystemExit(3)


class PureExits(Exits):
    pure = True


class Nothing(Mind):
    def answer(self, view):
        return None


class Words(Mind):
    def answer(self, view):
        return "PASS"


class Hangs(Mind):
    """Comes back only when it is let go."""

    timeout_s = 0.2

    def __init__(self) -> None:
        self.freed = threading.Event()

    def answer(self, view):
        self.freed.wait()


class Needs(Mind):
    def __init__(self, tone: str) -> None:
        self.tone = tone

    def answer(self, view):
        return None


class Refuses(Mind):
    def __init__(self, tone: str = "") -> None:
        raise ValueError("a tone\nis needed")

    def answer(self, view):
        return None


class Speechless(Mind):
    pass


class NoMind:
    def answer(self, view):
        return None


class Takes(Mind):
    """Takes every option."""

    def __init__(self, **options: Any) -> None:
        self.options = options

    def answer(self, view):
        return None
