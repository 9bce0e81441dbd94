"""Tokens of a reply, in whichever of the usual ways they are reported (R-G10).

The figures of the API that was spoken come first; where aliases disagree the dearer counts; tokens that appear only in
the total are output. A reply whose figures cannot be true reports none, so that its reserved worst case stays booked.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from pydantic import ValidationError

from moot.protocols.calls.usage import Usage
from moot.protocols.kernel.figures import SECOND_AUDIT

INPUT: Final = ("prompt_tokens", "input_tokens", "promptTokenCount", "inputTokens", "prompt_eval_count")
OUTPUT: Final = ("completion_tokens", "output_tokens", "candidatesTokenCount", "outputTokens", "eval_count")
TOTAL: Final = ("total_tokens", "totalTokenCount", "totalTokens")
INPUT_PARTS: Final = ("prompt_tokens_details", "input_tokens_details")
OUTPUT_PARTS: Final = ("completion_tokens_details", "output_tokens_details")
CACHED: Final = ("prompt_cache_hit_tokens", "cachedContentTokenCount", "cached_tokens")
"""Names of the tokens read from a cache that stand beside the totals; they are among the input."""
REASONING: Final = ("reasoning_tokens", "thinking_tokens", "thoughtsTokenCount")
BESIDE: Final = ("cache_read_input_tokens", "cache_creation_input_tokens")
"""Tokens that the Messages API counts in addition to its `input_tokens`."""


class _Untrue(ValueError):
    """A figure is no number of tokens."""


def usage_of(reply: Mapping[str, Any], *, is_messages_api: bool = False) -> Usage | None:
    """Return what a reply reports as used.

    Args:
        reply: The reply as JSON.
        is_messages_api: Whether Anthropic's API was spoken, which counts cached tokens beside the input.

    Returns:
        The usage; None if the reply reports none, or a figure that cannot be true.
    """
    try:
        told = _reported(reply)
        return None if told is None else _usage(told, is_messages_api=is_messages_api)
    except (_Untrue, ValidationError):
        return None


def readings(reply: Mapping[str, Any], version: int) -> list[Usage]:
    """Return the usages with which a call may have been settled, since a log does not name the API that was spoken.

    Args:
        reply: The reply as JSON.
        version: Rules version of the log; usage was read differently before version 4 (R-G10, R-G17).
    """
    found: Iterable[Usage | None]
    if version < SECOND_AUDIT:
        found = (_earlier(reply), _earlier(reply, output=0))
    else:
        found = (usage_of(reply), usage_of(reply, is_messages_api=True), embedding_usage_of(reply))
    return [one for one in found if one is not None]


def _earlier(reply: Mapping[str, Any], output: int | None = None) -> Usage | None:
    """Return what a reply used as it was read before rules version 4.

    Args:
        reply: The reply as JSON.
        output: The output where the reply names none, as an embedding does; None: then there is no usage.
    """
    told = reply.get("usage")
    if not isinstance(told, Mapping):
        return None
    if output is not None:
        told = {"completion_tokens": output, **told}
    asked = [part for part in (told.get(INPUT_PARTS[0]),) if isinstance(part, Mapping)]
    made = [part for part in (told.get(OUTPUT_PARTS[0]),) if isinstance(part, Mapping)]
    if "input_tokens" in told:
        made = [part for part in (told.get(OUTPUT_PARTS[1]),) if isinstance(part, Mapping)]
        cached, written = (told.get(name) or 0 for name in BESIDE)
        figures = {
            "input": _plain_sum(told["input_tokens"], cached, written),
            "cached_input": cached,
            "cache_write": written,
            "output": told.get("output_tokens"),
            "reasoning": made[0].get("thinking_tokens") if made else None,
        }
        return _valid(figures)
    detail = asked[0] if asked else {}
    figures = {
        "input": told.get("prompt_tokens"),
        "cached_input": detail.get("cached_tokens", told.get("prompt_cache_hit_tokens")),
        "cache_write": detail.get("cache_write_tokens"),
        "output": told.get("completion_tokens"),
        "reasoning": made[0].get("reasoning_tokens") if made else None,
    }
    beside = _valid({**figures, "output": _plain_sum(figures["output"], figures["reasoning"])})
    if beside is not None and beside.reasoning and told.get("total_tokens") == beside.input + beside.output:
        return beside
    return _valid(figures)


def _valid(figures: Mapping[str, Any]) -> Usage | None:
    try:
        return Usage.model_validate({name: one for name, one in figures.items() if one is not None})
    except ValidationError:
        return None


def _plain_sum(*parts: object) -> int | None:
    whole = [one for one in parts if type(one) is int]
    return sum(whole) if len(whole) == len(parts) else None


def embedding_usage_of(reply: Mapping[str, Any]) -> Usage | None:
    """Return what a reply that embeds a text reports as used: all of it is input; None as in `usage_of`."""
    try:
        told = _reported(reply)
        figures = [] if told is None else _all(told, (*INPUT, *TOTAL))
        return Usage(input=max(figures), output=0) if any(figures) else None
    except (_Untrue, ValidationError):
        return None


def is_plausible(usage: Usage, *, has_output: bool) -> bool:
    """Return whether a usage can be that of a reply: no call has an empty prompt, and what was written has tokens."""
    return usage.input > 0 and (usage.output > 0 or not has_output)


def _reported(reply: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the part of a reply that reports usage, wherever the server puts it."""
    choices = reply.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], Mapping) else {}
    groq = reply.get("x_groq")
    places = (
        reply.get("usage"),
        choice.get("usage"),
        groq.get("usage") if isinstance(groq, Mapping) else None,
        reply.get("usageMetadata"),
    )
    known = [one for one in places if isinstance(one, Mapping)]
    return next((one for one in known if _all(one, (*INPUT, *OUTPUT, *TOTAL))), known[0] if known else None)


