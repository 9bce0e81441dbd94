"""Which works a text cites and which it lists: author and year, [n], DOI and URL."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from moot.bots.minds.simulated.panel.found import Found, number_of
from moot.bots.minds.simulated.panel.layout import Layout

_NAME: Final = r"[^\W\d_a-z][\w’'-]{1,30}"
_YEAR: Final = r"(?:1[89]|20)\d\d"
_BRACKET: Final = re.compile(r"\(([^()]{4,300})\)")
_INSIDE: Final = re.compile(rf"({_NAME})[^;\d]{{0,120}}({_YEAR})[a-z]?")
_NARRATIVE: Final = re.compile(
    rf"\b({_NAME})(?:,? et al\.?|(?:,? (?:and|&) {_NAME}))?(?:’s|'s)? \(({_YEAR})[a-z]?[),;:]"
)
_NUMBERS: Final = re.compile(r"\[(\d{1,3}(?:\s?[,;–-]\s?\d{1,3}){0,30})\]")
_LINK: Final = re.compile(r"\b(?:https?://|doi:\s?|10\.\d{4,9}/)[^\s<>()\[\]“”]{3,300}", re.IGNORECASE)
_ENTRY_NUMBER: Final = re.compile(r"\[?(\d{1,3})[\].)]\s")
_MARK: Final = re.compile(r"^(?:[-*+•]|\[?\d{1,3}[\].)])\s{1,4}")
_FIRST_NAME: Final = re.compile(_NAME)
_ANY_YEAR: Final = re.compile(rf"\b{_YEAR}")
_MONTHS: Final = frozenset(
    [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
        "since",
        "until",
        "in",
        "from",
        "during",
        "by",
        "after",
        "before",
        "table",
        "figure",
        "section",
        "see",
    ]
)
MOST_IN_A_RANGE: Final = 50


def citations(layout: Layout) -> Mapping[str, Found]:
    """Measure what is cited, what is listed, and whether the two agree."""
    cited: dict[str, str] = {}
    for paragraph in layout.paragraphs():
        for key, shown in _cited(paragraph):
            cited.setdefault(key, shown)
    entries = [entry for one in layout.of("references") for entry in one.paragraphs]
    listed: set[str] = set()
    uncited: list[str] = []
    for entry in entries:
        keys = set(_keys(entry))
        listed |= keys
        if keys.isdisjoint(cited):
            uncited.append(entry)
    unlisted = [shown for key, shown in cited.items() if not key.startswith("http") and key not in listed]
    return {
        "citations": number_of(cited.values()),
        "references": number_of(entries),
        "unlisted": number_of(unlisted),
        "uncited": number_of(uncited),
    }


def _cited(text: str) -> Iterator[tuple[str, str]]:
    """Yield each citation of a paragraph: its key, and how it is written."""
    for bracket in _BRACKET.finditer(text):
        for part in bracket[1].split(";"):
            if (match := _INSIDE.search(part)) and match[1].casefold() not in _MONTHS:
                yield _author(match[1], match[2]), part.strip()
    for match in _NARRATIVE.finditer(text):
        if match[1].casefold() not in _MONTHS:
            yield _author(match[1], match[2]), match[0].rstrip(",;:")
    for match in _NUMBERS.finditer(text):
        yield from ((f"[{n}]", match[0]) for n in _expanded(match[1]))
    for match in _LINK.finditer(text):
        link = match[0].rstrip(".,;:")
        yield f"http {link.casefold()}", link


def _expanded(numbers: str) -> Iterable[int]:
    for part in re.split("[,;]", numbers):
        first, _, last = part.replace("–", "-").partition("-")
        start, end = int(first), int(last or first)
        yield from range(start, min(end, start + MOST_IN_A_RANGE) + 1)


def _keys(entry: str) -> Iterator[str]:
    """Yield what an entry of the reference list is cited by."""
    if match := _ENTRY_NUMBER.match(entry):
        yield f"[{int(match[1])}]"
    head = _MARK.sub("", entry[:400])
    if name := _FIRST_NAME.search(head):
        for year in _ANY_YEAR.findall(head):
            yield _author(name[0], year)
    for match in _LINK.finditer(entry):
        yield f"http {match[0].rstrip('.,;:').casefold()}"


def _author(name: str, year: str) -> str:
    name = name.casefold()
    for genitive in ("’s", "'s"):
        name = name.removesuffix(genitive)
    return f"{name} {year}"
