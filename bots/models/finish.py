"""Finish reasons: a closed list of good endings, and what every other one means (R-G11)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from moot.bots.models.answer import Fault, Outcome
from moot.bots.models.errors import one_line

GOOD: Final = frozenset({"", "stop", "end_turn", "stop_sequence", "eos", "complete"})
"""Endings of a whole answer, in lower case; "" where the server names none."""
CALLS: Final = frozenset({"tool_calls", "tool_use"})
"""Endings of an answer that calls tools; good where tools were offered."""


class Ending(NamedTuple):
    """Why a reply is no answer.

    Attributes:
        outcome: How the call ended.
        why: One line for people.
        fault: What was wrong at the provider.
    """

    outcome: Outcome
    why: str
    fault: Fault = ""


_CUT_OFF: Final = "the answer was cut off at max_tokens"
_CONTEXT: Final = "the answer was cut off where the model's context ends"
_FILTERED: Final = "the provider's filter took the answer away"

_BAD: Final[Mapping[str, Ending]] = {
    **dict.fromkeys(
        (
            "length",
            "max_tokens",
            "max_output_tokens",
            "max_completion_tokens",
            "token_limit",
            "too_long",
            "incomplete",
        ),
        Ending("truncated", _CUT_OFF),
    ),
    **dict.fromkeys(
        (
            "model_length",
            "model_context_window_exceeded",
            "context_length",
            "context_length_exceeded",
            "max_context",
        ),
        Ending("truncated", _CONTEXT),
    ),
    **dict.fromkeys(
        (
            "content_filter",
            "content_filtered",
            "safety",
            "recitation",
            "language",
            "blocklist",
            "prohibited_content",
            "spii",
            "image_safety",
            "sensitive",
            "guardrail_intervened",
            "error_toxic",
        ),
        Ending("filtered", _FILTERED),
    ),
    "refusal": Ending("refused", ""),
    "pause_turn": Ending("provider_error", "the provider paused in the middle of the answer", "server"),
    **dict.fromkeys(
        (
            "error",
            "abort",
            "aborted",
            "cancelled",
            "canceled",
            "timeout",
            "time_limit",
            "insufficient_system_resource",
            "network_error",
        ),
        Ending("provider_error", "the provider broke off", "server"),
    ),
}
"""Endings that are no answer, in lower case."""


def bad_ending(finish: object, *, has_tools: bool) -> Ending | None:
    """Return why a reply with this finish reason is no answer; None for a good ending.

    Args:
        finish: The finish reason as the server gave it; None if it gave none.
        has_tools: Whether the request offered tools.
    """
    if finish is not None and not isinstance(finish, str):
        return Ending(
            "provider_error", f"the server gave no finish reason but {one_line(repr(finish))}", "server"
        )
    word = (finish or "").strip().lower()
    if word in GOOD or (has_tools and word in CALLS):
        return None
    if word in CALLS:
        return Ending("unparsable", f"the answer ended in {word}, but no tool was offered")
    if (known := _BAD.get(word)) is not None:
        named = (
            f" (finish reason {one_line(finish or '')})"
            if word not in ("length", "content_filter", "error")
            else ""
        )
        return known._replace(why=known.why and f"{known.why}{named}")
    why = f"the server ended the answer with the finish reason {one_line(repr(finish))}, which is no good ending"
    return Ending("provider_error", why, "server")
