"""The table of Arbiter's rules names tests that are there, and docs/design/arbiter.md names none besides."""

from __future__ import annotations

import re
from pathlib import Path

TESTS = Path(__file__).parents[1]
PAGE = TESTS.parent / "docs" / "design" / "arbiter.md"


def test_every_test_that_the_page_names_is_there() -> None:
    named = set(re.findall(r"`(test_\w+)`", PAGE.read_text(encoding="utf-8")))
    defined = {
        name
        for path in TESTS.rglob("test_*.py")
        for name in re.findall(r"^(?:async )?def (test_\w+)", path.read_text(encoding="utf-8"), re.M)
    }
    assert len(named) > 80
    assert named - defined == set()


def test_every_section_of_the_specification_and_every_part_of_the_work_has_a_row() -> None:
    rows = re.findall(r"^\| ([^|]+) \| ([^|]+) \| [^|]+ \| [^|]*(?:`test_|make check)", _table(), re.M)
    sections = {name for section, _ in rows for name in section.split(", ")} - {"–"}
    told = re.findall(r"\*(\w+)\*", PAGE.read_text(encoding="utf-8").split("## Rules and their tests")[1])
    assert sections == set(told) and len(told) == 10
    assert {int(n) for _, part in rows for n in part.split(", ")} == {*range(1, 12)}


def _table() -> str:
    return PAGE.read_text(encoding="utf-8").split("## Rules and their tests")[1].split("\n## ")[0]
