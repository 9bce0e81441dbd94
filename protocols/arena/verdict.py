"""The verdict parser (section 7.3, R-A4): linear in the length of a review, whatever it holds."""

from __future__ import annotations

import re
from typing import Final, Literal, NamedTuple

from moot.protocols.arena.contracts import Verdict

MISSING: Final = "PARSER_ERROR_MISSING_VERDICT"
MULTIPLE: Final = "PARSER_WARNING_MULTIPLE_VERDICTS"

Code = Literal["PARSER_ERROR_MISSING_VERDICT", "PARSER_WARNING_MULTIPLE_VERDICTS"]

_LINE: Final = re.compile(r"\s*VERDICT:\s*(APPROVED|REVISE)\s*", re.IGNORECASE | re.ASCII)
"""One line; the blanks are those of ASCII, and so is the folding of case: look-alikes are no verdicts."""

_WORD: Final = re.compile("VERDICT:", re.IGNORECASE | re.ASCII)
_BREAK: Final = re.compile("[\r\n]")


class Parsed(NamedTuple):
    """What the parser found.

    Attributes:
        verdict: The last one, in capitals; None without any.
        line: Its line, counted from 1; None without any.
        matches: How many lines are verdicts.
        code: The warning or error that the spec asks for; None for exactly one match.
    """

    verdict: Verdict | None
    line: int | None
    matches: int
    code: Code | None


def parse_verdict(text: str) -> Parsed:
    """Find the verdict of a review.

    Lines end with LF, CR LF or CR and with nothing else. Only lines that hold the word are looked at, and each once,
    so that ten megabytes of blanks cost no more than finding nothing in them. Quotes and code fences are ordinary
    lines: the regex decides, prose does not.

    Args:
        text: The raw output of the Reviewer.
    """
    matches = 0
    last_at = -1
    verdict = ""
    looked_at = 0
    for word in _WORD.finditer(text):
        at = word.start()
        if at < looked_at:
            continue
        # From the end of the line before on, so that no stretch of the text is searched twice.
        start = max(text.rfind("\n", looked_at, at), text.rfind("\r", looked_at, at)) + 1
        start = start or looked_at
        end = _line_end(text, at)
        looked_at = end
        found = _LINE.fullmatch(text, start, end)
        if found is not None:
            matches += 1
            last_at, verdict = start, found[1]
    if not matches:
        return Parsed(None, None, 0, MISSING)
    line = _breaks(text, last_at) + 1
    return Parsed(verdict.upper(), line, matches, MULTIPLE if matches > 1 else None)  # type: ignore[arg-type]


def _line_end(text: str, at: int) -> int:
    """Return where the line that holds a place ends."""
    found = _BREAK.search(text, at)
    return len(text) if found is None else found.start()


def _breaks(text: str, end: int) -> int:
    """Count the line breaks before a place that no CR LF straddles."""
    return text.count("\n", 0, end) + text.count("\r", 0, end) - text.count("\r\n", 0, end)
