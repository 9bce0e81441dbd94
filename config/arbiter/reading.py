"""Read a file of Arbiter's as the record it should be; every fault in it is one line."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar, get_args

from pydantic import ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from moot.config.json_files import BadJson, parsed, read_text
from moot.protocols.arbiter.records import Record
from moot.protocols.kernel.errors import BadInput
from moot.protocols.kernel.faults import why

MOST_BYTES: Final = 4_000_000
"""A larger file is none of Arbiter's."""

_UNIONS: Final = frozenset({"number", "range", "text"})
"""Tags of what a field may be; a user does not write them."""

ABSENT: Final = "is null: leave it out, or give it a value"

Kind = TypeVar("Kind", bound=Record)


class Faulty(BadInput):
    """Say what is wrong with a file.

    Attributes:
        lines: One for each fault: file, place in it, what to do.
    """

    def __init__(self, lines: Sequence[str]) -> None:
        """Keep the lines."""
        super().__init__("; ".join(lines))
        self.lines = tuple(lines)


def read_record(path: Path, kind: type[Kind]) -> Kind:
    """Read a file.

    Raises:
        Faulty: It cannot be read, is no JSON, or not what its schema says.
    """
    return record(parsed_file(path), kind, str(path))


def parsed_file(path: Path) -> object:
    """Return what a JSON file says.

    Raises:
        Faulty: It cannot be read, or is no JSON.
    """
    try:
        return parsed(text_of(path))
    except BadJson as exc:
        raise Faulty([f"{path}: {exc}"]) from None


def text_of(path: Path) -> str:
    """Return the text of a file.

    Raises:
        Faulty: It cannot be read.
    """
    try:
        return read_text(path, MOST_BYTES)
    except FileNotFoundError:
        raise Faulty([f"{path}: there is no such file"]) from None
    except BadJson as exc:
        raise Faulty([f"{path}: {exc}"]) from None


def record(value: object, kind: type[Kind], name: str) -> Kind:
    """Return plain data as a record.

    Args:
        value: What a file says.
        kind: What it should be.
        name: What the file is called in a fault.

    Raises:
        Faulty: It is not what the schema says.
    """
    try:
        return kind.from_json(json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass"))
    except ValidationError as exc:
        raise Faulty([f"{name}: {line}" for line in _lines(exc, kind)]) from None


def _lines(error: ValidationError, kind: type[Record]) -> Iterator[str]:
    faults = error.errors(include_url=False)
    for fault in faults:
        if fault["type"] == "too_short" and any(
            len(one["loc"]) > len(fault["loc"]) and one["loc"][: len(fault["loc"])] == fault["loc"]
            for one in faults
        ):
            # The list is not short: what is wrong with its items is told already.
            continue
        place = _place(fault["loc"])
        where = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place)
        fields = _fields_at(kind, place)
        text = ABSENT if _should_be_absent(fault, fields) else why(fault, list(fields))
        yield f"{where.removeprefix('.')}: {text}" if where else text


def _place(found: Sequence[int | str]) -> list[int | str]:
    return [
        part
        for before, part in zip(("", *found), found, strict=False)
        if part not in _UNIONS or (part == "text" and before != "seed")
    ]


def _fields_at(kind: type[Record], place: Sequence[int | str]) -> Mapping[str, FieldInfo]:
    """Return the fields that could stand where a fault is."""
    for part in place[:-1]:
        inner = _fields(kind).get(str(part))
        kind = (inner and _record_in(inner.annotation)) or kind
    return _fields(kind)


def _fields(kind: type[Record]) -> dict[str, FieldInfo]:
    return {field.alias or name: field for name, field in kind.model_fields.items()}


def _should_be_absent(fault: ErrorDetails, fields: Mapping[str, FieldInfo]) -> bool:
    place = _place(fault["loc"])
    field = fields.get(str(place[-1])) if place else None
    return field is not None and not field.is_required() and fault["input"] is None


def _record_in(annotation: Any) -> type[Record] | None:
    if isinstance(annotation, type) and issubclass(annotation, Record):
        return annotation
    return next((found for one in get_args(annotation) if (found := _record_in(one))), None)
