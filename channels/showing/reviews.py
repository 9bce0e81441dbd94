"""What a review of the Arena comes to in a few words: its verdict as it will be parsed, and how many items it names.

For display only; the Orchestrator reads the review itself (spec arena-protocol-v2, 3.2, 7.3).
"""

from __future__ import annotations

from typing import Final

from moot.protocols.arena.reading import MOST_ITEMS, issues_of
from moot.protocols.arena.verdict import parse_verdict

TAIL: Final = 10_000
"""The last verdict line wins and mostly ends the text, so the end of a very long review is read first."""

SAID: Final = {"APPROVED": "approves", "REVISE": "asks for a revision of", None: "reviews"}


def verdict_of(text: str) -> str | None:
    """Return the verdict of a review, however long; None without a verdict line."""
    # What begins in the middle of a line would make another line of it.
    start = text.find("\n", len(text) - TAIL) + 1 if len(text) > TAIL else 0
    return parse_verdict(text[start:]).verdict or (parse_verdict(text).verdict if start else None)


def said(value: object, _arg: str = "") -> str:
    """Say what a review does with its round."""
    return SAID[verdict_of(value)] if isinstance(value, str) else SAID[None]


def left_open(value: object, _arg: str = "") -> str:
    """Say how much a review leaves open."""
    verdict = verdict_of(value) if isinstance(value, str) else None
    if not isinstance(value, str) or verdict is None:
        return "no verdict line"
    if verdict == "APPROVED":
        return "nothing left open"
    n = sum(issue.kind == "issue" for issue in issues_of(value, "REVISE", 1, (), ()))
    if n >= MOST_ITEMS:
        return f"{MOST_ITEMS} items or more"
    return f"{n} item{'' if n == 1 else 's'}" if n else "no item named"
