"""A simulated admin: answers most escalations within an hour or two and misses some (R-D19).

Only `simulate` and scenes seat it; a living society's admin is a person.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Final

import numpy as np

from moot.bots.minds.mind import Mind, Reply, View
from moot.bots.tools.seeding import generator
from moot.protocols.escalation.messages import Escalation, EscalationAck, EscalationAnswer

MISSES: Final = 0.2
"""Share of escalations that it never sees."""
MEDIAN: Final = timedelta(minutes=70)
SPREAD: Final = 0.6
"""Standard deviation of the logarithm of its delay."""
ACKNOWLEDGES: Final = 0.5
"""Share of the seen ones that it acknowledges before it answers."""
CAREFUL: Final = 0.35
"""Share of its answers that choose the conservative option."""


class SimulatedAdmin(Mind):
    """Answers by seed: when, whether, and which option."""

    def __init__(self, seed: int, other: Mind | None = None) -> None:
        """Take the society's seed.

        Args:
            seed: It.
            other: Mind for duties of the admin that are no escalation (R-G16); None: they are left.
        """
        self._seed = seed
        self._other = other

    def consider(self, view: View) -> timedelta | None:
        """Draw the delay; None for an escalation it misses."""
        if "ESCALATION_ANSWER" not in view.obligation.expects:
            return self._other.consider(view) if self._other is not None else None
        plan = self._plan(view)
        if plan is None:
            return None
        delay, acknowledges = plan
        return delay / 4 if acknowledges and _may_acknowledge(view) else delay

    async def answer(self, view: View) -> Reply | None:
        """Acknowledge, or choose an option."""
        if "ESCALATION_ANSWER" not in view.obligation.expects:
            return await self._other.answer(view) if self._other is not None else None
        plan = self._plan(view)
        opener = view.last("ESCALATION")
        if plan is None or opener is None or not isinstance(opener.body, Escalation):
            return None
        case_id = view.obligation.case_id
        if plan[1] and _may_acknowledge(view):
            return Reply(EscalationAck(escalation_id=case_id))
        rng = generator(self._seed, "admin answer", case_id)
        return Reply(EscalationAnswer(escalation_id=case_id, option=_option(opener.body, view, rng)))

    def _plan(self, view: View) -> tuple[timedelta, bool] | None:
        """Draw when it answers an escalation and whether it acknowledges first."""
        rng = generator(self._seed, "admin", view.obligation.case_id)
        if rng.random() < MISSES:
            return None
        return MEDIAN * float(rng.lognormal(0.0, SPREAD)), bool(rng.random() < ACKNOWLEDGES)


def _option(body: Escalation, view: View, rng: np.random.Generator) -> int:
    """Draw an option; whoever is not careful about a halt lifts it, for a halted desk is watched by nobody.

    It never spends anybody's money: a spent budget stays so, and what is configured goes on.
    """
    if any(option.effect == "raise_budget" for option in body.options):
        budget = view.config.get("budget")
        chosen = budget.get("on_exhausted") if isinstance(budget, Mapping) else None
        wanted = "simulate" if chosen == "simulated" else "stay_silent"
        return next(option.n for option in body.options if option.effect == wanted)
    if rng.random() < CAREFUL:
        return 1
    lifts = [option.n for option in body.options if option.effect == "resume"]
    return lifts[0] if lifts else int(rng.integers(2, len(body.options) + 1))


def _may_acknowledge(view: View) -> bool:
    return "ESCALATION_ACK" in view.obligation.expects
