"""Read a file of Arbiter's as the record it should be; every fault in it is one line."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar, get_args

from pydantic import ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from moot.config.json_files import BadJson, parsed, read_text
from moot.protocols.arbiter.record import Record
from moot.protocols.kernel.errors import BadInput
from moot.protocols.kernel.faults import why

MOST_BYTES: Final = 4_000_000
"""A larger file is none of Arbiter's."""

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


class _Fault(NamedTuple):
    """A fault in a record.

    Attributes:
        place: Names of fields and numbers of items that lead to it.
        fields: What could stand there.
        is_of_kind: What stands there is of another kind than one of those it may be of, such as number or range.
    """

    told: ErrorDetails
    place: tuple[int | str, ...]
    fields: Mapping[str, FieldInfo]
    is_of_kind: bool


def _lines(error: ValidationError, kind: type[Record]) -> Iterator[str]:
    faults = [*_merged([_fault(told, kind) for told in error.errors(include_url=False)])]
    for number, fault in enumerate(faults):
        if any(_says_more(other, fault, earlier=at < number) for at, other in enumerate(faults)):
            continue
        where = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in fault.place)
        text = ABSENT if _should_be_absent(fault) else why(fault.told, list(fault.fields))
        yield f"{where.removeprefix('.')}: {text}" if where else text


def _merged(faults: Sequence[_Fault]) -> Iterator[_Fault]:
    """Make one fault of those that each list some of the choices for the same place."""
    choices: dict[tuple[int | str, ...], list[str]] = {}
    for fault in faults:
        if fault.told["type"] == "literal_error":
            choices.setdefault(fault.place, []).extend(fault.told["ctx"]["expected"].split(" or "))
    for fault in faults:
        if fault.told["type"] != "literal_error":
            yield fault
        elif listed := choices.pop(fault.place, None):
            expected = " or ".join(filter(None, (", ".join(listed[:-1]), listed[-1])))
            yield fault._replace(told={**fault.told, "ctx": {"expected": expected}})


def _fault(told: ErrorDetails, kind: type[Record]) -> _Fault:
    place: list[int | str] = []
    fields = inner = _fields(kind)
    is_unknown, is_of_kind = told["type"] == "extra_forbidden", False
    for at, part in enumerate(told["loc"], 1):
        is_last = at == len(told["loc"])
        if part in inner:
            fields, found = inner, _record_in(inner[str(part)].annotation)
            inner = _fields(found) if found else {}
        elif not (isinstance(part, int) or (is_last and is_unknown)):
            # Not a part of the place: the member of a union that is spoken of.
            is_of_kind = is_last and told["type"].endswith("_type")
            continue
        place.append(part)
    return _Fault(told, tuple(place), inner if is_unknown else fields, is_of_kind)


def _says_more(other: _Fault, fault: _Fault, *, earlier: bool) -> bool:
    """Whether a fault need not be told since another one is.

    A value of the wrong kind is told once; when its kind is right for one member of a union, what that one says counts.
    A list is not short when what is wrong with its items is told.
    """
    is_within = other.place[: len(fault.place)] == fault.place
    if fault.told["type"] == "too_short":
        return is_within and len(other.place) > len(fault.place)
    return fault.is_of_kind and is_within and (earlier or not other.is_of_kind)


def _fields(kind: type[Record]) -> dict[str, FieldInfo]:
    return {field.alias or name: field for name, field in kind.model_fields.items()}


def _should_be_absent(fault: _Fault) -> bool:
    field = fault.fields.get(str(fault.place[-1])) if fault.place else None
    return field is not None and not field.is_required() and fault.told["input"] is None


def _record_in(annotation: Any) -> type[Record] | None:
    if isinstance(annotation, type) and issubclass(annotation, Record):
        return annotation
    return next((found for one in get_args(annotation) if (found := _record_in(one))), None)
