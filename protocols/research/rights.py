"""Who posts the messages of System A, and where: one row a type (R-D2)."""

from __future__ import annotations

from typing import Final

from moot.protocols.kernel.catalogue import Right
from moot.protocols.kernel.rights import ADMIN, REFEREE, TIMEKEEPER
from moot.protocols.kernel.seats import Seat

EXPLORER: Final = frozenset({Seat.EXPLORER})
CRITIC: Final = frozenset({Seat.CRITIC})
EVOLVER: Final = frozenset({Seat.EVOLVER})
OPERATOR: Final = frozenset({Seat.OPERATOR})

ARENA: Final = frozenset({"#a-arena"})
VERDICTS: Final = frozenset({"#a-verdict"})
RESEARCH: Final = frozenset({"#a-research"})
REPORTS: Final = frozenset({"#a-report"})
BRIDGE: Final = frozenset({"#bridge"})

RIGHTS: Final = (
    Right("CYCLE_TRIGGER", TIMEKEEPER, ARENA),
    Right("CYCLE_DEFERRED", TIMEKEEPER, ARENA),
    Right("CYCLE_SKIPPED", TIMEKEEPER, ARENA),
    Right("RESEARCH_NOTE", EXPLORER, RESEARCH),
    Right("HYPOTHESIS", EXPLORER, ARENA),
    Right("RISK_ASSESSMENT", CRITIC, ARENA),
    Right("REBUTTAL", EXPLORER, ARENA),
    Right("CONCEDE", EXPLORER, ARENA),
    Right("EXTEND_DEBATE", EVOLVER, ARENA),
    Right("VERDICT", EVOLVER, VERDICTS),
    Right("REVISE_REQUEST", EVOLVER, ARENA),
    Right("REVISED_HYPOTHESIS", EXPLORER, ARENA),
    Right("FINAL_VERDICT", EVOLVER, VERDICTS),
    Right("BACKTEST_RESULT", EVOLVER, VERDICTS),
    # To `candidates` the Evolver, everything else the Operator: the case looks at `to`, the matrix cannot.
    Right("STRATEGY_MOVED", EVOLVER | OPERATOR | ADMIN | REFEREE, BRIDGE),
    Right("MICRO_CYCLE_REPORT", EVOLVER, REPORTS),
    Right("PRINCIPLE_SYNTHESIS", EVOLVER, REPORTS),
    Right("DAILY_REPORT", EVOLVER, REPORTS),
    Right("WEEKLY_REPORT", EVOLVER, REPORTS),
    Right("THRESHOLD_REVIEW", EVOLVER, ARENA),
    Right("THRESHOLDS_ADJUSTED", CRITIC, ARENA),
    Right("META_REFLECTION", EVOLVER, REPORTS),
    Right("ARCHITECTURE_PROPOSAL", EXPLORER, ARENA),
    Right("ARCHITECTURE_CRITIQUE", CRITIC, ARENA),
    Right("ARCHITECTURE_REBUTTAL", EXPLORER, ARENA),
    Right("ARCHITECTURE_VERDICT", EVOLVER, ARENA),
    Right("CAUSAL_RECORD", EVOLVER | REFEREE, REPORTS),
    Right("REFLECTION", EVOLVER | REFEREE, REPORTS),
)
