"""Texts that match a pattern."""

from __future__ import annotations

import re

import pytest

from moot.bots.minds.matching import matching
from moot.bots.tools.seeding import generator

PATTERNS = (
    r"^[A-Z]{3}$",
    r"^[0-9]{4}-W[0-9]{2}$",
    r"^(buy|sell|hold)_\w+?$",
    r"^[0-9a-f]{64}$",
    r"[^\s\x1c-\x1f]",
    r"^\d+(\.\d{2})?$",
    r"^ü[ß-ÿ]*.\.[^a-z]\S\D\W$",
)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_drawn_text_matches_its_pattern(pattern: str) -> None:
    found = {matching(pattern, generator("pattern", n)) for n in range(40)}
    assert len(found) > 1
    for text in found:
        assert re.search(pattern, text), text


def test_the_same_chance_draws_the_same_text() -> None:
    assert matching(PATTERNS[3], generator("pattern", 1)) == matching(PATTERNS[3], generator("pattern", 1))


@pytest.mark.parametrize("pattern", [r"^(?=a)", r"^(a)\1$", "("])
def test_what_cannot_be_drawn_is_said(pattern: str) -> None:
    with pytest.raises(ValueError, match="pattern"):
        matching(pattern, generator("pattern", 1))
