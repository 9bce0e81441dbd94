"""Objects as plain data and back: a tree of JSON that can name classes that hold, and nothing that acts.

An object is written as the name of its class and the values of its fields, whatever class it is; nothing is written by
hand for any of them. Reading makes a blank object of that class and fills in those fields: no constructor, no method
and no function of anybody's choice is called, except for a class that says by `__getnewargs__` what it is made from.
What is met twice is written once, so that who shared something shares it afterwards.
"""

from __future__ import annotations

import dataclasses
import sys
import types
import typing
from collections import deque
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from functools import cache
from typing import Any, Final, Literal, Union

from pydantic import BaseModel

from moot.protocols.kernel.catalogue import Matrix
from moot.protocols.kernel.frozen import FrozenDict
from moot.protocols.kernel.machine import Machine
from moot.protocols.kernel.rules import Rules

PACKAGE: Final = "moot.protocols."
"""Modules whose classes plain data may name: those of the folds hold, and those modules are there already."""

BARRED: Final = (Rules, Machine, Matrix, BaseException, type)
"""Rules are not state: plain data refers to the ones that are in force."""

SCALARS: Final = frozenset({str, int, float, bool, type(None)})


class PlainError(Exception):
    """Say what cannot be written as plain data, or what in some of it is not understood."""


# Tags: m mapping, F frozen mapping, l list, u tuple, s set, f frozen set, q deque; d instant, D day, T duration;
# N decimal, e member, t named tuple, o object, n made anew; r met before, R the rules.


def encode(value: object, rules: Rules) -> dict[str, Any]:
    """Write an object and all that it refers to as plain data.

    Args:
        value: What to write.
        rules: Referred to, never written.

    Raises:
        PlainError: Something in it is of no class that plain data may name.
    """
    writer = _Writer(rules)
    tree = writer.write(value)
    return {"classes": writer.classes, "tree": tree}


class _Writer:
    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._met: dict[int, int] = {}
        self._alive: list[object] = []
        self._known: dict[tuple[type, tuple[str, ...]], int] = {}
        self.classes: list[list[Any]] = []

    def write(self, value: Any) -> Any:
        kind = type(value)
        if kind in SCALARS:
            return value
        if kind is datetime:
            if value.tzinfo is not UTC:
                raise PlainError("an instant that is not UTC cannot be kept")
            return ["d", value.isoformat()]
        if kind is date:
            return ["D", value.isoformat()]
        if kind is timedelta:
            return ["T", value.days, value.seconds, value.microseconds]
        if kind is Decimal:
            return ["N", str(value)]
        if value is self._rules:
            return ["R"]
        if isinstance(value, Enum):
            return ["e", self._class(kind, ()), value.value]
        met = self._met.get(id(value))
        if met is not None:
            return ["r", met]
        self._met[id(value)] = len(self._met)
        self._alive.append(value)
        return self._write_new(kind, value)

    def _write_new(self, kind: Any, value: Any) -> list[Any]:
        write = self.write
        if kind is dict or kind is FrozenDict:
            tag = "m" if kind is dict else "F"
            return [tag, *(write(part) for pair in value.items() for part in pair)]
        if (tag := _TAGS.get(kind, "")) != "":
            return [tag, *map(write, value)]
        if kind is deque:
            return ["q", value.maxlen, *map(write, value)]
        if hasattr(kind, "_fields") and issubclass(kind, tuple):
            return ["t", self._class(kind, kind._fields), *map(write, value)]
        if "__getnewargs__" in kind.__dict__:
            return ["n", self._class(kind, ()), *map(write, value.__getnewargs__())]
        held = {name: getattr(value, name) for name in _slots(kind) if hasattr(value, name)}
        held |= getattr(value, "__dict__", {})
        if (declared := _declared(kind)) is not None:
            # What such an object remembers besides is a cache, and is worked out anew where it is asked for.
            held = {name: held[name] for name in declared if name in held}
        return ["o", self._class(kind, tuple(held)), *map(write, held.values())]

    def _class(self, kind: type, names: tuple[str, ...]) -> int:
        found = self._known.get((kind, names))
        if found is None:
            named(kind.__module__, kind.__qualname__)
            check_names(kind, names)
            found = self._known[kind, names] = len(self.classes)
            self.classes.append([kind.__module__, kind.__qualname__, list(names)])
        return found


_TAGS: Final[dict[Any, str]] = {list: "l", tuple: "u", set: "s", frozenset: "f"}


