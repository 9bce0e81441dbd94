"""Anthropic's Messages API: how a request is written, and what a reply means."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Final

from moot.bots.models.answer import Answer, Fault
from moot.bots.models.bounds import without_bounds
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
from moot.bots.models.request import Request, Rung, messages_of
from moot.bots.models.strict_json import one_object
from moot.bots.models.usage import is_plausible, usage_of
from moot.config.models import ModelSettings

if TYPE_CHECKING:
    import anthropic
    import httpx2

_FAULTS: Final[Mapping[str, Fault]] = {
    "authentication_error": "key",
    "permission_error": "key",
    "billing_error": "credit",
    "not_found_error": "no_model",
    "rate_limit_error": "rate",
    "overloaded_error": "server",
    "api_error": "server",
    "timeout_error": "server",
}
"""Faults by the type that a refusal names."""


@dataclass(slots=True)
class AnthropicDialect(Dialect):
    """The API takes no temperature; some models reason, and refuse to be asked not to.

    Attributes:
        too_large: What the API would not hold an answer to, since its grammar is too large; such an answer is asked
            for in the prompt alone.
    """

    takes_temperature: bool = False
    too_large: list[Any] = field(default_factory=list)

    def learns(self, complaint: str, body: Mapping[str, Any]) -> bool:
        if "thinking" in body and "thinking" in complaint.lower():
            self.reasons = True
            return True
        if "format" in body.get("output_config", {}) and "grammar is too large" in complaint.lower():
            self.too_large.append(body["output_config"].get("format"))
            return True
        return Dialect.learns(self, complaint, body)

    def fit(self, body: Mapping[str, Any]) -> dict[str, Any]:
        config = body.get("output_config", {})
        if config.get("format") in self.too_large:
            others = {name: one for name, one in config.items() if name != "format"}
            body = {name: one for name, one in body.items() if name != "output_config"}
            body |= {"output_config": others} if others else {}
        return {
            name: one
            for name, one in Dialect.fit(self, body).items()
            if name != "thinking" or not self.reasons
        }


class AnthropicEndpoint(Endpoint):
    """A model behind the Messages API."""

    package: ClassVar[str] = "anthropic"
    headers: ClassVar[Mapping[str, str]] = {"anthropic-version": "2026-10-21"}
    ladder: ClassVar[tuple[Rung, ...]] = ("json_schema", "tool", "prompt")

    def __init__(self, settings: ModelSettings) -> None:
        super().__init__(settings)
        self.dialect = AnthropicDialect(reasons=bool(settings.reasoning))
        version = "" if settings.base_url.endswith("/v1") else "/v1"
        self.path = f"{version}/messages"
        self.models_path = f"{version}/models?limit=1000"

    def sdk(self, key: str, http: httpx2.AsyncClient) -> anthropic.AsyncAnthropic:
        import anthropic

        return anthropic.AsyncAnthropic(
            base_url=self.settings.base_url,
            api_key=key,
            webhook_key="",
            max_retries=0,
            timeout=http.timeout,
            http_client=http,
            open_telemetry=False,
        )

    def write(self, request: Request, rung: Rung) -> dict[str, Any]:
        messages = messages_of(request)
        system = "\n\n".join(str(one["content"]) for one in messages if one["role"] == "system")
        body: dict[str, Any] = {"model": self.settings.model, "max_tokens": request.max_tokens}
        if system:
            # The same for all calls of a seat's step, so that the provider may read it once.
            body["system"] = [{"type": "text", "text": system, "cache_control": {"type": "ephemeral"}}]
        body["messages"] = _turns(one for one in messages if one["role"] != "system")
        if request.top_p is not None:
            body["top_p"] = request.top_p
        body["thinking"] = {"type": "disabled"}
        tools = [_tool(tool.name, tool.about, tool.parameters) for tool in request.tools]
        form = request.form
        schema = {} if form is None else without_bounds(form.schema)
        if form is not None and rung == "tool":
            # With other tools the model may look something up first; a tool it must call all the same.
            body["tool_choice"] = {"type": "any"} if tools else {"type": "tool", "name": form.name}
            tools.append({**_tool(form.name, "Give your answer.", schema), "strict": True})
        elif form is not None and rung == "json_schema":
            body["output_config"] = {"format": {"type": "json_schema", "schema": schema}}
        if tools:
            body["tools"] = tools
        if self.settings.reasoning_effort is not None:
            body["output_config"] = {
                **body.get("output_config", {}),
                "effort": self.settings.reasoning_effort,
            }
        return self.dialect.fit(self.settings.merged(body))

    def read_reply(self, raw: bytes, request: Request, rung: Rung) -> Answer:
        reply = object_in(raw)
        if isinstance(reply, Answer):
            return reply
        if (error := error_in(reply)) is not None:
            return self.read_error(error, raw)
        told = begun(reply, usage_of(reply, is_messages_api=True))
        content = reply.get("content")
        if not isinstance(content, list) or not all(isinstance(one, dict) for one in content):
            why = complaint(reply) or "the reply holds no content"
            return replace(told, outcome="provider_error", fault="garbage", why=why)
        reasoning, text = separate(
            "".join(text_of(one.get("text")) for one in content if one.get("type") == "text")
        )
        thinking = tuple(one for one in content if one.get("type") in ("thinking", "redacted_thinking"))
        finish = reply.get("stop_reason")
        told = replace(told, finish=text_of(finish), text=text, thinking=thinking)
        if told.usage is not None and not is_plausible(told.usage, has_output=bool(content)):
            told = replace(told, usage=None)
        # A call of a tool that was not offered is told by its name.
        is_calling = any(one.get("type") == "tool_use" for one in content)
        has_tools = bool(request.tools) or is_calling or rung == "tool"
        if (end := bad_ending(finish, has_tools=has_tools)) is not None:
            why = end.why or f"the model refused: {_refusal(reply) or 'it gave no reason'}"
            return replace(told, outcome=end.outcome, fault=end.fault, why=why)
        said = Said(lambda: _called(content), has_reasoning=bool(thinking or reasoning))
        return answered(told, said, request, rung)

    def read_refusal(self, status: int, raw: bytes) -> Answer:
        answer, reply = refused(status, raw)
        if answer.fault == "redirect":
            return answer
        if answer.fault == "request" and "credit balance" in answer.why:
            return replace(answer, fault="credit")
        return replace(answer, fault=_FAULTS.get(code_in(reply, "type"), answer.fault))


def _turns(messages: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return a conversation in the API's words; the results of tools that were called together are one turn."""
    turns: list[dict[str, Any]] = []
    for one in messages:
        content = one.get("content") or ""
        if one["role"] == "tool":
            result = {"type": "tool_result", "tool_use_id": one["tool_call_id"], "content": content}
            if turns and turns[-1]["role"] == "user" and isinstance(turns[-1]["content"], list):
                turns[-1]["content"].append(result)
            else:
                turns.append({"role": "user", "content": [result]})
        elif calls := one.get("tool_calls"):
            blocks = [{"type": "text", "text": content}] if content else []
            thinking = one.get("thinking", ())
            turns.append({"role": one["role"], "content": [*thinking, *blocks, *map(_use, calls)]})
        elif content:
            turns.append({"role": one["role"], "content": content})
    return turns


def _use(call: Mapping[str, Any]) -> dict[str, Any]:
    function = call["function"]
    try:
        given = one_object(function["arguments"] or "{}")
    except ValueError:  # a secret was taken out of it
        given = {"arguments": function["arguments"]}
    return {"type": "tool_use", "id": call["id"], "name": function["name"], "input": given}


def _tool(name: str, about: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    return {"name": name, "description": about, "input_schema": parameters}


def _refusal(reply: Mapping[str, Any]) -> str:
    """Return the reason that a model gave for refusing, "" for none."""
    details = reply.get("stop_details")
    said = details.get("explanation") or details.get("category") if isinstance(details, Mapping) else None
    return one_line(text_of(said))


def _called(content: list[dict[str, Any]]) -> list[Called]:
    found = []
    for one in content:
        if one.get("type") != "tool_use":
            continue
        given = one.get("input")
        if not isinstance(given, dict):
            raise ValueError("a tool call of the reply holds no JSON object")
        found.append(Called(text_of(one.get("id")), text_of(one.get("name")), given))
    return found
