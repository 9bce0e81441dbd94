"""Sentence templates: a small language in which the wording of every message type is data.

* `{path}` and `{path|how}` stand for a field of the body; `path` walks into nested objects by dots.
* `[...]` is left out as a whole when a field named in it is missing, None or empty.

`how` is one of `WAYS`, with an argument after a colon where it takes one. Any JSON gives a text, nothing
raises: bodies of unknown types and from newer versions are worded as well (K4).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from moot.channels.showing.wording import MISSING, WAYS, Way, plain
from moot.protocols.trading.book_figures import ENOUGH


@dataclass(frozen=True, slots=True)
class Slot:
    """A field in a template."""

    path: tuple[str, ...]
    way: Way
    arg: str


@dataclass(frozen=True, slots=True)
class Template:
    """A compiled template: texts, slots, and parts that may be left out."""

    parts: tuple[str | Slot | Template, ...]

    def slots(self) -> Iterable[Slot]:
        """Yield every field that is named, also in optional parts."""
        for part in self.parts:
            if isinstance(part, Slot):
                yield part
            elif isinstance(part, Template):
                yield from part.slots()

    def fill(self, body: Mapping[str, object]) -> str:
        """Word a body; a missing field outside optional parts becomes `MISSING`."""
        return "".join(self._pieces(body))

    def _pieces(self, body: Mapping[str, object]) -> Iterable[str]:
        for part in self.parts:
            if isinstance(part, str):
                yield part
            elif isinstance(part, Slot):
                value = look_up(body, part.path)
                yield MISSING if value is None or value == "" else part.way(value, part.arg)
            elif not any(_is_left_out(slot, look_up(body, slot.path), body) for slot in part.slots()):
                yield part.fill(body)


def look_up(body: object, path: tuple[str, ...]) -> object:
    """Walk into nested objects; None where the path ends early."""
    for name in path:
        if not isinstance(body, Mapping):
            return None
        body = body.get(name)
    return body


def _is_left_out(slot: Slot, value: object, body: Mapping[str, object]) -> bool:
    if slot.way is WAYS["unsaid"] and _is_said(value, body.get(slot.arg)):
        return True
    if slot.way is WAYS["few"]:
        return not isinstance(value, int) or value >= ENOUGH
    return _is_empty(value) or (
        slot.way in (WAYS["unless"], WAYS["models"]) and not slot.way(value, slot.arg)
    )


def _is_said(value: object, text: object) -> bool:
    """Say whether a text, as far as it is shown, names whatever a list holds."""
    shown_text = plain(text).casefold()
    return isinstance(value, Sequence) and all(plain(item).casefold() in shown_text for item in value)


def _is_empty(value: object) -> bool:
    return value is None or (isinstance(value, str | Sequence | Mapping) and len(value) == 0)


_TOKENS: Final = re.compile(r"\{([a-zA-Z0-9_.]+)(?:\|([a-z]+)(?::([^}]*))?)?\}|(\[)|(\])")


def compile_template(text: str) -> Template:
    """Read a template.

    Raises:
        ValueError: A bracket without its partner, or a way that does not exist.
    """
    stack: list[list[str | Slot | Template]] = [[]]
    at = 0
    for token in _TOKENS.finditer(text):
        if token.start() > at:
            stack[-1].append(text[at : token.start()])
        at = token.end()
        path, way, arg, opens, closes = token.groups()
        if opens:
            stack.append([])
        elif closes:
            if len(stack) == 1:
                raise ValueError(f"a ] without [ in {text!r}")
            done = Template(tuple(stack.pop()))
            stack[-1].append(done)
        elif (way or "plain") not in WAYS:
            raise ValueError(f"no way {way!r} in {text!r}")
        else:
            stack[-1].append(Slot(tuple(path.split(".")), WAYS[way or "plain"], arg or ""))
    if len(stack) > 1:
        raise ValueError(f"a [ without ] in {text!r}")
    return Template((*stack[0], text[at:]) if at < len(text) else tuple(stack[0]))
