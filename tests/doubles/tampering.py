"""Tampering with a log: every field of every message altered, lines removed, doubled, swapped, inserted."""

from __future__ import annotations

import copy
import io
import json
import re
from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Any, Literal, NamedTuple, get_args, get_origin

from pydantic import BaseModel
from pydantic_core import to_json

from moot.logs.jsonlines import JsonLines
from moot.protocols.kernel.envelope import GENESIS, link
from moot.protocols.kernel.seats import ADMIN, REFEREE
from moot.protocols.kernel.times import parse_instant, rfc3339
from moot.protocols.research.seats import CRITIC
from moot.protocols.rulebook import rulebook
from moot.verify import Report, verify

Lines = list[dict[str, Any]]
"""A log as plain data, one object a line, `hash` in it or not."""

Path = tuple[str | int, ...]


_NUMBERED = re.compile(r"\b(violation|ruling|started|stopped|mode/[AB])/(\d+)\b")


_INSTANT = "2026-02-28T12:00:00.000000Z"
_DIGEST = re.compile(r"[0-9a-f]{64}")


class Alteration(NamedTuple):
    """One field of one message with another value.

    Attributes:
        index: Which line.
        path: Where in it.
        value: The new value.
    """

    index: int
    path: Path
    value: Any

    @property
    def field(self) -> str:
        """Name the field, list indices left out."""
        return ".".join(str(part) for part in self.path if not isinstance(part, int))

    def apply(self, lines: Lines) -> Lines:
        """Return the altered log; the others' lines are shared."""
        altered = list(lines)
        altered[self.index] = copy.deepcopy(lines[self.index])
        place: Any = altered[self.index]
        for part in self.path[:-1]:
            place = place[part]
        place[self.path[-1]] = self.value
        return altered


def line_of(value: dict[str, Any]) -> str:
    """Write one line as the log does, its keys in the order in which they stand."""
    return to_json(value).decode()


def write(lines: Sequence[dict[str, Any]]) -> str:
    """Write a log as JSON Lines."""
    return "".join(line_of(line) + "\n" for line in lines)


def read(text: str) -> Lines:
    """Read JSON Lines."""
    return [json.loads(line) for line in text.splitlines()]


def judged(lines: Lines | str, **how: Any) -> Report:
    """Verify a log as a file, without computing its backtests again unless asked."""
    text = lines if isinstance(lines, str) else write(lines)
    source = JsonLines("tampered", "file", io.BytesIO(text.encode()))  # type: ignore[arg-type]
    return verify(source, **{"evidence": False, **how})


def stripped(lines: Lines) -> Lines:
    """Return a log without any hash."""
    return [{key: value for key, value in line.items() if key != "hash"} for line in lines]


def rehashed(lines: Lines) -> Lines:
    """Return a log whose hashes fit again, and so do the ANCHORs in it that did before."""
    previous = GENESIS
    done: Lines = []
    for line in stripped(lines):
        body = line.get("body", {})
        named = body.get("seq") if body.get("type") == "ANCHOR" else None
        was_right = isinstance(named, int) and 0 < named <= len(done)
        if was_right and body["hash"] == lines[named - 1].get("hash"):
            body = {**body, "hash": done[named - 1]["hash"]}
        mended = {**line, "body": body} if "body" in line else line
        previous = link(previous, line_of(mended))
        done.append({**mended, "hash": previous.hex()})
    return done


def renumbered(lines: Lines) -> Lines:
    """Return a log whose seq is dense again, with all that refers to it, as one who hides a change would."""
    moved = {line["seq"]: n for n, line in enumerate(lines, 1)}

    def anew(identity: str | None) -> str | None:
        if identity is None:
            return None
        return _NUMBERED.sub(lambda found: f"{found[1]}/{moved.get(int(found[2]), found[2])}", identity)

    done = []
    for n, before in enumerate(lines, 1):
        line = copy.deepcopy(before)
        line.update(seq=n, id=anew(line["id"]), in_reply_to=anew(line["in_reply_to"]))
        line["tenure"] = moved.get(line["tenure"], line["tenure"])
        body = line["body"]
        if isinstance(body.get("of_seq"), int):
            body["of_seq"] = moved.get(body["of_seq"], body["of_seq"])
        if body["type"] == "ANCHOR":
            body["seq"] = moved.get(body["seq"], body["seq"])
        if "last_seq" in body:
            body["last_seq"] = n - 1
        if "evidence_seqs" in body:
            body["evidence_seqs"] = [moved.get(seq, seq) for seq in body["evidence_seqs"]]
        done.append(line)
    return done


