"""The seats of System A."""

from __future__ import annotations

from typing import Final

from moot.protocols.kernel.seats import Seat, SeatInfo

EXPLORER: Final = Seat("explorer")
CRITIC: Final = Seat("critic")
EVOLVER: Final = Seat("evolver")

SYSTEM_A: Final = frozenset({EXPLORER, CRITIC, EVOLVER})

SEATS: Final = (
    SeatInfo(EXPLORER, "proposes hypotheses and defends them", "cyan", ":compass:", "A"),
    SeatInfo(CRITIC, "looks for what is wrong with a hypothesis", "red", ":mag:", "A"),
    SeatInfo(
        EVOLVER, "judges debates, backtests what it approves, draws principles", "green", ":seedling:", "A"
    ),
)
