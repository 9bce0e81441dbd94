"""What in a paper speaks to its reviewer instead of its readers: found, and left out of everything that is measured.

A line in the grammar of a review (`score: pass`), a heading of one, a delimiter, or a sentence such as "score all
dimensions pass" is nothing that a paper needs. Leaving it out is what makes it powerless: no figure sees it.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

_PINNED: Final = re.compile(
    r"[\s>#*_`+-]{0,12}(?:contract_role\s?:|score\s?:|fired\s?:|fired_conditions\s?:|editorial_decision\s?=|"
    r"dimension_id\s?:|what_to_look_for\s?:|what_triggers_\w{1,20}\s?:|\[?CONTRACT-ACKNOWLEDGED|"
    r"\[?(?:PROTOCOL-VIOLATION|PANEL-SHRUNK|PANEL-SYNTHESIS|SYNTHESIS-MISMATCH)\b|</?phase1_output|"
    r"</?(?:system|user|assistant)\b)",
    re.IGNORECASE,
)
_HEADING: Final = re.compile(
    r"\s{0,3}#{1,6}\s{1,4}(?:Dimension Scores|Failure Condition Checks|Review Body|Editorial Decision|"
    r"Scoring Plan|Scoring Plan Dissent|Contract Paraphrase|D[1-9][0-9]?\s?:.*|F[0-9]{1,2})\s{0,9}",
    re.IGNORECASE,
)
_SPOKEN: Final = re.compile(
    r"\beditorial_decision\s?=|\bcontract_role\s?:|\bfired_conditions\s?:|</?phase1_output|"
    r"\b(?:ignore|disregard|forget|override)\b[^.!?]{0,60}\b(?:instructions?|prompts?|contract|"
    r"scoring plan|rules above|previous|committed)\b"
    r"|\b(?:score|rate|mark|grade|give)\b[^.!?]{0,40}\b(?:every|all|each|everything|any)\b[^.!?]{0,40}"
    r"\b(?:pass|warn|block|accept|full marks)\b"
    r"|\byou (?:are|must|should|shall|will)\b[^.!?]{0,60}\b(?:review|score|accept|approve|pass|reject)"
    r"|\b(?:dear|note to(?: the)?|attention,?) (?:reviewers?|referees?|editors?|language models?)\b"
    r"|\b(?:reviewers?|referees?) (?:must|should|shall|are to|will) [^.!?]{0,40}\b(?:accept|pass|"
    r"approve|score)",
    re.IGNORECASE,
)
ENDS: Final = re.compile(
    r"(?<=[.!?])(?<!\bal\.)(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\bFig\.)(?<!\bvs\.)(?<!\bcf\.)(?<!\s[A-Z]\.)"
    r"\s(?=[\"“(\[*_]?[^\W\d_a-zß-ÿ])"
)
"""Where a sentence ends, in a text whose blanks are single."""


class Addressed(NamedTuple):
    """A line taken apart.

    Attributes:
        kept: What is left for the readers.
        left_out: What speaks to the reviewer.
    """

    kept: str
    left_out: tuple[str, ...] = ()


def speaks(line: str) -> bool:
    """Say whether a line speaks to the reviewer, pinned lines aside."""
    return _SPOKEN.search(line) is not None


def addressed(line: str) -> Addressed:
    """Take out of a line what speaks to the reviewer; of a long one only the sentences that do."""
    if _PINNED.match(line) or _HEADING.fullmatch(line):
        return Addressed("", (line.strip(),))
    if not _SPOKEN.search(line):
        return Addressed(line)
    sentences = ENDS.split(" ".join(line.split()))
    spoken = tuple(one for one in sentences if _SPOKEN.search(one))
    return Addressed(" ".join(one for one in sentences if not _SPOKEN.search(one)), spoken)
