"""What a run says of itself: its manifest, its aggregates, where its embeddings come from."""

from moot.protocols.arbiter.generated import (
    Aggregates,
    ArrowGenerated,
    Artifact,
    Artifacts,
    EmbeddingCounts,
    Hashes,
    Instant,
    JsonlFallback,
    Manifest,
    NotGenerated,
    Provenance,
    RecordedStopPolicy,
    Timestamps,
)

__all__ = [
    "Aggregates",
    "ArrowGenerated",
    "Artifact",
    "Artifacts",
    "EmbeddingCounts",
    "Hashes",
    "Instant",
    "JsonlFallback",
    "Manifest",
    "NotGenerated",
    "Provenance",
    "RecordedStopPolicy",
    "Timestamps",
]
