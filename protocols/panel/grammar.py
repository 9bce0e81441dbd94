"""The lines that reviewers and synthesizer write: fenced code, headings and pinned lines.

Lines end at a line feed and nowhere else; a carriage return and blanks at their end do not count. Fenced code is
blanked first, so that quoted text neither fulfils nor doubles anything. All of it takes time linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_ENDS: Final = " \t\r"
_STRUCTURE: Final = re.compile(
    r"#{2,3} |(?:contract_role|score|fired|fired_conditions): ?|editorial_decision="
)
"""Beginning of a line that belongs to the form of a report or a synthesis."""

WRAPPED: Final = "outside one code fence around the whole text, whose lines are not read: leave the fence out"
"""End of the finding on a text of which nothing can be read because a fence is around all of it."""


class Block(NamedTuple):
    """A heading with the lines below it, up to the next heading of its level or above.

    Attributes:
        title: The heading without its hashes; "" for the lines before the first heading.
        line: The heading's number, from 1.
        lines: What stands below, fenced code blanked.
    """

    title: str
    line: int
    lines: Sequence[str]


class Said(NamedTuple):
    """A line that begins with a pinned key.

    Attributes:
        line: Its number, from 1.
        value: What follows the key; None when the key itself is not written as pinned.
    """

    line: int
    value: str | None


def page(text: str) -> Block:
    """Return a whole text as one block: its lines without blanks at their end, fenced code blanked.

    A fence opens with three or more backticks or tildes, at most three blanks from the left, and closes with at
    least as many of the same alone on a line; one that never closes reaches to the end.
    """
    lines = [line.rstrip(_ENDS) for line in text.split("\n")]
    fence = ""
    for n, line in enumerate(lines):
        if fence:
            if _closes(line, fence):
                fence = ""
        elif not _opens(line):
            continue
        else:
            fence = _fence_of(line)
        lines[n] = ""
    return Block("", 0, lines)


def wrapping_fence(text: str) -> int:
    """Return the line of the fence that is around a whole report or synthesis, 0 if there is none.

    Words may stand before and after the fence, and fenced code inside; a fence that never closes counts, too. A text
    whose headings and pinned lines stand outside, and which quotes others in a fence, is not wrapped.
    """
    lines = [line.rstrip(_ENDS) for line in text.split("\n")]
    first = next((n for n, line in enumerate(lines) if _opens(line)), None)
    if first is None:
        return 0
    read = page(text).lines
    if any(_STRUCTURE.match(line) for line in read[:first]):
        return 0
    fence = _fence_of(lines[first])
    end = next((n for n in range(first + 1, len(lines)) if _closes(lines[n], fence)), len(lines))
    if not any(_STRUCTURE.match(line) for line in lines[first + 1 : end]):
        return 0
    if not any(_STRUCTURE.match(line) for line in read[end:]):
        return first + 1
    # Code in the report closes the outer fence early; the outer one's own end is then the text's last line.
    last = next(line for line in reversed(lines) if line)
    return first + 1 if _closes(last, fence) else 0


def _opens(line: str) -> bool:
    mark = _FENCE.fullmatch(line)
    return mark is not None and not (mark[1][0] == "`" and "`" in mark[2])


def _fence_of(line: str) -> str:
    mark = _FENCE.fullmatch(line)
    assert mark is not None
    return mark[1]


def _closes(line: str, fence: str) -> bool:
    mark = _FENCE.fullmatch(line)
    return mark is not None and mark[1].startswith(fence) and not mark[2].strip()


def blocks(block: Block, level: int) -> list[Block]:
    """Split a block at its headings of a level and above.

    Returns:
        What stands before the first heading, titled ""; then one block for each heading of just this level.
    """
    own = "#" * level + " "
    starts = tuple("#" * n + " " for n in range(1, level + 1))
    heads = [n for n, line in enumerate(block.lines) if line.startswith(starts)]
    ends = [*heads, len(block.lines)]
    found = [Block("", block.line, block.lines[: ends[0]])]
    for n, end in zip(heads, ends[1:], strict=True):
        line = block.lines[n]
        if line.startswith(own):
            found.append(Block(line[len(own) :], block.line + n + 1, block.lines[n + 1 : end]))
    return found


def said(block: Block, key: str) -> Iterator[Said]:
    """Find the lines of a block that begin with a key.

    Args:
        block: Where to look.
        key: With its blank, if it has one: `score: `. A line with the key but without its blank is found, too.
    """
    bare = key.rstrip()
    for n, line in enumerate(block.lines):
        if line.startswith(bare):
            yield Said(block.line + n + 1, line[len(key) :] if line.startswith(key) else None)


def one_line(text: str, most: int = 160) -> str:
    """Quote what others wrote in one line, without control characters."""
    plain = "".join(char if char.isprintable() else " " for char in text[: most + 1])
    plain = " ".join(plain.split())
    return plain if len(text) <= most else plain[: most - 1] + "…"
