"""The seats of motions; the Critic is System A's."""

from __future__ import annotations

from typing import Final

from moot.protocols.kernel.seats import Seat, SeatInfo

ADVOCATE: Final = Seat("advocate")
JUDGE: Final = Seat("judge")

GROUP: Final = "motions"
"""Whose channels they read."""

SEATS: Final = (
    SeatInfo(ADVOCATE, "claims an answer to a question and defends it", "bright_cyan", ":mega:", GROUP),
    SeatInfo(JUDGE, "judges what a debate of a question came to", "bright_green", ":hammer:", GROUP),
)
