"""What a lint or a parser finds in a text, and how it is told."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

MOST: Final = 20
"""Of one text so many findings are told; the rest is counted."""

LONGEST: Final = 1000
"""A finding is told in so many characters: what it quotes may be of any length."""


class LintFinding(NamedTuple):
    """Something in a text that the contract or the grammar does not allow.

    Attributes:
        check: The rule's name; `lint_phase1` and `lint_phase2` list theirs.
        line: Where, from 1; 0 for the text as a whole.
        why: One sentence without a dot; a reviewer that may try again is told it as it stands.
    """

    check: str
    line: int
    why: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.why}" if self.line else self.why


def told(findings: Sequence[LintFinding]) -> Iterator[str]:
    """Word findings, at most `MOST` of them, each cut to `LONGEST` characters."""
    yield from (cut(str(one)) for one in findings[:MOST])
    if len(findings) > MOST:
        yield f"and {len(findings) - MOST:,} more"


def cut(text: str) -> str:
    """Cut a text to `LONGEST` characters."""
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
