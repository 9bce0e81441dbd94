"""What a reply means, in whichever API it is written: classified first, parsed only then (K30)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

from moot.bots.models.answer import Answer, Fault, ToolCall
from moot.bots.models.errors import one_line
from moot.bots.models.forms import Form
from moot.bots.models.request import Request, Rung
from moot.bots.models.strict_json import one_object
from moot.protocols.calls.usage import Usage

_FENCED: Final = re.compile(r"\s*```(?:json)?[ \t]*\n(.*)\n[ \t]*```\s*", re.DOTALL)
"""A reply that is one fenced block and nothing else."""

_FAULTS: Final[Mapping[int, Fault]] = {401: "key", 402: "credit", 403: "key", 404: "no_model", 429: "rate"}


class Called(NamedTuple):
    """A call of a tool as a reply tells it; `arguments` is an object, or the text of one."""

    id: str
    name: str
    arguments: str | Mapping[str, Any]


class Said(NamedTuple):
    """What a reply holds beside its text.

    Attributes:
        calls: Gives its calls of tools; raises ValueError where they are none.
        has_reasoning: Whether it shows reasoning.
    """

    calls: Callable[[], Sequence[Called]]
    has_reasoning: bool


def object_in(raw: bytes) -> dict[str, Any] | Answer:
    """Return the JSON object that a reply is, or the answer that says that it is none."""
    try:
        reply = json.loads(raw)
    except (ValueError, RecursionError):
        return Answer(outcome="provider_error", fault="garbage", why="the reply of the server is no JSON")
    if not isinstance(reply, dict):
        return Answer(
            outcome="provider_error", fault="garbage", why="the reply of the server is no JSON object"
        )
    return reply


def begun(reply: Mapping[str, Any], usage: Usage | None) -> Answer:
    """Return what a reply says of itself, before what it answers is known."""
    return Answer(
        outcome="unparsable",
        usage=usage,
        model_reported=text_of(reply.get("model")),
        provider_id=text_of(reply.get("id")),
    )


def answered(told: Answer, said: Said, request: Request, rung: Rung) -> Answer:
    """Return what a whole reply answers: a value of the form, calls of tools, or text."""
    form = request.form
    try:
        calls = _offered(said.calls(), request, rung)
        if form is not None and (given := [call for call in calls if call.name == form.name]):
            if len(calls) > 1:
                raise ValueError("the reply both answers and calls a tool")
            return replace(told, outcome="answered", value=form.judge(dict(given[0].arguments)))
        if calls:
            return replace(told, outcome="answered", tool_calls=calls)
        if not told.text.strip():
            raise ValueError(
                "the reply is empty but for its reasoning" if said.has_reasoning else "the reply is empty"
            )
        if form is None:
            return replace(told, outcome="answered")
        if rung == "tool":
            raise ValueError(f"the reply does not call {form.name}")
        return replace(told, outcome="answered", value=_judged(told.text, form, rung))
    except ValueError as exc:
        return replace(told, outcome="unparsable", why=one_line(str(exc)))


def refused(status: int, raw: bytes) -> tuple[Answer, object]:
    """Return what a status beyond 299 means by itself, and the reply as JSON, if it is any."""
    try:
        reply = json.loads(raw)
    except (ValueError, RecursionError):
        reply = None
    said = complaint(reply) or one_line(raw[:2_000].decode("utf-8", "replace")) or "no word of it"
    fault: Fault = _FAULTS.get(status) or ("server" if status >= 500 else "request")
    if 300 <= status < 400:
        fault = "redirect"
    return Answer(outcome="provider_error", fault=fault, why=f"HTTP {status}: {said}"), reply


def complaint(reply: object) -> str:
    """Return what a reply complains of, in one line; "" if it does not."""
    error = reply.get("error") if isinstance(reply, Mapping) else None
    said = error.get("message") if isinstance(error, Mapping) else error
    if not isinstance(said, str) and isinstance(reply, Mapping):
        said = reply.get("message") or reply.get("detail")
    return one_line(said) if isinstance(said, str) else ""


def code_in(reply: object, name: str) -> str:
    """Return the code of what a reply complains of, which stands under a name; "" if there is none."""
    error = reply.get("error") if isinstance(reply, Mapping) else None
    return text_of(error.get(name)) if isinstance(error, Mapping) else ""


def text_of(value: object) -> str:
    """Return a value that is text; "" for any other."""
    return value if isinstance(value, str) else ""


def _judged(text: str, form: Form, rung: Rung) -> Any:
    fenced = _FENCED.fullmatch(text) if rung == "prompt" else None
    return form.judge(one_object(fenced[1] if fenced else text))


def _offered(calls: Sequence[Called], request: Request, rung: Rung) -> tuple[ToolCall, ...]:
    """Return calls of tools.

    Raises:
        ValueError: One is of a tool that was not offered, or its arguments are no JSON object.
    """
    offered = [tool.name for tool in request.tools]
    if request.form is not None and rung == "tool":
        offered.append(request.form.name)
    found = []
    for id_, name, told in calls:
        if name not in offered:
            raise ValueError(f"the tool {name[:60]!r} is not offered: {', '.join(offered) or 'none is'}")
        try:
            arguments = one_object(told) if isinstance(told, str) else told
        except ValueError as exc:
            raise ValueError(f"the arguments of {name}: {exc}") from None
        found.append(ToolCall(id_, name, arguments))
    return tuple(found)
