"""A synchronous society that holds one run of the Arena, its seats in the test's hands."""

from __future__ import annotations

from typing import Any, Final

from moot.protocols.arena.messages import (
    ArenaDraft,
    ArenaTask,
    FinalOutput,
    HookResult,
    NotebookFinding,
    Review,
    RunFault,
)
from moot.protocols.arena.record import audit_record, versions_of
from moot.protocols.arena.run import RUN
from moot.protocols.arena.seats import FINALIZER, PLANNER, REVIEWER
from moot.protocols.arena.state import RunState
from moot.protocols.arena.states import State
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.machine import rows
from moot.protocols.kernel.seats import ADMIN, Seat
from moot.protocols.kernel.steps import ENDED
from tests.doubles.table import Table

TASK: Final = {"task_id": "t1", "initial_prompt": "Plan the widget.", "session_id": "s1"}
NOTEBOOK: Final = {"notebook_id": "nb", "profile": "auto", "tools": ["notebook_describe", "notebook_query"]}

TRANSITIONS: Final = {
    (State(row.phase), State(to))
    for row in rows(RUN)
    if row.phase
    for to in row.move.to
    if to not in (ENDED, row.phase)
}
"""Every step between two states that a row of the machine makes; a human STOP makes no other."""

SEAT_OF: Final = {"before": PLANNER, "during": REVIEWER, "after": FINALIZER}


class ArenaTable(Table):
    """Opens a run; then each seat says what the test wants it to say."""

    def __init__(self) -> None:
        """Start without any schedule."""
        super().__init__(schedules={})
        self.run_id = ""

    def run(
        self, *, config: dict[str, Any] | None = None, notebook: Any = None, parent_id: str = "", **task: Any
    ) -> Envelope:
        """Open a run; the notebook is enabled when one is given and the config does not say."""
        config = {"notebook_enabled": notebook is not None, **(config or {})}
        given = {key: value for key, value in {**TASK, **task}.items() if value is not None}
        body = ArenaTask(config=config, task=given, notebook=notebook, parent_id=parent_id)
        env = self.say(ADMIN, body, channel="#r-arena")
        self.run_id = env.case_id or env.body.run_id  # type: ignore[attr-defined]
        return env

    @property
    def state(self) -> RunState:
        """Return the run's state."""
        state = self.docket.cases[self.run_id]
        assert isinstance(state, RunState)
        return state

    @property
    def outcome(self) -> str:
        """Return how the run ended."""
        return self.docket.ended[self.run_id].outcome

    def hook(
        self, phase: str, status: str = "SUCCESS", refs: tuple[str, ...] = ("n#1",), **over: Any
    ) -> Envelope:
        """Let whoever runs it tell a hook's result."""
        fields: dict[str, Any] = {
            "phase": phase, "query": "what is known?", "evidence_refs": refs, "status": status, **over
        }  # fmt: skip
        if status != "SUCCESS":
            fields = {**fields, "evidence_refs": (), "why": "it timed out"}
        return self.say(SEAT_OF[phase], HookResult(**fields))

    def contradicted(self, claim: str = "widgets fly", ref: str = "n#2") -> Envelope:
        """Let the during-hook find a contradiction."""
        finding = NotebookFinding(claim=claim, evidence_ref=ref, stance="contradicts")
        return self.hook("during", refs=(ref,), findings=(finding,))

    def draft(self, text: str = "A plan.", **over: Any) -> Envelope:
        """Let the Planner draft."""
        return self.say(PLANNER, ArenaDraft(**{"round_index": self.state.round_index, "text": text, **over}))

    def review(self, text: str, **over: Any) -> Envelope:
        """Let the Reviewer review, in its resumed session."""
        state = self.state
        fields = {
            "round_index": state.round_index,
            "attempt": state.attempt,
            "text": text,
            "session_id": state.session_id,
            "resume_ref": state.resume_ref,
            "unresolved": state.unresolved,
        }
        return self.say(REVIEWER, Review(**{**fields, **over}))

    def fault(self, seat: Seat = REVIEWER, fault: Any = "SAFETY_VIOLATION") -> Envelope:
        """Let a seat's shell stop its mind."""
        return self.say(seat, RunFault(fault=fault, tool="write_file", detail="path ./x"))

    def final(self, text: str = "The plan.") -> Envelope:
        """Let the Finalizer give its output."""
        return self.say(FINALIZER, FinalOutput(text=text))

    def record(self) -> dict[str, Any]:
        """Return the audit record of the run."""
        messages = [env for env in self.log if env.case_id == self.run_id]
        return audit_record(messages, versions=versions_of(self.log))

    def path(self) -> list[str]:
        """Return the states of the run in their order."""
        steps = self.record()["transitions"]
        return [steps[0]["from"], *(step["to"] for step in steps)]