def decode(data: Any, rules: Rules) -> Any:
    """Make of plain data what it was written from.

    Args:
        data: As `encode` returned it; from anybody.
        rules: What it refers to as the rules.

    Raises:
        PlainError: Something in it is not understood.
    """
    try:
        classes = []
        for module, name, names in data["classes"]:
            kind = named(module, name)
            check_names(kind, tuple(names))
            classes.append((kind, tuple(names), tuple(_allowed(kind).get(one) for one in names)))
        return _Reader(classes, rules).read(data["tree"])
    except PlainError:
        raise
    except (
        KeyError,
        IndexError,
        TypeError,
        ValueError,
        AttributeError,
        ArithmeticError,
        RecursionError,
    ) as exc:
        raise PlainError(f"it is not understood: {type(exc).__name__}: {exc}") from exc


_Known = tuple[type, tuple[str, ...], tuple[tuple[type, ...] | None, ...]]
_UNFILLED: Final = object()


class _Reader:
    def __init__(self, classes: list[_Known], rules: Rules) -> None:
        self._classes = classes
        self._rules = rules
        self._met: list[Any] = []
        self._readers: dict[str, Callable[[list[Any]], Any]] = {
            "m": self._mapping, "l": self._list, "s": self._set, "q": self._deque, "o": self._object,
            "u": lambda given: self._late(lambda: tuple(map(self.read, given[1:]))),
            "f": lambda given: self._late(lambda: frozenset(map(self.read, given[1:]))),
            "F": lambda given: self._late(lambda: FrozenDict(self._pairs(given))),
            "t": lambda given: self._late(lambda: self._named_tuple(given)),
            "n": lambda given: self._late(lambda: self._made(given)),
            "e": self._member,
            "d": lambda given: _utc(datetime.fromisoformat(given[1])),
            "D": lambda given: date.fromisoformat(given[1]),
            "T": lambda given: timedelta(given[1], given[2], given[3]),
            "N": lambda given: Decimal(given[1]),
            "r": self._again,
            "R": lambda given: self._rules,
        }  # fmt: skip

    def read(self, given: Any) -> Any:
        if type(given) is list:
            return self._readers[given[0]](given)
        if type(given) in SCALARS:
            return given
        raise PlainError(f"a {type(given).__name__} stands where none is written")

    def _again(self, given: list[Any]) -> Any:
        found = self._met[given[1]] if given[1] >= 0 else _UNFILLED
        if found is _UNFILLED:
            raise PlainError("something that cannot change holds itself")
        return found

    def _late(self, make: Callable[[], Any]) -> Any:
        """Make what cannot be filled in later, under the number that it was met with."""
        number = len(self._met)
        self._met.append(_UNFILLED)
        made = self._met[number] = make()
        return made

    def _new(self, made: Any) -> Any:
        self._met.append(made)
        return made

    def _pairs(self, given: list[Any]) -> Iterator[tuple[Any, Any]]:
        read = self.read
        if not len(given) % 2:
            raise PlainError("a mapping has a key without a value")
        return ((read(given[n]), read(given[n + 1])) for n in range(1, len(given), 2))

    def _mapping(self, given: list[Any]) -> Any:
        made = self._new({})
        for key, value in self._pairs(given):
            made[key] = value
        return made

    def _list(self, given: list[Any]) -> Any:
        made = self._new([])
        made.extend(map(self.read, given[1:]))
        return made

    def _set(self, given: list[Any]) -> Any:
        made = self._new(set())
        made.update(map(self.read, given[1:]))
        return made

    def _deque(self, given: list[Any]) -> Any:
        made = self._new(deque(maxlen=given[1]))
        made.extend(map(self.read, given[2:]))
        return made

    def _member(self, given: list[Any]) -> Any:
        kind = self._classes[given[1]][0]
        if not issubclass(kind, Enum):
            raise PlainError(f"{kind.__name__} has no members")
        return kind(given[2])

    def _values(self, given: list[Any]) -> tuple[type, tuple[str, ...], list[Any]]:
        kind, names, allowed = self._classes[given[1]]
        values = list(map(self.read, given[2:]))
        if len(values) != len(names):
            raise PlainError(f"{kind.__name__} has {len(names)} fields, not {len(values)}")
        for name, value, types_ in zip(names, values, allowed, strict=True):
            if types_ is not None and not isinstance(value, types_):
                raise PlainError(f"{kind.__name__}.{name} is no {type(value).__name__}")
        return kind, names, values

    def _named_tuple(self, given: list[Any]) -> Any:
        kind, names, values = self._values(given)
        if names != getattr(kind, "_fields", None):
            raise PlainError(f"{kind.__name__} has other fields")
        return kind._make(values)  # type: ignore[attr-defined]

    def _made(self, given: list[Any]) -> Any:
        kind = self._classes[given[1]][0]
        if "__getnewargs__" not in kind.__dict__ or issubclass(kind, tuple):
            raise PlainError(f"{kind.__name__} is not made anew")
        return kind(*map(self.read, given[2:]))

    def _object(self, given: list[Any]) -> Any:
        kind = self._classes[given[1]][0]
        if (
            issubclass(kind, tuple | dict | list | Enum | str | int | float)
            or "__getnewargs__" in kind.__dict__
        ):
            raise PlainError(f"{kind.__name__} is not filled in")
        made = self._new(object.__new__(kind))
        kind, names, values = self._values(given)
        put = object.__setattr__
        declared = _declared(kind)
        if declared is not None and set(names) != set(declared):
            raise PlainError(f"{kind.__name__} has other fields")
        if issubclass(kind, BaseModel):
            put(made, "__dict__", dict(zip(names, values, strict=True)))
            put(made, "__pydantic_fields_set__", set(names))
            put(made, "__pydantic_extra__", None)
            put(made, "__pydantic_private__", None)
            return made
        for name, value in zip(names, values, strict=True):
            put(made, name, value)
        return made


