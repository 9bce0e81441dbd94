"""Arguments of a server's tools: Moot's values under the names and types that the server's schema asks for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from moot.bots.notebook.errors import NotebookRefused

ALIASES: Final[Mapping[str, tuple[str, ...]]] = {
    "query": (
        "query",
        "question",
        "text",
        "q",
        "prompt",
        "search",
        "search_query",
        "query_text",
        "input",
        "message",
    ),
    "limit": ("limit", "top_k", "k", "n", "n_results", "num_results", "max_results", "count"),
    "notebook_id": ("notebook_id", "notebook"),
    "title": ("title", "name", "heading"),
    "text": ("text", "content", "body", "report", "markdown"),
}
"""Names under which servers ask for each of Moot's values, the usual one first."""

NEEDED: Final = frozenset({"query", "title", "text"})
"""Values without which a call means nothing."""

MAX_REFS: Final = 8
"""Depth of `$ref` chains that are followed."""


def arguments_for(tool: str, schema: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a call by the tool's own schema.

    A required parameter that Moot does not know gets its default, or null where it may be null.

    Args:
        tool: Name of the tool.
        schema: JSON Schema of its parameters; empty where the server lists none.
        values: What Moot has to say, by Moot's names.

    Raises:
        NotebookRefused: A required parameter is unknown, or none takes what has to be said; it is named.
    """
    listed = schema.get("properties")
    properties: Mapping[str, Any] = listed if isinstance(listed, Mapping) else {}
    required = [name for name in schema.get("required") or () if isinstance(name, str)]
    if not properties and not required and schema.get("additionalProperties") is not False:
        return {name: value for name, value in values.items() if name != "notebook_id"}
    names = [*properties, *(name for name in required if name not in properties)]
    given: dict[str, Any] = {}
    for value_name, value in values.items():
        found = _parameter(value_name, names, required, properties, schema, taken=given)
        if found is not None:
            given[found] = _fitted(value, _resolved(properties.get(found), schema))
        elif value_name in NEEDED:
            offered = ", ".join(names) or "none"
            raise NotebookRefused(f"{tool} has no parameter for the {value_name}; its parameters: {offered}")
    for name in required:
        if name not in given:
            given[name] = _default(tool, name, _resolved(properties.get(name), schema))
    return given


def _parameter(
    value_name: str,
    names: list[str],
    required: list[str],
    properties: Mapping[str, Any],
    schema: Mapping[str, Any],
    *,
    taken: Mapping[str, Any],
) -> str | None:
    """Return the parameter that takes one of Moot's values; None where there is none."""
    by_name = {name.lower().replace("-", "_"): name for name in reversed(names) if name not in taken}
    candidates = [by_name[alias] for alias in ALIASES.get(value_name, (value_name,)) if alias in by_name]
    wanted = [name for name in candidates if name in required] or candidates
    if wanted:
        return wanted[0]
    if value_name != "query":
        return None
    # The only text that a tool cannot do without is the question, whatever it is called.
    known = {alias for aliases in ALIASES.values() for alias in aliases}
    texts = [
        name
        for name in required
        if name not in taken
        and name.lower() not in known
        and "default" not in _resolved(properties.get(name), schema)
        and _types(_resolved(properties.get(name), schema)) in ({"string"}, {"string", "null"})
    ]
    unknown = [name for name in required if name.lower() not in known]
    return texts[0] if len(texts) == 1 and len(unknown) == 1 and _is_question(texts[0]) else None


def _is_question(name: str) -> bool:
    """Return whether a parameter's name speaks of a question."""
    return any(word in name.lower() for word in ("quer", "question", "search", "prompt", "text"))


def _resolved(shape: Any, schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a parameter's schema with references within the schema followed."""
    for _ in range(MAX_REFS):
        ref = shape.get("$ref") if isinstance(shape, Mapping) else None
        if not isinstance(ref, str) or not ref.startswith("#/"):
            break
        more = {key: value for key, value in shape.items() if key != "$ref"}
        found: Any = schema
        for part in ref[2:].split("/"):
            found = found.get(part) if isinstance(found, Mapping) else None
        shape = {**found, **more} if isinstance(found, Mapping) else more
    return shape if isinstance(shape, Mapping) else {}


def _types(shape: Mapping[str, Any]) -> set[str]:
    """Return the JSON types that a parameter takes; empty where its schema does not say."""
    said = shape.get("type")
    found = {said} if isinstance(said, str) else set(said) if isinstance(said, list) else set()
    for choice in (*(shape.get("anyOf") or ()), *(shape.get("oneOf") or ())):
        if isinstance(choice, Mapping):
            found |= _types(choice)
    return {one for one in found if isinstance(one, str)}


def _fitted(value: Any, shape: Mapping[str, Any]) -> Any:
    """Return a value as the parameter's type wants it: a list of one text, a number as text."""
    types = _types(shape)
    if isinstance(value, str) and types and "string" not in types and "array" in types:
        return [value]
    if isinstance(value, int) and types and not types & {"integer", "number"} and "string" in types:
        return str(value)
    return value


def _default(tool: str, name: str, shape: Mapping[str, Any]) -> Any:
    """Return what a required parameter that Moot does not know gets.

    Raises:
        NotebookRefused: It has no default and may not be null.
    """
    if "default" in shape:
        return shape["default"]
    if "const" in shape:
        return shape["const"]
    if "null" in _types(shape) or shape.get("nullable") is True:
        return None
    hint = "; name the notebook in the run's configuration" if name in ALIASES["notebook_id"] else ""
    raise NotebookRefused(f"{tool} requires the parameter {name!r}, which Moot does not know{hint}")
