"""How much of a form's bounds stands in the schema that a server enforces.

Most providers refuse bounds or ignore them, so they are left out. A small model behind a server that makes a grammar of
the schema (llama.cpp, Ollama, vLLM) needs them, and tighter ones: it else goes on with a list or a sentence until its
tokens are spent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

BOUNDS: Final = frozenset(
    {
        "minimum",
        "exclusiveMinimum",
        "maximum",
        "exclusiveMaximum",
        "minLength",
        "maxLength",
        "minItems",
        "maxItems",
    }
)

MOST_CHARS: Final = 120
MOST_ITEMS: Final = 2
"""What a text and a list of a small model may have, where its form has no smaller bound."""

SHARES: Final = tuple(n / 10 for n in range(11))
"""Grammars cannot bound a fraction: a number from 0 to 1 is one of these."""


def without_bounds(node: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema without its bounds."""
    return _with_parts({key: one for key, one in node.items() if key not in BOUNDS}, without_bounds)


def tight(node: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema that holds a small model to short texts, short lists and numbers within their bounds."""
    found = dict(node)
    kind = node.get("type")
    if "enum" in node:
        pass
    elif kind == "string":
        found["maxLength"] = max(node.get("minLength", 0), min(MOST_CHARS, node.get("maxLength", MOST_CHARS)))
    elif kind == "array":
        found["maxItems"] = max(node.get("minItems", 0), min(MOST_ITEMS, node.get("maxItems", MOST_ITEMS)))
    elif kind == "number" and (node.get("minimum"), node.get("maximum")) == (0, 1):
        found = {**without_bounds(node), "enum": list(SHARES)}
    return _with_parts(found, tight)


def _with_parts(
    node: dict[str, Any], change: Callable[[Mapping[str, Any]], dict[str, Any]]
) -> dict[str, Any]:
    if "anyOf" in node:
        node["anyOf"] = [change(one) for one in node["anyOf"]]
    if "items" in node:
        node["items"] = change(node["items"])
    if "properties" in node:
        node["properties"] = {name: change(one) for name, one in node["properties"].items()}
    return node
