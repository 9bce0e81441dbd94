"""Which answers belong together: each goes to the nearest cluster, or opens one when none is near (leader clustering).

Source: Hartigan, 1975, the leader algorithm; Arbiter spec, "Phase C monitoring".
"""

from __future__ import annotations

import base64
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from moot.arbiter.vectors import BLOCK, Floats, Vector, cosines, unit
from moot.protocols.arbiter.generated import (
    Assignment,
    Cluster,
    Clustering,
    ClusterParams,
    ClusterState,
    ClusterTotals,
)
from moot.protocols.arbiter.record import SCHEMA_VERSION


class LeaderClusters:
    """The clusters of a run."""

    def __init__(self, settings: Clustering) -> None:
        """Begin without clusters."""
        self._settings = settings
        self._centroids: Floats = np.empty((0, 0))
        self._units: Floats = np.empty((0, 0))
        self._found: list[tuple[int, int]] = []
        self._counts: list[int] = []
        self.forced = 0

    @property
    def counts(self) -> tuple[int, ...]:
        """How many answers each cluster has, by cluster_id."""
        return tuple(self._counts)

    @property
    def is_full(self) -> bool:
        """No further cluster may be opened."""
        return len(self._counts) == self._settings.cluster_limit

    def add(
        self, trial_ids: Sequence[int], rows: NDArray[np.float32], batch_number: int
    ) -> tuple[Assignment, ...]:
        """Assign answers, in trial_id order.

        It goes to the cluster with the highest cosine, the lowest cluster_id among equals. Below tau it opens a
        cluster, or is forced into that one when as many are open as may be.

        Args:
            rows: Their embeddings, shape (answers, dimensions), as many dimensions as all before.
        """
        assigned: list[Assignment] = []
        for start in range(0, len(rows), BLOCK):
            block = rows[start : start + BLOCK]
            units = unit(block)
            # Centroids that stay where they are can be compared with many answers at once.
            fixed = len(self._counts) if self._settings.centroid_update_rule == "fixed_leader" else 0
            known = cosines(units, self._units[:fixed]) if fixed else np.empty((len(block), 0))
            for trial_id, vector, own, near in zip(
                trial_ids[start : start + BLOCK], block, units, known, strict=True
            ):
                best, similarity = self._nearest(own, near)
                assigned.append(self._assigned(trial_id, vector, own, batch_number, best, similarity))
        return tuple(assigned)

    def state(self, total_excluded: int) -> ClusterState:
        """Say what the clusters became.

        Args:
            total_excluded: Trials whose answer was not embedded.
        """
        settings = self._settings
        return ClusterState(
            schema_version=SCHEMA_VERSION,
            algorithm=settings.algorithm,
            params=ClusterParams(
                tau=settings.tau,
                centroid_update_rule=settings.centroid_update_rule,
                ordering_rule="trial_id_asc",
                cluster_limit=settings.cluster_limit,
            ),
            clusters=tuple(
                Cluster(
                    cluster_id=cluster_id,
                    exemplar_trial_id=exemplar,
                    member_count=self._counts[cluster_id],
                    discovered_at_batch=batch_number,
                    centroid_vector_b64=base64.b64encode(
                        self._centroids[cluster_id].astype("<f4").tobytes()
                    ).decode(),
                )
                for cluster_id, (exemplar, batch_number) in enumerate(self._found)
            ),
            totals=ClusterTotals(
                total_assigned=sum(self._counts),
                total_excluded=total_excluded,
                forced_assignments=self.forced,
            ),
        )

    def _nearest(self, own: Floats, known: Floats) -> tuple[int | None, float]:
        """Find the nearest cluster, given the cosines to the first ones, shape (clusters known,)."""
        best: int | None = None
        similarity = -2.0
        later = self._units[len(known) : len(self._counts)]
        for first, found in ((0, known), (len(known), cosines(own, later) if len(later) else known[:0])):
            if len(found) and found[at := int(found.argmax())] > similarity:
                best, similarity = first + at, float(found[at])
        return best, similarity

    def _assigned(
        self,
        trial_id: int,
        vector: Vector,
        own: Floats,
        batch_number: int,
        best: int | None,
        similarity: float,
    ) -> Assignment:
        is_far = similarity < self._settings.tau
        is_exemplar = best is None or (is_far and not self.is_full)
        if best is None or is_exemplar:
            best, similarity = self._open(trial_id, vector, own, batch_number), 1.0
        else:
            self._join(best, vector)
            self.forced += is_far
        return Assignment(
            trial_id=trial_id,
            cluster_id=best,
            similarity=similarity,
            is_exemplar=is_exemplar,
            forced=is_far and not is_exemplar,
            batch_number=batch_number,
        )

    def _open(self, trial_id: int, vector: Vector, own: Floats, batch_number: int) -> int:
        cluster_id = len(self._counts)
        if cluster_id == len(self._centroids):
            self._centroids = _grown(self._centroids, cluster_id, len(vector))
            self._units = _grown(self._units, cluster_id, len(vector))
        self._centroids[cluster_id], self._units[cluster_id] = vector, own
        self._found.append((trial_id, batch_number))
        self._counts.append(1)
        return cluster_id

    def _join(self, cluster_id: int, vector: Vector) -> None:
        self._counts[cluster_id] += 1
        if self._settings.centroid_update_rule == "incremental_mean":
            centroid = self._centroids[cluster_id]
            centroid += (vector - centroid) / self._counts[cluster_id]
            self._units[cluster_id] = unit(centroid)


def _grown(rows: Floats, used: int, dimensions: int) -> Floats:
    grown = np.empty((max(16, 2 * len(rows)), dimensions))
    if used:
        grown[:used] = rows[:used]
    return grown
