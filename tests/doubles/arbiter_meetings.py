"""Runs of the Arena and panels as trials, whose seats say fixed words: whatever minds write, golden runs stay."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Final

from moot.arbiter.meetings import meeting_of
from moot.arbiter.meetings.meeting import Meeting
from moot.bots.minds.mind import Mind, View
from moot.bots.seats.arena import ArenaMind
from moot.bots.seats.panel import PanelMind, PanelWriter
from moot.bots.seats.panel_prompts import Prompt
from moot.bots.seats.sessions import SessionStore
from moot.bots.seats.writer import Work, Writer
from moot.clock import VirtualClock
from moot.config.arbiter.bank import load_bank
from moot.config.arbiter.moot_protocols import ARENA, PANEL
from moot.protocols.arbiter.generated import ResolvedConfiguration
from moot.protocols.panel.contract import as_json
from moot.workshop import START
from tests.doubles.panel_samples import FOCUS, phase1, report, synthesis

AT_ONCE: Final = timedelta(minutes=1)
WORK: Final = "# Rain\n\nIt rained on 12 of 30 days, as we measured by hand.\n"
ASKS: Final = {ARENA: "Plan who works on Sundays.", PANEL: WORK}


def protocol_of(kind: str) -> dict[str, Any]:
    """Return the resolved `protocol` of a run of trials, but for its time limits."""
    name = {ARENA: "arena_outcome_v1", PANEL: "editorial_decision_v1"}[kind]
    own: dict[str, Any] = {"arena": {"max_rounds": 2}}
    if kind == PANEL:
        known = {"reviewers": ["eic", "methodology"], "title": "On rain", "field": "weather"}
        own = {"panel": {"contract": as_json(FOCUS), **known}}
    return {"type": kind, "decision_contract": load_bank().contracts[name].as_json(), **own}


def held(config: ResolvedConfiguration, trial_id: int) -> Meeting:
    """Hold what a trial holds; every other trial comes to the other decision."""
    meeting, sessions = meeting_of(config, trial_id), SessionStore()

    def mind() -> Mind:
        if config.protocol.type == PANEL:
            return PanelMind(_Reviewer(trial_id))
        return ArenaMind(_Refiner(trial_id), lambda _view: None, sessions)

    minds = {seat: mind() for seat in meeting.seats}
    VirtualClock(START).run(lambda clock: meeting.hold(clock, minds))
    return meeting


class _Refiner(Writer):
    def __init__(self, trial_id: int) -> None:
        self._trial_id = trial_id

    def delay(self, view: View) -> timedelta:
        return AT_ONCE

    async def write(self, work: Work) -> str:
        if work.kind == "REVIEW":
            ends = "REVISE\n\n- Say who pays." if self._trial_id % 2 else "APPROVED"
            return f"I read the plan of trial {self._trial_id}.\n\nVERDICT: {ends}"
        return f"Two of the staff work on Sundays and have Mondays off. This is plan {self._trial_id}."


class _Reviewer(PanelWriter):
    def __init__(self, trial_id: int) -> None:
        self._scores: Any = {"D1": "warn"} if trial_id % 2 else {}

    def delay(self, view: View) -> timedelta:
        return AT_ONCE

    async def write(self, view: View, prompt: Prompt) -> str:
        kind = view.obligation.expects[0]
        if kind == "PHASE1":
            return phase1(FOCUS)
        if kind == "PHASE2":
            return report(view.seat, self._scores, contract=FOCUS)
        return synthesis(dict.fromkeys(("eic", "methodology"), self._scores), FOCUS)
