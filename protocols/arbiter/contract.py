"""A decision contract in use: what a system prompt says of it, and who judges what a model wrote by it.

Source: Arbiter spec, "Decision contracts".
"""

from __future__ import annotations

import json
from collections.abc import Callable

from moot.protocols.arbiter.generated import ResolvedContract

Judge = Callable[[object], str | None]
"""Says what is wrong with a JSON value by a contract's schema, in one line, or None when it holds.

The composition root makes it of a validator of JSON Schema, draft 2020-12.
"""


def clause(contract: ResolvedContract) -> str:
    """Say in which form to answer, in the same words for equal schemas."""
    schema = json.dumps(contract.schema_, indent=2, sort_keys=True, ensure_ascii=False)
    most = contract.rationale_max_chars
    brief = f"\nKeep the rationale within {most} characters." if most is not None else ""
    return (
        "Answer with one JSON object and nothing else: no prose around it, no fences. "
        f"It must hold against this JSON Schema:\n{schema}{brief}"
    )
