"""What notebook tools answer, as typed results.

Servers differ: a result may come as structured content, as JSON in a text block, or as plain text. All are taken; an
answer that is none of what a tool promises is `NotebookGarbage`.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from moot.bots.notebook.errors import NotebookGarbage, NotebookRefused, one_line

if TYPE_CHECKING:
    from mcp_types import CallToolResult

TEXT_CHARS: Final = 20_000
"""Length limit of a passage; what is longer is cut, and a note says so."""
MAX_ANSWER_CHARS: Final = 1_000_000
"""Length limit of a tool's whole answer; one that is longer is refused."""
FAILED: Final = frozenset({"error", "failed", "failure"})
"""Values of `status` with which servers say in an ordinary answer that a call failed."""
ERROR_TEXTS: Final = ("error executing tool", "error calling tool")
"""Beginnings of an ordinary answer that is a server's own error."""
MOST_NAMES: Final = 1_000
REF_DIGITS: Final = 10

LISTS: Final = ("passages", "results", "result", "hits", "matches", "items", "sources")
TEXTS: Final = ("text", "passage", "content", "snippet", "excerpt", "answer")
REFS: Final = ("ref", "reference", "evidence_ref", "id", "uri", "url")
NOTES: Final = ("note", "source", "file", "path", "title")
REPORTS: Final = ("ref", "reference", "id", "uri", "url", "file", "path", "result")


@dataclass(frozen=True, slots=True)
class Passage:
    """Evidence that a notebook gave.

    Attributes:
        ref: Its reference, to be cited; the same whenever the same passage is found.
        note: Where it stands, empty where the server does not say.
        text: What it says.
        score: The server's measure of fit, higher is better; None where it gives none.
    """

    ref: str
    note: str
    text: str
    score: float | None


@dataclass(frozen=True, slots=True)
class Described:
    """What a notebook says it holds.

    Attributes:
        id: Its identifier.
        title: Its name for people.
        notes: Names of its notes, the first thousand at most.
        note_count: How many notes there are; None where the server does not say.
        passage_count: How many passages there are; None where the server does not say.
        tools: The tools that its server offers, sorted.
    """

    id: str
    title: str
    notes: tuple[str, ...]
    note_count: int | None
    passage_count: int | None
    tools: tuple[str, ...]


def described(answer: CallToolResult, name: str, tools: tuple[str, ...]) -> Described:
    """Read the answer of `notebook_describe`; `name` stands in for what it does not say.

    Raises:
        NotebookGarbage: It is neither an object nor text.
        NotebookRefused: The tool said no.
    """
    data = _data(answer)
    if isinstance(data, str):
        return Described(name, one_line(data), (), None, None, tools)
    if not isinstance(data, dict):
        raise NotebookGarbage(f"notebook_describe answered {_kind(data)} where an object is promised")
    listed = data.get("notes", [])
    if not isinstance(listed, list):
        listed = []
    notes = [_name(note) for note in listed[:MOST_NAMES]]
    return Described(
        id=_first(data, ("id", "notebook_id")) or name,
        title=_first(data, ("title", "name")) or name,
        notes=tuple(note for note in notes if note),
        note_count=_count(data.get("note_count")),
        passage_count=_count(data.get("passage_count")),
        tools=tools,
    )


def passages(answer: CallToolResult, limit: int) -> tuple[Passage, ...]:
    """Read the answer of `notebook_query`: at most `limit` passages, in the server's order.

    Raises:
        NotebookGarbage: It holds no passages and is no text.
        NotebookRefused: The tool said no.
    """
    data = _data(answer)
    if isinstance(data, dict):
        key = next((key for key in LISTS if key in data), None)
        data = data[key] if key is not None else [data]
    if isinstance(data, str):
        data = [data]
    if not isinstance(data, list):
        raise NotebookGarbage(f"notebook_query answered {_kind(data)} where passages are promised")
    return tuple(_passage(item) for item in data[:limit])


def report_ref(answer: CallToolResult) -> str:
    """Read the answer of `studio_create`: the report's reference.

    Raises:
        NotebookGarbage: It names no report.
        NotebookRefused: The tool said no.
    """
    data = _data(answer)
    ref = _first(data, REPORTS) if isinstance(data, dict) else one_line(data) if isinstance(data, str) else ""
    if not ref:
        raise NotebookGarbage("studio_create answered without a reference to the report")
    return ref