def _usage(told: Mapping[str, Any], *, is_messages_api: bool) -> Usage:
    beside = [_number(told, name) or 0 for name in BESIDE]
    # Without a figure under OpenAI's name, the names of the Messages API have the meaning that they have there.
    is_beside = is_messages_api or (any(beside) and not _number(told, "prompt_tokens"))
    cached_here = _all(told, CACHED) + [
        one for part in _parts(told, INPUT_PARTS) if (one := _number(part, "cached_tokens")) is not None
    ]
    written = max(
        [beside[1], *(_number(part, "cache_write_tokens") or 0 for part in _parts(told, INPUT_PARTS))]
    )
    inputs = _all(told, INPUT)
    if is_beside and (own := _number(told, "input_tokens")) is not None:
        inputs = [*inputs, own + sum(beside)]
        cached = beside[0]
    else:
        # A cached token is the cheaper one.
        cached = min([*cached_here, *([beside[0]] if "cache_read_input_tokens" in told else [])], default=0)
    outputs = _all(told, OUTPUT)
    if not inputs or not outputs:
        raise _Untrue
    used, made = max(inputs), max(outputs)
    reasoning = max(
        [
            *_all(told, REASONING),
            *(one for part in _parts(told, OUTPUT_PARTS) for one in _all(part, REASONING)),
        ],
        default=0,
    )
    totals = _all(told, TOTAL)
    # Under Gemini's names reasoning stands beside the output.
    made += _number(told, "thoughtsTokenCount") or 0
    made = max([made, *(total - used for total in totals)])
    return Usage(input=used, cached_input=cached, cache_write=written, output=made, reasoning=reasoning)


def _parts(told: Mapping[str, Any], names: Iterable[str]) -> list[Mapping[str, Any]]:
    return [part for name in names if isinstance(part := told.get(name), Mapping)]


def _all(told: Mapping[str, Any], names: Iterable[str]) -> list[int]:
    """Return the figures that are given under any of the names."""
    return [figure for name in names if (figure := _number(told, name)) is not None]


def _number(told: Mapping[str, Any], name: str) -> int | None:
    """Return a figure, None if it is not given.

    Raises:
        _Untrue: It is no number of tokens.
    """
    figure = told.get(name)
    if figure is None:
        return None
    if isinstance(figure, float) and figure.is_integer():
        figure = int(figure)
    if type(figure) is not int or figure < 0:
        raise _Untrue(name)
    return figure
