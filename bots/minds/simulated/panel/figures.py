"""The figures of a text: numbers with and without a unit, samples, tests, intervals, and what a dossier states."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from moot.bots.minds.simulated.panel.found import MOST_EXAMPLES, Found, number_of, share
from moot.bots.minds.simulated.panel.layout import Layout

_NUMBER: Final = re.compile(r"(?<![\w.,/-])[-−+]?\d{1,15}(?:,\d{3}){0,4}(?:\.\d{1,12})?(?![\d\w]*/|[.,-]?\d)")
_YEAR: Final = re.compile(r"(?:1[89]|20)\d\d")
_UNIT: Final = re.compile(
    r"\s?(?:%|‰|°|[$€£]|per cent\b|percent\b|[kKMGmµn]?(?:m|g|s|W|Hz|B|L|N|V|A|J|Pa|l|h|t)\b|(?:cm|mm|"
    r"km|ha|min|bps?|"
    r"USD|EUR|GBP)\b)|\s(?!(?:and|but|for|nor|the|that|than|then|with|even|when|while)\b)[^\W\d_]{3,}"
)
_LABEL: Final = re.compile(
    r"(?:[=<>≤≥≈~±:×$€£]|[^\W\d_]{2,} (?:of|is|was|to|than|least|most|and|by|at|about|from)|\bCI)\s?$"
)
_NUMBERING: Final = re.compile(
    r"(?:tables?|figures?|fig\.|sections?|equations?|eq\.|chapters?|appendix|steps?|versions?|no\.|§)\s?$",
    re.IGNORECASE,
)
_DATE: Final = re.compile(r"\b(?:19|20)\d\d-\d\d-\d\d\b")

_P_VALUE: Final = re.compile(r"\bp\s?[<>=≤≥]\s?0?\.\d{1,8}", re.IGNORECASE)
_INTERVAL: Final = re.compile(
    r"\b9\d(?:\.\d)?\s?(?:%|per cent|percent)\s?(?:CIs?\b|(?:confidence|credible) intervals?)|"
    r"\bCI\s?[:=]?\s?[\[(]\s?[-−\d]|"
    r"\b(?:confidence|credible) intervals?\b[^.;]{0,30}\d",
    re.IGNORECASE,
)
_SPREAD: Final = re.compile(
    r"\bstandard (?:errors?|deviations?)\b|±|\bSDs?\s?[=(\d]|\bSE\s?[=(\d]|\binterquartile\b|\bbootstrap",
    re.IGNORECASE,
)
_SAMPLE: Final = re.compile(
    r"\b[nN]\s?=\s?(\d[\d,]{0,12})|\b(\d[\d,]{0,12})\s(?:[^\W\d_]{2,15}\s){0,2}(?:participants|"
    r"patients|subjects|samples|"
    r"respondents|observations|trials|students|pupils|teachers|specimens|cases|households|animals|"
    r"mice|plots|trees|sites|"
    r"runs|recordings|documents|images|volunteers|adults|children|companies|firms|schools|streets|"
    r"villages|classes)\b"
)
_EXHIBIT: Final = re.compile(r"\b(Table|Figure|Fig\.)\s?(\d{1,3})", re.IGNORECASE)
_RULE: Final = re.compile(r"\|[\s:|-]{3,}")

_SIGNED: Final = r"([-−+]?\d{1,3}(?:\.\d{1,4})?)(?![\d.]*\d)"
STATED: Final[Mapping[str, tuple[re.Pattern[str], bool]]] = {
    "sharpe": (re.compile(rf"\bSharpe\b[^.\d\n−+-]{{0,50}}{_SIGNED}", re.IGNORECASE), False),
    "drawdown": (
        re.compile(
            rf"\bdraw-?down\b(?:(?!reach|limit|exceed|above|over|hits|stop)[^.\d\n]){{0,50}}?{_SIGNED}"
            r"\s?(?:%|per cent|percent)",
            re.IGNORECASE,
        ),
        True,
    ),
    "trades": (
        re.compile(
            r"\b(\d{1,3}(?:,\d{3})+|\d{1,9})\s(?:[^\W\d_]{2,12}\s){0,1}trades\b|\btrades\b[\s|"
            r":=]{1,6}(\d{1,3}(?:,\d{3})+|\d{1,9})\b",
            re.IGNORECASE,
        ),
        True,
    ),
}
"""Quantities of a dossier: how they are written; and whether the largest that is stated counts, or the smallest."""


def figures(layout: Layout) -> Mapping[str, Found]:
    """Measure the figures of a text."""
    paragraphs, rows = list(layout.paragraphs()), list(layout.rows())
    both = [*paragraphs, *rows]
    numbers, bare = _numbers(paragraphs)
    tests, intervals = _all(_P_VALUE, both), _all(_INTERVAL, both)
    tables = [row for row in rows if _RULE.fullmatch(row)]
    shown = {f"{one[1][0].upper()}{one[2]}": one[0] for text in both for one in _EXHIBIT.finditer(text)}
    return {
        "numbers": number_of(numbers),
        "bare_share": Found(round(share(len(bare), len(numbers)), 1), tuple(bare[:MOST_EXAMPLES])),
        "p_values": number_of(tests),
        "intervals": number_of(intervals),
        "uncertainty": number_of([*tests, *intervals, *_all(_SPREAD, both)]),
        "samples": number_of(_all(_SAMPLE, both)),
        "exhibits": number_of([*shown.values(), *tables[len(shown) :]]),
        "dates": number_of(_all(_DATE, both)),
        "unfounded": number_of(_unfounded(layout)),
        **{key: _stated(pattern, both, is_largest) for key, (pattern, is_largest) in STATED.items()},
    }


def _all(pattern: re.Pattern[str], texts: Iterable[str]) -> list[str]:
    return [match[0] for text in texts for match in pattern.finditer(text)]


def _numbers(texts: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return the numbers of running text, and those without a unit, a noun or a label; each with its surroundings."""
    numbers: list[str] = []
    bare: list[str] = []
    for text in texts:
        for match in _NUMBER.finditer(text):
            start, end = match.span()
            before = text[max(0, start - 25) : start]
            if start == 0 or _YEAR.fullmatch(match[0]) or _NUMBERING.search(before) or before.endswith("["):
                continue
            shown = _around(text, start, end)
            numbers.append(shown)
            if not _UNIT.match(text, end) and not _LABEL.search(before):
                bare.append(shown)
    return numbers, bare