def plain_text(answer: CallToolResult) -> str:
    """Read any tool's answer as text.

    Raises:
        NotebookRefused: The tool said no.
    """
    texts = _texts(answer)
    if answer.is_error:
        said = " ".join(texts) or _error_text(answer.structured_content)
        raise NotebookRefused(f"the notebook refused: {said or 'it does not say why'}")
    whole = "\n".join(texts)
    size = max(len(whole), len(json.dumps(answer.structured_content)) if answer.structured_content else 0)
    if size > MAX_ANSWER_CHARS:
        raise NotebookGarbage(
            f"the notebook's answer has {size:,} characters, {MAX_ANSWER_CHARS:,} are the most: have it answer less"
        )
    if whole.lstrip().lower().startswith(ERROR_TEXTS):
        raise NotebookRefused(f"the notebook refused: {whole}")
    return whole


def _error_text(data: Any) -> str:
    """Return the error that an object tells, "" where it tells none."""
    if not isinstance(data, Mapping):
        return ""
    error = data.get("error")
    if isinstance(error, Mapping):
        error = error.get("message")
    named = error if isinstance(error, str) and error.strip() else ""
    return named or _first(data, ("message", "detail", "reason"))


def _check_no_error(data: Any) -> Any:
    """Return an answer's data unless it is an error that the server sent as an ordinary answer.

    Raises:
        NotebookRefused: It is, with the server's own text.
    """
    if not isinstance(data, Mapping):
        return data
    status = data.get("status")
    is_failed = isinstance(status, str) and status.strip().lower() in FAILED
    is_failed |= data.get("success") is False or data.get("ok") is False
    is_bare = bool(data.get("error")) and not any(key in data for key in (*LISTS, *TEXTS))
    if is_failed or is_bare:
        raise NotebookRefused(f"the notebook refused: {_error_text(data) or 'it does not say why'}")
    return data


def _data(answer: CallToolResult) -> Any:
    """Take structured content, else JSON, else text; several blocks that are objects each are a list."""
    whole = plain_text(answer)
    if answer.structured_content is not None:
        return _check_no_error(answer.structured_content)
    texts = _texts(answer)
    if not whole.strip():
        raise NotebookGarbage("the notebook answered nothing")
    data = _parsed(whole)
    if data is not None:
        return _check_no_error(data)
    blocks = [_parsed(text) for text in texts]
    if all(isinstance(block, dict) for block in blocks):
        return blocks
    return whole if len(texts) == 1 else texts


def _texts(answer: CallToolResult) -> list[str]:
    found: list[str] = []
    for block in answer.content:
        # A text block has a text; an embedded resource may hold one.
        text = getattr(block, "text", None) or getattr(getattr(block, "resource", None), "text", None)
        if isinstance(text, str) and text.strip():
            found.append(text)
    return found


def _parsed(text: str) -> Any:
    """Parse a JSON object or list; None for any other text, which is prose."""
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _passage(item: Any) -> Passage:
    if isinstance(item, str):
        item = {"text": item}
    text = _first(item, TEXTS, is_line=False) if isinstance(item, dict) else ""
    if not text:
        raise NotebookGarbage(
            f"notebook_query answered {_kind(item)} where a passage with a text is promised"
        )
    note = _first(item, NOTES)
    digest = hashlib.sha256(" ".join(text.split()).encode("utf-8", "replace")).hexdigest()[:REF_DIGITS]
    # A reference of our own making says what it rests on: equal words give an equal reference.
    ref = _first(item, REFS) or f"{note or 'answer'}#{digest}"
    return Passage(ref, note, _cut(text), _score(item.get("score")))


def _cut(text: str) -> str:
    """Cut a passage at its limit, with a note of how long it was."""
    if len(text) <= TEXT_CHARS:
        return text
    note = f" … [cut: {TEXT_CHARS:,} of {len(text):,} characters]"
    return text[: TEXT_CHARS - len(note)] + note


def _first(data: Mapping[str, Any], keys: tuple[str, ...], *, is_line: bool = True) -> str:
    """Return the first of some texts that is there; numbers serve as references."""
    for key in keys:
        value = data.get(key)
        if isinstance(value, int) and not isinstance(value, bool) and is_line:
            return str(value)
        if isinstance(value, str) and value.strip():
            clean = value.encode("utf-8", "replace").decode()
            return one_line(clean) if is_line else clean
    return ""


def _name(note: Any) -> str:
    if isinstance(note, dict):
        return _first(note, ("name", *NOTES, *REFS))
    return one_line(note) if isinstance(note, str) else ""


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _score(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value) if math.isfinite(value) else None
    except OverflowError:
        return None


def _kind(value: Any) -> str:
    kinds = {dict: "an object", list: "a list", str: "a text", bool: "a truth value", type(None): "null"}
    return kinds.get(type(value), "a number")
