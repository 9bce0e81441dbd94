"""What a model is to fill in: the JSON Schema of a message without what the society fills in, and who judges it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from pydantic import BaseModel, ValidationError
from pydantic_core import to_jsonable_python

from moot.bots.models.bounds import BOUNDS
from moot.bots.models.errors import NoSchema, one_line
from moot.protocols.kernel.faults import line
from moot.protocols.kernel.fields import VISIBLE

Path = tuple[str, ...]
"""Where a part stands: names of fields, `*` for the items of a list."""

_KEPT: Final = ("type", "enum", "description")

_SAID: Final = {
    "minimum": "at least {}",
    "exclusiveMinimum": "more than {}",
    "maximum": "at most {}",
    "exclusiveMaximum": "less than {}",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minItems": "at least {} items",
    "maxItems": "at most {} items",
    "pattern": "matches {}",
    "format": "written as {}",
}
"""Bounds are said in words too: providers refuse them, or compile grammars of them that fail (`bounds`)."""

_COMPUTERS: Final = {"maxItems": 1_000, "maxLength": 10_000}
"""From here on a bound says what a computer holds, not what a field means; of others from `10**9` on."""

_WORDS: Final = {VISIBLE: "not blank"}
"""What patterns mean."""

_PLAIN: Final = {"anyOf": [{"type": "string"}, {"type": "number"}, {"type": "boolean"}, {"type": "null"}]}
"""What a value may be of which nothing is said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """A typed answer that is asked for.

    Attributes:
        name: What it is called, in letters, digits and underscores.
        schema: Its JSON Schema: no references, every field required, nothing beside them. Bounds stand
            in it, and are written only for models that need them (`bounds`).
        judge: Makes the value of a JSON object; raises ValueError, whose first line is for the model.
    """

    name: str
    schema: Mapping[str, Any] = field(repr=False)
    judge: Callable[[dict[str, Any]], Any] = field(repr=False)


def form_of(
    kind: type[BaseModel],
    given: Mapping[str, Any] | None = None,
    make: Callable[[dict[str, Any]], Any] | None = None,
) -> Form:
    """Return the form of a class; its own validation judges what is filled in.

    What may be anything is asked for as named plain values.

    Args:
        kind: The class; its name becomes the form's.
        given: What the society fills in, by the names of the JSON; the model is not asked for it. A field that has
            one constant value, such as `type`, is never asked for, nor is an id that is filled in when it is left out.
        make: Makes the value of what was filled in, and judges it; None: the class does, with what is given.

    Raises:
        NoSchema: A part of it holds itself.
    """
    whole = kind.model_json_schema(mode="validation")
    constant = {name: one["const"] for name, one in whole.get("properties", {}).items() if "const" in one}
    filled = {**constant, **to_jsonable_python(dict(given or {}))}
    flattening = _Flattening(kind.__name__, whole)
    properties = whole.get("properties", {})
    asked = {name: one for name, one in properties.items() if name not in filled and not _is_minted(one)}
    schema = flattening.object(asked, (), ())
    if about := whole.get("description"):
        schema["description"] = str(about).split("\n\n", 1)[0]

    def judge(found: dict[str, Any]) -> Any:
        for name in found:
            if name not in asked:
                raise ValueError(f"{name[:60]}: there is no such field to fill in")
        restored = flattening.restored(found, ())
        if make is not None:
            return make(restored)
        try:
            return kind.model_validate_json(json.dumps({**restored, **filled}))
        except ValidationError as exc:
            raise ValueError(one_line(line(exc, kind.__name__))) from None

    return Form(name=kind.__name__, schema=schema, judge=judge)