def _around(text: str, start: int, end: int) -> str:
    """Return a number with a word or two on either side."""
    before = text[max(0, start - 20) : start].split(" ")[-3:]
    after = text[end : end + 20].split(" ")[:2]
    return " ".join(before) + text[start:end] + " ".join(after)


def _unfounded(layout: Layout) -> list[str]:
    """Return the numbers of the abstract that stand nowhere after it."""
    abstract = [one for one in layout.of("abstract") if one.words]
    if not abstract:
        return []
    rest = [one for one in layout.sections if "abstract" not in one.kinds]
    known = set(_values(text for one in rest for text in (*one.paragraphs, *one.rows)))
    stated = _values(text for one in abstract for text in one.paragraphs)
    return [one for one in dict.fromkeys(stated) if one not in known]


def _values(texts: Iterable[str]) -> list[str]:
    return [match[0].replace(",", "").lstrip("-−+") for text in texts for match in _NUMBER.finditer(text)]


def _stated(pattern: re.Pattern[str], texts: Sequence[str], is_largest: bool) -> Found:
    """Return a quantity that a text states; of several the largest or the smallest."""
    there: list[tuple[float, str]] = []
    for text in texts:
        for match in pattern.finditer(text):
            written = next(group for group in match.groups() if group is not None)
            value = float(written.replace(",", "").replace("−", "-"))
            there.append((abs(value) if is_largest else value, match[0]))
    if not there:
        return Found(None)
    value, shown = (max if is_largest else min)(there)
    return Found(value, (shown,))
