"""What a model is asked, and how that is written for an endpoint: the ladder of typed output, models that reason."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal
from urllib.parse import urlsplit

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
        messages: The conversation, as the API writes it: `{"role": …, "content": …}` each.
        max_tokens: Tokens that may be generated, those of reasoning among them.
        form: The typed answer that is asked for; None: text.
        tools: What the model may have called instead.
        temperature: None: the provider's own; models that refuse it are not sent it.
        shows_schema: Whether the form's schema stands in the prompt too.
    """

    messages: tuple[Mapping[str, Any], ...]
    max_tokens: int
    form: Form | None = None
    tools: tuple[Tool, ...] = ()
    temperature: float | None = None
    shows_schema: bool = True


@dataclass(slots=True)
class Dialect:
    """What an endpoint takes; learned from what it refuses.

    Attributes:
        reasons: Whether it wants `max_completion_tokens` and takes no temperature.
        takes_temperature: Whether it takes one.
    """

    reasons: bool = False
    takes_temperature: bool = True

    def learns(self, complaint: str, body: Mapping[str, Any]) -> bool:
        """Take the refusal of a request into account; say whether it would now be written otherwise."""
        said = complaint.lower()
        if "max_tokens" in body and "max_completion_tokens" in said:
            self.reasons = True
            return True
        if "temperature" in body and "temperature" in said:
            self.takes_temperature = False
            return True
        return False

    def fit(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Return a body as the endpoint takes it."""
        left_out = "" if self.takes_temperature and not self.reasons else "temperature"
        return {
            "max_completion_tokens" if self.reasons and name == "max_tokens" else name: one
            for name, one in body.items()
            if name != left_out
        }


def body_of(request: Request, *, model: str, url: str, rung: Rung, dialect: Dialect) -> dict[str, Any]:
    """Write a request as the endpoint takes it, without secrets; the same request gives the same body."""
    body: dict[str, Any] = {
        "model": model,
        "messages": _messages(request),
        "max_tokens": request.max_tokens,
    }
    if request.temperature is not None:
        body["temperature"] = request.temperature
    tools = [_function(tool.name, tool.about, tool.parameters) for tool in request.tools]
    form = request.form
    if form is not None and rung == "tool":
        answer = _function(form.name, "Give your answer.", form.schema)
        answer["function"]["strict"] = True
        # With other tools the model may look something up first; a tool it must call all the same.
        body["tool_choice"] = "required" if tools else {"type": "function", "function": {"name": form.name}}
        tools.append(answer)
    elif form is not None and rung == "json_schema":
        body["response_format"] = {
            "type": "json_schema",
            "json_schema": {"name": form.name, "schema": form.schema, "strict": True},
        }
    elif form is not None and rung == "json_object":
        body["response_format"] = {"type": "json_object"}
    if tools:
        body["tools"] = tools
    if form is not None and rung != "prompt" and (urlsplit(url).hostname or "").endswith("openrouter.ai"):
        # It would else choose a provider that ignores what it does not know.
        body["provider"] = {"require_parameters": True}
    return dialect.fit(body)


def _messages(request: Request) -> list[dict[str, Any]]:
    messages = [without_secrets(dict(one)) for one in request.messages]
    if request.form is None or not request.shows_schema:
        return messages
    schema = json.dumps(request.form.schema, ensure_ascii=False, separators=(",", ":"))
    asked = (
        "Your answer is one JSON object that fits this JSON Schema, with nothing before or after it:\n"
        + schema
    )
    if messages and messages[0]["role"] == "system":
        messages[0]["content"] = f"{messages[0]['content']}\n\n{asked}"
        return messages
    return [{"role": "system", "content": asked}, *messages]


def _function(name: str, about: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "description": about, "parameters": parameters}}
