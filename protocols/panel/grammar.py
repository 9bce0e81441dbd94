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
        mark = _FENCE.fullmatch(line)
        if fence:
            if mark is not None and mark[1].startswith(fence) and not mark[2].strip():
                fence = ""
        elif mark is None or (mark[1][0] == "`" and "`" in mark[2]):
            continue
        else:
            fence = mark[1]
        lines[n] = ""
    return Block("", 0, lines)


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
