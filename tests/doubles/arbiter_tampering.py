"""Tampering with the folder of a run: every field of every record, every line, every file."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

Place = tuple[str | int, ...]

MISSING = object()
"""Stands for the value of a field that is taken out."""


class Alteration(NamedTuple):
    """One field of one record with another value.

    Attributes:
        file: Which file.
        line: Which line, from 0; None for a file of one document.
        place: Where in the record.
        value: The new value, or `MISSING`.
    """

    file: str
    line: int | None
    place: Place
    value: Any

    @property
    def field(self) -> str:
        """Name file and field, list indices left out."""
        names = [self.file, *(part for part in self.place if not isinstance(part, int))]
        return " ".join([names[0], ".".join(map(str, names[1:]))])

    @property
    def kind(self) -> str:
        return "removed" if self.value is MISSING else "altered"

    def apply(self, text: str) -> str:
        """Return the altered text of the file."""
        if self.line is None:
            return json.dumps(self._altered(json.loads(text)))
        lines = text.split("\n")
        lines[self.line] = json.dumps(self._altered(json.loads(lines[self.line])))
        return "\n".join(lines)

    def _altered(self, record: Any) -> Any:
        found = copy.deepcopy(record)
        part = found
        for name in self.place[:-1]:
            part = part[name]
        if self.value is MISSING:
            del part[self.place[-1]]
        else:
            part[self.place[-1]] = self.value
        return found


def alterations(file: str, text: str, seen: set[tuple[str, str]]) -> Iterator[Alteration]:
    """Yield for each field of a file what may be done to it, at the first record that has it.

    Args:
        seen: What was done already, in this run or another.
    """
    records: list[tuple[int | None, Any]] = [(None, json.loads(text))] if file.endswith(".json") else []
    if file.endswith(".jsonl"):
        records = [(n, json.loads(line)) for n, line in enumerate(text.split("\n")[:-1])]
    for line, record in records:
        for place, value in fields(record):
            for new in (*others(value), MISSING):
                found = Alteration(file, line, place, new)
                # A text and nothing are two ways to fill a field.
                key = (found.field, f"{found.kind} {type(value).__name__} {type(new).__name__}")
                if key not in seen:
                    seen.add(key)
                    yield found


def fields(value: Any, place: Place = ()) -> Iterator[tuple[Place, Any]]:
    """Yield every field, whole objects and lists too, and of each list the first item."""
    if place:
        yield place, value
    if isinstance(value, dict):
        for name, one in value.items():
            yield from fields(one, (*place, name))
    elif isinstance(value, list):
        for n, one in enumerate(value[:1]):
            yield from fields(one, (*place, n))


def others(value: Any) -> Iterator[Any]:
    """Yield other values of the same sort."""
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield value + 2
    elif isinstance(value, float):
        yield value * 0.9 if value else 0.1
    elif isinstance(value, str):
        yield other_text(value)
    elif isinstance(value, list) and value:
        yield value[:-1]
        yield [*value, value[-1]]
    elif value is None:
        yield "text"
        yield 0.5


def other_text(text: str) -> str:
    """Change a text so that it stays what it is: a hash, an instant, base64."""
    if re.fullmatch(r"[0-9a-f]{64}", text):
        return ("0" if text[0] != "0" else "1") + text[1:]
    if re.match(r"\d{4}-\d\d-\d\dT", text):
        return f"{int(text[:4]) + 1}{text[4:]}"
    if re.fullmatch(r"[A-Za-z0-9+/]{14,}={0,2}", text) and len(text) % 4 == 0:
        return text[:2] + ("B" if text[2] != "B" else "C") + text[3:]
    return f"{text} also"


class Tampered:
    """A copy of a run in which one file at a time is changed."""

    def __init__(self, folder: Path, copied: Path) -> None:
        self.folder = copied
        self.files = {
            path.relative_to(folder).as_posix(): path.read_bytes()
            for path in sorted(folder.rglob("*"))
            if path.is_file()
        }
        for name, raw in self.files.items():
            (copied / name).parent.mkdir(parents=True, exist_ok=True)
            (copied / name).write_bytes(raw)

    def put(self, file: str, raw: bytes | None) -> None:
        """Put other bytes in the place of a file, or take it away."""
        if raw is None:
            (self.folder / file).unlink()
        else:
            (self.folder / file).write_bytes(raw)

    def mend(self, file: str) -> None:
        (self.folder / file).write_bytes(self.files[file])
