"""Who posts the messages of System A, and where: one row a type (R-D2)."""

from __future__ import annotations

from typing import Final

from moot.protocols.kernel.catalogue import Channel, Right
from moot.protocols.kernel.seats import ADMIN, REFEREE, TIMEKEEPER
from moot.protocols.research.seats import CRITIC, EVOLVER, EXPLORER

ARENA: Final = frozenset({"#a-arena"})
VERDICTS: Final = frozenset({"#a-verdict"})
RESEARCH: Final = frozenset({"#a-research"})
REPORTS: Final = frozenset({"#a-report"})
BRIDGE: Final = frozenset({"#bridge"})

CHANNELS: Final = (
    Channel("#a-arena", "A", "debates over hypotheses and architecture, cycles, thresholds"),
    Channel("#a-verdict", "A", "verdicts and backtest results"),
    Channel("#a-research", "A", "the Explorer's research notes"),
    Channel("#a-report", "A", "reports, principles, reflections"),
)

RIGHTS: Final = (
    Right("CYCLE_TRIGGER", frozenset({TIMEKEEPER}), ARENA),
    Right("CYCLE_DEFERRED", frozenset({TIMEKEEPER}), ARENA),
    Right("CYCLE_SKIPPED", frozenset({TIMEKEEPER}), ARENA),
    Right("RESEARCH_NOTE", frozenset({EXPLORER}), RESEARCH),
    Right("HYPOTHESIS", frozenset({EXPLORER}), ARENA),
    Right("RISK_ASSESSMENT", frozenset({CRITIC}), ARENA),
    Right("REBUTTAL", frozenset({EXPLORER}), ARENA),
    Right("CONCEDE", frozenset({EXPLORER}), ARENA),
    Right("EXTEND_DEBATE", frozenset({EVOLVER}), ARENA),
    Right("VERDICT", frozenset({EVOLVER}), VERDICTS),
    Right("REVISE_REQUEST", frozenset({EVOLVER}), ARENA),
    Right("REVISED_HYPOTHESIS", frozenset({EXPLORER}), ARENA),
    Right("FINAL_VERDICT", frozenset({EVOLVER}), VERDICTS),
    Right("BACKTEST_RESULT", frozenset({EVOLVER}), VERDICTS),
    # To `candidates` the Evolver, everything else the Operator (of System B's rows): the case looks at `to`.
    Right("STRATEGY_MOVED", frozenset({EVOLVER, ADMIN, REFEREE}), BRIDGE),
    Right("MICRO_CYCLE_REPORT", frozenset({EVOLVER}), REPORTS),
    Right("PRINCIPLE_SYNTHESIS", frozenset({EVOLVER}), REPORTS),
    Right("DAILY_REPORT", frozenset({EVOLVER}), REPORTS),
    Right("WEEKLY_REPORT", frozenset({EVOLVER}), REPORTS),
    Right("THRESHOLD_REVIEW", frozenset({EVOLVER}), ARENA),
    Right("THRESHOLDS_ADJUSTED", frozenset({CRITIC}), ARENA),
    Right("META_REFLECTION", frozenset({EVOLVER}), REPORTS),
    Right("ARCHITECTURE_PROPOSAL", frozenset({EXPLORER}), ARENA),
    Right("ARCHITECTURE_CRITIQUE", frozenset({CRITIC}), ARENA),
    Right("ARCHITECTURE_REBUTTAL", frozenset({EXPLORER}), ARENA),
    Right("ARCHITECTURE_VERDICT", frozenset({EVOLVER}), ARENA),
    Right("CAUSAL_RECORD", frozenset({EVOLVER, REFEREE}), REPORTS),
    Right("REFLECTION", frozenset({EVOLVER, REFEREE}), REPORTS),
)

ABROAD: Final = (
    Right("ARENA_TASK", frozenset({EVOLVER}), frozenset({"#r-arena"})),
    Right("PANEL_OPENED", frozenset({EVOLVER}), frozenset({"#r-panel"})),
)
"""What System A may post of other protocols."""
