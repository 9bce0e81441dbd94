"""How the answer of a trial was embedded, as debug/embeddings.jsonl keeps it while a run goes on."""

from moot.protocols.arbiter.generated import (
    EmbeddingLine,
    EmbeddingStatus,
    SkipReason,
)

__all__ = [
    "EmbeddingLine",
    "EmbeddingStatus",
    "SkipReason",
]
