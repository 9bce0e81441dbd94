"""What simulated reviewers measure, from `measures.toml`: each measure's words, and the passages that it counts."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple


class Measure(NamedTuple):
    """Something that can be measured in a text.

    Attributes:
        one: How it is called, in the singular.
        many: Its plural when it is counted; "" for a quantity, of which `one` is below or above a bound.
        unit: Of a quantity.
    """

    one: str
    many: str = ""
    unit: str = ""


_DATA: Final = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))

MEASURES: Final[Mapping[str, Measure]] = {name: Measure(**words) for name, words in _DATA["measures"].items()}

PASSAGES: Final[Mapping[str, tuple[re.Pattern[str], ...]]] = {
    name: tuple(re.compile(_DATA["shared"][one[1:]] if one.startswith("@") else one) for one in patterns)
    for name, patterns in _DATA["passages"].items()
}
"""A passage is a sentence, in small letters, in which each pattern is found, the first not right after a negation."""

STANDS_NEGATED: Final = frozenset(_DATA["stands_negated"])
"""Passages in which a negation is part of what is said."""
