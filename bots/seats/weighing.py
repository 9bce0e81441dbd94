"""What a passage of the notebook says about a claim: a plain reading of words, negations and numbers (8.2, R-A10)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final, Literal, NamedTuple

MOST_CLAIMS: Final = 200
"""Claims of one draft that are held against the notebook: several times those of any normal draft."""
MOST_TEXT: Final = 100_000
"""Of a draft, so many characters are read for claims."""
SHARED: Final = 0.5
"""Share of the smaller sentence's content words that both must have to be about the same thing."""
FEWEST: Final = 3
"""Content words that a sentence needs to be a claim."""
APART: Final = 0.1
"""Numbers of the same unit that differ by more than this share contradict each other."""

DISPUTED: Final = "(disputed by "
"""How a draft marks a claim that it no longer makes."""

_SENTENCE: Final = re.compile(r"[^\s>][^\r\n]*?(?:[.!?](?=\s)|(?=[\r\n])|\Z)")
_WORD: Final = re.compile(r"[a-z][a-z0-9_-]{2,}")
_NUMBER: Final = re.compile(r"(?<![\w.])(-?[0-9]+(?:\.[0-9]+)?) ?(%|[a-z]{1,12})?")
_NEGATION: Final = re.compile(r"\b(?:not|never|no|none|cannot|without|fails?|false|untrue)\b|n't\b")
_STOP: Final = frozenset(
    {
        "the",
        "and",
        "for",
        "that",
        "this",
        "with",
        "from",
        "into",
        "than",
        "then",
        "when",
        "where",
        "which",
        "what",
    }
    | {
        "will",
        "would",
        "should",
        "could",
        "must",
        "may",
        "can",
        "are",
        "was",
        "were",
        "has",
        "have",
        "had",
        "been",
    }
    | {
        "being",
        "its",
        "their",
        "our",
        "your",
        "his",
        "her",
        "they",
        "them",
        "these",
        "those",
        "there",
        "here",
    }
    | {
        "over",
        "under",
        "about",
        "after",
        "before",
        "not",
        "never",
        "none",
        "cannot",
        "without",
        "fail",
        "fails",
    }
    | {"false", "untrue", "true"}
)

Stance = Literal["supports", "contradicts"]


class Weighed(NamedTuple):
    """A claim, the evidence on it, and which way that points."""

    claim: str
    evidence_ref: str
    stance: Stance


def sentences(text: str) -> tuple[str, ...]:
    """Return the sentences of a text, each once, without quoted lines and what Markdown puts before a sentence."""
    lines = [line for line in text[:MOST_TEXT].splitlines() if not line.lstrip().startswith(">")]
    found = (match[0].strip(" \t-*#.!?") for line in lines for match in _SENTENCE.finditer(line))
    return tuple(dict.fromkeys(one for one in found if one))


def claims_of(text: str) -> tuple[str, ...]:
    """Return the sentences of a draft that claim something, at most `MOST_CLAIMS`; without any, its first words."""
    found = [one for one in sentences(text) if DISPUTED not in one]
    return tuple([one for one in found if is_claim(one)][:MOST_CLAIMS] or found[:1])


def is_claim(sentence: str) -> bool:
    """Say whether a sentence has words enough to claim something."""
    return len(_content(sentence)) >= FEWEST


def is_beyond(text: str) -> bool:
    """Say whether a draft claims more than is held against the notebook."""
    if len(text) > MOST_TEXT:
        return True
    return sum(DISPUTED not in one and is_claim(one) for one in sentences(text)) > MOST_CLAIMS


def weigh(claims: Sequence[str], passages: Iterable[tuple[str, str]]) -> tuple[Weighed, ...]:
    """Hold claims against passages.

    Args:
        claims: Sentences of the draft.
        passages: (evidence reference, text) of each.

    Returns:
        At most one entry for each claim and passage: a contradiction wins over support.
    """
    found = []
    for ref, text in passages:
        said = sentences(text)
        for claim in claims:
            stances = {stance for one in said if (stance := _stance(claim, one)) is not None}
            if stances:
                found.append(Weighed(claim, ref, "contradicts" if "contradicts" in stances else "supports"))
    return tuple(found)


def _content(sentence: str) -> frozenset[str]:
    return frozenset(_WORD.findall(sentence.lower())) - _STOP


def _stance(claim: str, sentence: str) -> Stance | None:
    a, b = claim.lower(), sentence.lower()
    if a not in b:
        mine, theirs = _content(claim), _content(sentence)
        smaller = min(len(mine), len(theirs))
        if smaller < FEWEST or len(mine & theirs) < SHARED * smaller:
            return None
    # Two negations cancel out: "it is not true that it never fails".
    if len(_NEGATION.findall(a)) % 2 != len(_NEGATION.findall(b)) % 2:
        return "contradicts"
    ours = {unit: float(value) for value, unit in _NUMBER.findall(a)}
    for value, unit in _NUMBER.findall(b):
        if unit in ours and abs(float(value) - ours[unit]) > APART * max(abs(ours[unit]), abs(float(value))):
            return "contradicts"
    return "supports"
