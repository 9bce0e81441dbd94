"""The state of a run: all that its next step depends on, nothing of what was written in it."""

from __future__ import annotations

from dataclasses import dataclass

from moot.protocols.arena.contracts import Issue
from moot.protocols.arena.messages import NotebookFinding
from moot.protocols.kernel.case import CaseState


@dataclass(frozen=True, kw_only=True)
class RunState(CaseState):
    """State of a run; `phase` is its `State` (4.4).

    Attributes:
        task_id: The task's id.
        prompt: The initial prompt, without excluded content (R-A9).
        session_id: The Reviewer's session.
        max_rounds: 1 to 5.
        is_enabled: Whether the notebook is consulted.
        is_required: Whether the run fails without it.
        notebook_id: Which one, "" for none.
        tools: Which of its tools may be called (4.3).
        round_index: The current round, 0 before the first.
        attempt: Which review of this round is awaited, 1 or 2 (9.1).
        draft_ref: The draft of this round.
        critiques: The reviews so far, by reference.
        evidence: All evidence so far, by reference.
        consulted: What the during-hooks of this round returned.
        findings: What that evidence says about claims.
        resume_ref: What the Reviewer's session must be resumed with.
        issues: What the last recorded round left unresolved.
        rounds: How many rounds are recorded.
        reason: Why it ended, "" while it has not.
    """

    task_id: str = ""
    prompt: str = ""
    session_id: str = ""
    max_rounds: int = 0
    is_enabled: bool = False
    is_required: bool = False
    notebook_id: str = ""
    tools: tuple[str, ...] = ()
    round_index: int = 0
    attempt: int = 1
    draft_ref: str = ""
    critiques: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    consulted: tuple[str, ...] = ()
    findings: tuple[NotebookFinding, ...] = ()
    resume_ref: str = ""
    issues: tuple[Issue, ...] = ()
    rounds: int = 0
    reason: str = ""

    @property
    def is_capped(self) -> bool:
        """Say whether the last round that it may have is recorded (9.3)."""
        return self.rounds == self.max_rounds

    @property
    def unresolved(self) -> tuple[str, ...]:
        """Return the ids of what the last recorded round left unresolved."""
        return tuple([issue.id for issue in self.issues])
