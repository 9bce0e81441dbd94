"""The phases and limits of a debate. Sources: spec 1.1 to 1.4; R-D1 (times), R-D3 to R-D9, R-D15, R-F8, R-F9."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final, Literal

from moot.protocols.kernel.times import minutes

CYCLE_BUDGET: Final = minutes(150)
"""A cycle may take 2.5 h; then the referee rules REJECT (spec 1.2, R-D1)."""
REVISION_COSTS: Final = minutes(35)
"""What the steps of a revision may take, graces aside: request, revision, assessment, final verdict (R-D6, R-F8)."""
EXTENSION_COSTS: Final = minutes(20)
"""What an extension adds (spec 1.3, R-D6)."""
CLEAR_SIGNAL: Final = 0.85
"""Critic's confidence strictly above it ends the debate (spec 1.4, R-D3)."""
EXTENSION_BAND: Final = (0.55, 0.75)
"""Both argument scores must lie in it, ends included (spec 1.3, R-D4)."""
LOW_CONFIDENCE: Final = 0.6
"""A verdict below it must not approve (R-D7)."""
TIE: Final = 0.05
"""Argument scores closer than this lean to the Critic (R-D8); an approval needs so much more alpha (R-F9)."""
NEXT_ACTION: Final[Mapping[str, Literal["backtest", "archive", "revise"]]] = {
    "APPROVE": "backtest",
    "REJECT": "archive",
    "REVISE": "revise",
}
"""The `next_action` that belongs to a verdict (R-F9)."""
REVISION_WITHIN: Final = minutes(15)
"""What the revised hypothesis may take until the ping (R-D1)."""
ISSUES: Final = 10
"""A REVISE_REQUEST names at most so many issues, and at least one (R-F8)."""
CONSERVATIVE_CONFIDENCE: Final = 0.75
"""Below it, the conservative mode rejects (R-B8)."""
PASS_SHARPE: Final = 0.3
PASS_DRAWDOWN: Final = 0.2
PASS_TRADES: Final = 20
"""A backtest passes at or above this Sharpe ratio and trade count and at or below this drawdown (R-D15)."""


class Phase(StrEnum):
    """Conditions of a debate."""

    ASSESSING_1 = "assessing_1"
    REBUTTING_2 = "rebutting_2"
    ASSESSING_2 = "assessing_2"
    JUDGING = "judging"
    REBUTTING_3 = "rebutting_3"
    ASSESSING_3 = "assessing_3"
    REQUESTING = "requesting"
    REVISING = "revising"
    REASSESSING = "reassessing"
    FINAL_JUDGING = "final_judging"
    BACKTESTING = "backtesting"
    MOVING = "moving"
    RECORDING = "recording"
    REFLECTING = "reflecting"
    ENDED = "ended"


BUDGETED: Final = frozenset(
    {
        Phase.ASSESSING_1,
        Phase.REBUTTING_2,
        Phase.ASSESSING_2,
        Phase.JUDGING,
        Phase.REBUTTING_3,
        Phase.ASSESSING_3,
        Phase.REQUESTING,
        Phase.REVISING,
        Phase.REASSESSING,
        Phase.FINAL_JUDGING,
    }
)
"""Phases without a verdict in effect: the cycle's budget runs over them (R-D1)."""

AFTER_REVISE: Final = frozenset({Phase.REVISING, Phase.REASSESSING, Phase.FINAL_JUDGING})
"""Phases in which a REVISE_REQUEST is the second one (R-D9)."""
REVISED: Final = AFTER_REVISE | {Phase.REQUESTING}
"""Phases in which a verdict of REVISE is the second one, whatever its type (R-D9)."""
