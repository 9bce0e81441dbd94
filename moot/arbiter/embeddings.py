"""What a run knows of its embeddings: each as a line, and how they came about."""

from __future__ import annotations

import base64
from math import isfinite
from typing import Any

import numpy as np

from moot.arbiter.events import EmbeddingFacts
from moot.arbiter.vectors import Vector
from moot.protocols.arbiter.embed_text import EmbedText
from moot.protocols.arbiter.generated import EmbeddingLine, SkipReason


class Embeddings:
    """What a run knows of its embeddings."""

    def __init__(self) -> None:
        """Begin a run."""
        self._dimensions: int | None = None
        self._models: set[str] = set()
        self._generations: dict[str, None] = {}
        self._counts = {"success": 0, "failed": 0, "skipped": 0}

    def note(self, model: str | None, generation_id: str | None) -> None:
        """Keep what a reply said of itself."""
        if model is not None:
            self._models.add(model)
        if generation_id is not None:
            self._generations[generation_id] = None

    def judged(self, trial_id: int, text: EmbedText, vector: Vector) -> tuple[EmbeddingLine, Vector | None]:
        """Take a vector, unless it is none, or not as long as those before."""
        if vector.ndim != 1 or not len(vector):
            return self.failed(trial_id, text, "the vector is empty"), None
        if self._dimensions is not None and len(vector) != self._dimensions:
            error = f"the vector has {len(vector)} dimensions, those before it {self._dimensions}"
            return self.failed(trial_id, text, error), None
        # A finite square is the quick proof that all numbers are; a large one proves nothing.
        if not (isfinite(vector @ vector) or np.isfinite(vector).all()):
            return self.failed(trial_id, text, "the vector holds what is no finite number"), None
        self._dimensions = len(vector)
        self._counts["success"] += 1
        line = EmbeddingLine(
            trial_id=trial_id,
            embedding_status="success",
            vector_b64=base64.b64encode(vector.astype("<f4", copy=False).tobytes()).decode(),
            dtype="float32",
            encoding="float32le_base64",
            dimensions=len(vector),
            **_about(text),
        )
        return line, vector

    def failed(self, trial_id: int, text: EmbedText, error: str) -> EmbeddingLine:
        """Say that an answer could not be embedded."""
        self._counts["failed"] += 1
        return EmbeddingLine(
            trial_id=trial_id,
            embedding_status="failed",
            vector_b64=None,
            dtype="float32",
            encoding="float32le_base64",
            error=error,
            **_about(text),
        )

    def skipped(self, trial_id: int, text: EmbedText, reason: SkipReason) -> EmbeddingLine:
        """Say that there was nothing to embed."""
        self._counts["skipped"] += 1
        return EmbeddingLine(
            trial_id=trial_id,
            embedding_status="skipped",
            vector_b64=None,
            dtype="float32",
            encoding="float32le_base64",
            skip_reason=reason,
            **_about(text),
        )

    def facts(self) -> EmbeddingFacts:
        """Return what is known at the end."""
        return EmbeddingFacts(
            dimensions=self._dimensions,
            actual_model=next(iter(self._models)) if len(self._models) == 1 else None,
            generation_ids=tuple(self._generations),
            successful=self._counts["success"],
            failed=self._counts["failed"],
            skipped=self._counts["skipped"],
        )


def _about(text: EmbedText) -> dict[str, Any]:
    final = text.final_chars
    is_cut = final < text.original_chars
    found: dict[str, Any] = {
        "embed_text_truncated": is_cut,
        "embed_text_original_chars": text.original_chars,
        "embed_text_final_chars": final,
        "truncation_reason": "max_chars_exceeded" if is_cut else None,
    }
    return {"embed_text_sha256": text.sha256, **found} if text.text else found
