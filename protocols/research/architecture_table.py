"""The weekly cycle's tables: phases, who owes what in each, what follows, what silence leads to (spec 2.2, 2.3, 3)."""

from __future__ import annotations

from typing import Final

from moot.protocols.kernel.case import Decision
from moot.protocols.kernel.seats import Seat
from moot.protocols.kernel.table import Duty, Missed
from moot.protocols.kernel.times import minutes
from moot.protocols.research.seats import CRITIC, EVOLVER, EXPLORER

KIND: Final = "architecture"
ARENA, REPORTS, RUNS = "#a-arena", "#a-report", "#r-arena"

PROPOSING, CRITIQUING_1, REBUTTING, CRITIQUING_2 = "proposing", "critiquing_1", "rebutting", "critiquing_2"
JUDGING, REVIEWING, ADJUSTING, REFLECTING = "judging", "reviewing", "adjusting", "reflecting"
REFINING = "refining"
REPORTING, ENDED = "reporting", "ended"


def _duty(seat: Seat, expects: str, channel: str, step: str, within: int = 20) -> Duty:
    return Duty(seat, (expects,), channel, minutes(within), minutes(10), step)


DUTIES: Final[dict[str, Duty]] = {
    PROPOSING: _duty(EXPLORER, "ARCHITECTURE_PROPOSAL", ARENA, "proposal", 30),
    CRITIQUING_1: _duty(CRITIC, "ARCHITECTURE_CRITIQUE", ARENA, "critique-1"),
    REBUTTING: _duty(EXPLORER, "ARCHITECTURE_REBUTTAL", ARENA, "rebuttal"),
    CRITIQUING_2: _duty(CRITIC, "ARCHITECTURE_CRITIQUE", ARENA, "critique-2"),
    JUDGING: _duty(EVOLVER, "ARCHITECTURE_VERDICT", ARENA, "verdict"),
    REFINING: _duty(EVOLVER, "ARENA_TASK", RUNS, "refine", 10),
    REVIEWING: _duty(EVOLVER, "THRESHOLD_REVIEW", ARENA, "threshold-review"),
    ADJUSTING: _duty(CRITIC, "THRESHOLDS_ADJUSTED", ARENA, "thresholds"),
    REFLECTING: _duty(EVOLVER, "META_REFLECTION", REPORTS, "meta-reflection"),
    REPORTING: _duty(EVOLVER, "WEEKLY_REPORT", REPORTS, "weekly-report"),
}
"""Who owes what, in this order; the time limits of a debate (R-D16, R-D17)."""

NEXT: Final[dict[str, str]] = {
    PROPOSING: CRITIQUING_1,
    CRITIQUING_1: REBUTTING,
    REBUTTING: CRITIQUING_2,
    CRITIQUING_2: JUDGING,
    JUDGING: REFINING,
    REFINING: REVIEWING,
    REVIEWING: ADJUSTING,
    ADJUSTING: REFLECTING,
    REFLECTING: REPORTING,
    REPORTING: ENDED,
}
"""The two rounds, the verdict, the runs of approved changes, then the weekly duties (spec 3.1, R-D17)."""

MISSED: Final[dict[str, Missed]] = {
    PROPOSING: Missed(Decision("skip", "timeout", "R-D16"), REVIEWING),
    CRITIQUING_1: Missed(Decision("void", "timeout", "R-D16"), JUDGING),
    REBUTTING: Missed(Decision("void", "timeout", "R-D16"), JUDGING),
    CRITIQUING_2: Missed(Decision("void", "timeout", "R-D16"), JUDGING),
    JUDGING: Missed(Decision("REJECT", "timeout", "R-D16"), REVIEWING),
    REFINING: Missed(Decision("skip", "timeout", "R-D17"), REVIEWING),
    REVIEWING: Missed(Decision("skip", "timeout", "R-D17"), REFLECTING),
    ADJUSTING: Missed(Decision("skip", "timeout", "R-D17"), REFLECTING),
    REFLECTING: Missed(Decision("skip", "timeout", "R-D17"), REPORTING),
    REPORTING: Missed(Decision("skip", "timeout", "R-D17"), ENDED),
}
"""What silence leads to: what is there goes to the Evolver; a missing verdict rejects (R-D10, R-D16)."""

DEBATED: Final = frozenset({PROPOSING, CRITIQUING_1, REBUTTING, CRITIQUING_2, JUDGING})
"""Phases that the cycle's budget runs over."""
