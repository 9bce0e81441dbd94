"""How a text is laid out: headings, sections, paragraphs, sentences. It takes time linear in the text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from moot.bots.minds.simulated.panel.addressed import ENDS, addressed

KINDS: Final[Mapping[str, re.Pattern[str]]] = {
    kind: re.compile(rf"\b(?:{words})", re.IGNORECASE)
    for kind, words in {
        "abstract": r"abstract\b|summary\b|in short\b|overview\b",
        "methods": r"methods?\b|methodology\b|materials\b|procedure\b|study design|experimental set-?up|"
        r"approach\b",
        "results": r"results?\b|findings\b|evaluation\b|experiments\b|what we found",
        "limitations": r"limitations?\b|limits of|weakness|threats to validity|caveats\b|shortcomings\b",
        "conclusion": r"conclusions?\b|concluding|closing remarks|what follows from",
        "references": r"references\b|bibliography\b|works cited|literature cited|sources\b",
        "problem": r"problem|fault\b|what is wrong|motivation\b|why\b|today\b",
        "unchanged": r"unchanged|what stays|what must not|not in scope|out of scope|boundar",
    }.items()
}
"""What a section is, by its title; one title may name two."""

LEAST_WORDS: Final = 20
"""A section with fewer words below its heading is a heading and no section."""
LONGEST_HEADING: Final = 120

_MARKDOWN: Final = re.compile(r" {0,3}(#{1,6})(?:[ \t]{1,4}|$)")
_LATEX: Final = re.compile(r"\s{0,8}\\(?:(sub){0,2}section\*?\{([^{}]{1,100})\}|begin\{(abstract)\})")
_NUMBERED: Final = re.compile(r"(\d{1,2}(?:\.\d{1,2}){0,3})\.?\s{1,4}([^\W\d_a-z][^.!?]{0,80})")
_PLAIN: Final = re.compile(
    r"[*_]{0,3}(?:[IVX]{1,5}\.\s{1,3})?(abstract|summary|introduction|background|related work|"
    r"(?:materials and )?methods?|"
    r"methodology|data|results?|findings|(?:results and )?discussion|limitations|"
    r"(?:discussion and )?conclusions?|"
    r"references|bibliography|acknowledge?ments|appendix)[*_]{0,3}\s{0,2}(?:$|[:.—–]\s{0,3}[*_]{0,3})",
    re.IGNORECASE,
)
_FENCE: Final = re.compile(r" {0,3}(?:`{3}|~{3})")
_ITEM: Final = re.compile(r"(?:[-*+•]|\d{1,3}[.)]|\[\d{1,3}\])\s")
_UNDERLINE: Final = re.compile(r" {0,3}(={3,300}|-{3,300})\s{0,9}")
_BREAKS: Final = re.compile("\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
_CONTROL: Final = dict.fromkeys(
    [*range(9), *range(14, 32), 127, *range(128, 160), 0xFEFF, 0x200B, 0x200C, 0x200D]
)


class Heading(NamedTuple):
    """A heading: its title, its level from 1, and what follows it in the same line."""

    title: str
    level: int
    rest: str = ""


@dataclass(slots=True)
class Section:
    """What stands below a heading, up to the next heading of any level.

    Attributes:
        words: Its words, with those of the sections within it.
        kinds: What it is, by its title and by those around it.
        paragraphs: In one line each, with single blanks.
        rows: Of its tables.
    """

    title: str
    level: int
    words: int
    kinds: frozenset[str]
    paragraphs: list[str]
    rows: list[str]


@dataclass(frozen=True, slots=True)
class Layout:
    """A text taken apart.

    Attributes:
        sections: In order; the first, titled "", stands before any heading.
        addressed: What spoke to the reviewer and was left out.
    """

    sections: Sequence[Section]
    addressed: Sequence[str]

    def of(self, kind: str) -> list[Section]:
        """Return the sections of a kind."""
        return [one for one in self.sections if kind in one.kinds]

    def has(self, kind: str) -> bool:
        """Say whether there is a section of a kind with enough in it."""
        return any(one.words >= LEAST_WORDS for one in self.of(kind))

    def paragraphs(self) -> Iterator[str]:
        """Yield the paragraphs of the text, without its references."""
        for one in self.sections:
            if "references" not in one.kinds:
                yield from one.paragraphs

    def rows(self) -> Iterator[str]:
        """Yield the rows of all tables."""
        for one in self.sections:
            yield from one.rows


def sentences(paragraph: str) -> list[str]:
    """Split a paragraph into sentences."""
    return [one for one in ENDS.split(paragraph) if one]


def layout(text: str) -> Layout:
    """Take a text apart; any text will do."""
    lines, spoken = _lines(text)
    sections = [Section("", 0, 0, frozenset(), [], [])]
    run: list[str] = []
    above: list[Section] = []

    def close() -> None:
        if run:
            sections[-1].paragraphs.append(" ".join(" ".join(run).split()))
            run.clear()

    n = 0
    while n < len(lines):
        line = lines[n]
        heading, is_underlined = _heading(lines, n)
        n += 2 if is_underlined else 1
        if heading is not None:
            close()
            while above and above[-1].level >= heading.level:
                above.pop()
            inherited = above[-1].kinds if above else frozenset[str]()
            kinds = frozenset(kind for kind, title in KINDS.items() if title.search(heading.title))
            sections.append(Section(heading.title, heading.level, 0, kinds | inherited, [], []))
            above.append(sections[-1])
            line = heading.rest
        line = line.strip().lstrip("> ")
        if not line:
            close()
            continue
        for one in above or sections[-1:]:
            one.words += len(line.split())
        if line[0] == "|":
            close()
            sections[-1].rows.append(line)
            continue
        if _ITEM.match(line):
            close()
        run.append(line)
    close()
    return Layout(sections, spoken)


def _lines(text: str) -> tuple[list[str], list[str]]:
    """Return the lines that are for readers, and what spoke to the reviewer; code and comments are blank."""
    text = _BREAKS.sub("\n", _without_comments(text)).translate(_CONTROL)
    lines = text.split("\n")
    fences = [n for n, line in enumerate(lines) if _FENCE.match(line)]
    for start, end in zip(fences[::2], fences[1::2], strict=False):  # one that never closes hides nothing
        lines[start : end + 1] = [""] * (end + 1 - start)
    spoken: list[str] = []
    for n, line in enumerate(lines):
        if line:
            lines[n], left_out = addressed(line)
            spoken += left_out
    return lines, spoken


def _without_comments(text: str) -> str:
    kept, at = [], 0
    while (start := text.find("<!--", at)) >= 0:
        end = text.find("-->", start)
        if end < 0:
            break
        kept.append(text[at:start])
        at = end + 3
    return "".join((*kept, text[at:]))


def _heading(lines: Sequence[str], n: int) -> tuple[Heading | None, bool]:
    """Return the heading that a line is, if any, and whether the next line only underlines it."""
    line = lines[n]
    if not line or (len(line) > LONGEST_HEADING and not _PLAIN.match(line)):
        return None, False
    if match := _MARKDOWN.match(line):
        return Heading(line[match.end() :].strip().rstrip("#").strip(), len(match[1])), False
    if match := _LATEX.match(line):
        return Heading(match[2] or match[3], 3 if match[1] else 2, line[match.end() :]), False
    is_first = n == 0 or not lines[n - 1].strip()
    if not is_first:
        return None, False
    after = lines[n + 1] if n + 1 < len(lines) else ""
    if line.strip() and line.lstrip()[0] != "|" and (match := _UNDERLINE.fullmatch(after)):
        return Heading(line.strip(), 1 if match[1][0] == "=" else 2), True
    if match := _PLAIN.match(line):
        return Heading(match[1], 2, line[match.end() :]), False
    if (match := _NUMBERED.fullmatch(line.strip())) and not after.strip():
        return Heading(match[2], 2 + match[1].count(".")), False
    return None, False
