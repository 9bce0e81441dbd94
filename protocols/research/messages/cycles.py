"""Cycles: their triggers, what happened to a slot, the research behind one, the report after it."""

from __future__ import annotations

from typing import ClassVar, Literal

from moot.protocols.kernel.fields import Minted, Several
from moot.protocols.kernel.message import Count, Ident, Instant, Message, Number, Part, Share, Text

Schedule = Literal["micro", "daily", "architecture"]
"""The schedules of System A; the mode of a cycle is the schedule that fired it."""


class CycleContext(Part):
    """What the last cycles left for this one."""

    last_verdict: Ident | None
    priority_direction: Text | None
    available_parents: Several[Ident]


class CycleTrigger(Message):
    """Open a cycle; mode `daily` opens the daily reflection. Timekeeper, #a-arena (K16, R-D1, R-D17)."""

    case_field: ClassVar[str] = "cycle_id"
    type: Literal["CYCLE_TRIGGER"] = "CYCLE_TRIGGER"
    trigger: Literal["EXPLORER_START", "EVOLVER_START"]
    cycle_id: Minted = ""
    mode: Schedule
    nominal_at: Instant
    context: CycleContext


class CycleDeferred(Message):
    """Say that a due cycle waits for a running one. Timekeeper, #a-arena (K16, R-D17)."""

    type: Literal["CYCLE_DEFERRED"] = "CYCLE_DEFERRED"
    schedule: Schedule
    nominal_at: Instant
    reason: Text


class CycleSkipped(Message):
    """Say that a slot passes without a cycle. Timekeeper, #a-arena (K16, R-D16, R-D21)."""

    type: Literal["CYCLE_SKIPPED"] = "CYCLE_SKIPPED"
    schedule: Schedule
    nominal_at: Instant
    reason: Text


class ResearchNote(Message):
    """Note what was found before the hypothesis, and in what. Explorer, #a-research."""

    type: Literal["RESEARCH_NOTE"] = "RESEARCH_NOTE"
    title: Text
    findings: Several[Text]
    sources: Several[Text]


class DailySummary(Part):
    """What the day counted so far."""

    cycles_completed: Count
    strategies_approved: Count
    strategies_rejected: Count


class MicroCycleReport(Message):
    """Report how a micro-cycle ended. Evolver, #a-report (R-D1)."""

    case_field: ClassVar[str] = "cycle_id"
    type: Literal["MICRO_CYCLE_REPORT"] = "MICRO_CYCLE_REPORT"
    cycle_id: Minted = ""
    hypothesis_id: Ident | None
    verdict: Literal["APPROVE", "REJECT", "REVISE", "timeout"]
    confidence: Share | None
    backtest_sharpe: Number | None
    daily_summary: DailySummary
    next_cycle_trigger: Instant | None