def alterations(line: dict[str, Any], index: int) -> Iterator[Alteration]:
    """Yield alterations of every field of a line, to values that its schema allows where there are such."""
    for path, value in _leaves(line, ()):
        if path == ("hash",):
            continue
        for other in _others(line["body"]["type"], path, value):
            yield Alteration(index, path, other)


def _leaves(value: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    if isinstance(value, dict) and value:
        for key, item in value.items():
            yield from _leaves(item, (*path, key))
    elif isinstance(value, list) and value:
        yield path, value
        yield from _leaves(value[0], (*path, 0))
    else:
        yield path, value


_CHOICES = {
    "channel": ("#a-verdict", "#admin", "#a-arena"),
    "author": (CRITIC, REFEREE, ADMIN),
    "kind": ("bot", "human", "officer"),
}
"""Values that envelopes may take, by field."""

_KINDS = ("failure", "success", "timeout", "observation")


def _others(kind: str, path: Path, value: Any) -> Iterator[Any]:
    name = next(part for part in reversed(path) if isinstance(part, str))
    in_body = path[0] == "body"
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield value + 1
        yield value + 100
        if value:
            yield value - 1
    elif isinstance(value, float):
        yield from (round(other, 6) for other in (value + 0.05, value - 0.05, 1 - value) if other != value)
    elif value is None:
        yield from (
            (*_literals(kind, path), "x", 0.5, 1, True, ["x"], {"x": 1}, _INSTANT) if in_body else ("x",)
        )
    elif isinstance(value, dict):
        yield {"x": 1}
    elif isinstance(value, list):
        yield from ([value[:-1], [*value, value[-1]]] if value else [["x"]])
    elif isinstance(value, str):
        yield from _other_texts(kind, path, name, value, in_body)


def _other_texts(kind: str, path: Path, name: str, value: str, in_body: bool) -> Iterator[Any]:
    if not in_body and name in _CHOICES:
        yield from (choice for choice in _CHOICES[name] if choice != value)
        return
    if name == "type":
        yield from (choice for choice in ("NOTE", "REFLECTION") if choice != value)
        return
    choices = (_literals(kind, path) if in_body else ()) or (_KINDS if name == "kind" else ())
    if choices:
        yield from (choice for choice in choices if choice != value)
        return
    if len(value) == 27 and value.endswith("Z"):
        instant = parse_instant(value)
        for shift in (timedelta(seconds=1), timedelta(hours=-5), timedelta(hours=5)):
            yield rfc3339(instant + shift)
        return
    yield value + "x"
    if name == "body":
        return
    if value and not in_body:
        yield None
    if value[-1:].isdigit():
        yield from (value[:-1] + str((int(value[-1]) + n) % 10) for n in (1, -1))
    elif _DIGEST.fullmatch(value):
        yield value[:-1] + ("b" if value[-1] == "a" else "a")


def _literals(kind: str, path: Path) -> tuple[Any, ...]:
    """Return the values that a Literal field of a message takes, which may be one of a part of it."""
    shape: Any = rulebook().messages.get(kind)
    for name in (part for part in path[1:] if isinstance(part, str)):
        found = [
            field
            for model in _models(shape)
            for key, field in model.model_fields.items()
            if name == (field.serialization_alias or key)
        ]
        if not found:
            return ()
        shape = found[0].annotation
    return tuple(_choices(shape))


def _models(shape: Any) -> Iterator[type[BaseModel]]:
    if isinstance(shape, type) and issubclass(shape, BaseModel):
        yield shape
    for inner in get_args(shape):
        yield from _models(inner)


def _choices(shape: Any) -> Iterator[Any]:
    if get_origin(shape) is Literal:
        yield from get_args(shape)
    else:
        for inner in get_args(shape):
            yield from _choices(inner)
