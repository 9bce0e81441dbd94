"""The simulated mind: answers that argue from the rooms' tables, all others filled by what their figures fix."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Final

from moot.bots.minds.generic import GenericMind
from moot.bots.minds.mind import Mind, Reply, View
from moot.bots.minds.simulated.debate import (
    aftermath,
    architecture,
    critic,
    evolver,
    explorer,
    live,
    rebuttal,
    reports,
    weekly,
)
from moot.bots.minds.simulated.desk import (
    guardian,
    operator,
    operator_strategies,
    trader,
    trader_orders,
    trader_reviews,
)
from moot.bots.minds.simulated.motion import answers as motion
from moot.bots.minds.simulated.panel import convening
from moot.bots.minds.simulated.tools import SimulatedTools
from moot.bots.minds.simulated.turn import Answer, Turn
from moot.protocols.kernel.seats import Seat
from moot.protocols.rulebook import rulebook

RESEARCH: Final = (aftermath, architecture, critic, evolver, explorer, live, rebuttal, reports, weekly)
DESK: Final = (guardian, operator, operator_strategies, trader, trader_orders, trader_reviews)

ANSWERS: Final[Mapping[tuple[Seat, str], Answer]] = {
    (seat, str(kind.model_fields["type"].default)): answer
    for module in (*RESEARCH, *DESK, convening, motion)
    for (seat, kind), answer in module.ANSWERS.items()
}
"""Who answers what with words or figures of its own, by the type of the message."""


class SimulatedMind(Mind):
    """Fills a seat with a seeded, arguing bot.

    It keeps nothing between answers: the same view, seed and prices give the same bytes in any process, so a
    restart changes nothing. Decisions follow from figures; the seed chooses what is searched, how it is said
    and how long it takes.
    """

    def __init__(self, tools: SimulatedTools) -> None:
        """Take the tools that the seats of a society share."""
        self.tools = tools
        self._generic = GenericMind(tools.seed, rulebook().messages, tools.temper)

    def consider(self, view: View) -> timedelta | None:
        own = self._generic.consider(view)
        if own is None or "EXECUTION" not in view.obligation.expects:
            return own
        ready_at = trader_orders.ready_at(view, self.tools)
        return own if ready_at is None else max(own, ready_at - view.obligation.opened_at)

    async def answer(self, view: View) -> Reply | None:
        keys = ((view.seat, kind) for kind in view.obligation.expects)
        answer = next((ANSWERS[key] for key in keys if key in ANSWERS), None)
        return self._generic.reply(view) if answer is None else answer(Turn(view, self.tools))
