"""Read a paper, a dossier or a proposal: every figure of `measures.MEASURES`, from the text alone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from moot.bots.minds.simulated.panel.citations import citations
from moot.bots.minds.simulated.panel.figures import figures
from moot.bots.minds.simulated.panel.found import MOST_EXAMPLES, Found, number_of
from moot.bots.minds.simulated.panel.layout import Layout, layout, sentences
from moot.bots.minds.simulated.panel.measures import PASSAGES, STANDS_NEGATED
from moot.bots.minds.simulated.panel.prose import STEM, prose, stems

_NEGATION: Final = re.compile(
    r"(?:\b(?:no|not|never|nothing|nobody|without|lacks?|cannot|neither|nor)|n['’]t)\s(?:[^\W\d_]{1,14}\s){0,3}$",
    re.IGNORECASE,
)
_MOST_BEFORE: Final = 60
_SECTIONS: Final = ("abstract", "methods", "results", "limitations", "conclusion", "problem", "unchanged")


@dataclass(frozen=True)
class Paper:
    """What was measured in a text.

    Attributes:
        title: The first heading; "" when there is none.
        headings: All of them, in order.
        measures: By the names of `MEASURES`.
        stems: How often words begin so.
        addressed: What in it speaks to the reviewer; it was left out of all figures.
    """

    title: str
    headings: Sequence[str]
    measures: Mapping[str, Found]
    stems: Mapping[str, int]
    addressed: Sequence[str]

    def __getitem__(self, measure: str) -> Found:
        """Return a figure by its name."""
        return self.measures[measure]

    def saying(self, words: Iterable[str]) -> Found:
        """Return how often words occur, taken for the same when they begin alike."""
        asked = {word.casefold()[:STEM] for word in words}
        there = {stem: self.stems[stem] for stem in sorted(asked) if self.stems.get(stem)}
        return Found(sum(there.values()), tuple(f"{stem}…" for stem in there)[:MOST_EXAMPLES])


@lru_cache(maxsize=4)  # the reviewers of one panel read the same text
def read_paper(text: str) -> Paper:
    """Read any text, in time linear in its length."""
    page = layout(text)
    split = [one for paragraph in page.paragraphs() for one in sentences(paragraph)]
    lines = [*split, *page.rows()]
    both = [(line, line.lower()) for line in lines]
    headings = [one.title for one in page.sections if one.title]
    return Paper(
        title=headings[0] if headings else "",
        headings=headings,
        measures={
            **{kind: _section(page, kind) for kind in _SECTIONS},
            **citations(page),
            **figures(page),
            **prose(page, split),
            **{name: _passages(name, patterns, both) for name, patterns in PASSAGES.items()},
        },
        stems=stems(lines),
        addressed=page.addressed,
    )


def _section(page: Layout, kind: str) -> Found:
    """Count the sections of a kind; one that is only a heading is none."""
    there = [one.title for one in page.of(kind)]
    return number_of(there) if page.has(kind) else Found(0.0)


def _passages(name: str, patterns: Sequence[re.Pattern[str]], lines: Iterable[tuple[str, str]]) -> Found:
    """Count the sentences that say something.

    Args:
        name: Of the passage.
        patterns: Those of `PASSAGES`.
        lines: Each as it stands, and in small letters, in which patterns are found sooner.
    """
    first, *others = patterns
    may_be_negated = name in STANDS_NEGATED
    return number_of(
        line
        for line, small in lines
        if any(may_be_negated or not _is_negated(small, match.start()) for match in first.finditer(small))
        and all(one.search(small) for one in others)
    )


def _is_negated(line: str, at: int) -> bool:
    return _NEGATION.search(line, max(0, at - _MOST_BEFORE), at) is not None
