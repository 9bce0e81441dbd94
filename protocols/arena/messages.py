"""The messages of the Arena, all in `#r-arena`."""

from __future__ import annotations

from typing import Annotated, ClassVar, Final, Literal

from pydantic import Field

from moot.protocols.arena.contracts import HookStatus, Phase
from moot.protocols.kernel.fields import VISIBLE, FrozenJson, Minted, Several
from moot.protocols.kernel.frozen import MAX_ITEMS
from moot.protocols.kernel.message import Count, Message, Part, Text

MAX_OUTPUT: Final = 16_000_000
"""Longest output of a seat, in characters."""

MOST_FINDINGS: Final = 400
"""Findings of one hook; those of two passes and the named items of a review fit into `Review.unresolved`."""

Output = Annotated[str, Field(max_length=MAX_OUTPUT)]
"""A raw output of a seat; the Orchestrator trusts nothing in it until it is parsed (3.2)."""


Said = Annotated[str, Field(min_length=1, max_length=1000, pattern=VISIBLE)]
"""A claim or a reference: never blank."""


class _OfRun(Message):
    case_field: ClassVar[str] = "run_id"
    run_id: Minted = ""


class ArenaTask(_OfRun):
    """Open a run. Admin or Evolver.

    Config, task and notebook come as they were given: the case judges them, and an invalid one ends the run with a
    reason (6.2, 6.3).

    Attributes:
        parent_id: The weekly cycle whose approved change it refines, "" for none.
        config: A `ProtocolConfig`; what is left out takes its default.
        task: A `TaskContext`.
        notebook: A `NotebookContext`, or None.
    """

    type: Literal["ARENA_TASK"] = "ARENA_TASK"
    parent_id: Minted = ""
    config: FrozenJson
    task: FrozenJson
    notebook: FrozenJson | None = None


class _Written(_OfRun):
    is_free_text: ClassVar[bool] = True


class NotebookFinding(Part):
    """What a passage of the notebook says about a claim."""

    claim: Said
    evidence_ref: Said
    stance: Literal["supports", "contradicts"]


class HookResult(_Written):
    """Tell what the notebook said, or that it failed. Planner before, Reviewer during, Finalizer after (8).

    Attributes:
        why: Why it failed, "" when it did not.
        findings: Claims that passages support or contradict (R-A10).
    """

    type: Literal["HOOK_RESULT"] = "HOOK_RESULT"
    phase: Phase
    query: Text
    evidence_refs: Annotated[tuple[Said, ...], Field(max_length=MAX_ITEMS)]
    status: HookStatus
    why: Text = ""
    findings: Annotated[tuple[NotebookFinding, ...], Field(max_length=MOST_FINDINGS)] = ()


class ArenaDraft(_Written):
    """Draft or revise. Planner (6.6)."""

    type: Literal["DRAFT"] = "DRAFT"
    round_index: Count = 0
    text: Output


class Review(_Written):
    """Review the draft of this round, in the resumed session (6.8). Reviewer.

    A person in the seat leaves all but the text out: the door fills in what the run waits for.

    Attributes:
        attempt: 1, or 2 for the one retry (9.1).
        text: The raw output.
        session_id: The session it was written in.
        resume_ref: The reference that the session was resumed with.
        unresolved: Ids of the issues that the session holds from the round before.
    """

    type: Literal["REVIEW"] = "REVIEW"
    round_index: Count = 0
    attempt: Count = 0
    text: Output
    session_id: Text = ""
    resume_ref: Text = ""
    unresolved: Several[Text] = ()


class RunFault(_OfRun):
    """Tell that a seat's shell had to stop its mind: a write was blocked, or no session was there to resume.

    Whatever the mind said is discarded (9.5, R-A7). Planner, Reviewer or Finalizer.
    """

    type: Literal["RUN_FAULT"] = "RUN_FAULT"
    fault: Literal["SAFETY_VIOLATION", "SESSION_RESUME_MISSING"]
    tool: Text = ""
    detail: Text


class FinalOutput(_Written):
    """Give the final output, or at the cap the best effort with what is unresolved (9.3). Finalizer."""

    type: Literal["FINAL_OUTPUT"] = "FINAL_OUTPUT"
    text: Output


class RunTerminated(_OfRun):
    """Close a run. Orchestrator (11)."""

    type: Literal["RUN_TERMINATED"] = "RUN_TERMINATED"
    state: Literal["TERMINATED_APPROVED", "TERMINATED_MAX_ROUNDS", "TERMINATED_ERROR"]
    reason: Text
    rounds: Count
