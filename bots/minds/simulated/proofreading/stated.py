"""What a review objects to, line by line: written so that a person reads it, and read again from any review."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

FORM: Final = (
    "State each error that you find, in the Review Body, as `line N: what is wrong`, or `lines N to M: what is wrong`, "
    "with the numbers that stand before the lines of the work, and a semicolon between two of them."
)
"""What reviewers are told who do not know the form."""

_STATED: Final = re.compile(
    r"\b[Ll]ines? (\d{1,6})(?: ?(?:to|-|–) ?(\d{1,6}))?(?:, ([a-z][a-z ]{0,40}))?: "
    r"(.*?)(?=[;.]? *\b[Ll]ines? \d[^:\n]{0,60}: |$)",
    re.MULTILINE,
)
_BLANKS: Final = re.compile(r"[ \t]+")
_NUMBERED: Final = re.compile(r"\d+: (.*)")


class Stated(NamedTuple):
    """An objection.

    Attributes:
        first: Its first line, from 1.
        last: Its last line.
        kind: What kind of error it is said to be, in words; "" where nothing is said.
        text: What is wrong.
    """

    first: int
    last: int
    kind: str
    text: str

    def __str__(self) -> str:
        """Write it as a review does."""
        place = f"line {self.first}" if self.first == self.last else f"lines {self.first} to {self.last}"
        return f"{place}{self.kind and f', {self.kind}'}: {self.text}"


def stated_in(review: str) -> tuple[Stated, ...]:
    """Read the objections of a review, in their order; one that ends before it begins is none."""
    found = (
        Stated(int(first), int(last or first), kind, " ".join(text.split()))
        for first, last, kind, text in _STATED.findall(_BLANKS.sub(" ", review))
    )
    return tuple(one for one in found if 1 <= one.first <= one.last)


def numbered(text: str) -> str:
    """Write the number of each line before it."""
    return "\n".join(f"{number}: {line}" for number, line in enumerate(text.split("\n"), 1))


def plain(text: str) -> str:
    """Return a text whose lines were numbered without the numbers; a line without one ends it."""
    lines = []
    for line in text.split("\n"):
        if (match := _NUMBERED.fullmatch(line)) is None:
            break
        lines.append(match[1])
    return "\n".join(lines)
