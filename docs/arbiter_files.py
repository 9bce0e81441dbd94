"""The page that says what Arbiter's files hold, from their schemas; `generate.py` writes it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from moot.arbiter.schemas import SUFFIX, names, schema
from moot.protocols.arbiter.conditions import conditions

FOLDER: Final = "../../protocols/arbiter/schemas"

BOUNDS: Final[Mapping[str, str]] = {
    "minimum": "from",
    "exclusiveMinimum": "above",
    "maximum": "to",
    "exclusiveMaximum": "below",
    "minItems": "of at least",
}
"""Words for bounds."""


def arbiter_files() -> Iterator[str]:
    """Write the fields of every file."""
    yield "# Arbiter's files\n"
    yield "What a user configures and what a run writes, a heading for each schema. A line of a `.jsonl` file holds one"
    yield "record. A field that may be absent is never `null` instead, and there are no other fields. How the schemas"
    yield "are used and changed: [Arbiter](../design/arbiter.md#files-and-their-schemas).\n"
    for file in sorted(names()):
        if file == "common":
            continue
        whole = schema(file)
        yield f"## {file}\n"
        yield f"{whole['description']} [Schema]({FOLDER}/{file}{SUFFIX}), with examples.\n"
        yield from _fields(whole, file)
        for part, told in whole.get("$defs", {}).items():
            if _has_heading(told):
                yield f"### {part}\n"
                yield f"{told['description']}\n"
                yield from _fields(told, file)


def _fields(told: Mapping[str, Any], file: str) -> Iterator[str]:
    properties, required = told.get("properties", {}), told.get("required", ())
    if bases := [_shape(one, file) for one in told.get("allOf", ())]:
        never = _named([one for one in required if one not in properties])
        yield f"All of {', '.join(bases)}" + (f"; {never} never absent." if never else ".") + "\n"
    if "oneOf" in told:
        yield f"One of {', '.join(_shape(one, file) for one in told['oneOf'])}.\n"
    if properties:
        yield "| field | holds | may be absent | meaning |\n|---|---|---|---|"
        for field, shape in properties.items():
            absent = "" if field in required else "yes"
            yield f"| `{field}` | {_shape(shape, file)} | {absent} | {shape.get('description', '')} |"
        yield ""
        for one in conditions(told):
            where = (
                f"Where `{one.field}` is `{json.dumps(one.value)}`, there is a value of {_named(one.needed)}"
            )
            yield where + (f", and none of {_named(one.barred)}." if one.barred else ".") + "\n"


def _shape(told: Mapping[str, Any], file: str) -> str:
    """Say in a few words what a part of a schema admits."""
    if "$ref" in told:
        other, _, part = told["$ref"].partition("#/$defs/")
        file = other.removesuffix(SUFFIX) or file
        target = schema(file)["$defs"][part]
        return f"[{part}](#{part.lower()})" if _has_heading(target) else _shape(target, file)
    if "const" in told:
        return f"`{json.dumps(told['const'])}`"
    if "enum" in told:
        return " or ".join(f"`{json.dumps(one)}`" for one in told["enum"])
    if alternatives := told.get("anyOf") or told.get("oneOf"):
        return " or ".join(_shape(one, file) for one in alternatives)
    words = [str(told.get("type", "anything but null"))]
    if "items" in told:
        words = [f"list of {_shape(told['items'], file)}"]
    elif isinstance(told.get("additionalProperties"), dict) and told["additionalProperties"]:
        words = [f"object of {_shape(told['additionalProperties'], file)}"]
    words += [f"{bound} {told[key]:g}" for key, bound in BOUNDS.items() if key in told]
    if "minLength" in told:
        words.append("that is not empty")
    if "pattern" in told:
        words.append(f"like `{told['pattern']}`".replace("|", "\\|"))
    return " ".join(words)


def _named(fields: Sequence[str]) -> str:
    return ", ".join(f"`{one}`" for one in fields)


def _has_heading(told: Mapping[str, Any]) -> bool:
    return bool(told.keys() & {"properties", "allOf"})
