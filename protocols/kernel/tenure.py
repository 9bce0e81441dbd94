"""People in seats: taking, releasing, and losing a seat by silence (K14)."""

from __future__ import annotations

from typing import Final

from moot.protocols.kernel.context import Deed, Fold, RuleContext
from moot.protocols.kernel.docket import Docket, Effects
from moot.protocols.kernel.envelope import OFFICER, Actor, Draft, Envelope
from moot.protocols.kernel.errors import Violation
from moot.protocols.kernel.people import SeatReleased, SeatTaken
from moot.protocols.kernel.seats import OFFICERS, PEOPLE, REFEREE, Seat

MISSES: Final = 2
"""This many missed deadlines in a row release a taken seat (K14)."""


def check_taken(env: Envelope, context: RuleContext) -> None:
    """Check a SEAT_TAKEN.

    Raises:
        Violation: The seat is no bot's, or somebody holds it.
    """
    body = env.body
    assert isinstance(body, SeatTaken)
    seat = Seat(body.seat)
    if seat in OFFICERS | PEOPLE:
        raise Violation("K14", f"{seat} is no seat that a person can take", field="seat")
    if seat in context.holders:
        raise Violation("K14", f"{context.holders[seat].name} holds {seat} already", field="seat")


def check_released(env: Envelope, context: RuleContext) -> None:
    """Check a SEAT_RELEASED.

    Raises:
        Violation: Nobody holds the seat.
    """
    body = env.body
    assert isinstance(body, SeatReleased)
    if Seat(body.seat) not in context.holders:
        raise Violation("K14", f"nobody holds {body.seat}", field="seat")


class Tenures(Fold):
    """Fold who sits where; two missed deadlines in a row make the referee release a taken seat."""

    name = "tenures"
    types = frozenset({"SEAT_TAKEN", "SEAT_RELEASED"})
    deeds = Deed.RULED | Deed.BROKE | Deed.AWAITED

    def __init__(self) -> None:
        """Start with bots everywhere."""
        self._misses: dict[Seat, int] = {}
        self._releasing: dict[Seat, str] = {}
        self._overtaken: dict[str, int] = {}

    def apply(self, env: Envelope, fx: Effects, docket: Docket) -> list[Draft] | None:
        """Take in one envelope."""
        body = env.body
        context = docket.context
        if type(body) is SeatTaken or type(body) is SeatReleased:
            if fx.violation is None and not fx.superseded:
                self._change(env, body, docket)
        elif fx.voided is not None and fx.voided.seat in context.holders:
            return self._missed(fx.voided.seat, env, context)
        elif context.holders:
            spoke = fx.settled.seat if fx.settled is not None else env.author if is_ruled(fx) else None
            if spoke in context.holders:
                self._misses.pop(spoke, None)
        return None

    def _change(self, env: Envelope, body: SeatTaken | SeatReleased, docket: Docket) -> None:
        context = docket.context
        seat = Seat(body.seat)
        context.tenures[seat] = env.seq
        if type(body) is SeatTaken:
            context.holders[seat] = Actor("human", env.actor.platform, body.user_id)
            context.awaited.add(seat)
        else:
            context.holders.pop(seat, None)
        self._misses.pop(seat, None)
        key = self._releasing.pop(seat, None)
        if key is not None and docket.revoke(key):
            self._overtaken = {key: env.seq}

    def _missed(self, seat: Seat, env: Envelope, context: RuleContext) -> list[Draft] | None:
        self._misses[seat] = self._misses.get(seat, 0) + 1
        if self._misses[seat] < MISSES or seat in self._releasing:
            return None
        key = self._releasing[seat] = f"released/{seat}/{env.seq}"
        body = SeatReleased(
            seat=seat,
            user_id=context.holders[seat].user_id,
            reason=f"{MISSES} missed deadlines in a row",
        )
        return [
            Draft(
                channel="#admin",
                author=REFEREE,
                actor=OFFICER,
                in_reply_to=env.id,
                key=key,
                body=body,
            )
        ]

    def was_owed(self, env: Envelope, docket: Docket) -> bool:
        """Say whether the referee was about to release a seat that its holder has just left."""
        return env.id in self._overtaken


def is_ruled(fx: Effects) -> bool:
    """Say whether a message broke a rule in a way that closed what it answered: no silence, but no answer."""
    return fx.violation is not None and fx.retried is None and bool(fx.closed)
