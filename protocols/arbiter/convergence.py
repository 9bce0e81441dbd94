"""What is measured after each batch, and what of it stands for a run."""

from __future__ import annotations

from moot.protocols.arbiter.generated import Aggregates, ClusteredRow, ConvergenceRow
from moot.protocols.arbiter.record import SCHEMA_VERSION


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
