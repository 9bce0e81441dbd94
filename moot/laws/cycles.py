"""Laws of what comes by the clock."""

from __future__ import annotations

from typing import Final

from moot.laws.law import ASIDES, Findings, Memory, Message, hears
from moot.laws.recent import Recent

BY_FIELD: Final = {
    "MICRO_CYCLE_REPORT": "cycle_id",
    "PRINCIPLE_SYNTHESIS": "cycle_id",
    "DAILY_REPORT": "date",
    "WEEKLY_REPORT": "week",
    "META_REFLECTION": "period",
    "THRESHOLD_REVIEW": "period",
    "THRESHOLDS_ADJUSTED": "period",
    "MARKET_CLOSE": "session_id",
    "DAILY_TRADING_REPORT": "session_id",
    "WEEKLY_TRADING_REPORT": "week",
    "PRE_MARKET_CHECK": "session_id",
}
"""What is said once for each cycle, day or week that this field names."""


class SlotsPassOnce(Memory, source="K16, R-D21"):
    """A slot of the schedule opens a cycle or is skipped, once, and not before it has come."""

    def __init__(self) -> None:
        self.passed: Recent[tuple[str, str], int] = Recent()

    @hears("CYCLE_TRIGGER", "CYCLE_SKIPPED", "TRADING_DAY")
    def passing(self, message: Message) -> Findings:
        """Note a slot."""
        body = message["body"]
        slot = body.get("mode") or body.get("schedule") or "desk", body["nominal_at"]
        before = self.passed.get(slot)
        self.passed[slot] = message["seq"]
        if before is not None:
            return (f"{slot[0]} of {slot[1]} was seq {before} already",)
        return (f"{slot[0]} of {slot[1]} comes too early",) if message["sent_at"] < slot[1] else ()


class OneCycleAtATime(Memory, source="R-D17, R-D21"):
    """No micro-cycle opens before the one in front of it was reported, or its report given up."""

    def __init__(self) -> None:
        self.running = ""

    @hears("CYCLE_TRIGGER")
    def opened(self, message: Message) -> Findings:
        """Note a cycle that opens."""
        before = self.running
        if message["body"]["mode"] == "micro":
            self.running = message["case_id"]
        return (f"{before} is not over",) if before else ()

    @hears("MICRO_CYCLE_REPORT")
    def reported(self, message: Message) -> Findings:
        """Note its end."""
        self.running = "" if message["case_id"] == self.running else self.running
        return ()

    @hears("RULING")
    def ruled(self, message: Message) -> Findings:
        """Note that its report is given up, or that it was stopped."""
        body = message["body"]
        owed = body["obligation_id"] or ""
        if owed.startswith(f"{self.running}/report") or (
            body["outcome"] == "stop" and body["case_id"] == self.running
        ):
            self.running = ""
        return ()


class ReportedOnce(Memory, source="2.1, 2.3, R-D17"):
    """Each cycle, day and week has one report of its kind."""

    def __init__(self) -> None:
        self.told: Recent[tuple[str, str], int] = Recent()

    @hears(*BY_FIELD)
    def reported(self, message: Message) -> Findings:
        """Note a report."""
        kind = message["body"]["type"]
        key = kind, message["body"][BY_FIELD[kind]]
        before = self.told.get(key)
        self.told[key] = message["seq"]
        return () if before is None else (f"that of {key[1]} is seq {before}",)


class OverIsOver(Memory, source="K23"):
    """In a case that has ended nothing that a seat says counts."""

    def __init__(self) -> None:
        self.over: Recent[str, int] = Recent()

    @hears()
    def any(self, message: Message) -> Findings:
        """Hold what a seat says against the ends, and note an end."""
        case = message["case_id"]
        if case is None:
            return ()
        before, kind = self.over.get(case), message["body"]["type"]
        if kind in ENDS:
            self.over[case] = message["seq"]
        if before is not None and kind not in ASIDES and message["actor"]["kind"] == "bot":
            return (f"the case ended with seq {before}",)
        return ()


ENDS: Final = frozenset(
    {"RUN_TERMINATED", "PANEL_DECIDED", "PANEL_ABORTED", "JUDGMENT", "RESUME_CONFIRMED", "MICRO_CYCLE_REPORT"}
)
"""The last word of its case."""
