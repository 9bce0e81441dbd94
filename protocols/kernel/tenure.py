"""People in seats: taking, releasing, and losing a seat by silence (K14); the human STOP (K21)."""

from __future__ import annotations

from typing import Final

from protocols.kernel.docket import Docket, Effects
from protocols.kernel.envelope import OFFICER, Draft, Envelope
from protocols.kernel.errors import Violation
from protocols.kernel.house import Fold, House
from protocols.kernel.people import SeatReleased, SeatTaken, Stop
from protocols.kernel.seats import BOTS, Seat

MISSES: Final = 2
"""This many missed deadlines release a taken seat (K14)."""


def check_taken(env: Envelope, house: House) -> None:
    """Check a SEAT_TAKEN.

    Raises:
        Violation: The seat is no bot's, or somebody else holds it.
    """
    body = env.body
    assert isinstance(body, SeatTaken)
    seat = Seat(body.seat)
    if seat not in BOTS:
        raise Violation("K14", f"{seat} is no seat that a person can take", field="seat")
    if seat in house.holders:
        raise Violation("K14", f"{house.holders[seat]} holds {seat} already", field="seat")


def check_released(env: Envelope, house: House) -> None:
    """Check a SEAT_RELEASED.

    Raises:
        Violation: Nobody holds the seat.
    """
    body = env.body
    assert isinstance(body, SeatReleased)
    if Seat(body.seat) not in house.holders:
        raise Violation("K14", f"nobody holds {body.seat}", field="seat")


def check_stop(env: Envelope, house: House) -> None:
    """Check the scope of a STOP.

    Raises:
        Violation: It is no scope.
    """
    body = env.body
    assert isinstance(body, Stop)
    if " " in body.scope and body.scope.upper() not in ("SYSTEM A", "SYSTEM B"):
        raise Violation("K21", "the scope is society, system A, system B or a case id", field="scope")


class Tenures(Fold):
    """Fold who sits where, and what a STOP makes the referee rule."""

    name = "tenures"

    def __init__(self) -> None:
        """Start with bots everywhere."""
        self._misses: dict[Seat, int] = {}

    def apply(self, env: Envelope, fx: Effects, docket: Docket) -> list[Draft] | None:
        """Take in one envelope."""
        if fx.violation is not None or fx.superseded:
            return None
        body = env.body
        house = docket.house
        if isinstance(body, SeatTaken):
            house.tenures[Seat(body.seat)] = env.seq
            house.holders[Seat(body.seat)] = body.user_id
            self._misses[Seat(body.seat)] = 0
        elif isinstance(body, SeatReleased):
            house.tenures[Seat(body.seat)] = env.seq
            house.holders.pop(Seat(body.seat), None)
        elif isinstance(body, Stop):
            scope = body.scope if " " not in body.scope else f"system {body.scope[-1].upper()}"
            if scope.startswith("system "):
                house.stopped.add(scope[-1])
            return list(docket.stop_rulings(env, scope))
        elif fx.voided is not None and fx.voided.seat in house.holders:
            return self._missed(fx.voided.seat, env, house)
        elif fx.settled is not None and fx.settled.seat in self._misses:
            self._misses[fx.settled.seat] = 0
        return None

    def _missed(self, seat: Seat, env: Envelope, house: House) -> list[Draft] | None:
        self._misses[seat] = self._misses.get(seat, 0) + 1
        if self._misses[seat] < MISSES:
            return None
        return [
            Draft(
                channel="#admin",
                author=Seat.REFEREE,
                actor=OFFICER,
                in_reply_to=env.id,
                key=f"released/{seat}/{env.seq}",
                body=SeatReleased(
                    seat=seat.value, user_id=house.holders[seat], reason=f"{MISSES} missed deadlines"
                ),
            )
        ]
