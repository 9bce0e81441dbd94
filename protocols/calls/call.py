"""One call of a model, and what follows about it from its price, its usage and what was asked for before it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from moot.protocols.calls.books import Amount, Place
from moot.protocols.calls.messages import REPLIED, CallRefused, CallReserved, CallSettled, Outcome
from moot.protocols.calls.price import ModelPrice, cost, least_most
from moot.protocols.calls.usage import Usage
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.errors import OfficerFault

FREE: Final[frozenset[Outcome]] = frozenset({"provider_error", "timed_out", "abandoned"})
"""Outcomes for which nothing may have been charged although no usage was told (`Answer.is_free`)."""


def reserved_key(call_id: str) -> str:
    """Return the id of a call's CALL_RESERVED."""
    return f"call/{call_id}/reserved"


def settled_key(call_id: str) -> str:
    """Return the id of a call's CALL_SETTLED."""
    return f"call/{call_id}/settled"


def refused_key(call_id: str) -> str:
    """Return the id of a call's CALL_REFUSED."""
    return f"call/{call_id}/refused"


def call_id_of(obligation: str, attempt: int, turn: int, try_: int) -> str:
    """Name a call."""
    return f"{obligation}/{attempt}/{turn}/{try_}"


@dataclass(slots=True)
class Call:
    """A call that was asked for.

    Attributes:
        asked: The reservation, or the refusal.
        seq: Where it stands in the log.
        places: Where it is booked; none when it was superseded or refused.
        price: What its model cost when it was reserved; None: nobody knows.
        settled: How it ended; None while it is under way, and if it was never sent.
    """

    asked: CallReserved | CallRefused
    seq: int
    places: tuple[Place, ...]
    price: ModelPrice | None
    settled: CallSettled | None = None

    @property
    def is_sent(self) -> bool:
        """Say whether it was reserved and stands, so that it is sent."""
        return bool(self.places)

    @property
    def is_open(self) -> bool:
        """Say whether it is under way."""
        return self.is_sent and self.settled is None

    @property
    def most(self) -> Amount:
        """Return its worst case."""
        return Amount(self.asked.max_cost, self.asked.max_tokens, 1)

    def came_to(self, usage: Usage | None, *, is_free: bool) -> tuple[int | None, int, bool]:
        """Return what is booked when it ends: the cost, the tokens, and whether that is more than was reserved.

        Args:
            usage: What it used, where that was told.
            is_free: Whether nothing was charged where nothing was told; else the worst case is booked.
        """
        asked = self.asked
        if usage is None:
            if is_free:
                return (None if asked.max_cost is None else 0), 0, False
            return asked.max_cost, asked.max_tokens, False
        tokens = usage.input + usage.output
        money = None if self.price is None else cost(self.price, usage)
        return money, tokens, tokens > asked.max_tokens or (money or 0) > (asked.max_cost or 0)


def check_asked(
    env: Envelope, body: CallReserved | CallRefused, before: Sequence[Call], price: ModelPrice | None
) -> None:
    """Check what follows about a call from what was asked for before it and from its price.

    Raises:
        OfficerFault: It does not.
    """
    call_id = call_id_of(body.obligation, body.attempt, body.turn, len(before) + 1)
    key = reserved_key(call_id) if type(body) is CallReserved else refused_key(call_id)
    if (body.call_id, body.try_, env.id) != (call_id, len(before) + 1, key):
        raise OfficerFault(f"the next call of this turn is {call_id}, its message {key}", seq=env.seq)
    for call in before:
        if call.is_open:
            raise OfficerFault(f"{call.asked.call_id} is under way, so it is not asked again", seq=env.seq)
        if call.settled is not None and call.settled.outcome in REPLIED:
            raise OfficerFault(f"{call.asked.call_id} has a reply, so it is not asked again", seq=env.seq)
    if (body.max_cost is None) != (price is None):
        known = "is not known" if price is None else "is known"
        raise OfficerFault(f"max_cost: the price of the model {body.model} {known}", seq=env.seq)
    if price is not None and (body.max_cost or 0) < least_most(price, body.max_tokens):
        raise OfficerFault(f"max_cost: {body.max_tokens} tokens may cost more than that", seq=env.seq)


def check_settled(env: Envelope, body: CallSettled, call: Call) -> None:
    """Check that what a call is settled with follows from its usage and price.

    Raises:
        OfficerFault: It does not.
    """
    if env.id != settled_key(body.call_id):
        raise OfficerFault(f"the id of this CALL_SETTLED is {settled_key(body.call_id)}", seq=env.seq)
    said = (body.cost, body.tokens, body.overrun)
    derived = [call.came_to(body.usage, is_free=False)]
    if body.usage is None and body.outcome in FREE:
        derived.append(call.came_to(None, is_free=True))
    if said not in derived:
        raise OfficerFault(
            f"{body.call_id}: {_sum(said)} does not follow from its usage and price: {_sum(derived[0])}",
            seq=env.seq,
        )


def _sum(booked: tuple[int | None, int, bool]) -> str:
    money, tokens, is_more = booked
    priced = "no price" if money is None else f"{money} micro-USD"
    return f"{priced} and {tokens} tokens" + (", an overrun" if is_more else "")
