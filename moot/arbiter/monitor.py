"""All that is measured after a batch: how new its answers are, how they cluster, whether the run should stop.

Source: Arbiter spec, "Determinism invariants", "Baseline convergence-aware stopping", "Phase C monitoring".
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from moot.arbiter.clustering import LeaderClusters
from moot.arbiter.novelty import Nearness
from moot.arbiter.vectors import DECIMALS, Vector, stacked
from moot.protocols.arbiter.distribution import effective_clusters, entropy, js_divergence
from moot.protocols.arbiter.generated import (
    Assignment,
    ClusteredRow,
    ClusterState,
    ConvergenceRow,
    ResolvedExecution,
    ResolvedMeasurement,
)
from moot.protocols.arbiter.stopping import Stopping


class Measured(NamedTuple):
    """What a batch brought: its row, and where its answers went, by trial_id; nowhere without clustering."""

    row: ConvergenceRow
    assignments: tuple[Assignment, ...]


class Monitor:
    """Measures the batches of a run, one after the other."""

    def __init__(self, measurement: ResolvedMeasurement, execution: ResolvedExecution) -> None:
        """Begin a run; it clusters its answers when that is enabled and its mode is not `disabled`."""
        clustering = measurement.clustering
        is_clustered = clustering.enabled and clustering.stop_mode != "disabled"
        self._threshold = measurement.novelty_threshold
        self._stopping = Stopping(execution)
        self._nearness = Nearness()
        self._clusters = LeaderClusters(clustering) if is_clustered else None
        self._dimensions: int | None = None
        self._batches = 0
        self._attempted = 0
        self._eligible = 0

    def measure(self, batch: Mapping[int, Vector | None], recorded_at: str) -> Measured:
        """Measure a batch that ended; in which order its trials ended does not matter.

        Args:
            batch: The embedding of each trial that ran, shape (dimensions,), by trial_id; None where there is none.
            recorded_at: Now, ISO 8601, UTC and ending in Z.

        Raises:
            ValueError: Embeddings differ in length, or hold what is no finite number; nothing was measured.
        """
        eligible = {trial_id: vector for trial_id, vector in sorted(batch.items()) if vector is not None}
        rows = stacked(list(eligible.values()), self._dimensions) if eligible else None
        number = self._batches
        self._batches += 1
        self._attempted += len(batch)
        self._eligible += len(eligible)
        novelty_rate = mean = None
        if rows is not None:
            self._dimensions = rows.shape[1]
            nearest = self._nearness.add(rows)
            novelty_rate = int((nearest < self._threshold).sum()) / len(nearest)
            mean = round(math.fsum(nearest) / len(nearest), DECIMALS)
        row = ConvergenceRow(
            batch_number=number,
            k_attempted=self._attempted,
            k_eligible=self._eligible,
            has_eligible_in_batch=rows is not None,
            novelty_rate=novelty_rate,
            mean_max_sim_to_prior=mean,
            recorded_at=recorded_at,
            stop=self._stopping.judge(novelty_rate, mean, self._eligible),
        )
        if self._clusters is None:
            return Measured(row, ())
        return _clustered(self._clusters, row, tuple(eligible), rows)

    def cluster_state(self) -> ClusterState | None:
        """Say what the clusters became; None for a run that does not cluster."""
        return self._clusters.state(self._attempted - self._eligible) if self._clusters else None


def _clustered(
    clusters: LeaderClusters,
    row: ConvergenceRow,
    trial_ids: tuple[int, ...],
    rows: NDArray[np.float32] | None,
) -> Measured:
    """Assign the answers of a batch and add what that says to its row."""
    before, forced = clusters.counts, clusters.forced
    assignments = () if rows is None else clusters.add(trial_ids, rows, row.batch_number)
    counts = clusters.counts
    return Measured(
        ClusteredRow(
            **dict(row),
            cluster_count=len(counts),
            new_clusters_this_batch=len(counts) - len(before),
            largest_cluster_share=max(counts) / sum(counts) if counts else 0.0,
            cluster_distribution=counts,
            js_divergence=js_divergence(before, counts),
            entropy=entropy(counts),
            effective_cluster_count=effective_clusters(counts),
            singleton_count=counts.count(1),
            cluster_limit_hit=clusters.is_full,
            forced_assignments_this_batch=clusters.forced - forced,
            forced_assignments_cumulative=clusters.forced,
        ),
        assignments,
    )
