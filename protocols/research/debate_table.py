"""The debate as data: phases, who owes what in each, which message moves where, what silence leads to.

Sources: spec 1.1 to 1.4; R-D1 (times), R-D2 (channels), R-D5, R-D10, R-D15, R-D22.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final, Literal, NamedTuple

from moot.protocols.kernel.case import Decision
from moot.protocols.kernel.seats import Seat
from moot.protocols.kernel.table import Duty, Missed
from moot.protocols.kernel.times import minutes
from moot.protocols.research.seats import CRITIC, EVOLVER, EXPLORER

ARENA, VERDICTS, REPORTS, BRIDGE = "#a-arena", "#a-verdict", "#a-report", "#bridge"

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


def _duty(seat: Seat, expects: tuple[str, ...], channel: str, within: int, step: str) -> Duty:
    return Duty(seat, expects, channel, minutes(within), minutes(10), step)


DUTIES: Final[dict[str, Duty]] = {
    Phase.ASSESSING_1: _duty(CRITIC, ("RISK_ASSESSMENT",), ARENA, 20, "assessment-1"),
    Phase.REBUTTING_2: _duty(EXPLORER, ("REBUTTAL", "CONCEDE"), ARENA, 20, "rebuttal-2"),
    Phase.ASSESSING_2: _duty(CRITIC, ("RISK_ASSESSMENT",), ARENA, 20, "assessment-2"),
    Phase.JUDGING: _duty(EVOLVER, ("VERDICT", "EXTEND_DEBATE"), VERDICTS, 20, "verdict"),
    Phase.REBUTTING_3: _duty(EXPLORER, ("REBUTTAL", "CONCEDE"), ARENA, 10, "rebuttal-3"),
    Phase.ASSESSING_3: _duty(CRITIC, ("RISK_ASSESSMENT",), ARENA, 10, "assessment-3"),
    Phase.REQUESTING: _duty(EVOLVER, ("REVISE_REQUEST",), ARENA, 5, "revise-request"),
    Phase.REVISING: _duty(EXPLORER, ("REVISED_HYPOTHESIS",), ARENA, 15, "revision"),
    Phase.REASSESSING: _duty(CRITIC, ("RISK_ASSESSMENT",), ARENA, 10, "assessment-revision"),
    Phase.FINAL_JUDGING: _duty(EVOLVER, ("FINAL_VERDICT",), VERDICTS, 5, "final-verdict"),
    Phase.BACKTESTING: _duty(EVOLVER, ("BACKTEST_RESULT",), VERDICTS, 20, "backtest"),
    Phase.MOVING: _duty(EVOLVER, ("STRATEGY_MOVED",), BRIDGE, 20, "move"),
    Phase.RECORDING: _duty(EVOLVER, ("CAUSAL_RECORD",), REPORTS, 20, "record"),
    Phase.REFLECTING: _duty(EVOLVER, ("REFLECTION",), REPORTS, 20, "reflection"),
}
"""Who owes which message in each phase; after the time a TIMEOUT_PING, ten minutes later a ruling (R-D1)."""


class Move(NamedTuple):
    """A legal move: the round its message must carry, the phase it leads to, the guard that may divert it."""

    to: str
    guard: str = ""
    round: int | str | None = None


MOVES: Final[dict[tuple[str, str], Move]] = {
    (Phase.ASSESSING_1, "RISK_ASSESSMENT"): Move(Phase.REBUTTING_2, "assess", 1),
    (Phase.REBUTTING_2, "REBUTTAL"): Move(Phase.ASSESSING_2, "rebut", 2),
    (Phase.REBUTTING_2, "CONCEDE"): Move(Phase.JUDGING, "concede", 2),
    (Phase.ASSESSING_2, "RISK_ASSESSMENT"): Move(Phase.JUDGING, "assess", 2),
    (Phase.JUDGING, "EXTEND_DEBATE"): Move(Phase.REBUTTING_3, "extend"),
    (Phase.JUDGING, "VERDICT"): Move("", "judge"),
    (Phase.REBUTTING_3, "REBUTTAL"): Move(Phase.ASSESSING_3, "rebut", 3),
    (Phase.REBUTTING_3, "CONCEDE"): Move(Phase.JUDGING, "concede", 3),
    (Phase.ASSESSING_3, "RISK_ASSESSMENT"): Move(Phase.JUDGING, "assess", 3),
    (Phase.REQUESTING, "REVISE_REQUEST"): Move(Phase.REVISING, "request"),
    (Phase.REVISING, "REVISED_HYPOTHESIS"): Move(Phase.REASSESSING, "revise"),
    (Phase.REASSESSING, "RISK_ASSESSMENT"): Move(Phase.FINAL_JUDGING, "reassess", "revision"),
    (Phase.FINAL_JUDGING, "FINAL_VERDICT"): Move("", "judge"),
    (Phase.BACKTESTING, "BACKTEST_RESULT"): Move("", "backtest"),
    (Phase.MOVING, "STRATEGY_MOVED"): Move(Phase.RECORDING, "move"),
    (Phase.RECORDING, "CAUSAL_RECORD"): Move(Phase.ENDED, "record"),
    (Phase.REFLECTING, "REFLECTION"): Move(Phase.ENDED, "reflect"),
}
"""Every legal move of a seat; what it lacks is illegal. An empty `to` is decided by the guard alone."""

_SKIP = Decision("void", "timeout", "1.4")
_MISSING = Decision("void", "timeout", "R-D10")
_REJECT = Decision("REJECT", "timeout", "R-D10")

MISSED: Final[dict[str, Missed]] = {
    Phase.ASSESSING_1: Missed(_MISSING, Phase.JUDGING),
    Phase.REBUTTING_2: Missed(_SKIP, Phase.JUDGING),
    Phase.ASSESSING_2: Missed(_MISSING, Phase.JUDGING),
    Phase.JUDGING: Missed(_REJECT, Phase.ENDED),
    Phase.REBUTTING_3: Missed(_SKIP, Phase.JUDGING),
    Phase.ASSESSING_3: Missed(_MISSING, Phase.JUDGING),
    Phase.REQUESTING: Missed(_REJECT, Phase.ENDED),
    Phase.REVISING: Missed(_REJECT, Phase.ENDED),
    Phase.REASSESSING: Missed(_MISSING, Phase.FINAL_JUDGING),
    Phase.FINAL_JUDGING: Missed(_REJECT, Phase.ENDED),
    Phase.BACKTESTING: Missed(_REJECT, Phase.ENDED),
    Phase.MOVING: Missed(_MISSING, Phase.RECORDING),
    Phase.RECORDING: Missed(_MISSING, Phase.ENDED),
    Phase.REFLECTING: Missed(_MISSING, Phase.ENDED),
}
"""What silence leads to, phase by phase (spec 1.4, R-D10)."""

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
