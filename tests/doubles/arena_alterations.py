"""Every alteration of a record in one place: each field dropped, doubled, swapped with its neighbour, or changed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

Path = tuple[Any, ...]

KINDS = {
    "state": (
        "INIT", "SEEDING", "DRAFTING", "REVIEWING", "REVISING", "FINALIZING",
        "TERMINATED_APPROVED", "TERMINATED_MAX_ROUNDS", "TERMINATED_ERROR",
    ),
    "verdict": ("APPROVED", "REVISE"),
    "phase": ("before", "during", "after"),
    "status": ("SUCCESS", "FAILED", "SKIPPED_DISABLED", "SKIPPED_DEGRADED"),
    "code": ("PARSER_WARNING_MULTIPLE_VERDICTS", "PARSER_ERROR_MISSING_VERDICT"),
}  # fmt: skip


class Alteration(NamedTuple):
    """A record with one thing changed, where, and how."""

    where: str
    how: str
    record: Any


def alterations(record: Any) -> Iterator[Alteration]:
    """Yield every alteration of a record."""
    for path, value in _paths(record, ()):
        where = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)[1:]
        if path:
            yield Alteration(where, "drop", _edited(record, path, "drop"))
            if isinstance(path[-1], int):
                yield Alteration(where, "double", _edited(record, path, "double"))
                if path[-1] > 0 and not _is_same(_at(record, path), _at(record, (*path[:-1], path[-1] - 1))):
                    yield Alteration(where, "swap", _edited(record, path, "swap"))
        for how, new in _changes(value):
            if _is_same(value, new):
                continue
            yield Alteration(where, how, _edited(record, path, "set", new))
        if path[:1] == ("artifacts",) and len(path) == 2:
            yield Alteration(where, "rename", _edited(record, path, "rename"))


def _is_same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and bool(one == other)


def _at(value: Any, path: Path) -> Any:
    for key in path:
        value = value[key]
    return value


def _paths(value: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    yield path, value
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _paths(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _paths(item, (*path, index))


def _changes(value: Any) -> Iterator[tuple[str, Any]]:
    if value is not None:
        yield "null", None
    if isinstance(value, bool):
        yield from (("not", not value), ("as number", int(value)), ("as text", str(value).lower()))
    elif isinstance(value, int):
        yield from (
            ("more", value + 1),
            ("less", value - 1),
            ("as float", float(value)),
            ("as text", str(value)),
        )
        yield from (("as true", True), ("huge", 10**30))
    elif isinstance(value, str):
        yield from (("blank", " "), ("longer", value + "x"), ("a number", 7), ("a list", [value]))
        for words in KINDS.values():
            if value in words:
                yield from ((word, word) for word in words if word != value)
        if value[:5] == "2026-":
            yield from (
                ("earlier", "2025" + value[4:]),
                ("later", "2027" + value[4:]),
                ("no zone", value[:-1]),
            )
    elif value is None:
        yield from (("a text", "x"), ("a number", 7))
    elif isinstance(value, list):
        yield from (
            ("empty", []),
            ("an object", {}),
            ("one more", [*value, "x"]),
            ("one more null", [*value, None]),
        )
    else:
        yield from (("empty", {}), ("a list", [value]), ("a text", "x"))


def _edited(value: Any, path: Path, how: str, new: Any = None) -> Any:
    """Return a copy that differs in one place; the rest is shared."""
    if not path:
        return new
    copy = value.copy()
    key, rest = path[0], path[1:]
    if rest or how == "set":
        copy[key] = _edited(value[key], rest, how, new)
    elif how == "drop":
        del copy[key]
    elif how == "double":
        copy.insert(key, copy[key])
    elif how == "swap":
        copy[key - 1], copy[key] = copy[key], copy[key - 1]
    elif how == "rename":
        copy = {f"{name}0" if name == key else name: text for name, text in copy.items()}
    return copy
