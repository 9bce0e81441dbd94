"""What a run found, in one record, from which its report is told as text, as JSON and as a page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from moot.statistics.shares import Interval

ALPHA: Final = 0.05
"""How often Wilson's interval may miss the share."""

State = Literal[
    "resolved", "done", "converged", "settled", "spent", "stopped", "interrupted", "failed", "unfinished"
]
"""How a run stands. A manifest says `user_interrupt` of three: `spent`, a budget has no room left; `stopped`, by
somebody who gave a reason; `interrupted`, by a signal."""
Trend = Literal["rising", "falling", "flat"]


@dataclass(frozen=True, slots=True)
class Label:
    """How often trials ended in a decision, or in none.

    Attributes:
        label: None for no decision.
        share: Of the trials counted, in [0, 1].
        wilson: Its interval, for a number of trials that was fixed beforehand; it misses in `ALPHA` of runs.
        anytime: The certificate's, which holds whenever the run was stopped; None without one.
    """

    label: str | None
    trials: int
    share: float
    wilson: Interval
    anytime: Interval | None


@dataclass(frozen=True, slots=True)
class Decisions:
    """What trials decided.

    Attributes:
        is_closed: A contract lists the labels.
        trials: Trials counted; those that the end of the run cut short are not.
        mode: What the certificate calls the most frequent; None for no decision, and while `mode_at` is None.
        mode_at: How many trials it needed to be certain of that; None without a certificate, or while it is not.
        alpha: How often the certificate may err; None without one.
    """

    is_closed: bool
    trials: int
    labels: tuple[Label, ...]
    mode: str | None
    mode_at: int | None
    alpha: float | None


@dataclass(frozen=True, slots=True)
class Measured:
    """How settled the answers are, by the last batch.

    Attributes:
        trend: Of the novelty rate between the last two batches; None without two that were measured.
        delta: By how much it changed.
        would_stop_at: How many trials had ended when answers first counted as settled; None when they never did.
    """

    novelty_rate: float | None
    mean_max_sim_to_prior: float | None
    trend: Trend | None
    delta: float | None
    would_stop_at: int | None


@dataclass(frozen=True, slots=True)
class Example:
    """A text of a trial.

    Attributes:
        label: What it decided; None without a decision.
    """

    trial_id: int
    label: str | None
    text: str


@dataclass(frozen=True, slots=True)
class ClusterFacts:
    """A cluster, with the texts that are nearest to its centre, the exemplar's first.

    Attributes:
        discovered_at_batch: None where no assignments were kept.
    """

    cluster_id: int
    size: int
    share: float
    discovered_at_batch: int | None
    examples: tuple[Example, ...]


@dataclass(frozen=True, slots=True)
class Clusters:
    """How answers group.

    Attributes:
        effective: So many clusters of equal size would have the same entropy.
        largest: The largest ones, at most as many as were asked for.
    """

    count: int
    effective: float
    entropy: float
    singletons: int
    limit: int
    is_full: bool
    forced: int
    largest: tuple[ClusterFacts, ...]


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """A model: its weight in the configuration, trials that ended with it, and what they used.

    Attributes:
        weight: None for a model that answered in place of the one that was asked.
        tokens: None when no reply told it; so is cost, in US dollars.
    """

    model: str
    weight: float | None
    trials: int
    successes: int
    tokens: int | None
    cost: float | None


@dataclass(frozen=True, slots=True)
class Summary:
    """What a run found.

    Attributes:
        state: How it stands; `settled` is a run that was to go on until something was certain, and then was.
        stop_reason: The manifest's.
        embedded_by: None when no reply named a model.
        planned: Trials of the plan.
        attempted: Trials that ended.
        eligible: Trials whose answer was embedded.
        statuses: Trials by status; `parse_statuses` by what was read from them.
        errors: What went wrong, with how often, the most frequent first.
        measured: None for a run without batches.
        decisions: None for a run whose answers are no decisions.
        clusters: None for a run that does not cluster, or has no answers.
        rationales: Of as many labels as possible.
        examples: Texts of a run without clusters.
        artifacts: Files that the manifest lists, each with its number of records where it has one.
        remarks: What is missing or cut off.
    """

    run_id: str
    directory: str
    state: State
    stop_reason: str
    incomplete: bool
    notes: str | None
    started_at: str
    completed_at: str
    question: str
    protocol: str
    contract: str | None
    seed: int | str
    personas: tuple[str, ...]
    templates: tuple[str, ...]
    embedding_model: str
    embedded_by: str | None
    models: tuple[ModelFacts, ...]
    policy: Mapping[str, object]
    stop_mode: str
    stop_policy: Mapping[str, float]
    planned: int
    attempted: int
    eligible: int
    statuses: Mapping[str, int]
    parse_statuses: Mapping[str, int]
    errors: tuple[tuple[str, int], ...]
    prompt_tokens: int | None
    completion_tokens: int | None
    total_tokens: int | None
    cost: float | None
    measured: Measured | None
    decisions: Decisions | None
    clusters: Clusters | None
    rationales: tuple[Example, ...]
    examples: tuple[Example, ...]
    hashes: Mapping[str, str]
    artifacts: tuple[tuple[str, int | None], ...]
    remarks: tuple[str, ...]
