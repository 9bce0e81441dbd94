"""The contracts of section 4: what a run is given and what it records, field by field."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import Field, ValidationError, field_validator

from moot.protocols.arena.cleaning import quoted
from moot.protocols.kernel.fields import VISIBLE
from moot.protocols.kernel.message import Instant, Part

MAX_ROUNDS: Final = 5

Name = Annotated[str, Field(min_length=1, max_length=200, pattern=VISIBLE)]
"""An id with at least one character that is not blank."""

Prompt = Annotated[str, Field(min_length=1, max_length=20_000, pattern=VISIBLE)]

Ref = Annotated[str, Field(max_length=1000)]
Refs = Annotated[tuple[Ref, ...], Field(max_length=1000)]

Verdict = Literal["APPROVED", "REVISE"]
Phase = Literal["before", "during", "after"]
HookStatus = Literal["SUCCESS", "FAILED", "SKIPPED_DISABLED", "SKIPPED_DEGRADED"]

QUERY: Final = "notebook_query"


class ProtocolConfig(Part):
    """How a run is held (4.1). Strict: `true`, `1.0` and `"5"` are no whole numbers (R-A5)."""

    max_rounds: Annotated[int, Field(ge=1, le=MAX_ROUNDS)] = MAX_ROUNDS
    session_resume_required: Literal[True] = True
    reviewer_mode: Literal["read-only"] = "read-only"
    notebook_enabled: bool = True

    @field_validator("session_resume_required", mode="before")
    @classmethod
    def _is_true(cls, value: object) -> object:
        # Literal[True] compares by equality, and 1 equals True.
        if value is not True:
            raise ValueError("must be true")
        return value


class TaskContext(Part):
    """What is to be done, and in which session of the Reviewer (4.2)."""

    task_id: Name
    initial_prompt: Prompt
    session_id: Name
    round_history_refs: Refs = ()
    notebook_required: bool = False


class NotebookContext(Part):
    """Which notebook grounds the run (4.3)."""

    notebook_id: Name
    profile: Literal["enterprise", "personal", "auto"] = "auto"
    tools: Annotated[tuple[Name, ...], Field(max_length=100)]

    @field_validator("tools")
    @classmethod
    def _can_query(cls, tools: tuple[str, ...]) -> tuple[str, ...]:
        if QUERY not in tools:
            raise ValueError(f"must include {QUERY}")
        return tools


class Issue(Part):
    """What a review leaves to be done; the items of `RoundRecord.issues`.

    Attributes:
        id: `r<round>-<n>`.
        kind: `issue`, named by the review; `contradiction`, found in the notebook (R-A10); `unnamed`, when a REVISE
            names none; `evidence`, consulted and not mentioned in the review (8.2).
        text: What it says.
        claim: The claim that is contradicted.
        evidence_ref: The evidence at hand.
    """

    id: str
    kind: Literal["issue", "contradiction", "unnamed", "evidence"]
    text: str
    claim: str | None = None
    evidence_ref: str | None = None

    @property
    def is_unresolved(self) -> bool:
        """Say whether it asks for a change."""
        return self.kind != "evidence"


class RoundRecord(Part):
    """One round whose verdict was parsed (4.6)."""

    round_index: Annotated[int, Field(ge=1, le=MAX_ROUNDS)]
    planner_output_ref: str
    reviewer_output_ref: str
    verdict: Verdict
    issues: tuple[Issue, ...]
    timestamp: Instant


class NotebookHookResult(Part):
    """One query of the notebook, or why there was none (4.7)."""

    phase: Phase
    query: str
    evidence_refs: Refs
    status: HookStatus


def complaint(error: ValidationError) -> str:
    """Return a validation error as one line: the field and what is wrong with it."""
    first = error.errors(include_url=False, include_input=False)[0]
    # A key may be anything, and it is part of the line.
    field = quoted(".".join(str(part) for part in first["loc"]), 200)
    said = first["msg"].removeprefix("Value error, ")
    more = error.error_count() - 1
    return f"{field}: {said}" + (f" (and {more} more)" if more else "")
