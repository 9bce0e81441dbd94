"""What an endpoint says of its models: which there are, and how much each can read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

_LENGTHS: Final = (
    "context_length", "max_model_len", "context_window", "max_context_length", "loaded_context_length", "n_ctx",
    "n_ctx_train", "max_input_tokens",
)  # fmt: skip
"""Tokens of context, in the words of several servers."""


def models_listed(body: bytes) -> dict[str, int | None] | None:
    """Return the models of a list by name, with their length of context in tokens, if told; None: it is no list."""
    try:
        told = json.loads(body)
    except (ValueError, RecursionError):
        return None
    listed = told.get("data") if isinstance(told, dict) else None
    if not isinstance(listed, list):
        return None
    found = {}
    for one in listed:
        if isinstance(one, dict) and isinstance(name := one.get("id"), str):
            meta = one.get("meta")
            found[name] = _length(one) or (_length(meta) if isinstance(meta, dict) else None)
    return found


def _length(told: Mapping[str, Any]) -> int | None:
    for name in _LENGTHS:
        length = told.get(name)
        if isinstance(length, int) and not isinstance(length, bool) and length > 0:
            return length
    return None
