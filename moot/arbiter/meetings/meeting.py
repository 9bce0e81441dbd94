"""What a debate, a run of the Arena and a review panel have in common as trials.

Each is held in a small society of its own, of which the trial keeps what was said, and what was decided as its final
text: a JSON object as the contract asks for.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, Literal, cast

from moot.bots.minds.mind import Mind, View
from moot.bots.minds.model.asking import ModelOptions
from moot.bots.models.caller import Caller
from moot.clock import Clock
from moot.config.arbiter.moot_protocols import KINDS, verdict
from moot.config.prompts import Prompts
from moot.host import Contents
from moot.protocols.arbiter.embed_text import well_formed
from moot.protocols.arbiter.generated import MootSeat, ResolvedConfiguration, Turn
from moot.protocols.arbiter.prng import stream
from moot.protocols.arbiter.seats import seats_of
from moot.protocols.kernel.docket import Effects
from moot.protocols.kernel.envelope import Draft, Envelope
from moot.protocols.kernel.message import Message
from moot.protocols.kernel.seats import ADMIN, Seat
from moot.workshop import ALL_SIMULATED, ASKER, Workshop, workshop


@dataclass(frozen=True, slots=True)
class Model:
    """What the mind of a model is made of.

    Attributes:
        caller: What its calls go through.
        options: How it is called.
        prompts: What it is told.
        tell: Told why its seat stays silent.
        fault_of: Says which rule an answer would break.
    """

    caller: Caller
    options: ModelOptions
    prompts: Prompts
    tell: Callable[[View, str], Awaitable[None]]
    fault_of: Callable[[View, Message], str]


class Meeting(ABC):
    """A case of Moot's while it is held as a trial.

    Attributes:
        name: Names it where a seed is drawn.
        place: The channel where it is held.
        contents: Reads works that its seats may see; None: there are none.
        seats: Who speaks, as personas are drawn.
        seed: Seeds simulated minds.
        turns: What was said so far.
        verdict: The final text; None before.
        failure: Why it ended without a verdict, "" while nobody said so.
        shop: Where it is held; None before.
    """

    name: ClassVar[Literal["debate", "arena", "panel"]]
    place: ClassVar[str]
    contents: Contents | None = None

    def __init__(self, config: ResolvedConfiguration, trial_id: int) -> None:
        """Prepare what a trial holds."""
        contract = config.protocol.decision_contract
        assert contract is not None
        self._contract = contract
        self._kind = KINDS[config.protocol.type]
        self._question = config.question.text
        self.trial_id = trial_id
        self.seats = tuple(Seat(one) for one in seats_of(config.protocol))
        self.seed = stream(config.run.seed, self.name, trial_id).whole(0, 2**32 - 1)
        self.turns: list[Turn] = []
        self.verdict: str | None = None
        self.failure = ""
        self.shop: Workshop | None = None
        self._stopped: Exception | None = None

    @abstractmethod
    def opener(self, now: datetime) -> Message:
        """Return the message that opens it."""

    @abstractmethod
    def simulated(self, seat: Seat) -> Mind:
        """Return the simulated mind of a seat."""

    @abstractmethod
    def modelled(self, seat: Seat, model: Model) -> Mind:
        """Return the mind of a seat that a model fills."""

    def said(self, body: Message) -> str | None:
        """Return what a message of a seat says; None for one that is no turn."""
        return getattr(body, "text", None) if body.is_free_text else None

    def told(self, body: Message) -> None:  # noqa: B027 - not every case needs it
        """Take in what an officer says of the case."""

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
        opener = self.opener(clock.now())
        async with workshop(clock, minds, seed=self.seed, contents=self.contents, named=named) as shop:
            self.shop = shop
            if self._stopped is not None:
                shop.fail(self._stopped)
            shop.host.listeners.append(self._heard)
            await shop.hold(
                [Draft(channel=self.place, author=ADMIN, body=opener, actor=ASKER, key=f"{self.name}-1")]
            )

    def stop(self, why: Exception) -> None:
        """Have it end, or not begin, with a reason."""
        self._stopped = why
        if self.shop is not None:
            self.shop.fail(why)

    def decide(self, decision: str, rationale: str, confidence: float | None = None) -> str:
        """Take down what was decided, and return it as the final text."""
        self.verdict = well_formed(verdict(self._kind, self._contract, decision, rationale, confidence))
        return self.verdict

    def _heard(self, env: Envelope, fx: Effects) -> None:
        if not fx.is_in_effect:
            return
        if env.author not in self.seats:
            self.told(env.body)
        elif (text := self.said(env.body)) is not None:
            seat = cast(MootSeat, str(env.author))
            self.turns.append(Turn(turn=len(self.turns), role=seat, content=well_formed(text)))
