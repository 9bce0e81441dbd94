"""The messages of a review panel, all in `#r-panel`."""

from __future__ import annotations

from typing import Annotated, ClassVar, Final, Literal

from pydantic import Field

from moot.protocols.kernel.fields import Exact, FrozenJson, Minted, SeatName
from moot.protocols.kernel.message import Count, Ident, Message, Text, Texts

MAX_OUTPUT: Final = 4_000_000
"""Longest output of a reviewer, in characters."""

Name = Annotated[str, Field(max_length=500)]
"""A title or a field: too short to hold the work."""
Output = Annotated[str, Field(max_length=MAX_OUTPUT)]
Attempt = Annotated[int, Field(ge=1, le=9)]


class _OfPanel(Message):
    case_field: ClassVar[str] = "panel_id"
    panel_id: Minted = ""


class _Written(_OfPanel):
    is_free_text: ClassVar[bool] = True


class PanelOpened(_OfPanel):
    """Put something before a panel under a contract. Admin, Operator or Evolver (spec 2, 3).

    Attributes:
        parent_id: The case whose decision waits for it, "" for none.
        contract: As loaded, with `generated_at`; the case judges it.
        title, field, word_count: All that Phase 1 learns of the content.
        content_ref: Where the content is kept; only Phase 2 is shown it (K12).
        majority: How majorities are counted (R-P1).
        on_none_fired: What follows when no condition fires (R-P2).
    """

    type: Literal["PANEL_OPENED"] = "PANEL_OPENED"
    parent_id: Minted = ""
    contract: FrozenJson
    title: Name
    field: Name
    word_count: Count
    content_ref: Ident
    majority: Literal["spec", "strict"] = "spec"
    on_none_fired: Literal["accept", "abort"] = "accept"


class Phase1(_Written):
    """Commit to a standard before seeing the work; the raw output. A reviewer of the panel (spec 2, 4)."""

    type: Literal["PHASE1"] = "PHASE1"
    text: Output


class Phase2(_Written):
    """Review the work by that standard; the raw output. A reviewer of the panel (spec 2, 5)."""

    type: Literal["PHASE2"] = "PHASE2"
    text: Output


class Lint(_OfPanel):
    """Say what the lint makes of an output, and what follows. Orchestrator (spec 4, 5).

    Attributes:
        role: Whose output.
        phase: 1 or 2.
        attempt: Which output of this reviewer in this phase, from 1; a restart counts on.
        is_passed: Whether nothing was found.
        findings: What was found.
        tag: The audit tag, "" when there is none (spec 11).
    """

    type: Literal["LINT"] = "LINT"
    role: SeatName
    phase: Annotated[Literal[1, 2], Exact]
    attempt: Attempt
    is_passed: bool
    findings: Texts
    tag: Text


class Synthesis(_Written):
    """Conclude from the scores, in the pinned grammar. Synthesizer (spec 8)."""

    type: Literal["SYNTHESIS"] = "SYNTHESIS"
    text: Output


class PanelDecided(_OfPanel):
    """Close a panel with its decision, recomputed before it counts. Orchestrator (spec 8).

    Attributes:
        decision: The action of the contract.
        fired_conditions: Ids, in the contract's order.
        matrix: Scores by dimension, then by role.
        arithmetic: One line for each condition: for whom it holds, how many are needed.
        tags: The audit tags of the panel.
        baseline_sha256: Of the contract's baseline fields, checked again at the end (spec 3).
    """

    type: Literal["PANEL_DECIDED"] = "PANEL_DECIDED"
    decision: Ident
    fired_conditions: tuple[Ident, ...]
    matrix: FrozenJson
    arithmetic: Texts
    tags: Texts
    baseline_sha256: Ident


class PanelAborted(_OfPanel):
    """Close a panel without a decision. Orchestrator (spec 6, 11)."""

    type: Literal["PANEL_ABORTED"] = "PANEL_ABORTED"
    tag: Text
    why: Text
    tags: Texts
