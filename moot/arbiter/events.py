"""What a run tells those who watch it: artifacts, a progress bar, the society's #lab.

A run tells `RunStarted`, then `TrialEnded` of each trial, in the order in which they end, and `BatchEnded` after the
trials of each batch, then `RunEnded`. Each is told before the run goes on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from moot.arbiter.resolving import Prepared
from moot.protocols.arbiter.generated import (
    Aggregates,
    Assignment,
    ClusterState,
    ConvergenceRow,
    EmbeddingLine,
    ParsedTrial,
    Policy,
    RunUsage,
    StopReason,
    Trial,
)
from moot.protocols.calls.books import OF_A_BUDGET


class RunStarted(NamedTuple):
    """A run begins; its whole plan stands in `prepared.trials`.

    Attributes:
        policy: What it allows.
        started_at: Now, ISO 8601, UTC and ending in Z; so are all instants of events.
    """

    prepared: Prepared
    policy: Policy
    started_at: str

    @property
    def run_id(self) -> str:
        """The run's id."""
        return self.prepared.config.run.run_id

    @property
    def k_planned(self) -> int:
        """How many trials are planned."""
        return len(self.prepared.trials)


class TrialEnded(NamedTuple):
    """A trial ended, well or not."""

    trial: Trial
    parsed: ParsedTrial
    embedding: EmbeddingLine


class BatchEnded(NamedTuple):
    """A batch ended and was measured.

    Attributes:
        assignments: Which cluster each answer went to, by trial_id; none without clustering.
        usage: Of the run so far; None when no reply told any.
    """

    row: ConvergenceRow
    assignments: tuple[Assignment, ...]
    usage: RunUsage | None


class EmbeddingFacts(NamedTuple):
    """How the answers of a run were embedded.

    Attributes:
        dimensions: Of each vector; None without any.
        actual_model: The one model that replies named; None when they named none, or several.
        generation_ids: What replies were called, each once, in order of arrival.
    """

    dimensions: int | None
    actual_model: str | None
    generation_ids: tuple[str, ...]
    successful: int
    failed: int
    skipped: int


class RunEnded(NamedTuple):
    """A run ended.

    Attributes:
        incomplete: It is less than what was asked for.
        notes: Why, in a line; None when there is nothing to say.
        cluster_state: None without clustering.
        usage: None when no reply told any.
        k_attempted: Trials that ended.
    """

    stop_reason: StopReason
    incomplete: bool
    notes: str | None
    cluster_state: ClusterState | None
    aggregates: Aggregates
    usage: RunUsage | None
    embeddings: EmbeddingFacts
    k_attempted: int
    ended_at: str


def is_out_of_budget(stop_reason: str | None, notes: str | None) -> bool:
    """Say whether a run ended because a budget had no room for a call: its artifacts call that an interrupt."""
    return stop_reason == "user_interrupt" and (notes or "").startswith(OF_A_BUDGET)


Event = RunStarted | TrialEnded | BatchEnded | RunEnded

Subscriber = Callable[[Event], None]
"""Is told each event, one after the other; what it raises ends the run as an error."""
