"""The seats of System B."""

from __future__ import annotations

from typing import Final

from moot.protocols.kernel.seats import Seat, SeatInfo

OPERATOR: Final = Seat("operator")
GUARDIAN: Final = Seat("guardian")
TRADER: Final = Seat("trader")

SYSTEM_B: Final = frozenset({OPERATOR, GUARDIAN, TRADER})

SEATS: Final = (
    SeatInfo(OPERATOR, "decides what is deployed, promoted and done about a risk", "blue", ":gear:", "B"),
    SeatInfo(GUARDIAN, "measures the risk, raises alerts, halts trading", "magenta", ":shield:", "B"),
    SeatInfo(
        TRADER, "gives signals and orders, reports executions", "yellow", ":chart_with_upwards_trend:", "B"
    ),
)
