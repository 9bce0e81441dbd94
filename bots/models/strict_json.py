"""JSON as a reply must hold it: one object, whole and unambiguous; nothing is closed, cut out or guessed (K30)."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, NoReturn


def one_object(text: str) -> dict[str, Any]:
    """Return the JSON object that a text is.

    Raises:
        ValueError: It is none, or more than that; one line says how.
    """
    text = text.lstrip("\ufeff")
    if not text.strip():
        raise ValueError("the reply is empty")
    try:
        found = json.loads(text, object_pairs_hook=_unambiguous, parse_constant=_no_number, parse_int=_whole)
    except json.JSONDecodeError as exc:
        raise ValueError(f"the reply is not one JSON object: {exc.msg} at character {exc.pos + 1}") from None
    except RecursionError:
        raise ValueError("the reply is nested too deep") from None
    if not isinstance(found, dict):
        raise ValueError("the reply is JSON, but no object")
    return found


class Ambiguous(dict[str, Any]):
    """An object of JSON in which a field stands twice.

    Attributes:
        twice: The field.
    """

    twice: str

    @staticmethod
    def within(value: object) -> str:
        """Return a field that stands twice in one of the objects of a value; "" where none does."""
        if isinstance(value, Ambiguous):
            return value.twice
        parts: Iterable[object] = ()
        if isinstance(value, dict):
            parts = value.values()
        elif isinstance(value, list):
            parts = value
        return next((found for one in parts if (found := Ambiguous.within(one))), "")


def marking(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of JSON; one in which a field stands twice says so."""
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    marked = Ambiguous(found)
    names = [name for name, _ in pairs]
    marked.twice = next(name for name in names if names.count(name) > 1)
    return marked


def _unambiguous(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the field {twice[:60]!r} stands twice in one object")
    return found


def _whole(digits: str) -> int:
    try:
        return int(digits)
    except ValueError:
        raise ValueError(f"a number of {len(digits):,} digits is too long") from None


def _no_number(word: str) -> NoReturn:
    raise ValueError(f"{word} is no number of JSON")
