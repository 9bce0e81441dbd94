"""What a reply means: classified first, parsed only then (K30)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from moot.bots.models.answer import Answer, Fault, Outcome, ToolCall
from moot.bots.models.errors import one_line
from moot.bots.models.forms import Form
from moot.bots.models.request import Request, Rung
from moot.bots.models.strict_json import one_object
from moot.bots.models.usage import usage_of

_FENCED: Final = re.compile(r"\s*```(?:json)?[ \t]*\n(.*)\n[ \t]*```\s*", re.DOTALL)
"""A reply that is one fenced block and nothing else."""

_FAULTS: Final[Mapping[int, Fault]] = {401: "key", 402: "credit", 403: "key", 404: "no_model", 429: "rate"}


def read_reply(raw: bytes, request: Request, rung: Rung) -> Answer:
    """Say what a reply with status 200 means."""
    try:
        reply = json.loads(raw)
    except (ValueError, RecursionError):
        return Answer(
            outcome="provider_error", fault="garbage", why="the reply of the server is no JSON", reply=raw
        )
    if not isinstance(reply, dict):
        return Answer(
            outcome="provider_error",
            fault="garbage",
            why="the reply of the server is no JSON object",
            reply=raw,
        )
    told = Answer(
        outcome="unparsable",
        usage=usage_of(reply),
        model_reported=_text(reply.get("model")),
        provider_id=_text(reply.get("id")),
        reply=raw,
    )
    choices = reply.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(choice, dict) or not isinstance(message, dict):
        why = complaint(reply) or "the reply holds no choice"
        return replace(told, outcome="provider_error", fault="garbage", why=why)
    told = replace(told, finish=_text(choice.get("finish_reason")), text=_content(message))
    if ended := _ended(told, message, reply):
        return ended
    return _parsed(told, message, request, rung)


def read_refusal(status: int, raw: bytes) -> Answer:
    """Say what a reply with a status beyond 299 means."""
    try:
        reply = json.loads(raw)
    except (ValueError, RecursionError):
        reply = None
    said = complaint(reply) or one_line(raw[:2_000].decode("utf-8", "replace")) or "no word of it"
    code = _code(reply)
    outcome: Outcome = "provider_error"
    fault: Fault = _FAULTS.get(status) or ("server" if status >= 500 else "request")
    if 300 <= status < 400:
        fault = "redirect"
    elif code == "content_filter":
        outcome, fault = "filtered", ""
    elif code in ("insufficient_quota", "billing_not_active"):
        fault = "credit"
    elif code == "model_not_found":
        fault = "no_model"
    elif code == "invalid_api_key":
        fault = "key"
    return Answer(outcome=outcome, fault=fault, why=f"HTTP {status}: {said}", reply=raw)


def complaint(reply: object) -> str:
    """Return what a reply complains of, in one line; "" if it does not."""
    error = reply.get("error") if isinstance(reply, Mapping) else None
    said = error.get("message") if isinstance(error, Mapping) else error
    if not isinstance(said, str) and isinstance(reply, Mapping):
        said = reply.get("message") or reply.get("detail")
    return one_line(said) if isinstance(said, str) else ""


def _ended(told: Answer, message: Mapping[str, Any], reply: Mapping[str, Any]) -> Answer | None:
    """Return how a reply ended, if there is nothing in it to be parsed."""
    refusal = message.get("refusal")
    if told.finish == "length":
        return replace(told, outcome="truncated", why="the answer was cut off at max_tokens")
    if told.finish == "content_filter":
        return replace(told, outcome="filtered", why="the provider's filter took the answer away")
    if (isinstance(refusal, str) and refusal) or told.finish == "refusal":
        said = one_line(refusal) if isinstance(refusal, str) else ""
        return replace(told, outcome="refused", why=f"the model refused: {said or 'it gave no reason'}")
    if told.finish == "error" or complaint({"error": reply.get("error")}):
        why = complaint(reply) or "the provider broke off"
        return replace(told, outcome="provider_error", fault="server", why=why)
    return None


def _parsed(told: Answer, message: Mapping[str, Any], request: Request, rung: Rung) -> Answer:
    form = request.form
    try:
        calls = _tool_calls(message.get("tool_calls"), request, rung)
        if form is not None and (given := [call for call in calls if call.name == form.name]):
            if len(calls) > 1:
                raise ValueError("the reply both answers and calls a tool")
            return replace(told, outcome="answered", value=form.judge(dict(given[0].arguments)))
        if calls:
            return replace(told, outcome="answered", tool_calls=calls)
        if form is None:
            if not told.text.strip():
                raise ValueError(_nothing(message))
            return replace(told, outcome="answered")
        if rung == "tool" and told.text.strip():
            raise ValueError(f"the reply does not call {form.name}")
        return replace(told, outcome="answered", value=_judged(told.text, form, rung, message))
    except ValueError as exc:
        return replace(told, outcome="unparsable", why=one_line(str(exc)))


def _judged(text: str, form: Form, rung: Rung, message: Mapping[str, Any]) -> Any:
    if not text.strip():
        raise ValueError(_nothing(message))
    fenced = _FENCED.fullmatch(text) if rung == "prompt" else None
    return form.judge(one_object(fenced[1] if fenced else text))


def _nothing(message: Mapping[str, Any]) -> str:
    if message.get("reasoning_content") or message.get("reasoning"):
        return "the reply is empty but for its reasoning"
    return "the reply is empty"


def _tool_calls(told: object, request: Request, rung: Rung) -> tuple[ToolCall, ...]:
    """Read the calls of a reply.

    Raises:
        ValueError: One is of a tool that was not offered, or its arguments are no JSON object.
    """
    if not told:
        return ()
    if not isinstance(told, Sequence) or isinstance(told, str):
        raise ValueError("the tool calls of the reply are no list")
    offered = [tool.name for tool in request.tools]
    if request.form is not None and rung == "tool":
        offered.append(request.form.name)
    found = []
    for one in told:
        function = one.get("function") if isinstance(one, Mapping) else None
        if not isinstance(function, Mapping):
            raise ValueError("a tool call of the reply names no function")
        name = _text(function.get("name"))
        if name not in offered:
            raise ValueError(f"the tool {name[:60]!r} is not offered: {', '.join(offered) or 'none is'}")
        try:
            arguments = one_object(_text(function.get("arguments")) or "{}")
        except ValueError as exc:
            raise ValueError(f"the arguments of {name}: {exc}") from None
        found.append(ToolCall(_text(one.get("id")), name, arguments))
    return tuple(found)


def _content(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, list):
        parts = (one.get("text") for one in content if isinstance(one, Mapping))
        return "".join(one for one in parts if isinstance(one, str))
    return _text(content)


def _code(reply: object) -> str:
    error = reply.get("error") if isinstance(reply, Mapping) else None
    return _text(error.get("code")) if isinstance(error, Mapping) else ""


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
