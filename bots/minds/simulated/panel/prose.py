"""How a text reads: the length of its sentences, its reading ease, hedges and claims, abbreviations, repetitions."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from moot.bots.minds.simulated.panel.found import MOST_EXAMPLES, Found, number_of, share
from moot.bots.minds.simulated.panel.layout import LEAST_WORDS, Layout

WORD: Final = re.compile(r"[^\W\d_][\w’'-]*")
_VOWELS: Final = re.compile("[aeiouyàáâäèéêëìíîïòóôöùúûü]+", re.IGNORECASE)
_LONGEST_WORD: Final = 60

HEDGES: Final = re.compile(
    r"\b(?:may|might|could|perhaps|possibly|probably|likely|appears?|suggests?|seems?|tentative(?:ly)?|"
    r"cannot rule out|not certain|approximately|we believe)\b",
    re.IGNORECASE,
)
CLAIMS: Final = re.compile(
    r"\b(?:proves?|proven beyond|undoubtedly|obviously|undeniabl[ey]|guarantee[ds]?|revolutionary|unprecedented|"
    r"without (?:any )?doubt|beyond (?:any )?(?:doubt|question)|never fails?|always works?|perfect(?:ly)?|risk-free|"
    r"everybody knows|it is clear that|best in the world|cannot lose|cannot fail)\b",
    re.IGNORECASE,
)
_NOT: Final = re.compile(
    r"\b(?:not|no|never|nor|neither|cannot|without)\s(?:[^\W\d_]{1,12}\s){0,2}$", re.IGNORECASE
)

_SHORT: Final = re.compile(r"\b[A-Z][A-Z0-9]{1,5}\b")
_EXPLAINED: Final = re.compile(r"\(([A-Z][A-Z0-9]{1,5})s?[),;]|\b([A-Z][A-Z0-9]{1,5})s? \([^()]{6,100}\)")
_ROMAN: Final = re.compile("[IVXLC]+[0-9]*|[A-Z][0-9]+")
KNOWN: Final = frozenset(
    [
        "AI",
        "AM",
        "API",
        "AND",
        "BC",
        "CI",
        "CO2",
        "CPU",
        "CSV",
        "DNA",
        "DOI",
        "ET",
        "ETF",
        "EU",
        "EUR",
        "FAQ",
        "GB",
        "GBP",
        "GDP",
        "GMT",
        "GPS",
        "HTML",
        "HTTP",
        "ID",
        "IQ",
        "ISBN",
        "ISO",
        "IT",
        "JSON",
        "KB",
        "LED",
        "MB",
        "NASA",
        "NOT",
        "OK",
        "OR",
        "PC",
        "PDF",
        "PM",
        "RAM",
        "RNA",
        "SD",
        "SE",
        "SQL",
        "TV",
        "UK",
        "UN",
        "URL",
        "US",
        "USA",
        "USB",
        "USD",
        "UTC",
        "VS",
        "WHO",
        "XML",
    ]
)
"""Abbreviations that need no explanation."""
LONG_SENTENCE: Final = 40
STEM: Final = 6
"""Two words are taken for the same when their first letters are, so many."""


def prose(layout: Layout, split: Sequence[str]) -> Mapping[str, Found]:
    """Measure how a text reads.

    Args:
        layout: The text.
        split: Its sentences, without those of its references.
    """
    counted = [(one, WORD.findall(one)) for one in split]
    counted = [(one, words) for one, words in counted if words]
    words = sum(len(one) for _, one in counted)
    tall = [one for one, own in counted if len(own) > LONG_SENTENCE]
    hedges, claims = _told(HEDGES, split), _told(CLAIMS, split, negatable=True)
    headings = [
        one
        for one in layout.sections
        if one.title and one.words >= LEAST_WORDS and (one.paragraphs or one.rows)
    ]
    return {
        "words": Found(words),
        "sections": Found(len(headings), tuple(one.title for one in headings[:MOST_EXAMPLES])),
        "sentence_length": Found(round(words / len(counted), 1) if counted else 0.0, tuple(tall[:1])),
        "long_sentences": Found(round(share(len(tall), len(counted)), 1), tuple(tall[:1])),
        "reading_ease": Found(_reading_ease([own for _, own in counted])),
        "hedges": Found(
            round(1000 * len(hedges) / words, 1) if words else 0.0, tuple(hedges[:MOST_EXAMPLES])
        ),
        "claims": number_of(claims),
        "unexplained": number_of(_unexplained(split)),
        "duplicates": number_of(_duplicates(layout.paragraphs())),
        "new_at_the_end": _new_at_the_end(layout),
    }


def stems(texts: Iterable[str]) -> Counter[str]:
    """Count the beginnings of all words."""
    return Counter(word.casefold()[:STEM] for text in texts for word in WORD.findall(text))


def _reading_ease(split: Sequence[Sequence[str]]) -> float | None:
    """Score how easily a text reads: 100 very, 0 hardly; None without words.

    Syllables are counted as groups of vowels, so it is near Flesch's figure and not equal to it.

    Source: Flesch, A New Readability Yardstick, 1948.
    """
    words = [word for one in split for word in one]
    if not words:
        return None
    syllables = sum(map(_syllables, words))
    return round(206.835 - 1.015 * len(words) / len(split) - 84.6 * syllables / len(words), 1)


def _syllables(word: str) -> int:
    groups = len(_VOWELS.findall(word[:_LONGEST_WORD]))
    if groups > 1 and word[-1] in "eE" and word[-2:].casefold() != "le":
        groups -= 1
    return max(1, groups)


def _told(pattern: re.Pattern[str], split: Iterable[str], *, negatable: bool = False) -> list[str]:
    return [
        match[0]
        for one in split
        for match in pattern.finditer(one)
        if not negatable or not _NOT.search(one, max(0, match.start() - 40), match.start())
    ]


def _unexplained(split: Sequence[str]) -> list[str]:
    """Return the abbreviations that are explained nowhere."""
    explained = {
        one for text in split for match in _EXPLAINED.finditer(text) for one in match.groups() if one
    }
    used = dict.fromkeys(
        match[0] for text in split if not text.isupper() for match in _SHORT.finditer(text)
    )  # a heading in capitals is no row of abbreviations
    return [one for one in used if one not in explained | KNOWN and not _ROMAN.fullmatch(one)]


def _duplicates(paragraphs: Iterable[str]) -> Iterator[str]:
    seen: set[tuple[str, ...]] = set()
    for paragraph in paragraphs:
        words = tuple(word.casefold() for word in WORD.findall(paragraph))
        if len(words) >= LEAST_WORDS // 2:
            if words in seen:
                yield paragraph
            seen.add(words)


def _new_at_the_end(layout: Layout) -> Found:
    """Return how much of what the conclusion says stands nowhere before it, in per cent of its longer words."""
    last = [one for one in layout.of("conclusion") if "results" not in one.kinds]
    said = [
        word for one in last for text in one.paragraphs for word in WORD.findall(text) if len(word) >= STEM
    ]
    if not said:
        return Found(None)
    rest = [one for one in layout.sections if "conclusion" not in one.kinds and "references" not in one.kinds]
    before = stems(text for one in rest for text in (*one.paragraphs, *one.rows))
    new = [word for word in said if word.casefold()[:STEM] not in before]
    return Found(round(share(len(new), len(said)), 1), tuple(dict.fromkeys(new))[:MOST_EXAMPLES])
