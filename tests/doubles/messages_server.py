"""A server of Anthropic's Messages API over real HTTP, as strict as theirs is documented to be."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from aiohttp import web

from tests.doubles.model_server import BROKEN, ModelServer, Turn, fitting, schema_shown

VERSION = "2026-10-21"

KNOWN = frozenset(
    {"model", "max_tokens", "system", "messages", "thinking", "tools", "tool_choice", "output_config"}
)
"""Fields of a request that it takes, of those that we may send; it refuses a temperature."""


def message(
    text: str | None = "red",
    *,
    stop: str | None = "end_turn",
    tools: list[tuple[str, Any]] | None = None,
    usage: object = "counted",
    model: str = "tiny-1",
    **more: Any,
) -> Turn:
    """Make a reply of a model: its text, or calls of tools as (name, input)."""
    content: list[dict[str, Any]] = [] if text is None else [{"type": "text", "text": text}]
    content += [
        {"type": "tool_use", "id": f"toolu_{n}", "name": name, "input": given}
        for n, (name, given) in enumerate(tools or [], 1)
    ]
    reply: dict[str, Any] = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": content,
        "stop_reason": stop,
        "stop_sequence": None,
        **more,
    }
    if usage == "counted":
        usage = {"input_tokens": 100, "output_tokens": 20}
    if usage is not None:
        reply["usage"] = usage
    return Turn(body=json.dumps(reply).encode())


TYPES = {
    400: "invalid_request_error", 401: "authentication_error", 402: "billing_error", 403: "permission_error",
    404: "not_found_error", 413: "request_too_large", 429: "rate_limit_error", 500: "api_error",
    529: "overloaded_error",
}  # fmt: skip


def refusal(status: int, said: str, **headers: str) -> Turn:
    """Make a reply that refuses; headers are named with underscores."""
    error = {"type": TYPES[status], "message": said}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    body = json.dumps({"type": "error", "error": error, "request_id": "req_1"}).encode()
    return Turn(status, body, named)


class MessagesServer(ModelServer):
    """The server and its handle; takes what `ModelServer` takes, and knows no rung `json_object`."""

    api = "anthropic"
    path = "/v1/messages"

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def faults(self) -> Mapping[str, Turn]:
        return MISBEHAVING

    def says(self, text: str | None, **more: Any) -> Turn:
        return message(text, **more)

    def refuses(self, status: int, message: str, **headers: str) -> Turn:
        return refusal(status, message, **headers)

    def calls_tool(self, name: str, arguments: str) -> Turn:
        return message(None, stop="tool_use", tools=[(name, json.loads(arguments))])

    def _models(self) -> dict[str, Any]:
        one = {"type": "model", "id": self.model, "display_name": "Tiny", "max_input_tokens": self.context}
        return {"data": [one], "has_more": False, "first_id": self.model, "last_id": self.model}

    def _cut_off(self) -> Turn:
        return message("", stop="max_tokens")

    def _complaint(self, request: web.Request, body: Mapping[str, Any]) -> Turn | None:
        if request.headers.get("anthropic-version") != VERSION:
            return refusal(400, "anthropic-version: header is required")
        if body["model"] != self.model:
            return refusal(404, f"model: {body['model']}")
        for name in body:
            if name not in KNOWN:
                return refusal(400, f"{name}: Extra inputs are not permitted")
        if self.reasons and "thinking" in body:
            return refusal(400, "thinking.type: disabled is not supported by this model")
        return _of_conversation(body["messages"])

    def _answer(self, body: Mapping[str, Any]) -> Turn:
        form = body.get("output_config", {}).get("format", {}).get("type") or (
            "tool" if "tool_choice" in body else ""
        )
        if form and form not in self.rungs and form not in self.ignores:
            return refusal(400, f"{form} is not supported here")
        if form == "json_schema" and form in self.rungs:
            return message(json.dumps(fitting(body["output_config"]["format"]["schema"])), model=self.model)
        if form == "tool" and form in self.rungs:
            tool = body["tools"][-1]
            given = [(tool["name"], fitting(tool["input_schema"]))]
            return message(None, stop="tool_use", tools=given, model=self.model)
        shown = schema_shown("\n".join(one["text"] for one in body.get("system", [])))
        if shown is None:
            return message("red", model=self.model)
        text = json.dumps(fitting(shown))
        return message(text if form else f"```json\n{text}\n```", model=self.model)

    def _wrong_key(self, request: web.Request) -> Turn | None:
        given = request.headers.get(self.key_header[0], "").removeprefix(self.key_header[1])
        return refusal(401, f"invalid x-api-key {given}") if self.key and given != self.key else None


def _of_conversation(turns: list[dict[str, Any]]) -> Turn | None:
    """Say what is wrong with a conversation: roles, empty turns, calls of tools without their results."""
    if not turns:
        return refusal(400, "messages: at least one message is required")
    owed: set[str] = set()
    for n, turn in enumerate(turns):
        content = turn["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        if turn["role"] not in ("user", "assistant"):
            return refusal(400, f"messages.{n}.role: Input should be 'user' or 'assistant'")
        if not blocks or any(one["type"] == "text" and not one["text"] for one in blocks):
            return refusal(400, f"messages.{n}: text content blocks must be non-empty")
        results = {one["tool_use_id"] for one in blocks if one["type"] == "tool_result"}
        if results != owed:
            return refusal(400, f"messages.{n}: `tool_use` ids and `tool_result` blocks differ")
        owed = {one["id"] for one in blocks if one["type"] == "tool_use"}
    return refusal(400, "messages: `tool_use` without `tool_result`") if owed else None


MISBEHAVING: Mapping[str, Turn] = {
    **BROKEN,
    "429, wait 0 s": refusal(429, "slow down", retry_after="0"),
    "429, wait 3600 s": refusal(429, "slow down", retry_after="3600"),
    "429, wait nonsense": refusal(429, "slow down", retry_after="whenever"),
    "500": refusal(500, "it broke"),
    "overloaded": refusal(529, "Overloaded"),
    "too large": refusal(413, "Request exceeds the maximum size"),
    "no credit": refusal(402, "Your credit balance is too low"),
    "no credit, as a bad request": refusal(400, "Your credit balance is too low to access the API"),
    "no choices": Turn(body=b'{"id":"1","type":"message","content":null}'),
    "error inside 200": Turn(body=b'{"type":"error","error":{"message":"upstream is down"}}'),
    "empty": message(""),
    "truncated": message('{"colour":"red","nu', stop="max_tokens"),
    "out of context": message('{"colour":"red","nu', stop="model_context_window_exceeded"),
    "paused": message('{"colour":"red","number":1}', stop="pause_turn"),
    "cut without a word": message('{"colour":"red","nu'),
    "double": message('{"colour":"red","number":1}{"colour":"red","number":2}'),
    "a field twice": message('{"colour":"red","colour":"blue","number":1}'),
    "prose around": message('Sure! {"colour":"red","number":1} I hope this helps.'),
    "does not fit": message('{"colour":"mauve","number":1}'),
    "refusal": message(
        None,
        stop="refusal",
        stop_details={"type": "refusal", "category": None, "explanation": "I cannot help with that."},
    ),
    "tool loop": message(None, stop="tool_use", tools=[("look_up", {"word": "red"})]),
    "tool arguments are no JSON": message(None, stop="tool_use", tools=[("look_up", "word=red")]),
    "another model": message('{"colour":"red","number":1}', model="other-9"),
    "usage missing": message('{"colour":"red","number":1}', usage=None),
    "usage negative": message('{"colour":"red","number":1}', usage={"input_tokens": -5, "output_tokens": 20}),
}
"""Faults by name; a wrong key and an unknown model are the server's own answers to such requests."""
