"""OpenAI's chat completions, which many servers speak: how a request is written, and what a reply means."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Final

from moot.bots.models.answer import Answer, Fault
from moot.bots.models.bounds import tight, without_bounds
from moot.bots.models.endpoint import Dialect, Endpoint
from moot.bots.models.errors import one_line
from moot.bots.models.finish import bad_ending
from moot.bots.models.reading import (
    Called,
    Said,
    answered,
    begun,
    code_in,
    complaint,
    error_in,
    object_in,
    refused,
    text_of,
)
from moot.bots.models.reasoning import separate
from moot.bots.models.request import Request, Rung, messages_of, sampled
from moot.bots.models.usage import is_plausible, usage_of
from moot.config.models import ModelSettings

if TYPE_CHECKING:
    import httpx2
    import openai

_FAULTS: Final[Mapping[str, Fault]] = {
    "insufficient_quota": "credit",
    "billing_not_active": "credit",
    "model_not_found": "no_model",
    "invalid_api_key": "key",
}
"""Faults by the code that a refusal may name."""

_TEXT_PARTS: Final = frozenset({"text", "output_text"})
"""Types of the parts of a message that hold its text."""


@dataclass(slots=True)
class OpenAiDialect(Dialect):
    """Models that reason want `max_completion_tokens` instead of `max_tokens`, and no temperature.

    Attributes:
        limit_field: The one of the two that is configured; None: as the model wants it.
    """

    limit_field: str | None = None

    def learns(self, complaint: str, body: Mapping[str, Any]) -> bool:
        if self.limit_field is None and "max_tokens" in body and "max_completion_tokens" in complaint.lower():
            self.reasons = True
            return True
        return Dialect.learns(self, complaint, body)

    def fit(self, body: Mapping[str, Any]) -> dict[str, Any]:
        names = {
            "max_tokens": self.limit_field or ("max_completion_tokens" if self.reasons else "max_tokens")
        }
        fitting = Dialect.fit(self, body).items()
        return {
            names.get(name, name): one for name, one in fitting if name != "temperature" or not self.reasons
        }


class OpenAiEndpoint(Endpoint):
    """A model behind OpenAI's API, or a compatible one."""

    package: ClassVar[str] = "openai"
    path = "/chat/completions"
    models_path = "/models"

    def __init__(self, settings: ModelSettings) -> None:
        super().__init__(settings)
        self.dialect = OpenAiDialect(reasons=bool(settings.reasoning), limit_field=settings.max_tokens_field)

    def sdk(self, key: str, http: httpx2.AsyncClient) -> openai.AsyncOpenAI:
        import openai

        return openai.AsyncOpenAI(
            base_url=self.settings.base_url,
            api_key=key,
            max_retries=0,
            timeout=http.timeout,
            http_client=http,
        )

    def write(self, request: Request, rung: Rung) -> dict[str, Any]:
        is_small = self.settings.small
        # A small model reads no schema, and copies words out of it.
        shows = request.shows_schema and not (is_small and rung == "json_schema")
        body: dict[str, Any] = {
            "model": self.settings.model,
            "messages": messages_of(replace(request, shows_schema=shows)),
            "max_tokens": request.max_tokens,
            **sampled(request),
        }
        tools = [_function(tool.name, tool.about, tool.parameters) for tool in request.tools]
        form = request.form
        schema = {} if form is None else (tight if is_small else without_bounds)(form.schema)
        if form is not None and rung == "tool":
            answer = _function(form.name, "Give your answer.", schema)
            answer["function"]["strict"] = True
            # With other tools the model may look something up first; a tool it must call all the same.
            forced = {"type": "function", "function": {"name": form.name}}
            body["tool_choice"] = "required" if tools else forced
            tools.append(answer)
        elif form is not None and rung == "json_schema":
            body["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": form.name, "schema": schema, "strict": True},
            }
        elif form is not None and rung == "json_object":
            body["response_format"] = {"type": "json_object"}
        if tools:
            body["tools"] = tools
        if form is not None and rung != "prompt" and self.settings.host.endswith("openrouter.ai"):
            # It would else choose a provider that ignores what it does not know.
            body["provider"] = {"require_parameters": True}
        if self.settings.reasoning_effort is not None:
            body["reasoning_effort"] = self.settings.reasoning_effort
        if self.settings.seed is not None:
            body["seed"] = self.settings.seed
        return self.dialect.fit(self.settings.merged(body))

    def read_reply(self, raw: bytes, request: Request, rung: Rung) -> Answer:
        reply = object_in(raw)
        if isinstance(reply, Answer):
            return reply
        if (error := error_in(reply)) is not None:
            return self.read_error(error, raw)
        told = begun(reply, usage_of(reply))
        choices = reply.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        message = choice.get("message") if isinstance(choice, dict) else None
        if not isinstance(choice, dict) or not isinstance(message, dict):
            why = complaint(reply) or "the reply holds no choice"
            return replace(told, outcome="provider_error", fault="garbage", why=why)
        finish = choice.get("finish_reason")
        reasoning, text = separate(_content(message))
        told = replace(told, finish=text_of(finish), text=text)
        said = Said(
            lambda: _called(message.get("tool_calls")),
            has_reasoning=bool(reasoning or message.get("reasoning_content") or message.get("reasoning")),
        )
        has_output = said.has_reasoning or bool(text or message.get("tool_calls") or message.get("refusal"))
        if told.usage is not None and not is_plausible(told.usage, has_output=has_output):
            told = replace(told, usage=None)
        refusal = message.get("refusal")
        if isinstance(refusal, str) and refusal.strip():
            return replace(told, outcome="refused", why=f"the model refused: {one_line(refusal)}")
        if (choice_error := error_in(choice)) is not None:
            return replace(self.read_error(choice_error, raw), usage=told.usage, finish=told.finish)
        # A call of a tool that was not offered is told by its name.
        has_tools = bool(request.tools or message.get("tool_calls")) or rung == "tool"
        if (end := bad_ending(finish, has_tools=has_tools)) is not None:
            why = end.why or "the model refused: it gave no reason"
            return replace(told, outcome=end.outcome, fault=end.fault, why=why)
        return answered(told, said, request, rung)

    def read_refusal(self, status: int, raw: bytes) -> Answer:
        answer, reply = refused(status, raw)
        code = code_in(reply, "code") or code_in(reply, "type")
        if answer.fault == "redirect":
            return answer
        if code == "content_filter":
            return replace(answer, outcome="filtered", fault="")
        return replace(answer, fault=_FAULTS.get(code, answer.fault))


def _called(told: object) -> list[Called]:
    if not told:
        return []
    if not isinstance(told, list):
        raise ValueError("the tool calls of the reply are no list")
    found = []
    for one in told:
        function = one.get("function") if isinstance(one, Mapping) else None
        if not isinstance(function, Mapping):
            raise ValueError("a tool call of the reply names no function")
        arguments = function.get("arguments")
        if arguments is None or arguments == "":
            arguments = "{}"
        # Some servers give the object itself, not its text.
        if not isinstance(arguments, str | Mapping):
            raise ValueError(f"the arguments of {text_of(function.get('name'))[:60]} are no JSON object")
        found.append(Called(text_of(one.get("id")), text_of(function.get("name")), arguments))
    return found


def _content(message: Mapping[str, Any]) -> str:
    """Return the text of a message; parts that are no text, such as reasoning, are left out."""
    content = message.get("content")
    if not isinstance(content, list):
        return text_of(content)
    found = []
    for part in content:
        if isinstance(part, str):
            found.append(part)
        elif isinstance(part, Mapping) and part.get("type", "text") in _TEXT_PARTS:
            found.append(text_of(part.get("text")))
    return "".join(found)


def _function(name: str, about: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "description": about, "parameters": parameters}}
