"""The filter that takes excluded content and secrets out of a protocol artifact (R-A9, spec 10.3, 12.13)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, NamedTuple

from moot.protocols.arena.excluded import INFRA, RULES, Category, Rule
from moot.protocols.arena.scoring import Lexicon, chatter, is_general
from moot.protocols.kernel.figures import NEWEST, SECOND_AUDIT
from moot.protocols.kernel.redact import PRIVATE_KEY, may_hold_secret, redact
from moot.protocols.kernel.scanning import scanner

_suspect: Final = scanner(rule.pattern for rule in RULES)
_BLANKS: Final = re.compile("[\u00a0\u2000-\u200a\u202f\u3000]")

VERDICT: Final = re.compile(r"\s*VERDICT:\s*(APPROVED|REVISE)\s*", re.IGNORECASE | re.ASCII)
_BREAK: Final = re.compile(r"(\r\n|\r|\n)")
REDACTED: Final = "[redacted:"
_REDACTED: Final = re.compile(r"\[redacted:([a-z_]{1,30})\]")
_MARK: Final = re.compile(r"\[(?:removed: |redacted:)[a-z_]{1,30}\]")


class Removed(NamedTuple):
    """What was taken out of a line.

    Attributes:
        line: Its number, from 1.
        category: Why.
        rule: The rule's id, or the kind of secret.
    """

    line: int
    category: Category
    rule: str


SHORT: Final = 4_000
"""A text of at most so many characters is remembered for a while."""


class Cleansed(NamedTuple):
    """A text without excluded content, and what was taken out."""

    text: str
    removed: tuple[Removed, ...]


def cleanse(text: str, version: int = NEWEST) -> Cleansed:
    """Take excluded content out of an artifact (R-A9).

    A line about something excluded becomes `[removed: <category>]`, a secret in another line
    `[redacted:<kind>]`. The number of lines, their breaks, all other lines and all verdict lines stay as they
    are. Cleansing twice changes nothing more. It takes time linear in the text's length.

    Args:
        text: The artifact.
        version: The rules version of the log that it stands in.
    """
    is_scored = version >= SECOND_AUDIT
    return _remembered(text, is_scored) if len(text) <= SHORT else _cleanse(text, is_scored)


def _cleanse(text: str, is_scored: bool) -> Cleansed:
    if not is_scored and not may_hold_secret(text) and not _suspect(_plain(text)):
        return Cleansed(text, ())
    pieces, removed, spoiled = _examine(text, is_scored)
    if not removed:
        return Cleansed(text, ())
    for line, rule in spoiled.items():
        pieces[2 * line] = f"[removed: {rule.category}]"
    return Cleansed("".join(pieces), removed)


# The fold, the seat that resumes its session and the record look at the same outputs.
_remembered: Final = lru_cache(maxsize=1024)(_cleanse)


def is_spent(text: str) -> bool:
    """Say whether nothing is left of a text but the marks of what was taken out of it (R-A9)."""
    rest, marks = _MARK.subn("", text)
    return marks > 0 and not any(c.isalnum() for c in rest)


def redactions(text: str) -> tuple[Removed, ...]:
    """List the secrets that were taken out of a text before it came here: the sequencer leaves a mark of each."""
    if REDACTED not in text:
        return ()
    lines = _BREAK.split(text)[::2]
    return tuple(
        Removed(n, "secret", kind) for n, line in enumerate(lines, 1) for kind in _REDACTED.findall(line)
    )


def excess(text: str, version: int = NEWEST) -> tuple[Removed, ...]:
    """List the excluded content of an artifact: what `cleanse` would take out, by line."""
    return _examine(text, version >= SECOND_AUDIT)[1]


def _examine(text: str, is_scored: bool) -> tuple[list[str], tuple[Removed, ...], dict[int, Rule | Lexicon]]:
    """Return the lines and their breaks in turn, secrets redacted; what is excluded; and the rules by line."""
    pieces = _BREAK.split(text)
    removed: list[Removed] = []
    if redact(text) != text:
        pieces, removed = _without_secrets(text, pieces)
        text = "".join(pieces)
    spoiled = _spoiled(text, pieces, is_scored)
    removed += [Removed(line + 1, rule.category, rule.id) for line, rule in spoiled.items()]
    return pieces, tuple(sorted(removed)), spoiled


def _without_secrets(text: str, before: list[str]) -> tuple[list[str], list[Removed]]:
    """Redact the secrets of a text, each in its line."""
    after = _BREAK.split(redact("".join(_without_keys(text, before))))
    found: list[Removed] = []
    for n in range(0, len(before), 2):
        if before[n] == after[n]:
            continue
        if VERDICT.fullmatch(before[n]):
            after[n] = before[n]
            continue
        kinds = Counter(_REDACTED.findall(after[n])) - Counter(_REDACTED.findall(before[n]))
        found += [Removed(n // 2 + 1, "secret", kind) for kind in sorted(kinds)]
    return after, found


def _without_keys(text: str, pieces: list[str]) -> Iterator[str]:
    """Redact private keys line by line, so that their line breaks and a verdict among them stay."""
    blocks = [match.span() for match in PRIVATE_KEY.finditer(text)]
    at, block = 0, 0
    for n, piece in enumerate(pieces):
        begin, end, done = at, at + len(piece), 0
        at = end
        if n % 2 or VERDICT.fullmatch(piece):
            yield piece
            continue
        while block < len(blocks) and blocks[block][0] < end:
            first, last = (min(max(place, begin), end) for place in blocks[block])
            if first < last:
                yield piece[done : first - begin] + "[redacted:private_key]"
                done = last - begin
            if blocks[block][1] > end:
                break
            block += 1
        yield piece[done:]


def _spoiled(text: str, pieces: list[str], is_scored: bool) -> dict[int, Rule | Lexicon]:
    """Find what each excluded line falls under; lines are counted from 0."""
    low = _plain(text)
    is_suspect = _suspect(low)
    if not is_suspect and not is_scored:
        return {}
    spoiled: dict[int, Rule | Lexicon] = {}
    end = 0
    for n, piece in enumerate(pieces):
        begin, end = end, end + len(piece)
        line = low[begin:end]
        if n % 2 or not piece or VERDICT.fullmatch(piece):
            continue
        found: Rule | Lexicon | None = _rule_of(line, is_scored) if is_suspect and _suspect(line) else None
        if found is None and is_scored:
            found = chatter(line)
        if found is not None:
            spoiled[n // 2] = found
    return spoiled


def _rule_of(line: str, is_scored: bool) -> Rule | None:
    """Return the first rule under which a line falls; where lines are scored, a general one falls under few."""
    found = next((rule for rule in RULES if rule.finds(line)), None)
    if found is not None and is_scored and found.category != INFRA and is_general(line):
        return None
    return found


def _plain(text: str) -> str:
    """Write a text in lower case and ASCII, each character as one: blanks of print as blanks, others as `?`."""
    if not text.isascii():
        text = _BLANKS.sub(" ", text).encode("ascii", "replace").decode()
    return text.lower()
