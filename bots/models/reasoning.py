"""Reasoning that a model writes into its text, separated from the reply (R-G8).

A leading block is removed up to its end tag, and so is text up to a lone end tag, which servers leave when their
template opens the block. Tags inside a reply stay: only what stands before it is reasoning.
"""

from __future__ import annotations

import json
import re
from typing import Final, NamedTuple

_WORDS: Final = (
    "think(?:ing)?",
    "thoughts?",
    "reason(?:ing)?(?:_content)?",
    "reflection",
    "scratchpad",
    "analysis",
)
_NAMES: Final = rf"(?:[\w-]+:)?(?:{'|'.join(_WORDS)})"
_BLANK: Final = "\ufeff\u200b\u2060"
"""Characters that stand for nothing before a text."""
_PAIRS: Final = (
    (rf"<\s*(?P<name>{_NAMES})(?:\s[^<>]*)?>", r"<\s*/\s*{name}\s*>"),
    (r"\[(?P<name>THINK)\]", r"\[/{name}\]"),
    (r"◁(?P<name>think)▷", r"◁/{name}▷"),
    (r"<\|(?P<name>START_THINKING)\|>", r"<\|END_THINKING\|>"),
    (
        r"(?:<\|start\|>assistant)?<\|channel\|>(?P<name>analysis)<\|message\|>",
        r"<\|end\|>(?:\s*(?:<\|start\|>assistant)?<\|channel\|>final<\|message\|>)?",
    ),
)
"""Patterns of the tag that opens a block and of the tag that closes one of that name."""

_OPENINGS: Final = tuple((re.compile(opening, re.IGNORECASE), closing) for opening, closing in _PAIRS)
_LONE_END: Final = re.compile(
    rf"<\s*/\s*(?P<name>{_NAMES})\s*>|\[/THINK\]|◁/think▷|<\|END_THINKING\|>", re.IGNORECASE
)


class Separated(NamedTuple):
    """A text in two parts.

    Attributes:
        reasoning: What stood before the reply; "" if nothing did.
        reply: The reply. Without reasoning it is the text, character for character.
    """

    reasoning: str
    reply: str


def separate(text: str) -> Separated:
    """Separate leading reasoning from the reply; a reply that is nothing but reasoning is empty."""
    found: list[str] = []
    rest = text
    while (end := _end_of_block(rest)) is not None:
        found.append(rest[:end])
        rest = _bare(rest[end:])
    if not _is_object(rest) and (end := _lone_end(rest)) is not None:
        found.append(rest[:end])
        following = separate(_bare(rest[end:]))
        return Separated("".join([*found, following.reasoning]), following.reply)
    return Separated("".join(found), rest)


def _bare(text: str) -> str:
    return text.lstrip().lstrip(_BLANK).lstrip()


def _end_of_block(text: str) -> int | None:
    """Return where the block ends with which a text begins; its length if the block never ends, None without one."""
    start = len(text) - len(_bare(text))
    for opening, closing in _OPENINGS:
        if (begun := opening.match(text, start)) is None:
            continue
        name = re.escape(begun["name"])
        ends = re.compile(closing.format(name=name), re.IGNORECASE)
        again = re.compile(opening.pattern, re.IGNORECASE)
        depth, at, last = 1, begun.end(), None
        while depth and (end := ends.search(text, at)) is not None:
            inner = [
                one
                for one in again.finditer(text, at, end.start())
                if one["name"].lower() == begun["name"].lower()
            ]
            depth += len(inner) - 1
            at = last = end.end()
        # A tag that reasoning only mentions is never closed: then the last end tag is the block's.
        return len(text) if last is None else last
    return None


def _lone_end(text: str) -> int | None:
    """Return the end of the first end tag if nothing opens it."""
    end = _LONE_END.search(text)
    if end is None or text[: end.start()].count("`") % 2:
        return None
    before = text[: end.start()]
    is_opened = any(opening.search(before) for opening, _ in _OPENINGS)
    return None if is_opened else end.end()


def _is_object(text: str) -> bool:
    """Return whether a text is JSON as a whole, so that a tag in it is part of a value."""
    if not text.lstrip().startswith(("{", "[", '"', "```")):
        return False
    bare = re.sub(r"^\s*```(?:json)?\s*\n|\n\s*```\s*$", "", text)
    try:
        json.loads(bare)
    except (ValueError, RecursionError):
        return False
    return True
