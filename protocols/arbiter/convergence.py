"""What is measured after each batch, and what of it stands for a run."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from moot.protocols.arbiter.records import SCHEMA_VERSION, Count, Positive, Record, Share
from moot.protocols.arbiter.run import Aggregates, Instant
from moot.protocols.arbiter.stopping import Stop

NotNegative = Annotated[float, Field(ge=0)]


class ConvergenceRow(Record):
    """A line of convergence_trace.jsonl; counts are of the run so far.

    Args:
        batch_number: From 0.
        k_eligible: Trials whose answer was embedded.
        novelty_rate: Share of the batch's eligible trials nearer to nothing before them than the threshold.
        mean_max_sim_to_prior: Mean cosine of each of them to the nearest before it, negatives as 0.
        recorded_at: When the batch was measured, UTC.
    """

    batch_number: Count
    k_attempted: Count
    k_eligible: Count
    has_eligible_in_batch: bool
    novelty_rate: Share | None
    mean_max_sim_to_prior: Share | None
    recorded_at: Instant
    stop: Stop


class ClusteredRow(ConvergenceRow):
    """A line of convergence_trace.jsonl of a run that clusters its answers.

    Args:
        cluster_distribution: Answers in each cluster so far, by cluster_id.
        js_divergence: How far the batch moved them, in bits; None while no answer was assigned before it.
        entropy: Of the distribution, in nats.
        effective_cluster_count: exp(entropy); 0 without answers.
        cluster_limit_hit: No further cluster may be opened.
    """

    cluster_count: Count
    new_clusters_this_batch: Count
    largest_cluster_share: Share
    cluster_distribution: tuple[Positive, ...]
    js_divergence: Share | None
    entropy: NotNegative
    effective_cluster_count: NotNegative
    singleton_count: Count
    cluster_limit_hit: bool
    forced_assignments_this_batch: Count
    forced_assignments_cumulative: Count


def aggregates(last: ConvergenceRow | None, *, incomplete: bool) -> Aggregates:
    """Take what stands for a run from its last row; without one, nothing was measured."""
    clustered = last if isinstance(last, ClusteredRow) else None
    return Aggregates(
        schema_version=SCHEMA_VERSION,
        k_attempted=last.k_attempted if last else 0,
        k_eligible=last.k_eligible if last else 0,
        novelty_rate=last.novelty_rate if last else None,
        mean_max_sim_to_prior=last.mean_max_sim_to_prior if last else None,
        cluster_count=clustered.cluster_count if clustered else None,
        entropy=clustered.entropy if clustered else None,
        incomplete=incomplete,
    )
