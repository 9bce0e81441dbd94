"""What a reply means, in whichever API it is written: classified first, parsed only then (K30)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

from moot.bots.models.answer import Answer, Fault, ToolCall
from moot.bots.models.errors import one_line
from moot.bots.models.request import Request, Rung
from moot.bots.models.strict_json import Ambiguous, marking, one_object
from moot.protocols.calls.usage import Usage

_FENCED: Final = re.compile(r"\s*```(?:json)?[ \t]*\n(.*)\n[ \t]*```\s*", re.DOTALL)
"""A reply that is one fenced block and nothing else."""

_FAULTS: Final[Mapping[int, Fault]] = {401: "key", 402: "credit", 403: "key", 404: "no_model", 429: "rate"}

_STATUSES: Final[Mapping[str, int]] = {
    "rate_limit": 429,
    "rate_limit_exceeded": 429,
    "rate_limit_error": 429,
    "too_many_requests": 429,
    "resource_exhausted": 429,
    "throttled": 429,
    "insufficient_quota": 402,
    "insufficient_balance": 402,
    "billing_error": 402,
    "payment_required": 402,
    "authentication_error": 401,
    "invalid_api_key": 401,
    "unauthenticated": 401,
    "unauthorized": 401,
    "permission_denied": 403,
    "permission_error": 403,
    "not_found": 404,
    "not_found_error": 404,
    "model_not_found": 404,
    "invalid_request_error": 400,
    "invalid_argument": 400,
    "bad_request": 400,
    "badrequesterror": 400,
    "timeout": 408,
    "timeout_error": 408,
    "deadline_exceeded": 408,
    "overloaded": 503,
    "overloaded_error": 503,
    "unavailable": 503,
    "internal": 500,
    "internal_error": 500,
    "server_error": 500,
    "internal_server_error": 500,
    "api_error": 500,
}
"""HTTP statuses by the words that errors name, in lower case."""
GZIP: Final = b"\x1f\x8b"
"""First bytes of what gzip compressed."""


class BodyError(NamedTuple):
    """An error that a server sent with the status of a success.

    Attributes:
        status: The HTTP status that it stands for; 500 where it names none.
        reply: The error as JSON, as a refusal holds it.
    """

    status: int
    reply: Mapping[str, Any]


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
    if raw.startswith(GZIP):
        why = "the reply of the server is compressed with gzip, without saying so in Content-Encoding"
        return Answer(outcome="provider_error", fault="garbage", why=why)
    try:
        reply = json.loads(raw, object_pairs_hook=marking)
    except UnicodeDecodeError:
        why = "the reply of the server is not text in UTF-8, so it is no JSON"
        return Answer(outcome="provider_error", fault="garbage", why=why)
    except (ValueError, RecursionError):
        # A reply of another kind, such as a page of a proxy, begins with what it is.
        begin = one_line(raw[:80].decode("utf-8", "replace"))
        why = f"the reply of the server is no JSON: {begin or 'it is empty'}"
        return Answer(outcome="provider_error", fault="garbage", why=why)
    if isinstance(reply, list) and len(reply) == 1 and isinstance(reply[0], dict) and "error" in reply[0]:
        return reply[0]
    if not isinstance(reply, dict):
        return Answer(
            outcome="provider_error", fault="garbage", why="the reply of the server is no JSON object"
        )
    return reply


def error_in(reply: Mapping[str, Any]) -> BodyError | None:
    """Return the error that a reply, or a choice of one, holds although its status is that of a success."""
    error = reply.get("error")
    holds_answer = any(reply.get(name) for name in ("choices", "content", "data", "message"))
    if error is None or error is False or error in ("", {}, []):
        is_bare = not holds_answer or (isinstance(reply.get("message"), str) and not reply.get("choices"))
        if not (is_bare and _is_bare_error(reply)):
            return None
        error = reply
    if isinstance(error, list):
        error = error[0]
    if not isinstance(error, Mapping):
        error = {"message": error if isinstance(error, str) else json.dumps(error, default=str)}
    metadata = error.get("metadata")
    words = (
        *(error.get(name) for name in ("code", "status", "status_code", "http_status", "type", "reason")),
        *(reply.get(name) for name in ("code", "status", "status_code", "error_code")),
        metadata.get("code") if isinstance(metadata, Mapping) else None,
    )
    status = next((found for word in words if (found := _status_of(word)) is not None), 500)
    said = error.get("message") or error.get("detail") or error.get("error")
    told = (
        said
        if isinstance(said, str)
        else one_line(json.dumps(said if said is not None else error, default=str))
    )
    return BodyError(status, {"error": {**error, "message": told}})


def _is_bare_error(reply: Mapping[str, Any]) -> bool:
    """Return whether a reply is an error without the word: a code of one beside a message."""
    if reply.get("object") == "error" or reply.get("type") == "error":
        return True
    told = next((reply[name] for name in ("message", "detail", "msg", "error_msg") if reply.get(name)), None)
    words = (reply.get(name) for name in ("code", "status", "status_code", "error_code", "statusCode"))
    return told is not None and any(_status_of(word) is not None for word in words)


def _status_of(word: object) -> int | None:
    """Return the HTTP status that a code stands for, None if it stands for none."""
    if isinstance(word, str):
        if word.strip().lower() in _STATUSES:
            return _STATUSES[word.strip().lower()]
        if not word.strip().isascii() or not word.strip().isdigit():
            return None
        word = int(word.strip()[:4])
    return word if type(word) is int and 400 <= word <= 599 else None


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
            found = dict(given[0].arguments)
            return _weighed(replace(told, value=form.judge(found)), found, request)
        if calls:
            return replace(told, outcome="answered", tool_calls=calls)
        if not told.text.strip():
            raise ValueError(
                "the reply is empty but for its reasoning" if said.has_reasoning else "the reply is empty"
            )
        if form is None:
            return _weighed(told, told.text, request)
        if rung == "tool":
            raise ValueError(f"the reply does not call {form.name}")
        fenced = _FENCED.fullmatch(told.text) if rung == "prompt" else None
        found = one_object(fenced[1] if fenced else told.text)
        return _weighed(replace(told, value=form.judge(found)), found, request)
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


def _weighed(told: Answer, found: object, request: Request) -> Answer:
    """Return an answer in the right form, flagged where it is of no use."""
    why = request.flag_of(found) if request.flag_of is not None else ""
    if why:
        return replace(told, outcome="unparsable", why=one_line(why), is_flagged=True)
    return replace(told, outcome="answered")


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
            if twice := Ambiguous.within(arguments):
                raise ValueError(f"the field {twice[:60]!r} stands twice in one object")
        except ValueError as exc:
            raise ValueError(f"the arguments of {name}: {exc}") from None
        found.append(ToolCall(id_, name, arguments))
    return tuple(found)
