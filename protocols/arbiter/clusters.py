"""Which cluster each answer went to, and what the clusters became: the files of a run's folder `clusters`.

Source: Arbiter spec, "Phase C monitoring".
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from moot.protocols.arbiter.records import Count, Positive, Record, SchemaVersion, Share


class Assignment(Record):
    """A line of clusters/online.assignments.jsonl.

    Args:
        similarity: Cosine to the cluster's centroid when it was assigned; 1 for the answer that opened it.
        is_exemplar: It opened the cluster.
        forced: It was too far from every cluster, and no further one could be opened.
    """

    trial_id: Count
    cluster_id: Count
    similarity: Annotated[float, Field(ge=-1, le=1)]
    is_exemplar: bool
    forced: bool
    batch_number: Count


class Cluster(Record):
    """A group of answers near each other.

    Args:
        cluster_id: From 0, in the order of discovery.
        centroid_vector_b64: Little-endian float32, shape (dimensions,), in base64.
    """

    cluster_id: Count
    exemplar_trial_id: Count
    member_count: Positive
    discovered_at_batch: Count
    centroid_vector_b64: str


class ClusterParams(Record):
    """How answers are grouped."""

    tau: Share
    centroid_update_rule: Literal["fixed_leader", "incremental_mean"]
    ordering_rule: Literal["trial_id_asc"]
    cluster_limit: Positive


class ClusterTotals(Record):
    """How many answers were grouped; excluded are trials whose answer was not embedded."""

    total_assigned: Count
    total_excluded: Count
    forced_assignments: Count


class ClusterState(Record):
    """clusters/online.state.json."""

    schema_version: SchemaVersion
    algorithm: Literal["online_leader"]
    params: ClusterParams
    clusters: tuple[Cluster, ...]
    totals: ClusterTotals
