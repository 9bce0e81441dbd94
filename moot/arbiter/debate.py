"""One whole debate of Moot's as a trial: what is said in it, its judgment, and how simulated minds hold it.

It is held in a small society of its own, of which the trial keeps what was said, and the judgment as its final text: a
JSON object as the contract asks for.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from moot.bots.minds.mind import Mind
from moot.bots.minds.simulated.motion.debater import SimulatedDebater
from moot.bots.minds.simulated.temper import RELIABLE
from moot.clock import Clock, VirtualClock
from moot.config.arbiter.moot_debate import FIELDS, UNDECIDED, options_of
from moot.protocols.arbiter.embed_text import well_formed
from moot.protocols.arbiter.generated import MootSeat, ResolvedConfiguration, ResolvedContract, Turn
from moot.protocols.arbiter.prng import stream
from moot.protocols.kernel.docket import Effects
from moot.protocols.kernel.envelope import Draft, Envelope
from moot.protocols.kernel.seats import ADMIN, Seat
from moot.protocols.motion.messages import Judgment, Motion
from moot.protocols.motion.rights import PLACE
from moot.protocols.motion.spoken import spoken
from moot.workshop import ALL_SIMULATED, ASKER, START, Workshop, workshop

SEATS: Final[tuple[MootSeat, ...]] = ("advocate", "critic", "judge")


class Debate:
    """A debate while it goes on.

    Attributes:
        turns: What was said so far.
        verdict: The final text; None before.
        shop: Where it is held; None before.
    """

    def __init__(self, config: ResolvedConfiguration, trial_id: int) -> None:
        """Prepare the debate of a trial."""
        contract = config.protocol.decision_contract
        assert contract is not None
        self._contract = contract
        self._question = config.question.text
        self.seed = stream(config.run.seed, "debate", trial_id).whole(0, 2**32 - 1)
        self.turns: list[Turn] = []
        self.verdict: str | None = None
        self.shop: Workshop | None = None
        self._stopped: Exception | None = None

    async def hold(
        self, clock: Clock, minds: Mapping[Seat, Mind], named: Mapping[str, Any] = ALL_SIMULATED
    ) -> None:
        """Hold it.

        Args:
            clock: The running clock.
            minds: Who sits where.
            named: What the seats' minds are called that are not simulated.

        Raises:
            Exception: Whatever it was stopped with.
        """
        motion = Motion(question=self._question, options=options_of(self._contract))
        async with workshop(clock, minds, seed=self.seed, named=named) as shop:
            self.shop = shop
            if self._stopped is not None:
                shop.fail(self._stopped)
            shop.host.listeners.append(self._heard)
            await shop.hold([Draft(channel=PLACE, author=ADMIN, body=motion, actor=ASKER, key="motion-1")])

    def stop(self, why: Exception) -> None:
        """Have it end, or not begin, with a reason."""
        self._stopped = why
        if self.shop is not None:
            self.shop.fail(why)

    def _heard(self, env: Envelope, fx: Effects) -> None:
        seat = next((one for one in SEATS if one == env.author), None)
        text = spoken(env.body) if fx.is_in_effect else None
        if seat is None or text is None:
            return
        if isinstance(env.body, Judgment):
            text = self.verdict = well_formed(_verdict(env.body, self._contract))
        self.turns.append(Turn(turn=len(self.turns), role=seat, content=well_formed(text)))


def _verdict(body: Judgment, contract: ResolvedContract) -> str:
    """Write a judgment in the contract's form."""
    said = (body.option or UNDECIDED, body.reasoning, body.confidence)
    known = contract.schema_["properties"]
    verdict = {name: value for name, value in zip(FIELDS, said, strict=True) if name in known}
    return json.dumps(verdict, ensure_ascii=False)


def simulated(config: ResolvedConfiguration, trial_id: int) -> tuple[Turn, ...]:
    """Have simulated minds hold the debate of a trial, in virtual time; equal seeds give equal debates.

    It takes a thread of its own where a loop runs.
    """
    debate = Debate(config, trial_id)
    minds: dict[Seat, Mind] = {Seat(seat): SimulatedDebater(debate.seed, RELIABLE) for seat in SEATS}
    VirtualClock(START).run(lambda clock: debate.hold(clock, minds))
    return tuple(debate.turns)
