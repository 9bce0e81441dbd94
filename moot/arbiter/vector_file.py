"""The embeddings of a run: kept while it goes on, written as an Arrow file at its end, and where they came from."""

from __future__ import annotations

from array import array
from pathlib import Path
from typing import Any, Literal

from moot.arbiter.events import EmbeddingFacts
from moot.arbiter.files import write_whole
from moot.protocols.arbiter.embed_text import NORMALIZATION
from moot.protocols.arbiter.generated import (
    ArrowGenerated,
    EmbeddingCounts,
    JsonlFallback,
    NotGenerated,
    ResolvedMeasurement,
)
from moot.protocols.arbiter.record import SCHEMA_VERSION


class KeptVectors:
    """The vectors of a run in trial_id order; each takes its numbers and four bytes."""

    def __init__(self) -> None:
        """Begin without any."""
        self._ids = array("i")
        self._numbers = bytearray()
        self._batch: dict[int, bytes] = {}

    def __len__(self) -> int:
        """Count them."""
        return len(self._ids) + len(self._batch)

    def add(self, trial_id: int, vector: bytes) -> None:
        """Keep a vector of the batch that goes on: little-endian float32."""
        self._batch[trial_id] = vector

    def end_batch(self) -> None:
        """Put those of the batch in order; the trials of all later ones have higher numbers."""
        for trial_id, vector in sorted(self._batch.items()):
            self._ids.append(trial_id)
            self._numbers += vector
        self._batch.clear()

    def write(self, path: Path, dimensions: int) -> None:
        """Write them: one batch of trial_id (int32) and vector (float32, of fixed length).

        Raises:
            OSError: The file cannot be written.
            pyarrow.ArrowException: Arrow cannot hold them.
        """
        import pyarrow as pa

        self.end_batch()
        number = pa.field("item", pa.float32(), nullable=False)
        schema = pa.schema(
            [pa.field("trial_id", pa.int32()), pa.field("vector", pa.list_(number, dimensions))]
        )
        ids = pa.Array.from_buffers(pa.int32(), len(self._ids), [None, pa.py_buffer(self._ids)])
        numbers = pa.Array.from_buffers(
            pa.float32(), len(self._ids) * dimensions, [None, pa.py_buffer(self._numbers)]
        )
        vectors = pa.FixedSizeListArray.from_arrays(numbers, type=schema.field("vector").type)
        rows = pa.record_batch([ids, vectors], schema=schema)

        def write(part: Path) -> None:
            with pa.OSFile(str(part), "wb") as sink, pa.ipc.new_file(sink, schema) as file:
                file.write_batch(rows)

        write_whole(path, write)


def not_generated(
    measurement: ResolvedMeasurement,
    reason: Literal["resolve_only", "no_successful_embeddings"],
    note: str,
    facts: EmbeddingFacts | None = None,
) -> NotGenerated:
    """Say that a run has no embeddings."""
    common = _common(measurement, facts)
    return NotGenerated(status="not_generated", reason=reason, primary_format="none", note=note, **common)


def arrow_generated(
    measurement: ResolvedMeasurement, facts: EmbeddingFacts, dimensions: int, *, has_jsonl: bool
) -> ArrowGenerated:
    """Say that the embeddings stand in the Arrow file.

    Args:
        has_jsonl: The working file was kept beside it.
    """
    counts = EmbeddingCounts(
        total_trials=facts.successful + facts.failed + facts.skipped,
        successful_embeddings=facts.successful,
        failed_embeddings=facts.failed,
        skipped_embeddings=facts.skipped,
    )
    return ArrowGenerated(
        status="arrow_generated",
        primary_format="arrow",
        dimensions=dimensions,
        counts=counts,
        debug_jsonl_present=has_jsonl,
        **_common(measurement, facts),
    )


def jsonl_fallback(measurement: ResolvedMeasurement, facts: EmbeddingFacts, error: str) -> JsonlFallback:
    """Say that the embeddings stand in the working file, as Arrow did not take them."""
    return JsonlFallback(
        status="jsonl_fallback",
        primary_format="jsonl",
        arrow_error=error,
        jsonl_encoding="float32le_base64",
        **_common(measurement, facts),
    )


def _common(measurement: ResolvedMeasurement, facts: EmbeddingFacts | None) -> dict[str, Any]:
    """Return what every provenance says, wherever the embeddings are."""
    return {
        "schema_version": SCHEMA_VERSION,
        "intended_primary_format": "arrow_ipc_file",
        "dtype": "float32",
        "requested_embedding_model": measurement.embedding_model,
        "actual_embedding_model": facts.actual_model if facts else None,
        "generation_ids": (facts.generation_ids or None) if facts else None,
        "embed_text_strategy": measurement.embed_text_strategy,
        "normalization": NORMALIZATION,
    }
