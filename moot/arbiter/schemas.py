"""The JSON Schemas of Arbiter's files (draft 2020-12), which refer to each other."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, Final

from jsonschema import Draft202012Validator

from moot.protocols import arbiter

FOLDER: Final = Path(arbiter.__file__).with_name("schemas")
SUFFIX: Final = ".schema.json"


def names() -> list[str]:
    """Return the names of the schemas: of `trials.schema.json`, `trials`."""
    return [path.name.removesuffix(SUFFIX) for path in sorted(FOLDER.glob(f"*{SUFFIX}"))]


@cache
def schema(name: str) -> dict[str, Any]:
    """Return a schema; that of a .jsonl file says what one line holds."""
    found: dict[str, Any] = json.loads((FOLDER / f"{name}{SUFFIX}").read_text(encoding="utf-8"))
    return found


@cache
def validator(name: str, part: str = "") -> Draft202012Validator:
    """Return what holds a value against a schema.

    Args:
        name: One of `names()`.
        part: A definition of it instead of the whole, such as `ArrowGenerated`.
    """
    return Draft202012Validator(whole(name, part))


def whole(name: str, part: str = "") -> dict[str, Any]:
    """Return a schema without references; what it refers to stands in their place.

    Args:
        name: One of `names()`.
        part: A definition of it instead of the whole.
    """
    found: dict[str, Any] = _whole(schema(name)["$defs"][part] if part else schema(name), name)
    return found


def _whole(part: Any, name: str) -> Any:
    """Put what a part refers to in its place: following references takes a validator four times as long."""
    if isinstance(part, list):
        return [_whole(one, name) for one in part]
    if not isinstance(part, dict):
        return part
    told = {
        key: _whole(value, name) for key, value in part.items() if key not in ("$ref", "$defs", "examples")
    }
    if "$ref" not in part:
        return told
    file, _, place = part["$ref"].partition("#/$defs/")
    other = file.removesuffix(SUFFIX) or name
    return {**_whole(schema(other)["$defs"][place], other), **told}