def _utc(instant: datetime) -> datetime:
    if instant.tzinfo is not UTC:
        raise PlainError("an instant is not UTC")
    return instant


@cache
def named(module: str, name: str) -> type:
    """Return a class that plain data may name.

    Raises:
        PlainError: There is none of that name, or it is not one that only holds.
    """
    found = getattr(sys.modules.get(module), name, None) if f"{module}.".startswith(PACKAGE) else None
    is_its_own = isinstance(found, type) and found.__module__ == module and found.__qualname__ == name
    if not is_its_own or issubclass(found, BARRED):  # type: ignore[arg-type]
        raise PlainError(f"plain data names no {module}.{name}")
    return found  # type: ignore[return-value]


def check_names(kind: type, names: tuple[str, ...]) -> None:
    """Check that fields are fields, and nothing that a class does.

    Raises:
        PlainError: One is none.
    """
    slots = set(_slots(kind)) | set(getattr(kind, "_fields", ())) | set(getattr(kind, "model_fields", ()))
    for name in names:
        if not isinstance(name, str) or not name.isidentifier() or name.startswith("__"):
            raise PlainError(f"{kind.__name__} has no field {name!r}")
        if name in slots:
            continue
        of_class = getattr(kind, name, None)
        is_data = dataclasses.is_dataclass(kind) or not hasattr(kind, name) or isinstance(of_class, _DATA)
        if not hasattr(kind, "__dict__") or not is_data or isinstance(of_class, property):
            raise PlainError(f"{kind.__name__}.{name} is no field")


_DATA: Final = (str, int, float, tuple, frozenset, timedelta, datetime, date, type(None))
"""What a class may give a field of an object as its default."""


@cache
def _declared(kind: type) -> tuple[str, ...] | None:
    """Return the fields that a class declares once for all its objects; None: each object has its own."""
    if issubclass(kind, BaseModel):
        return tuple(kind.model_fields)
    return tuple(one.name for one in dataclasses.fields(kind)) if dataclasses.is_dataclass(kind) else None


@cache
def _slots(kind: type) -> tuple[str, ...]:
    found: list[str] = []
    for one in kind.__mro__:
        own = one.__dict__.get("__slots__", ())
        found += [own] if isinstance(own, str) else own
    return tuple(name for name in found if not name.startswith("__"))


@cache
def _allowed(kind: type) -> dict[str, tuple[type, ...] | None]:
    """Return of which classes the fields of a class may be, as far as it says so."""
    try:
        hints = typing.get_type_hints(kind)
    except (NameError, TypeError):
        return {}
    return {name: _classes_of(hint) for name, hint in hints.items()}


def _classes_of(hint: Any) -> tuple[type, ...] | None:
    origin = typing.get_origin(hint)
    if origin in (Union, types.UnionType):
        parts = [_classes_of(part) for part in typing.get_args(hint)]
        return None if None in parts else tuple(one for part in parts for one in part or ())
    if origin is Literal:
        return tuple({type(value) for value in typing.get_args(hint)})
    if origin in (typing.Annotated, Final):
        return _classes_of(typing.get_args(hint)[0])
    found = origin or hint
    if found is Any or not isinstance(found, type):
        return None
    return (int, float) if found is float else (found,)
