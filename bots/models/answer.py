"""How a call ended: what was answered, or why nothing was, and what it used."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple

from moot.protocols.calls.usage import Usage

Outcome = Literal[
    "answered", "refused", "truncated", "filtered", "unparsable", "provider_error", "timed_out", "abandoned", "unknown"
]  # fmt: skip
"""How a call ended (K30); `unknown`: it was sent, and nobody knows whether it was answered and charged."""

Fault = Literal[
    "", "no_server", "tls", "key", "no_model", "credit", "rate", "server", "request", "redirect", "too_large", "garbage"
]  # fmt: skip
"""What was wrong with the provider or with what it was asked; "" when nothing was."""


_UNCHARGED: Final = frozenset({"key", "no_model", "credit", "rate", "request", "redirect"})


class ToolCall(NamedTuple):
    """A tool that the model wants called.

    Attributes:
        id: What the tool's result refers to.
        name: The tool.
        arguments: A JSON object.
    """

    id: str
    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What came of a call.

    Attributes:
        outcome: How it ended; only `answered` may be used.
        why: One line for people when it is not answered; "" otherwise.
        fault: What was wrong at the provider.
        is_flagged: Whether the form is right and the answer of no use; `value` or `text` is set all the same.
        text: What the model wrote.
        value: What the form's judge made of it; None without a form or before it is answered.
        tool_calls: The tools that it wants called instead of answering.
        thinking: What it reasoned before it called tools, which its API wants back with their results.
        usage: Tokens used; None when the provider did not say or said what cannot be.
        model_reported: The model that the provider says it was; "" if it does not say.
        provider_id: The provider's id of the reply; "" if it has none.
        finish: Why the model stopped, in the provider's word.
        tries: Requests that were sent.
        latency_ms: Wall milliseconds from the call to its end, waits included.
        status: The HTTP status of the last reply; 0 when none came.
        retry_status: The status that an error in the body of a success stands for; 0 without one.
        reply: Its body as it came, the key taken out.
        measured: What the model wrote before key and secrets were taken out of it (R-G7); None where `text` is that. It
            is kept in memory only, so a call that is read again from its record has none.
    """

    outcome: Outcome
    why: str = ""
    fault: Fault = ""
    is_flagged: bool = False
    text: str = ""
    value: Any = None
    tool_calls: tuple[ToolCall, ...] = ()
    thinking: tuple[Mapping[str, Any], ...] = ()
    usage: Usage | None = None
    model_reported: str = ""
    provider_id: str = ""
    finish: str = ""
    tries: int = 0
    latency_ms: int = 0
    status: int = 0
    retry_status: int = 0
    reply: bytes = field(default=b"", repr=False)
    measured: str | None = field(default=None, repr=False)

    @property
    def is_free(self) -> bool:
        """Say whether nothing was charged for it: nothing was sent, or the provider refused to begin."""
        return not self.tries or (self.usage is None and self.fault in _UNCHARGED)
