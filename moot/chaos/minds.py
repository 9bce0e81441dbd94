"""Bots in a spell: a mind that is silent, slow, late, dies, answers twice or with something else."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Final

from moot.bots.minds.generic import filled
from moot.bots.minds.mind import Aside, Mind, Reply, View
from moot.bots.tools.seeding import generator
from moot.chaos.altering import altered, any_answer
from moot.chaos.dice import Dice
from moot.chaos.judge import Finding
from moot.chaos.plan import Spell
from moot.chaos.sight import peeked
from moot.chaos.striking import Striking
from moot.protocols.kernel.message import Message
from moot.protocols.kernel.obligation import Obligation
from moot.protocols.kernel.seats import Seat
from moot.protocols.rulebook import rulebook

NOW: Final = timedelta(0)

OWED: Final = 0.6
"""Share of messages of any type that are of one that is owed: only those come to what a rule says of their fields."""


OTHER: Final = 0.3
"""Share of contrary answers that have nothing of what was to be said."""

AGAINST: Final = 0.4
"""Share of the others that may contradict what their brief fixes."""
AGAIN: Final = 0.3
"""Share of the others beside which what was said unasked the last time is said again, be it not allowed any more."""

SELDOM: Final = 12
"""What a seat was asked for no more often than that is seldom."""

TARDY: Final = 0.8
"""Share of answers of tardy minds that come shortly before somebody rules on their silence."""


class Died(RuntimeError):
    """Say that a mind died in the middle of its task."""


class StruckMind(Mind):
    """A mind as its spells let it be.

    Attributes:
        within: The mind itself.
        forgotten: The spells in which it forgot what it owes, by the obligation's id.
        answers: Set when it has made up its mind about what it owes, which it then says, by the obligation's id.
    """

    def __init__(
        self,
        seat: Seat,
        within: Mind,
        striking: Striking,
        *,
        is_model: bool = False,
        tardy: Dice | None = None,
        peeking: list[Finding] | None = None,
    ) -> None:
        """Stand before a mind.

        Args:
            seat: Whose.
            within: The mind.
            striking: Says which spells strike.
            is_model: Whether a model fills the seat.
            tardy: Draw how near it comes to the end of its time, as it does mostly; None: it keeps its pace.
            peeking: Takes what it is shown and should not be; None: nobody looks.
        """
        self.within = within
        self.forgotten: dict[str, Spell] = {}
        self.answers: dict[str, asyncio.Event] = {}
        self._tardy = tardy
        self._seat = seat
        self._striking = striking
        self._is_model = is_model
        self._peeking = peeking
        self._asked: Counter[str] = Counter()
        self._asides: tuple[Aside, ...] = ()

    def begins_at_once(self, view: View) -> bool:
        return self.within.begins_at_once(view)

    def consider(self, view: View) -> timedelta | None:
        due = view.obligation
        if self._struck("silent", view) is not None or self._forgets(view):
            return None
        delay = self.within.consider(view)
        if delay is None:
            return None
        if (spell := self._struck("late", view)) is not None:
            # Around the instant of the ruling: whoever is first in the log wins (K5).
            offset = spell.size * self._striking.dice(spell, due.id).between(-1.0, 1.0)
            return max(due.void_at - due.opened_at + timedelta(seconds=offset), NOW)
        if (spell := self._struck("slow", view)) is not None:
            return delay * spell.size
        if self._struck("hasty", view) is not None:
            return NOW
        if self._tardy is not None:
            dice = self._tardy.of(due.id, view.attempt)
            if dice.chance(TARDY):
                left = due.void_at - due.opened_at - timedelta(seconds=dice.between(1.0, 120.0))
                return max(left, delay)
        return delay

    async def answer(self, view: View) -> Reply | None:
        try:
            return await self._answered(view)
        finally:
            if (answers := self.answers.pop(view.obligation.id, None)) is not None:
                answers.set()

    async def _answered(self, view: View) -> Reply | None:
        if self._peeking is not None:
            self._peeking += peeked(view)
        if self._struck("dies", view) is not None:
            raise Died(f"{self._seat} dies over {view.obligation.id}")
        reply = await self.within.answer(view)
        if reply is None:
            return None
        if self._is_model:
            # What it says was said in a call (K26); what goes wrong there is `models`'.
            return reply
        before, self._asides = self._asides, reply.asides or self._asides
        if (spell := self._struck("any", view)) is not None:
            return Reply(any_message(self._striking.dice(spell, view.obligation.id, view.attempt), view))
        if (spell := self._struck("contrary", view)) is not None:
            dice = self._striking.dice(spell, view.obligation.id, view.attempt, "body")
            if dice.chance(OTHER):
                return Reply(any_answer(dice, view))
            given = {} if dice.chance(AGAINST) else view.brief
            asides = (*reply.asides, *before) if dice.chance(AGAIN) else reply.asides
            return replace(reply, body=altered(dice, reply.body, given, view.now), asides=asides)
        if (spell := self._struck("twice", view)) is not None:
            again = (Aside(view.obligation.channel, reply.body),) * round(spell.size)
            return replace(reply, asides=(*reply.asides, *again))
        return reply

    def _forgets(self, view: View) -> bool:
        """Say whether it forgets all of a kind, which it was seldom asked for so far or a spell is aimed at."""
        name = view.obligation.rule
        self._asked[name] += not view.attempt
        occasion, duty = ("bots.forgets", self._seat, "forgets", name), duty_of(view.kind, view.obligation)
        spell = self._striking.about_to(*occasion, duty=duty)
        if spell is None or (self._asked[name] > SELDOM and not spell.duties):
            return False
        self.forgotten[view.obligation.id] = spell
        return self._striking.strikes(*occasion, duty=duty) is not None

    def _struck(self, fault: str, view: View) -> Spell | None:
        due = view.obligation
        occasion = (f"bots.{fault}", self._seat, fault, due.id, view.attempt)
        return self._striking.strikes(*occasion, duty=duty_of(view.kind, due))


def duty_of(kind: str, due: Obligation) -> str:
    """Return how spells name what is owed in a case of some kind."""
    return f"{kind}/{due.rule}"


def any_message(dice: Dice, view: View) -> Message:
    """Draw a message of any type: what was said before, what is owed with anything in it, or what a schema allows."""
    said = [env.body for env in view.transcript]
    if said and dice.chance(0.3):
        return dice.pick(said)
    return drawn(dice, view, view.obligation.expects if dice.chance(OWED) else ())


def drawn(dice: Dice, view: View, types: Sequence[str] = ()) -> Message:
    """Draw a message of some types, or of any type, by its schema, about the case at hand."""
    messages = rulebook().messages
    kind = messages[dice.pick(types or sorted(messages))]
    given = {kind.case_field: view.obligation.case_id} if kind.case_field else {}
    return filled(kind, given, generator("chaos", dice.whole(0, 2**31)), view.now)
