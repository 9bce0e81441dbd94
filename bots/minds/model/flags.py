"""Flags on a model's answer: valid in form, and of no use; the seat is asked once more, then counts as silent."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final

from moot.bots.minds.model.filling import CHOICE
from moot.protocols.kernel.message import Message

MIN_REPEATED_WORDS: Final = 20
"""Fewer repeated words are no flag, whatever share of a text they are."""
MIN_REPEATED_CHARS: Final = 60
"""Fewer characters of one repeated pattern without words are no flag."""
MIN_LOOPS: Final = 5
"""A pattern that follows upon itself this often is a loop."""
MAX_PATTERN_WORDS: Final = 40
MAX_PATTERN_CHARS: Final = 80
MAX_CHARS: Final = 4_000
"""Characters of a text without spaces that are looked through for patterns, its last ones."""

_SENTENCE: Final = re.compile(r"[.!?]+(?:\s+|$)|\n+")


def flag_of(found: object, before: Message | None = None) -> str:
    """Return what is wrong with an answer in one line for the model, "" if nothing is.

    Args:
        found: The fields as the model filled them in, or a text.
        before: The seat's previous message of the same type in the case, if there is one.
    """
    if isinstance(found, Mapping) and set(found) == {CHOICE} and isinstance(found[CHOICE], Mapping):
        found = found[CHOICE]
    for path, text in _texts(found):
        if _is_repetitive(text):
            return f"flagged: {path or 'the text'} repeats itself: write each thought once"
    if _is_fatal_without_confidence(found, None):
        return (
            "flagged: confidence is 0 beside a fatal objection: an answer nobody is sure of decides nothing"
        )
    if before is not None and _is_same(found, before):
        return "flagged: the answer is identical to the one of the round before: answer what was said since"
    return ""


def _texts(found: object, path: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(found, str):
        yield path, found
    elif isinstance(found, Mapping):
        for name, value in found.items():
            yield from _texts(value, f"{path}.{name}" if path else str(name))
    elif isinstance(found, list | tuple):
        for n, value in enumerate(found):
            yield from _texts(value, f"{path}[{n}]")


def _is_repetitive(text: str) -> bool:
    """Return whether half of a text or more says again what it said before."""
    words = text.casefold().split()
    if len(words) < MIN_REPEATED_WORDS:
        chars = "".join(words)[-MAX_CHARS:]
        return _looped(chars, MAX_PATTERN_CHARS) >= max(MIN_REPEATED_CHARS, len(chars) / 2)
    sentences = Counter(" ".join(one.casefold().split()) for one in _SENTENCE.split(text))
    again = sum(len(one.split()) * (count - 1) for one, count in sentences.items())
    least = max(MIN_REPEATED_WORDS, len(words) / 2)
    return again >= least or _looped(words, MAX_PATTERN_WORDS) >= least


def _looped(items: list[str] | str, longest: int) -> int:
    """Return the length of the longest stretch that is one pattern, `MIN_LOOPS` times or more; 0 if there is none."""
    most = 0
    for period in range(1, min(longest, len(items) // MIN_LOOPS) + 1):
        run = 0
        for n in range(period, len(items)):
            run = run + 1 if items[n] == items[n - period] else 0
            if run >= period * (MIN_LOOPS - 1):
                most = max(most, run + period)
    return most


def _is_fatal_without_confidence(found: object, confidence: object) -> bool:
    """Return whether something fatal is said with a confidence of 0."""
    if isinstance(found, Mapping):
        confidence = found.get("confidence", confidence)
        is_fatal = bool(found.get("fatal_flaws")) or str(found.get("severity", "")).casefold() == "fatal"
        if is_fatal and _is_zero(confidence):
            return True
        return any(_is_fatal_without_confidence(value, confidence) for value in found.values())
    if isinstance(found, list | tuple):
        return any(_is_fatal_without_confidence(value, confidence) for value in found)
    return False


def _is_zero(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value == 0


def _is_same(found: object, before: Message) -> bool:
    """Return whether everything in an answer, some prose included, stands in the message before."""
    said = before.model_dump(mode="json", by_alias=True)
    if not any(len(text.split()) > 1 for _, text in _texts(found)):
        return False
    if isinstance(found, Mapping) and "text" not in said:
        return _is_within(found, said)
    whole = _plain(str(said.get("text", "")))
    if isinstance(found, str):
        return _plain(found) == whole
    return all(_plain(text) in whole for _, text in _texts(found))


def _is_within(found: Any, said: Any) -> bool:
    """Return whether an answer's fields have the same values in a message."""
    if isinstance(found, Mapping):
        return isinstance(said, Mapping) and all(
            name in said and _is_within(value, said[name]) for name, value in found.items()
        )
    if isinstance(found, list | tuple):
        return (
            isinstance(said, list | tuple) and len(found) == len(said) and all(map(_is_within, found, said))
        )
    return (
        _plain(found) == _plain(said) if isinstance(found, str) and isinstance(said, str) else found == said
    )


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
