"""How sentences are chosen and figures are written; the sentences themselves are data, see `phrases`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import numpy as np

from moot.bots.tools.strategies import StrategySpec
from moot.bots.tools.wording import describe
from moot.protocols.kernel.figures import NEWEST, SECOND_AUDIT

MOST_QUOTED: Final = 120
"""Characters of a person's words that a bot repeats."""

MOST_DIGITS: Final = 6
"""Decimals of a figure beside its limit."""

FACTOR_DAYS: Final = ("momentum_days", "reversal_days", "volatility_days")

ONE: Final = "1"

CHOICE: Final = re.compile(r"\[(?P<plural>[a-z ]+)(?:\|(?P<singular>[a-z ]*))?(?:\|(?P<fact>[a-z_]+))?\]")
"""Choice of a template between plural and singular; see `worded`."""

_FACT: Final = re.compile(r"\{(\w+)\}")
_SPACES: Final = re.compile(r"\s+")


class Voice:
    """Words one message: variants are drawn from the seed, and none comes twice while others are left."""

    def __init__(self, rng: np.random.Generator, version: int = NEWEST) -> None:
        """Speak by a generator that belongs to this message alone.

        Args:
            rng: The generator.
            version: The log's rules version; logs of earlier ones than 4 hold plurals of one: "1 approvals".
        """
        self._rng = rng
        self._has_singulars = version >= SECOND_AUDIT
        self._left: dict[tuple[str, ...], list[str]] = {}

    def say(self, variants: Sequence[str], **facts: str) -> str:
        """Choose a variant and fill in the facts.

        Args:
            variants: Templates of `str.format`, at least one.
            facts: What the templates may name; each may leave some out.
        """
        return worded(self.pick(variants), facts, has_singulars=self._has_singulars)

    def pick(self, variants: Sequence[str]) -> str:
        """Choose one of several texts."""
        key = tuple(variants)
        left = self._left.get(key)
        if not left:
            left = self._left[key] = list(key)
        return left.pop(int(self._rng.integers(len(left))))


def worded(template: str, facts: Mapping[str, str], *, has_singulars: bool = True) -> str:
    """Fill in a template, and choose between plurals and singulars by the number that they belong to.

    `{trades} trade[s]` is "1 trade" or "2 trades"; `{count} deadline[s] [were|was] missed` chooses between two words;
    `[were|was|count]` goes by the fact that it names instead of the last one before it.

    Args:
        template: A `str.format` template with such choices.
        facts: What it may name.
        has_singulars: Whether there are singulars; else every plural stands.
    """

    def chosen(found: re.Match[str]) -> str:
        plural, singular, fact = found["plural"], found["singular"] or "", found["fact"]
        if not has_singulars:
            return plural
        named = fact or _FACT.findall(template[: found.start()])[-1]
        return singular if facts[named] == ONE else plural

    return CHOICE.sub(chosen, template).format(**facts)


def paragraph(*sentences: str) -> str:
    """Join sentences, leaving out empty ones; each begins with a capital and ends with a mark."""
    return " ".join(sentence(one) for one in sentences if one)


def sentence(text: str) -> str:
    """Make a sentence of a clause."""
    head = headline(text.strip())
    return head if not head or head[-1] in ".!?…”" else f"{head}."


def headline(text: str) -> str:
    """Begin a text with a capital, unless it begins with an identifier."""
    return text if _is_name(text) else text[:1].upper() + text[1:]


def percent(value: float, digits: int = 1) -> str:
    """Write a fraction in per cent."""
    return f"{_decimals(value * 100.0, digits)} %"


def two(value: float) -> str:
    """Write a number with two decimals, and no minus before a zero."""
    return _decimals(value, 2)


def beside(
    value: float, limit: float, digits: int = 2, write: Callable[[float, int], str] | None = None
) -> tuple[str, str]:
    """Write a number and what it is held against, with as many decimals as tell them apart, at most `MOST_DIGITS`."""
    write = write or _decimals
    while digits < MOST_DIGITS and value != limit and write(value, digits) == write(limit, digits):
        digits += 1
    return write(value, digits), write(limit, digits)


def _decimals(value: float, digits: int) -> str:
    return f"{round(value, digits) + 0.0:.{digits}f}"


def counted(count: int, noun: str) -> str:
    """Write a number of things."""
    return f"{count} {noun}" if count == 1 else f"{count or 'no'} {noun}s"


def briefly(spec: StrategySpec) -> str:
    """Name a strategy by its lookbacks alone, such as "momentum 20/60", for a text that is all about it."""
    if spec.archetype == "multi_factor":
        return f"multi-factor {'/'.join(str(spec.params[name]) for name in FACTOR_DAYS)}"
    return describe(spec).split(" on ", 1)[0].split(" (", 1)[0]


def unplaced(spec: StrategySpec) -> str:
    """Describe a strategy but for its symbols, for a text that stands beside them."""
    return re.sub(r" on .+?(?=, long)", "", describe(spec))


def quoted(text: str) -> str:
    """Repeat a person's words in quotation marks: one line, printable, not too long."""
    line = _SPACES.sub(" ", text).strip()
    line = "".join(letter for letter in line if letter.isprintable())
    if len(line) > MOST_QUOTED:
        line = line[: MOST_QUOTED - 1].rstrip() + "…"
    return f"“{line}”"


def _is_name(text: str) -> bool:
    """Say whether a text begins with an identifier, which keeps its small letter."""
    return re.match(r"[a-z]+_[a-z0-9_]*\d", text) is not None
