"""From where on a measure triggers a simulated reviewer, by topic and role: from `standards.toml`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, Literal, NamedTuple, cast

from moot.bots.minds.simulated.panel.measures import MEASURES

Relation = Literal["no", "below", "above"]
Domain = Literal["reviewer", "strategy", "architecture"]


class Bound(NamedTuple):
    """From where on something triggers: a whole number from `low` to `high` that each reviewer draws.

    Attributes:
        each: If set, the number grows by one with each so many words of the paper, from `low` to `high`.
    """

    low: int
    high: int
    each: int = 0


class Test(NamedTuple):
    """A condition on one measure: there is none of it, or it is below or above a bound."""

    measure: str
    relation: Relation = "no"
    bound: Bound = Bound(0, 0)


Either = tuple[tuple[Test, ...], ...]
"""Alternatives; each holds when all of its tests do."""


class Topic(NamedTuple):
    """What a dimension is about.

    Attributes:
        domain: Of the contracts in which it is likely; the first part of their ids.
        points: Beginnings of words by which a dimension shows that it is about this.
        looks_for: What a reviewer looks at.
        block: What triggers block.
        warn: What triggers warn.
    """

    domain: Domain
    points: str
    looks_for: str
    block: Either
    warn: Either


class Emphasis(NamedTuple):
    """What a role looks at more closely.

    Attributes:
        says: What it says of itself.
        warn: What warns it besides, by topic.
    """

    says: str
    warn: Mapping[str, Either]


_NO: Final = re.compile(r"no (?P<measure>\w+)")
_BOUND: Final = re.compile(
    r"(?P<measure>\w+) (?P<relation>below|above) (?P<low>\d+)(?:\.\.(?P<high>\d+))?(?: each (?P<each>\d+))?"
)


def condition(text: str) -> Test:
    """Read a test, such as `no samples` or `citations below 3..12 each 300`.

    Raises:
        ValueError: It is none, or of something that is not measured.
    """
    found = _NO.fullmatch(text) or _BOUND.fullmatch(text)
    if found is None or found["measure"] not in MEASURES:
        raise ValueError(f"{text!r} is no test of a measure")
    given = found.groupdict()
    if "relation" not in given:
        return Test(given["measure"])
    low = int(given["low"])
    bound = Bound(low, int(given["high"] or low), int(given["each"] or 0))
    return Test(given["measure"], cast(Relation, given["relation"]), bound)


def _either(texts: Sequence[str]) -> Either:
    return tuple(tuple(map(condition, text.split(" and "))) for text in texts)


_DATA: Final = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))

TOPICS: Final[Mapping[str, Topic]] = {
    name: Topic(**{**said, "block": _either(said["block"]), "warn": _either(said["warn"])})
    for name, said in _DATA["topics"].items()
}
"""`general` is for a dimension of which nothing else is known; tests for its own words go before."""

ROLES: Final[Mapping[str, Emphasis]] = {
    name: Emphasis(said["says"], {topic: _either(texts) for topic, texts in said["warn"].items()})
    for name, said in _DATA["roles"].items()
}
