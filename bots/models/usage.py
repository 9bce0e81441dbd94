"""Tokens of a reply, in whichever of the usual ways they are told; figures that cannot be are none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from moot.protocols.calls.usage import Usage


def usage_of(reply: Mapping[str, Any]) -> Usage | None:
    """Return what a reply says it used; None when it says nothing, or a figure that cannot be true."""
    told = reply.get("usage")
    if not isinstance(told, Mapping):
        return None
    if "input_tokens" in told:
        return _usage(_anthropic(told))
    asked, made = _part(told, "prompt_tokens_details"), _part(told, "completion_tokens_details")
    output, reasoning = told.get("completion_tokens"), made.get("reasoning_tokens")
    figures = {
        "input": told.get("prompt_tokens"),
        # DeepSeek has a name of its own for it.
        "cached_input": asked.get("cached_tokens", told.get("prompt_cache_hit_tokens")),
        "cache_write": asked.get("cache_write_tokens"),
        "output": output,
        "reasoning": reasoning,
    }
    usage = _usage(figures)
    # Some count reasoning beside the output, not in it.
    beside = _usage({**figures, "output": _sum(output, reasoning)})
    if beside is not None and beside.reasoning and told.get("total_tokens") == beside.input + beside.output:
        return beside
    return usage


def _anthropic(told: Mapping[str, Any]) -> dict[str, Any]:
    """Return the figures of the Messages API, which counts what is cached beside the input, not in it."""
    cached, written = (
        told.get(name) or 0 for name in ("cache_read_input_tokens", "cache_creation_input_tokens")
    )
    return {
        "input": _sum(told["input_tokens"], cached, written),
        "cached_input": cached,
        "cache_write": written,
        "output": told.get("output_tokens"),
        "reasoning": _part(told, "output_tokens_details").get("thinking_tokens"),
    }


def _usage(figures: Mapping[str, Any]) -> Usage | None:
    try:
        return Usage.model_validate({name: one for name, one in figures.items() if one is not None})
    except ValidationError:
        return None


def _sum(*parts: object) -> int | None:
    whole = [one for one in parts if type(one) is int]
    return sum(whole) if len(whole) == len(parts) else None


def _part(told: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    part = told.get(name)
    return part if isinstance(part, Mapping) else {}
