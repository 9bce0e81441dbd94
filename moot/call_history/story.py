"""What was asked and answered in a call, word for word, by the bodies beside a log."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from moot.call_history.listing import Call
from moot.memory.bodies import StoredBodies
from moot.memory.bodies_file import CALLS_NAME, StoredBodiesFile
from moot.memory.errors import MemoryStoreError


class Said(NamedTuple):
    """A part of a prompt or of a reply: whose it is (`system`, `user`, `tool look_up` …), and its text."""

    by: str
    text: str


@dataclass(frozen=True, slots=True)
class Words:
    """What was said in a call.

    Attributes:
        request: The body that was sent, as JSON; None when it is lost, or was never kept.
        reply: The record of the reply; its `body` as JSON where it is JSON. None as above.
        lost: Why something that the log names is not here, a line each.
    """

    request: Mapping[str, Any] | None
    reply: Mapping[str, Any] | None
    lost: tuple[str, ...]


class Bodies:
    """The bodies of a data directory, as far as they can be read.

    Attributes:
        why: Why none can be read; "" when they can.
    """

    def __init__(self, directory: Path | None) -> None:
        """Open them; None for a log that is not in a data directory."""
        self.why = ""
        self._stored: StoredBodies | None = None
        if directory is None:
            self.why = (
                f"a file of messages holds none of the texts: they are in {CALLS_NAME} where the society ran"
            )
            return
        try:
            self._stored = StoredBodiesFile(directory / CALLS_NAME)
        except MemoryStoreError as exc:
            self.why = str(exc)

    def words(self, call: Call) -> Words:
        """Return what was said in a call."""
        lost: list[str] = []
        request = self._read("request", call.request_sha256, lost)
        reply = self._read("reply", call.reply_sha256, lost)
        if reply is not None and isinstance(reply.get("body"), str):
            reply = {**reply, "body": _json(reply["body"])}
        return Words(request, reply, tuple(lost))

    def close(self) -> None:
        """Close the file."""
        if self._stored is not None:
            self._stored.close()

    def __enter__(self) -> Bodies:
        """Return them."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close them."""
        self.close()

    def _read(self, what: str, sha256: str, lost: list[str]) -> Mapping[str, Any] | None:
        if not sha256:
            return None
        try:
            if self._stored is None:
                raise MemoryStoreError(self.why)
            found = _json(self._stored.get(sha256).decode("utf-8", "replace"))
        except MemoryStoreError as exc:
            lost.append(f"the {what} is lost: {exc}")
            return None
        if isinstance(found, dict):
            return found
        lost.append(f"the {what} cannot be read: body {sha256} is no JSON object")
        return None


def prompt_of(request: Mapping[str, Any]) -> list[Said]:
    """Return the messages of a request, in their order; OpenAI's form or Anthropic's own."""
    found = []
    if request.get("system"):
        found.append(Said("system", _text(request["system"])))
    for message in request.get("messages") or ():
        if isinstance(message, Mapping):
            found += _message(message)
    return found


def shared(before: Sequence[Said], asked: Sequence[Said]) -> int:
    """Return how many messages a prompt shares with the one before it, from its beginning."""
    return next(
        (n for n, (old, new) in enumerate(zip(before, asked, strict=False)) if old != new),
        min(len(before), len(asked)),
    )


def reply_of(reply: Mapping[str, Any]) -> list[Said]:
    """Return what a model said in a reply record: text, reasoning and calls of tools; empty when it said nothing."""
    body = reply.get("body")
    if isinstance(body, str):
        return [Said("server", body)] if body else []
    if not isinstance(body, Mapping):
        return []
    choices = body.get("choices")
    if isinstance(choices, list) and choices and isinstance(choices[0], Mapping):
        message = choices[0].get("message")
        return [*_message(message)] if isinstance(message, Mapping) else []
    if "content" in body:
        return [*_message({"role": "assistant", **body})]
    return [Said("server", json.dumps(body, ensure_ascii=False))]


def _message(message: Mapping[str, Any]) -> Iterator[Said]:
    role = str(message.get("role") or "assistant")
    by = f"tool {message['tool_call_id']}" if role == "tool" and "tool_call_id" in message else role
    thought = message.get("reasoning_content") or message.get("reasoning")
    if isinstance(thought, str) and thought:
        yield Said(f"{by}, reasoning", thought)
    content = message.get("content")
    if isinstance(content, list):
        for part in content:
            if isinstance(part, Mapping):
                yield _part(by, part)
    elif content:
        yield Said(by, _text(content))
    if refusal := message.get("refusal"):
        yield Said(f"{by}, refusing", _text(refusal))
    for call in message.get("tool_calls") or ():
        function = call.get("function") if isinstance(call, Mapping) else None
        if isinstance(function, Mapping):
            name, arguments = _text(function.get("name")), _text(function.get("arguments"))
            yield Said(f"{by} calls {name}", arguments)


def _part(by: str, part: Mapping[str, Any]) -> Said:
    kind = part.get("type")
    if kind == "tool_use":
        return Said(f"{by} calls {_text(part.get('name'))}", _text(part.get("input")))
    if kind == "tool_result":
        return Said(f"tool {_text(part.get('tool_use_id'))}", _text(part.get("content")))
    if kind == "thinking":
        return Said(f"{by}, reasoning", _text(part.get("thinking")))
    return Said(by, _text(part.get("text", part)))


def _text(value: object) -> str:
    if isinstance(value, list) and all(isinstance(one, Mapping) and "text" in one for one in value):
        return "\n".join(str(one["text"]) for one in value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
