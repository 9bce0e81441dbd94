"""The simulated mind of motions alone: what a debate without a society around it is held with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Final

from moot.bots.minds.mind import Mind, Reply, View
from moot.bots.minds.simulated.answering import Answering
from moot.bots.minds.simulated.delays import delay
from moot.bots.minds.simulated.motion.answers import ANSWERS
from moot.bots.minds.simulated.temper import DEFAULT, Temper
from moot.protocols.kernel.protocol import type_of

BY_TYPE: Final[Mapping[tuple[str, str], Callable[[Answering], Reply]]] = {
    (seat, type_of(kind)): answer for (seat, kind), answer in ANSWERS.items()
}


class SimulatedDebater(Mind):
    """Fills a seat of motions: the same view and seed give the same bytes, and nothing is kept between answers."""

    def __init__(self, seed: int, temper: Temper = DEFAULT) -> None:
        """Take what answers need.

        Args:
            seed: The society's seed.
            temper: How long answers take.
        """
        self._seed = seed
        self._temper = temper

    def consider(self, view: View) -> timedelta | None:
        return delay(self._seed, view.obligation, view.attempt, view.now, self._temper)

    async def answer(self, view: View) -> Reply | None:
        keys = ((view.seat, kind) for kind in view.obligation.expects)
        answer = next((BY_TYPE[key] for key in keys if key in BY_TYPE), None)
        return None if answer is None else answer(Answering(view, self._seed))
