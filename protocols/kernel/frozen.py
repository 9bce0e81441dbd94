"""Immutable mappings, and JSON data that nobody can change after it entered a message."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final, Generic, NoReturn, TypeVar

K = TypeVar("K")
V = TypeVar("V")

MAX_DEPTH: Final = 32
"""How deep JSON data in a message may nest."""

MAX_ITEMS: Final = 1000
"""How many items one list or object in a message may have."""

MAX_WHOLE: Final = 2**53
"""Integers beyond this (either sign) are not the same in every JSON reader."""

MAX_TEXT: Final = 20_000
"""How many characters one text in JSON data may have."""


class FrozenDict(dict[K, V], Generic[K, V]):
    """A dict that refuses every change, so that a frozen message is frozen all the way down.

    A dict by inheritance: json, pydantic and comparison take it as one. Hashable when its values are.
    """

    __slots__ = ()

    def _refuse(self, *_args: object, **_kwargs: object) -> NoReturn:
        raise TypeError("this mapping belongs to a message and cannot change: build a new one")

    __setitem__ = _refuse
    __delitem__ = _refuse
    __ior__ = _refuse
    clear = _refuse
    pop = _refuse
    popitem = _refuse
    setdefault = _refuse
    update = _refuse

    def __hash__(self) -> int:  # type: ignore[override]  # dict says None
        return hash(frozenset(self.items()))

    def __copy__(self) -> FrozenDict[K, V]:
        return self

    def __deepcopy__(self, _memo: object) -> FrozenDict[K, V]:
        return self

    def __reduce__(self) -> tuple[type[FrozenDict[K, V]], tuple[dict[K, V]]]:
        return (FrozenDict, (dict(self),))


Json = str | int | float | bool | None | tuple["Json", ...] | Mapping[str, "Json"]
"""Deeply immutable JSON data: lists are tuples, objects are `FrozenDict`s."""


def freeze(value: object, path: str = "", depth: int = 0) -> Json:
    """Copy plain JSON data into its immutable form, the keys of objects sorted: equal data, equal texts (K15).

    Raises:
        ValueError: Something in it is not JSON, not finite, not Unicode, too deep, too long or too large;
            the text starts with the dotted path to it.
    """
    kind = type(value)
    if value is None or kind is bool:
        return value  # type: ignore[return-value]  # narrowed by kind
    if isinstance(value, str):
        return _text(value, path)
    if kind is int:
        if abs(value) > MAX_WHOLE:  # type: ignore[arg-type]  # narrowed by kind
            raise ValueError(f"{_at(path)}an integer beyond ±2^53")
        return value  # type: ignore[return-value]  # narrowed by kind
    if kind is float:
        if not math.isfinite(value):  # type: ignore[arg-type]  # narrowed by kind
            raise ValueError(f"{_at(path)}a number must be finite")
        return value  # type: ignore[return-value]  # narrowed by kind
    if depth >= MAX_DEPTH:
        raise ValueError(f"{_at(path)}nested deeper than {MAX_DEPTH}")
    if isinstance(value, Mapping | list | tuple) and len(value) > MAX_ITEMS:
        raise ValueError(f"{_at(path)}more than {MAX_ITEMS} items")
    if isinstance(value, Mapping):
        found = {}
        for key, item in value.items():
            # Most keys and many values are short ASCII, which stays as it is and needs no path.
            is_plain = type(key) is str and len(key) <= MAX_TEXT and key.isascii()
            name = key if is_plain else _key(key, path)
            is_plain = type(item) is str and len(item) <= MAX_TEXT and item.isascii()
            found[name] = item if is_plain else freeze(item, f"{path}.{name}" if path else name, depth + 1)
        return FrozenDict(sorted(found.items()))
    if isinstance(value, list | tuple):
        return tuple(freeze(item, f"{path}[{n}]", depth + 1) for n, item in enumerate(value))
    raise ValueError(f"{_at(path)}a {kind.__name__} is not JSON data")


def freeze_object(value: object) -> Mapping[str, Json]:
    """Freeze a JSON object.

    Raises:
        ValueError: As `freeze`; or the value is no object.
    """
    if not isinstance(value, Mapping):
        raise ValueError(f"needs a JSON object, not a {type(value).__name__}")
    frozen = freeze(value)
    assert isinstance(frozen, FrozenDict)
    return frozen


def thaw(value: Json) -> object:
    """Copy frozen JSON data into plain dicts and lists."""
    if isinstance(value, Mapping):
        return {key: thaw(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return [thaw(item) for item in value]
    return value


def _at(path: str) -> str:
    return f"{path}: " if path else ""


def _key(key: object, path: str) -> str:
    if not isinstance(key, str):
        raise ValueError(f"{_at(path)}the key {key!r} is not text")
    return _text(key, path)


def _text(text: str, path: str) -> str:
    if len(text) > MAX_TEXT:
        raise ValueError(f"{_at(path)}a text of more than {MAX_TEXT} characters")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{_at(path)}a text is not valid Unicode") from None
    return str(text)
