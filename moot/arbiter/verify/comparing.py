"""Where two records differ, field by field."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any, Final, NamedTuple

TOLERANCE: Final = 1e-9
"""Measured numbers may differ by so much, relative and absolute: processors add up in different orders."""

_ABSENT: Final = object()


class Difference(NamedTuple):
    """A field that is not what it should be.

    Attributes:
        field: Its dotted path.
        why: Both values, told.
        is_missing: It is absent or null, and should have a value.
    """

    field: str
    why: str
    is_missing: bool = False

    @property
    def top(self) -> str:
        """The field of the record that it is or lies in."""
        return re.split(r"[.\[]", self.field, maxsplit=1)[0]


def differences(expected: Any, found: Any, *, ignoring: frozenset[str] = frozenset()) -> Iterator[Difference]:
    """Yield where a record is not what it should be; whole numbers and texts are equal exactly.

    A field that is absent is null (R-G6).

    Args:
        expected: What it should be, plain data.
        found: What it is.
        ignoring: Dotted paths of fields that may be anything.
    """
    yield from _differences(expected, found, "", ignoring)


def same(expected: Any, found: Any) -> bool:
    """Say whether two values are equal, floats within `TOLERANCE`; true is not 1."""
    if isinstance(expected, bool) or isinstance(found, bool):
        return expected is found
    if isinstance(expected, float) and isinstance(found, int | float):
        try:
            return math.isclose(expected, found, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
        except OverflowError:
            return False
    return bool(expected == found)


def _differences(expected: Any, found: Any, path: str, ignoring: frozenset[str]) -> Iterator[Difference]:
    if path in ignoring:
        return
    if isinstance(expected, dict) and isinstance(found, dict):
        for name in (*expected, *(one for one in found if one not in expected)):
            inner = f"{path}.{name}" if path else name
            yield from _differences(expected.get(name, _ABSENT), found.get(name, _ABSENT), inner, ignoring)
    elif isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        for n, (one, other) in enumerate(zip(expected, found, strict=True)):
            yield from _differences(one, other, f"{path}[{n}]", ignoring)
    elif not (_is_nothing(expected) and _is_nothing(found)) and not same(expected, found):
        yield Difference(path, f"is {told(found)}, should be {told(expected)}", _is_nothing(found))


def _is_nothing(value: Any) -> bool:
    return value is None or value is _ABSENT


def told(value: Any) -> str:
    """Write a value shortly, for a finding."""
    if value is _ABSENT:
        return "missing"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else f"{text[:60]}… ({len(text):,} characters)"


def instant(text: str) -> datetime | None:
    """Read an instant as files hold it, ISO 8601 in UTC; None when there is no such instant."""
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None
