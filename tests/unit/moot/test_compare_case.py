"""Cases of studies: what is shown, and the truth that is not (moot/compare/cases/case.py)."""

from __future__ import annotations

from dataclasses import replace

from moot.compare.cases.case import QUESTION, Case

CASE = Case("q1", QUESTION, {"question": "2 + 2?", "options": ("3", "4")}, "4")


def test_every_part_of_a_case_counts_in_its_hash() -> None:
    changed = [
        replace(CASE, id="q2"),
        replace(CASE, kind="own"),
        replace(CASE, shown={"question": "2 + 3?", "options": ("3", "4")}),
        replace(CASE, truth="3"),
    ]
    assert len({one.sha256 for one in (CASE, *changed)}) == 5


def test_the_order_in_which_a_case_is_written_does_not_count() -> None:
    assert replace(CASE, shown={"options": ["3", "4"], "question": "2 + 2?"}).sha256 == CASE.sha256
