"""The seats of review panels."""

from __future__ import annotations

from typing import Final

from moot.protocols.kernel.seats import Seat, SeatInfo

EIC: Final = Seat("eic")
METHODOLOGY: Final = Seat("methodology")
DOMAIN: Final = Seat("domain")
PERSPECTIVE: Final = Seat("perspective")
DA: Final = Seat("da")
SYNTHESIZER: Final = Seat("synthesizer")

PANELISTS: Final = frozenset({EIC, METHODOLOGY, DOMAIN, PERSPECTIVE, DA})
"""The reviewers of panels, by the role that a contract gives them."""
PANEL: Final = PANELISTS | {SYNTHESIZER}

SEATS: Final = (
    SeatInfo(
        EIC, "reviews as editor in chief", "bright_blue", ":lower_left_fountain_pen:", "panel", title="EIC"
    ),
    SeatInfo(METHODOLOGY, "reviews how a work was done", "bright_cyan", ":alembic:", "panel"),
    SeatInfo(
        DOMAIN, "reviews a work by what its field knows", "bright_green", ":globe_with_meridians:", "panel"
    ),
    SeatInfo(PERSPECTIVE, "reviews a work from outside its field", "bright_magenta", ":game_die:", "panel"),
    SeatInfo(DA, "reviews as devil's advocate", "bright_red", ":trident:", "panel", title="DA"),
    SeatInfo(
        SYNTHESIZER,
        "concludes from the reports of all",
        "bright_yellow",
        ":twisted_rightwards_arrows:",
        "panel",
    ),
)
