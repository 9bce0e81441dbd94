"""The models of Arbiter's files, by the name of their schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from moot.arbiter.schemas import FOLDER, names, schema
from moot.protocols.arbiter import generated

__all__ = ["FOLDER", "SCHEMAS"]

SCHEMAS: Final[Mapping[str, Any]] = {
    "convergence_trace": generated.ConvergenceRow | generated.ClusteredRow,
    **{name: getattr(generated, schema(name)["title"]) for name in names() if "title" in schema(name)},
}
"""The models by the name of their schema; a schema of a .jsonl file says what one line holds."""
