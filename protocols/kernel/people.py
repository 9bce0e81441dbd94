"""What people say: notes, overrides, taking and leaving seats, the stop."""

from __future__ import annotations

from typing import Literal

from moot.protocols.kernel.fields import Minted, SeatName
from moot.protocols.kernel.message import Ident, Message, Text


class Note(Message):
    """Say something; it binds nobody. Admin or viewer, any channel they may write."""

    type: Literal["NOTE"] = "NOTE"
    text: Text
    about_case_id: Ident | None = None


class Override(Message):
    """Decide a case; an ended one is taken up again as `override_id`. Admin, the case's channel (K23, R-F13)."""

    type: Literal["OVERRIDE"] = "OVERRIDE"
    override_id: Minted = ""
    case_id: Ident
    verdict: Literal["APPROVE", "REJECT"]
    why: Text


class SeatTaken(Message):
    """Put a person in a bot's place. Admin or Referee, #admin (K14)."""

    type: Literal["SEAT_TAKEN"] = "SEAT_TAKEN"
    seat: SeatName
    user_id: Ident
    reason: Text


class SeatReleased(Message):
    """Give a seat back to its bot. Admin or Referee, #admin (K14)."""

    type: Literal["SEAT_RELEASED"] = "SEAT_RELEASED"
    seat: SeatName
    user_id: Ident
    reason: Text


class Stop(Message):
    """Stop `society`, system `A` or `B`, or one case. Admin, #admin (K20, K21)."""

    type: Literal["STOP"] = "STOP"
    scope: Ident
    why: Text
