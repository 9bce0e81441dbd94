"""What a validator finds wrong with a value, as one plain line: where, what, what to do."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from difflib import get_close_matches
from typing import Any, Final

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from moot.protocols.kernel.fields import VISIBLE
from moot.protocols.kernel.redact import redact

EMPTY: Final = "is empty: write something"
NEEDED: Final = "is needed"
SHOWN: Final = 60
"""So many characters of a wrong value are quoted."""
FEW: Final = 8
"""So many names to choose from are listed."""

Context = Mapping[str, Any]


def first_fault(error: ValidationError, whole: str, known: Collection[str] = ()) -> tuple[str, str]:
    """Return where the first fault is, as a dotted path, and what it is.

    Args:
        error: What the validator found.
        whole: How the value is called when no part of it is at fault.
        known: Names to choose from where one is not known.
    """
    found = error.errors(include_url=False)[0]
    return ".".join(str(part) for part in found["loc"]) or whole, why(found, known)


def line(error: ValidationError, whole: str, known: Collection[str] = ()) -> str:
    """Return the first fault as one line: where, and what."""
    return ": ".join(first_fault(error, whole, known))


def why(fault: ErrorDetails, known: Collection[str] = ()) -> str:
    """Return what is wrong, without where.

    A fault that a validator of ours found reads as that validator says it.

    Args:
        fault: One of `ValidationError.errors()`.
        known: Names to choose from, where a name is not known.
    """
    kind, context, given = fault["type"], fault.get("ctx", {}), fault.get("input")
    if kind == "missing" or (given is None and "input" in fault and kind not in _SENTENCES):
        return NEEDED
    if kind == "extra_forbidden":
        return unknown(str(fault["loc"][-1]), known)
    if kind == "string_pattern_mismatch" and context.get("pattern") == VISIBLE:
        return EMPTY
    if sentence := _SENTENCES.get(kind):
        return sentence(context, given)
    if asked := _asked(kind):
        if isinstance(given, str) and not given.strip():
            return f"is empty: give {asked}"
        return f"give {asked}" + (f", not {_quoted(given)}" if "input" in fault else "")
    return fault["msg"].removeprefix("Value error, ")


def unknown(name: str, known: Collection[str] = ()) -> str:
    """Say that there is no field of a name, and which there are."""
    if not known:
        return "there is no such field: leave it out"
    close = get_close_matches(name, known, n=1)
    hint = f"did you mean {close[0]}?" if close else f"choose from {', '.join(sorted(known))}"
    return f"there is no such field: {hint}"


_ASKED: Final[Mapping[str, str]] = {
    "string": "a text",
    "int": "a whole number",
    "float": "a number",
    "decimal": "a number",
    "finite": "a finite number",
    "bool": "true or false",
    "tuple": "a list",
    "list": "a list",
    "set": "a list",
    "frozen": "a list",
    "iterable": "a list",
    "dict": "an object with named fields",
    "model": "an object with named fields",
    "dataclass": "an object with named fields",
    "mapping": "an object with named fields",
    "datetime": "a time such as 2026-11-05T09:00:00Z",
    "date": "a day such as 2026-11-05",
    "url": "a web address",
}
"""What is asked for, by the first word of what the validator calls the fault."""

_OF_TYPE: Final = frozenset({"type", "parsing", "number", "attributes", "from", "set", "object", "datetime"})


def _asked(kind: str) -> str:
    first, _, rest = kind.partition("_")
    return _ASKED.get(first, "") if rest.partition("_")[0] in _OF_TYPE else ""


def _short_text(context: Context, given: Any) -> str:
    least = context["min_length"]
    if least == 1 or not given:
        return EMPTY
    return f"give at least {least:,} characters, not {_quoted(given)}"


def _long_text(context: Context, given: Any) -> str:
    most = context["max_length"]
    if not isinstance(given, str):
        return f"give at most {most:,} characters"
    return f"has {len(given):,} characters, {most:,} are the most: shorten it"


def _many(context: Context, given: Any) -> str:
    has = context.get("actual_length") or (len(given) if hasattr(given, "__len__") else 0)
    most = context["max_length"]
    return (
        f"has {has:,} items, {most:,} are the most: leave some out" if has else f"give at most {most:,} items"
    )


def _few(context: Context, _given: Any) -> str:
    least = context["min_length"]
    return "is empty: give at least 1 item" if least == 1 else f"give at least {least:,} items"


def _unknown_kind(context: Context, _given: Any) -> str:
    named, kinds = context["tag"], str(context["expected_tags"]).replace("'", "").split(", ")
    close = get_close_matches(named, kinds, 1, 0.75)
    if close:
        return f"there is no type {_quoted(named)}: did you mean {close[0]}?"
    listed = f": choose from {', '.join(kinds)}" if len(kinds) <= FEW else ""
    return f"there is no type {_quoted(named)} here{listed}"


def _bounded(bound: str, words: str) -> Callable[[Context, Any], str]:
    def said(context: Context, given: Any) -> str:
        return f"choose {words} {_number(context[bound])}, not " + _quoted(given).strip("'")

    return said


def _number(bound: object) -> str:
    return (
        f"{bound:,.12g}"
        if isinstance(bound, float)
        else f"{bound:,}"
        if isinstance(bound, int)
        else str(bound)
    )


_SENTENCES: Final[Mapping[str, Callable[[Context, Any], str]]] = {
    "string_too_short": _short_text,
    "string_too_long": _long_text,
    "too_long": _many,
    "too_short": _few,
    "greater_than": _bounded("gt", "more than"),
    "greater_than_equal": _bounded("ge", "at least"),
    "less_than": _bounded("lt", "less than"),
    "less_than_equal": _bounded("le", "at most"),
    "literal_error": lambda context, given: f"choose {context['expected']}, not {_quoted(given)}",
    "enum": lambda context, given: f"choose {context['expected']}, not {_quoted(given)}",
    "string_pattern_mismatch": lambda context, given: f"{_quoted(given)} does not match {context['pattern']}",
    "union_tag_invalid": _unknown_kind,
    "none_required": lambda _context, _given: "is to be left out here",
    "json_invalid": lambda context, _given: f"is not JSON: {context['error']}",
    "string_unicode": lambda _context, _given: "is not valid Unicode",
}


def _quoted(value: Any) -> str:
    if isinstance(value, Mapping):
        return "an object"
    if isinstance(value, list | tuple | set | frozenset):
        return "a list"
    if not isinstance(value, str | int | float | None):
        return f"what is of type {type(value).__name__}"
    text = repr(redact(value) if isinstance(value, str) else value)
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"
