"""Which cluster each answer went to, and what the clusters became: the files of a run's folder `clusters`."""

from moot.protocols.arbiter.generated import (
    Assignment,
    Cluster,
    ClusterParams,
    ClusterState,
    ClusterTotals,
)

__all__ = [
    "Assignment",
    "Cluster",
    "ClusterParams",
    "ClusterState",
    "ClusterTotals",
]
