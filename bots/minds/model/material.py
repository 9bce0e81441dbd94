"""What a model is shown beside its instructions: figures, messages, memory and notes, each within its own quotation.

A quotation begins and ends with a line that holds a key made of what is quoted, so that nobody who wrote a part of it
could have written its end.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from pydantic_core import to_jsonable_python

from moot.bots.minds.mind import View
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.times import rfc3339

KEY_CHARS: Final = 16

SHORTENED: Final = "(shortened)"

MOST_FIGURES: Final = 16_000
MOST_WORK: Final = 60_000
MOST_MEMORY: Final = 6_000
MOST_NOTES: Final = 4_000
"""Characters of each that are shown."""

PRINCIPLES: Final = 8
RECORDS: Final = 8
"""Principles and records of memory that are shown without being looked up."""


class Quoted(NamedTuple):
    """A piece of data under a name."""

    name: str
    text: str


def quote(parts: Sequence[Quoted]) -> str:
    """Write data between lines that nothing in it can imitate.

    The same parts give the same text.
    """
    whole = "\0".join(f"{one.name}\0{one.text}" for one in parts)
    key = hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()[:KEY_CHARS]
    return "\n\n".join(f"<<<{one.name} {key}>>>\n{one.text}\n<<<end {one.name} {key}>>>" for one in parts)


def material(view: View, most_transcript: int, extra: Iterable[Quoted] = ()) -> str:
    """Return all that a model is shown of a duty, what changes least first.

    Args:
        view: What the mind is shown.
        most_transcript: So many characters of the transcript; the oldest messages give way.
        extra: What else there is to know.
    """
    shown = [
        Quoted("work", cut(view.content, MOST_WORK)),
        *extra,
        Quoted("figures", cut(_figures(view.brief), MOST_FIGURES)),
        Quoted("transcript", _transcript(view.in_effect, most_transcript)),
        Quoted("memory", cut(_memory(view), MOST_MEMORY)),
        Quoted("notes", _newest([_note(env, view.names) for env in view.notes], MOST_NOTES)),
        Quoted("refused", view.refused),
    ]
    return presented(view, shown)


def presented(view: View, parts: Iterable[Quoted]) -> str:
    """Return what a model is shown of a duty: when and where it is, and the parts that say something."""
    said = [f"Case {view.obligation.case_id}, society time {rfc3339(view.now)}."]
    if quoted := [one for one in parts if one.text]:
        said.append(quote(quoted))
    if view.refused:
        said.append("Your last answer to this was refused; `refused` says why. Answer again, and mend that.")
    return "\n\n".join(said)


def _figures(brief: Mapping[str, Any]) -> str:
    return "\n".join(f"{name}: {as_json(value)}" for name, value in brief.items())


def _transcript(envelopes: Sequence[Envelope], most: int) -> str:
    return _newest([_line(env) for env in envelopes], most)


def _line(env: Envelope) -> str:
    """Write a message in one line: JSON keeps whatever is in it from looking like another."""
    body = {name: value for name, value in to_jsonable_python(env.body).items() if name != "type"}
    return f"#{env.seq} {rfc3339(env.sent_at)} {env.author} {env.body.type} {as_json(body)}"


def _note(env: Envelope, names: Mapping[str, str]) -> str:
    who = names.get(env.actor.user_id, env.actor.name)
    return f"#{env.seq} {as_json(who)} {as_json(getattr(env.body, 'text', ''))}"


def _memory(view: View) -> str:
    """Return the principles that memory is surest of, and its newest records."""
    memory = view.memory
    principles = sorted(memory.principles(), key=lambda one: -one.confidence)[:PRINCIPLES]
    records = memory.experiences()[-RECORDS:]
    return "\n".join(as_json(to_jsonable_python(one)) for one in (*principles, *records))


def _newest(lines: Sequence[str], most: int) -> str:
    """Join lines, the oldest left out where they are too many; a line says how many."""
    kept: list[str] = []
    size = 0
    for line in reversed(lines):
        if kept and size + len(line) > most:
            break
        kept.append(cut(line, most))
        size += len(kept[-1])
    left_out = len(lines) - len(kept)
    head = [f"({left_out} older ones are left out)"] if left_out else []
    return "\n".join((*head, *reversed(kept)))


def cut(text: str, most: int) -> str:
    """Return a text, its end left out where it is too long."""
    return text if len(text) <= most else f"{text[:most]}… {SHORTENED}"


def as_json(value: Any) -> str:
    """Write a value as JSON in one line."""
    plain = to_jsonable_python(value, fallback=str)
    return json.dumps(plain, ensure_ascii=False, separators=(",", ":"))
