"""A decision contract: the form in which a model is to decide, and which part of it is embedded.

Source: Arbiter spec, "Decision contracts".
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from moot.protocols.arbiter.resolved import EmbedSource

Judge = Callable[[object], str | None]
"""Says what is wrong with a JSON value by the contract's schema, in one line, or None when it holds."""


@dataclass(frozen=True, slots=True)
class Contract:
    """A decision contract as it stands in a resolved configuration, with a judge of its schema.

    Args:
        schema: JSON Schema, draft 2020-12.
        judge: Holds a value against `schema`; the composition root brings a validator.
        rationale_max_chars: A longer rationale is cut before it is judged, in UTF-16 code units; None cuts nothing.
    """

    id: str
    schema: Mapping[str, object]
    judge: Judge
    embed_text_source: EmbedSource
    rationale_max_chars: int | None = None

    @property
    def clause(self) -> str:
        """What a system prompt says about the form, in the same words for equal schemas."""
        schema = json.dumps(self.schema, indent=2, sort_keys=True, ensure_ascii=False)
        limit = self.rationale_max_chars
        brief = f"\nKeep the rationale within {limit} characters." if limit is not None else ""
        return (
            "Answer with one JSON object and nothing else: no prose around it, no fences. "
            f"It must hold against this JSON Schema:\n{schema}{brief}"
        )
