"""Reads the verdict of a review anew, by 7.3 and R-A4 alone."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from moot.protocols.arena.conformance.words import MISSING, MULTIPLE

# Possessive, and tried at the beginning of a line alone: the time is linear in the text.
_VERDICT_LINE: Final = re.compile(
    r"(?<![^\r\n])[ \t\f\v]*+VERDICT:[ \t\f\v]*+(APPROVED|REVISE)[ \t\f\v]*+(?![^\r\n])",
    re.IGNORECASE | re.ASCII,
)
"""A whole line, where only LF and CR end one (R-A4)."""


class Verdict(NamedTuple):
    """What a text says by 7.3.

    Attributes:
        verdict: The last one, None without any.
        line: Its line, from 1.
        matches: How many lines are verdicts.
        is_last: Whether nothing but blanks follows it (7.1).
    """

    verdict: str | None
    line: int | None
    matches: int
    is_last: bool

    @property
    def code(self) -> str:
        """Return the warning or error that 7.3 asks for, "" for none."""
        return MISSING if self.matches == 0 else MULTIPLE if self.matches > 1 else ""


def verdict_of(text: str) -> Verdict:
    """Read the verdict of a review."""
    last, matches = None, 0
    for found in _VERDICT_LINE.finditer(text):
        last, matches = found, matches + 1
    if last is None:
        return Verdict(None, None, 0, False)
    start = last.start()
    breaks = text.count("\n", 0, start) + text.count("\r", 0, start) - text.count("\r\n", 0, start)
    return Verdict(last[1].upper(), breaks + 1, matches, not text[last.end() :].strip())
