"""What the Orchestrator reads out of a review besides its verdict: its named items and its rationale.

Neither touches the verdict: intent is never inferred from prose (3.2).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Final

from moot.protocols.arena.contracts import Issue, Verdict
from moot.protocols.arena.messages import NotebookFinding
from moot.protocols.arena.relevance import cleanse
from moot.protocols.arena.verdict import Parsed, parse_verdict
from moot.protocols.kernel.figures import NEWEST

MOST_ITEMS: Final = 100
"""More items of one review than this are left to its text."""
MOST_MENTIONS: Final = 100
"""So many places are looked at for a reference; one that is found nowhere there is listed."""
JOINTS: Final = frozenset("._-/#:@?&%+~")
"""What joins the parts of a reference: a mark of these with a letter or digit behind it does not end one."""
LONGEST: Final = 500
"""An item's text is cut to so many characters."""

_ITEM: Final = re.compile(r"(?:^|(?<=[\r\n]))[ \t]{0,8}(?:[-*+]|[0-9]{1,3}[.)])[ \t]++([^\s][^\r\n]*)")
"""A list item, as Markdown writes it; lines end as they do for the verdict (R-A4)."""

_RATIONALE: Final = re.compile(r"(?:^|[\r\n])[ \t]*RATIONALE:[ \t]*\S", re.IGNORECASE | re.ASCII)


UNREASONED: Final = "APPROVED_WITHOUT_RATIONALE"
NOT_LAST: Final = "VERDICT_NOT_LAST"
"""Warnings about a review whose verdict stands all the same (R-A10, 7.1)."""


def is_last(text: str, found: Parsed) -> bool:
    """Say whether the verdict is the last line that is not blank, as it should be (7.1)."""
    end = len(text.rstrip())
    start = max(text.rfind("\n", 0, end), text.rfind("\r", 0, end)) + 1
    return parse_verdict(text[start:end]).matches == 1 and found.verdict is not None


def has_rationale(text: str) -> bool:
    """Say whether a review gives the rationale line that an approval against the evidence needs (R-A10)."""
    return _RATIONALE.search(text) is not None


def is_mentioned(ref: str, text: str) -> bool:
    """Say whether a text mentions a reference, and not only a longer one that holds it (8.2).

    A longer one goes on with a letter or a digit, also behind one of the characters that join a reference's parts.
    """
    at, size = text.find(ref), len(ref)
    for _ in range(MOST_MENTIONS):
        if at < 0:
            return False
        end = at + size
        if not (_goes_on(text[max(at - 2, 0) : at][::-1]) or _goes_on(text[end : end + 2])):
            return True
        at = text.find(ref, at + 1)
    return False


def _goes_on(beside: str) -> bool:
    """Say whether a reference goes on with the characters beside it, the nearest first."""
    return beside[:1].isalnum() or (beside[:1] in JOINTS and beside[1:].isalnum())


def issues_of(
    text: str,
    verdict: Verdict,
    round_index: int,
    evidence_refs: Sequence[str],
    findings: Iterable[NotebookFinding],
    version: int = NEWEST,
) -> tuple[Issue, ...]:
    """List what a review leaves open, for its `RoundRecord`.

    Args:
        text: The raw review.
        verdict: As parsed; an approval leaves no named item open.
        round_index: From 1.
        evidence_refs: What the during-hook consulted; what the text does not mention is listed (8.2).
        findings: What that evidence says about claims; contradictions are listed (R-A10).
        version: The rules version of the log.
    """
    found: list[tuple[str, str, str | None, str | None]] = []
    if verdict == "REVISE":
        found += [
            ("issue", item[1].rstrip()[:LONGEST], None, None)
            for item in islice(_ITEM.finditer(text), MOST_ITEMS)
        ]
    contradicted = [one for one in findings if one.stance == "contradicts"]
    found += [
        ("contradiction", f"contradiction: {one.claim} ({one.evidence_ref})", one.claim, one.evidence_ref)
        for one in contradicted
    ]
    if verdict == "REVISE" and not found:
        found.append(("unnamed", "the review asks for a revision and names no item", None, None))
    listed = {one.evidence_ref for one in contradicted}
    found += [
        ("evidence", f"evidence consulted: {ref}", None, ref)
        for ref in evidence_refs
        if ref not in listed and not is_mentioned(ref, text)
    ]
    return tuple(
        # A part of a line may be excluded where the whole line is not.
        Issue(
            id=f"r{round_index}-{n}",
            kind=kind,  # type: ignore[arg-type]
            text=cleanse(said, version).text,
            claim=claim,
            evidence_ref=ref,
        )
        for n, (kind, said, claim, ref) in enumerate(found, 1)
    )
