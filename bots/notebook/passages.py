"""A note's text, cut into passages: what a search finds and what an evidence reference names.

Markdown is cut at headings and blank lines, plain text at blank lines, JSON at its top-level items. A passage that
is too long is cut again at the end of a sentence or a word.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

PASSAGE_CHARS: Final = 2_000
"""The longest passage; a longer paragraph becomes several."""

FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})")
HEADING: Final = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*")
UNDERLINE: Final = re.compile(r" {0,3}(=+|-{2,})[ \t]*")
FRONT_MATTER: Final = "front matter"


@dataclass(frozen=True, slots=True)
class Part:
    """A passage before it has a reference.

    Attributes:
        heading: The headings above it, outermost first, joined by " > "; empty above the first.
        text: Its own text.
    """

    heading: str
    text: str


def split_note(suffix: str, text: str) -> list[Part]:
    """Cut a note into passages, in the note's order.

    Args:
        suffix: The kind of note: `.json`, `.md`, `.markdown`, or anything else for plain text.
        text: The whole note.

    Raises:
        ValueError: The note is JSON and cannot be read as such; the text says where.
    """
    if suffix == ".json":
        parts = _json_parts(text)
    elif suffix in (".md", ".markdown"):
        parts = _markdown_parts(_lines(text))
    else:
        parts = (Part("", block) for block in _blocks(_lines(text)))
    return [Part(_clean(p.heading), piece) for p in parts for piece in _pieces(_clean(p.text))]


def _lines(text: str) -> list[str]:
    # Not splitlines(): a form feed or U+2028 inside a sentence ends no line of a note.
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _clean(text: str) -> str:
    """Drop what neither SQLite nor JSON can carry: NUL and lone surrogates."""
    return text.replace("\0", " ").encode("utf-8", "replace").decode().strip()


def _blocks(lines: list[str]) -> Iterator[str]:
    block: list[str] = []
    for line in [*lines, ""]:
        if line.strip():
            block.append(line)
        elif block:
            yield "\n".join(block)
            block = []


def _markdown_parts(lines: list[str]) -> Iterator[Part]:
    trail: list[tuple[int, str]] = []
    block: list[str] = []
    fence = ""
    # A heading with nothing under it is a passage itself; else it would not be found.
    bare: Part | None = None

    def end_block() -> Iterator[Part]:
        nonlocal bare
        if block:
            bare = None
            yield Part(" > ".join(title for _, title in trail), "\n".join(block))
            block.clear()

    def enter(level: int, title: str) -> Iterator[Part]:
        nonlocal bare
        if bare is not None and (not trail or trail[-1][0] >= level):
            yield bare
        above = " > ".join(name for depth, name in trail if depth < level)
        trail[:] = [(depth, name) for depth, name in trail if depth < level]
        bare = None
        if title:
            trail.append((level, title))
            bare = Part(above, title)

    rest = _front_matter_end(lines)
    if rest:
        yield Part(FRONT_MATTER, "\n".join(lines[1 : rest - 1]))
    for line in lines[rest:]:
        mark = FENCE.match(line)
        if fence:
            block.append(line)
            if mark and mark[1].startswith(fence) and not line[mark.end() :].strip():
                fence = ""
        elif mark:
            fence = mark[1]
            block.append(line)
        elif found := HEADING.fullmatch(line):
            yield from end_block()
            yield from enter(len(found[1]), (found[2] or "").strip())
        elif (
            len(block) == 1
            and (under := UNDERLINE.fullmatch(line))
            and not block[0].startswith((" ", "-", ">"))
        ):
            title = block.pop().strip()
            yield from enter(1 if under[1].startswith("=") else 2, title)
        elif line.strip():
            block.append(line)
        else:
            yield from end_block()
    yield from end_block()
    if bare is not None:
        yield bare


def _front_matter_end(lines: list[str]) -> int:
    """Return the number of the line after a YAML head, or 0 where a note has none."""
    if lines and lines[0].rstrip() == "---":
        for number, line in enumerate(lines[1:], start=1):
            if line.rstrip() == "---":
                return number + 1
    return 0


def _json_parts(text: str) -> Iterator[Part]:
    try:
        data = json.loads(text.removeprefix("\ufeff"))
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if isinstance(data, dict):
        items = [(str(key), value) for key, value in data.items()]
    elif isinstance(data, list):
        items = [("", value) for value in data]
    else:
        items = [("", data)]
    return (Part(key, _told(value)) for key, value in items)


def _told(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _pieces(text: str) -> Iterator[str]:
    """Cut a long text where a line, a sentence or a word ends, in the latter half of what fits."""
    while len(text) > PASSAGE_CHARS:
        head = text[:PASSAGE_CHARS]
        cuts = (head.rfind(mark) + len(mark) for mark in ("\n", ". ", "! ", "? ", "。", " "))
        cut = next((at for at in cuts if at > PASSAGE_CHARS // 2), PASSAGE_CHARS)
        yield text[:cut].strip()
        text = text[cut:].strip()
    if text:
        yield text
