"""Texts that match a pattern, drawn by chance: for the fields of messages that ask for one."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from re import _constants as code  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from typing import Any, Final

import numpy as np

MOST_REPEATED: Final = 3
"""A part that may be repeated without end comes so many times more than it must."""

LETTERS: Final = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-. :/"
"""What is drawn where a pattern only says what not to write."""

_CLASSES: Final[Mapping[Any, Callable[[str], bool]]] = {
    code.CATEGORY_DIGIT: str.isdigit,
    code.CATEGORY_NOT_DIGIT: lambda letter: not letter.isdigit(),
    code.CATEGORY_SPACE: str.isspace,
    code.CATEGORY_NOT_SPACE: lambda letter: not letter.isspace(),
    code.CATEGORY_WORD: lambda letter: letter.isalnum() or letter == "_",
    code.CATEGORY_NOT_WORD: lambda letter: not (letter.isalnum() or letter == "_"),
}


def matching(pattern: str, rng: np.random.Generator) -> str:
    """Draw a text in which a pattern is found.

    Args:
        pattern: A regular expression, as a JSON Schema holds it; not one that looks ahead, behind or back.
        rng: Draws it.

    Raises:
        ValueError: The pattern cannot be read, or asks for something else than letters in a row.
    """
    try:
        parsed = _parser.parse(pattern)
    except re.error as error:
        raise ValueError(f"the pattern {pattern} cannot be read: {error}") from None
    return _Drawing(rng).sequence(parsed)


class _Drawing:
    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng

    def sequence(self, parts: Any) -> str:
        return "".join(self._part(kind, given) for kind, given in parts)

    def _part(self, kind: Any, given: Any) -> str:
        if kind is code.AT:
            return ""
        if kind is code.LITERAL:
            return chr(given)
        if kind in (code.ANY, code.NOT_LITERAL):
            return self._one(letter for letter in LETTERS if ord(letter) != given)
        if kind is code.IN:
            return self._one_in(given)
        if kind is code.SUBPATTERN:
            return self.sequence(given[-1])
        if kind is code.BRANCH:
            return self.sequence(given[1][int(self._rng.integers(len(given[1])))])
        if kind in (code.MAX_REPEAT, code.MIN_REPEAT):
            least, most, part = given
            times = int(self._rng.integers(least, min(int(most), least + MOST_REPEATED) + 1))
            return "".join(self.sequence(part) for _ in range(times))
        raise ValueError(f"no text is drawn for {str(kind).lower()} in a pattern")

    def _one_in(self, given: Any) -> str:
        """Draw a letter of a set, such as `[A-Z_]` or `[^/]`."""
        excludes = given[0][0] is code.NEGATE
        listed = [chr(n) for kind, value in given for n in _span(kind, value)]
        tests = [_CLASSES[value] for kind, value in given if kind is code.CATEGORY]
        known = sorted({*LETTERS, *([] if excludes else listed)})
        found = (one for one in known if (one in listed or any(test(one) for test in tests)) != excludes)
        return self._one(found)

    def _one(self, letters: Any) -> str:
        found = list(letters)
        if not found:
            raise ValueError("a pattern asks for an unusual letter")
        return str(found[int(self._rng.integers(len(found)))])


def _span(kind: Any, value: Any) -> range:
    """Return the code points that a literal or a range of a set names."""
    if kind is code.LITERAL:
        return range(value, value + 1)
    return range(value[0], value[1] + 1) if kind is code.RANGE else range(0)