class _Flattening:
    """Makes one schema flat, and remembers which lists of pairs stand for maps."""

    def __init__(self, name: str, whole: Mapping[str, Any]) -> None:
        self._name = name
        self._parts: Mapping[str, Any] = whole.get("$defs", {})
        self._maps: set[Path] = set()

    def object(self, properties: Mapping[str, Any], path: Path, within: Path) -> dict[str, Any]:
        asked = {name: one for name, one in properties.items() if not _is_minted(one)}
        return {
            "type": "object",
            "properties": {name: self._node(one, (*path, name), within) for name, one in asked.items()},
            "required": list(asked),
            "additionalProperties": False,
        }

    def _node(self, node: Mapping[str, Any], path: Path, within: Path) -> dict[str, Any]:
        while "$ref" in node:
            name = str(node["$ref"]).rpartition("/")[2]
            if name in within:
                raise NoSchema(
                    f"{self._name}: {name} holds parts of its own kind, which no model can be asked for"
                )
            within = (*within, name)
            node = {**self._parts[name], **{key: one for key, one in node.items() if key != "$ref"}}
        found = {key: node[key] for key in _KEPT if key in node}
        if "const" in node:
            found["enum"] = [node["const"]]
            found.setdefault("type", _type_of(node["const"]))
        said = (
            []
            if node.get("type") == "object"
            else [
                _WORDS.get(node[key]) or words.format(node[key])
                for key, words in _SAID.items()
                if key in node and _is_telling(key, node[key])
            ]
        )
        found |= {key: node[key] for key in BOUNDS if key in node and _is_telling(key, node[key])}
        if said:
            about = str(found.get("description", "")).strip().rstrip(".")
            found["description"] = f"{about}; {', '.join(said)}" if about else ", ".join(said)
        if several := node.get("anyOf") or node.get("oneOf"):
            found["anyOf"] = [self._node(one, path, within) for one in several]
        elif found.get("type") == "array":
            found["items"] = self._items(node, path, within)
        elif "properties" in node:
            found |= self.object(node["properties"], path, within)
        elif isinstance(node.get("additionalProperties"), Mapping):
            found |= self._pairs(node["additionalProperties"], path, within)
        elif found.get("type") == "object":
            found |= self._pairs(_PLAIN, path, within)
        elif "type" not in found and "enum" not in found:
            found |= _PLAIN
        return found

    def _items(self, node: Mapping[str, Any], path: Path, within: Path) -> dict[str, Any]:
        if listed := node.get("prefixItems"):
            shapes = [self._node(one, (*path, "*"), within) for one in listed]
            distinct = [one for n, one in enumerate(shapes) if one not in shapes[:n]]
            return distinct[0] if len(distinct) == 1 else {"anyOf": distinct}
        return self._node(node.get("items", {}), (*path, "*"), within)

    def _pairs(self, values: Mapping[str, Any], path: Path, within: Path) -> dict[str, Any]:
        """Write a map as a list of named values: strict schemas know no map."""
        self._maps.add(path)
        named = {"name": {"type": "string"}, "value": values}
        return {"type": "array", "items": self.object(named, (*path, "*"), within)}

    def restored(self, value: Any, path: Path) -> Any:
        """Return a value with its lists of pairs as maps again.

        Raises:
            ValueError: A name stands twice.
        """
        if isinstance(value, dict):
            return {name: self.restored(one, (*path, name)) for name, one in value.items()}
        if not isinstance(value, list):
            return value
        items = [self.restored(one, (*path, "*")) for one in value]
        if path not in self._maps or not all(
            isinstance(one, dict) and set(one) == {"name", "value"} and isinstance(one["name"], str)
            for one in items
        ):
            return items
        found = {one["name"]: one["value"] for one in items}
        if len(found) != len(items):
            raise ValueError(f"{'.'.join(path)}: a name stands twice")
        return found


def _is_minted(node: Mapping[str, Any]) -> bool:
    """Say whether a field is an id that is filled in when it is left out."""
    return bool(node.get("readOnly")) and "default" in node


def _is_telling(key: str, bound: object) -> bool:
    """Say whether a bound says what a field means, not what a computer holds."""
    return not isinstance(bound, int | float) or abs(bound) < _COMPUTERS.get(key, 10**9)


def _type_of(value: object) -> str:
    names = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}
    return names.get(type(value), "string")
