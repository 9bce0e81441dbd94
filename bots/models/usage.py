"""Tokens of a reply, in whichever of the usual ways they are told; figures that cannot be are none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from moot.bots.models.answer import Usage


def usage_of(reply: Mapping[str, Any]) -> Usage | None:
    """Return what a reply says it used; None when it says nothing, or a figure that cannot be true."""
    told = reply.get("usage")
    if not isinstance(told, Mapping):
        return None
    asked, made = _part(told, "prompt_tokens_details"), _part(told, "completion_tokens_details")
    found = (
        _count(told.get("prompt_tokens")),
        # DeepSeek has a name of its own for it.
        _count(asked.get("cached_tokens", told.get("prompt_cache_hit_tokens")), 0),
        _count(asked.get("cache_write_tokens"), 0),
        _count(told.get("completion_tokens")),
        _count(made.get("reasoning_tokens"), 0),
    )
    if any(one is None for one in found):
        return None
    usage = Usage(*(one or 0 for one in found))
    total = told.get("total_tokens")
    if total == usage.input + usage.output + usage.reasoning:
        # Some count reasoning beside the output, not in it.
        usage = usage._replace(output=usage.output + usage.reasoning)
    if usage.cached_input + usage.cache_write > usage.input or usage.reasoning > usage.output:
        return None
    return usage


def _part(told: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    part = told.get(name)
    return part if isinstance(part, Mapping) else {}


def _count(value: object, missing: int | None = None) -> int | None:
    if value is None:
        return missing
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
