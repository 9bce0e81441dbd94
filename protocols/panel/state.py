"""The state of a panel: the contract, and how far each of its reviewers is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from moot.protocols.kernel.case import CaseState
from moot.protocols.panel.contract import Action, Contract, Score
from moot.protocols.panel.synthesis import Majority, OnNoneFired

OPEN, SYNTHESIZING, DECIDED, ABORTED = "reviewing", "synthesizing", "decided", "aborted"
"""Phases of a panel."""

COMMITTING, REVIEWING, USABLE, UNUSABLE = "phase1", "phase2", "usable", "unusable"

CYCLES = 2
"""A reviewer that sets two dimensions or more aside starts again from Phase 1, once (spec 5)."""
ATTEMPTS = 2
"""Phase 1 is retried once (spec 4)."""


@dataclass(frozen=True, slots=True)
class Reviewer:
    """One of the panel's reviewers.

    Attributes:
        role: Its role, the name of its seat.
        stage: What it owes, or how it ended.
        cycle: 1, or 2 after the restart.
        attempt: Of Phase 1 in this cycle, 1 or 2.
        commitments: How many Phase 1 outputs it gave, in all cycles.
        commitment: Its Phase 1 output, once the lint has passed it.
        plan: What it committed to, by dimension and field.
        gaps: What the lint found in its last Phase 1 of this cycle; never anything of a Phase 2.
        verdict: What the lint owes to say of its last output; None when nothing.
        scores: By dimension, once it is usable.
        dissent: The dimension whose plan it set aside.
        decision: Its own decision.
    """

    role: str
    stage: str = COMMITTING
    cycle: int = 1
    attempt: int = 1
    commitments: int = 0
    commitment: str = ""
    plan: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    gaps: tuple[str, ...] = ()
    verdict: LintVerdict | None = None
    scores: Mapping[str, Score] = field(default_factory=dict)
    dissent: tuple[str, ...] = ()
    decision: Action | None = None

    @property
    def is_done(self) -> bool:
        """Say whether nothing more is to come from it."""
        return self.stage in (USABLE, UNUSABLE)


@dataclass(frozen=True, slots=True)
class LintVerdict:
    """What the Orchestrator is to say of an output.

    Attributes:
        phase: 1 or 2.
        attempt: Which output of this phase, from 1.
        findings: What was found.
        tag: The audit tag, "" for none.
        next: Where it leaves the reviewer: a stage, or `restart`.
    """

    phase: int
    attempt: int
    findings: tuple[str, ...]
    tag: str
    next: str


@dataclass(frozen=True, kw_only=True)
class PanelState(CaseState):
    """State of a panel.

    Attributes:
        contract: Under which it judges; None when it was refused.
        baseline: SHA-256 of the contract's baseline fields at the opening (spec 3).
        title, field, word_count: What Phase 1 may know.
        content_ref: What Phase 2 is shown.
        majority, on_none_fired: R-P1, R-P2.
        reviewers: In the order of the contract's mode.
        attempt: Which synthesis is awaited, 1 or 2.
        diagnostics: Why the first synthesis was refused.
        tags: The audit tags so far.
        verdict: How it is about to end: the decision, or the tag of the abort.
        why: Why it aborts.
    """

    contract: Contract | None = None
    baseline: str = ""
    title: str = ""
    field: str = ""
    word_count: int = 0
    content_ref: str = ""
    majority: Majority = "spec"
    on_none_fired: OnNoneFired = "accept"
    reviewers: tuple[Reviewer, ...] = ()
    attempt: int = 1
    diagnostics: str = ""
    tags: tuple[str, ...] = ()
    verdict: str = ""
    why: str = ""

    def reviewer(self, role: str) -> Reviewer:
        """Return the reviewer of a role.

        Raises:
            StopIteration: The panel has none.
        """
        return next(one for one in self.reviewers if one.role == role)

    @property
    def scores(self) -> dict[str, Mapping[str, Score]]:
        """Return the scores of the usable reviewers, by role."""
        return {one.role: one.scores for one in self.reviewers if one.stage == USABLE}
