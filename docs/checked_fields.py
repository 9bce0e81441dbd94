"""Which field of which message `moot verify` holds to the rest of the log, and why not the others."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple, get_args, get_origin

from pydantic import BaseModel

from moot.protocols.rulebook import rulebook

UNCHECKED: Final = Path(__file__).with_name("unchecked_fields.toml")
"""The reasons, by type and field; `tests/integration/test_every_field.py` says when it is wrong."""

BODY: Final = "body."

ENVELOPE: Final = "envelope."
"""What a field around the body is named with."""


class Reasons(NamedTuple):
    """Why fields are not checked, or not tried.

    Attributes:
        kinds: What the kinds of reasons mean.
        untried: Fields that no test alters, and why, by type.
        unchecked: `kind` or `kind: why`, by type and field.
    """

    kinds: Mapping[str, str]
    untried: Mapping[str, Mapping[str, str]]
    unchecked: Mapping[str, Mapping[str, str]]


@cache
def reasons() -> Reasons:
    """Read the reasons."""
    found = tomllib.loads(UNCHECKED.read_text(encoding="utf-8"))
    return Reasons(found.pop("reasons"), found.pop("untried"), found)


@cache
def fields(kind: str) -> tuple[str, ...]:
    """Return the fields of a type's body, those of its parts behind a dot; lists without their indices."""
    return tuple(_fields(rulebook().messages[kind], ""))


def _fields(model: type[BaseModel], within: str) -> Iterator[str]:
    for name, info in model.model_fields.items():
        path = within + (info.serialization_alias or name)
        if path == "type":
            continue
        parts = list(_parts(info.annotation))
        if not parts or _is_list(info.annotation):
            yield path
        for part in parts:
            yield from _fields(part, f"{path}.")


def _parts(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in get_args(annotation):
        yield from _parts(inner)


def _is_list(annotation: Any) -> bool:
    return get_origin(annotation) is tuple or any(map(_is_list, get_args(annotation)))


def name_of(kind: str, path: str) -> str:
    """Name a field as the list does: of the body without `body.`, entries of a mapping by the mapping itself."""
    if not path.startswith(BODY):
        return f"{ENVELOPE}{path}"
    name = path.removeprefix(BODY)
    while name not in fields(kind) and "." in name:
        name = name.rpartition(".")[0]
    return name


def checked_fields() -> Iterator[str]:
    """Write the page."""
    meaning, untried, unchecked = reasons()
    types = rulebook().messages
    total = sum(len(fields(kind)) for kind in types)
    count = Counter(
        why.partition(":")[0]
        for named in unchecked.values()
        for field, why in named.items()
        if not field.startswith(ENVELOPE)
    )
    yield "# Checked fields\n"
    yield "What `moot verify` holds to the rest of a log even where no hash protects it, or somebody made the hashes"
    yield "anew. A test alters every field of every type, and fails when this list is wrong.\n"
    known = total - sum(map(len, untried.values()))
    yield f"Of the {total} fields of {len(types)} types, {known - count.total()} are checked: an alteration is found."
    yield f"{total - known} could not be altered, as their tables say. Of the others, some other value is as consistent"
    yield "with the log:\n"
    yield "| reason | fields | meaning |\n|---|---|---|"
    for reason, text in meaning.items():
        yield f"| {reason} | {count[reason] or 'of envelopes'} | {text} |"
    yield "\nAn envelope's fields are checked, but for those that a type's table names as `envelope.`.\n"
    for kind in types:
        yield f"## {kind}\n"
        yield "| field | checked |\n|---|---|"
        told = {field: f"no, {why}" for field, why in unchecked.get(kind, {}).items()}
        told |= {field: f"not tried: {why}" for field, why in untried.get(kind, {}).items()}
        for field in dict.fromkeys((*fields(kind), *told)):
            yield f"| `{field}` | {told.get(field, 'yes')} |"
        yield ""
