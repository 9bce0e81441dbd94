"""How the answer of a trial was embedded, as debug/embeddings.jsonl keeps it while a run goes on."""

from __future__ import annotations

from typing import Final, Literal, Self

from pydantic import ConfigDict, model_validator

from moot.protocols.arbiter.records import Count, Name, Positive, Record, Sha256

EmbeddingStatus = Literal["success", "failed", "skipped"]
SkipReason = Literal["empty_embed_text", "trial_not_success"]

_TELLS: Final = {"success": "dimensions", "failed": "error", "skipped": "skip_reason"}
"""What is told besides, by status."""


class EmbeddingLine(Record):
    """A line of debug/embeddings.jsonl.

    Args:
        vector_b64: Little-endian float32, shape (dimensions,), in base64; None where there is none.
        embed_text_sha256: Of what was to be embedded; absent when that is nothing.
        embed_text_original_chars: Its length before the cut, in UTF-16 code units.
    """

    model_config = ConfigDict(
        json_schema_extra={
            "allOf": [
                {
                    "if": {"properties": {"embedding_status": {"const": status}}},
                    "then": {
                        "required": [field],
                        "properties": {
                            "vector_b64": {"type": "string" if status == "success" else "null"},
                            **{other: False for other in _TELLS.values() if other != field},
                        },
                    },
                }
                for status, field in _TELLS.items()
            ]
        }
    )

    trial_id: Count
    embedding_status: EmbeddingStatus
    vector_b64: str | None
    dtype: Literal["float32"]
    encoding: Literal["float32le_base64"]
    dimensions: Positive | None = None
    error: Name | None = None
    skip_reason: SkipReason | None = None
    embed_text_sha256: Sha256 | None = None
    embed_text_truncated: bool
    embed_text_original_chars: Count
    embed_text_final_chars: Count
    truncation_reason: Literal["max_chars_exceeded"] | None

    @model_validator(mode="after")
    def _status_is_told(self) -> Self:
        told = _TELLS[self.embedding_status]
        for field in _TELLS.values():
            if (getattr(self, field) is None) is (field == told):
                raise ValueError(
                    f"{told}, and no other of {', '.join(_TELLS.values())}, goes with its status"
                )
        if (self.vector_b64 is None) is (told == "dimensions"):
            raise ValueError("vector_b64 goes with success, null with any other embedding_status")
        return self
