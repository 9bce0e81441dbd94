"""What a model is asked: a conversation, a form, tools, and how an endpoint is held to the form."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from moot.bots.models.bounds import without_bounds
from moot.bots.models.forms import Form
from moot.protocols.kernel.discretion import without_secrets

Rung = Literal["json_schema", "tool", "json_object", "prompt"]

LADDER: Final[tuple[Rung, ...]] = ("json_schema", "tool", "json_object", "prompt")
"""How an endpoint can be held to a form, the surest way first: a strict schema, one forced tool, any JSON object, and
asking for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A function that the model may have called.

    Attributes:
        name: Its name, in letters, digits, `_` and `-`.
        about: What it does.
        parameters: The JSON Schema of its arguments.
    """

    name: str
    about: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One call.

    Attributes:
        messages: The conversation, as OpenAI's API writes it: `{"role": …, "content": …}` each, calls of tools and
            their results among them; other APIs are sent the same in their own words. What is asked of tools may
            have the answer's `thinking` beside it.
        max_tokens: Tokens that may be generated, those of reasoning among them.
        form: The typed answer that is asked for; None: text.
        tools: What the model may have called instead.
        temperature: None: the provider's own; models that refuse it are not sent it, nor what follows.
        top_p: Share of the likeliest tokens that are drawn from; None: the provider's own.
        presence_penalty: Against what was said at all; None: the provider's own. Not every API knows it.
        frequency_penalty: Against what was said often; as `presence_penalty`.
        shows_schema: Whether the form's schema stands in the prompt too.
        flag_of: Returns why an answer in the right form is of no use, "" otherwise; None: every one is.
        measured: Text to embed in place of what the user says, which is what is kept of it (R-G7).
    """

    messages: tuple[Mapping[str, Any], ...]
    max_tokens: int
    form: Form | None = None
    tools: tuple[Tool, ...] = ()
    temperature: float | None = None
    top_p: float | None = None
    presence_penalty: float | None = None
    frequency_penalty: float | None = None
    shows_schema: bool = True
    flag_of: Callable[[object], str] | None = field(default=None, repr=False, compare=False)
    measured: str | None = field(default=None, repr=False)


LONGER: Final = 4
"""Factor by which `max_tokens` is raised, once, for an answer that was cut off."""

SAMPLED: Final = ("temperature", "top_p", "presence_penalty", "frequency_penalty")
"""Fields of a `Request` that say how an answer is drawn, as OpenAI's API names them."""


def sampled(request: Request) -> dict[str, float]:
    """Return what a request says of how its answer is drawn."""
    found = {name: getattr(request, name) for name in SAMPLED}
    return {name: value for name, value in found.items() if value is not None}


def messages_of(request: Request) -> list[dict[str, Any]]:
    """Return the conversation without secrets, with the form's schema in what the system says."""
    messages = [without_secrets(dict(one)) for one in request.messages]
    if request.form is None or not request.shows_schema:
        return messages
    schema = json.dumps(without_bounds(request.form.schema), ensure_ascii=False, separators=(",", ":"))
    asked = (
        "Your answer is one JSON object that fits this JSON Schema, with nothing before or after it:\n"
        + schema
    )
    if messages and messages[0]["role"] == "system":
        messages[0]["content"] = f"{messages[0]['content']}\n\n{asked}"
        return messages
    return [{"role": "system", "content": asked}, *messages]
