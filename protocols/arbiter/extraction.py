"""JSON in what a model wrote: in fenced blocks, and between braces in the prose around them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple, NoReturn

from moot.protocols.arbiter.embed_text import BLANKS
from moot.protocols.arbiter.generated import Method

_FENCE: Final = "```"
_TAG: Final = re.compile("json", re.IGNORECASE)
_BRACE: Final = re.compile(r"[{}]")
_OBJECT: Final = re.compile(r'\{[ \t\n\r]*["}]')
"""How every object begins: the decoder is slow to refuse the others, since it counts the lines before them."""


class Found(NamedTuple):
    """A JSON value and where it was found."""

    method: Method
    value: object


def fenced(text: str, *, repeats_keys: bool = False) -> Iterator[Found]:
    """Find what is JSON among the fenced blocks of a text, in order; a tag `json` may open a block.

    Args:
        text: The text.
        repeats_keys: Accept objects with a duplicate key; its last value counts. Without it they are no JSON (R-G9).
    """
    decoder = _LENIENT if repeats_keys else _DECODER
    parts = text.split(_FENCE)
    # Between an opening fence and the one that closes it: every second part. One that never closes is no block.
    for block in parts[1:-1:2]:
        tag = _TAG.match(block)
        try:
            yield Found("fenced", decoder.decode(block[tag.end() if tag else 0 :].strip(BLANKS)))
        except (ValueError, RecursionError):
            continue


def unfenced(text: str, *, repeats_keys: bool = False) -> Iterator[Found]:
    """Find what is JSON between a brace and the one that closes it, by opening brace from the left, nested ones too.

    Braces are counted wherever they stand, also in strings: a lone one in a string hides its object.

    Args:
        text: The text.
        repeats_keys: As in `fenced`.
    """
    for found in _between_braces(text, _LENIENT if repeats_keys else _DECODER):
        yield Found("unfenced", found[2])


def decisions(text: str, decided: Callable[[object], str | None]) -> list[str]:
    """Return the different decisions that the objects of a text hold, what lies within an object that decides left out.

    Args:
        text: The text.
        decided: Gives what a value decides; None: nothing.
    """
    found = [decided(value) for _, value in fenced(text)]
    inside = 0
    for start, end, value in _between_braces(text, _DECODER):
        if start < inside:
            continue
        decision = decided(value)
        if decision is not None:
            found.append(decision)
            inside = end
    return list(dict.fromkeys(one.strip() for one in found if one is not None))


def _between_braces(text: str, decoder: json.JSONDecoder) -> Iterator[tuple[int, int, object]]:
    """Yield what is JSON between a brace and the one that closes it, with where it begins and ends."""
    closes: dict[int, int] = {}
    opened: list[int] = []
    for brace in _BRACE.finditer(text):
        if brace[0] == "{":
            opened.append(brace.start())
        elif opened:
            closes[opened.pop()] = brace.end()
    for start in sorted(closes):
        if not _OBJECT.match(text, start):
            continue
        try:
            value, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            continue
        if end == closes[start]:
            yield start, end, value


def _unambiguous(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a field stands twice in one object")
    return found


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


_DECODER: Final = json.JSONDecoder(parse_constant=_no_constant, object_pairs_hook=_unambiguous)
_LENIENT: Final = json.JSONDecoder(parse_constant=_no_constant)
