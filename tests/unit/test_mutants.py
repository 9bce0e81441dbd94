"""Safeguards that are switched off: switches fit the code, the page tells what came of it, and chaos finds three."""

from __future__ import annotations

import json
import multiprocessing
from types import CodeType

import pytest

from tests.soak import mutants
from tests.soak.switches import SAFEGUARDS, Edit, Safeguard, edited, function


@pytest.mark.parametrize("safeguard", SAFEGUARDS, ids=lambda one: one.name)
def test_every_switch_fits_the_code(safeguard: Safeguard) -> None:
    for edit in safeguard.edits:
        found = function(edit.at)
        assert _runs(edited(found, edit)) != _runs(found.__code__)


def _runs(code: CodeType) -> tuple[object, ...]:
    return code.co_code, code.co_names, tuple(one for one in code.co_consts if not isinstance(one, CodeType))


def test_words_that_are_not_there_any_more_are_one_line() -> None:
    with pytest.raises(ValueError, match=r"Door\.publish does not hold 'gone' once"):
        edited(function("moot.door:Door.publish"), Edit("moot.door:Door.publish", "gone", "pass"))


def test_the_page_tells_what_came_of_each() -> None:
    rows = json.loads(mutants.RESULTS.read_text(encoding="utf-8"))
    page = mutants.PAGE.read_text(encoding="utf-8")
    assert mutants.page_with(mutants.table(rows), page) == page
    assert sum("seed" in row for row in rows.values()) >= 20
    assert set(rows) == {*mutants.BY_NAME, mutants.NOTHING}
    assert "seed" not in rows[mutants.NOTHING]


@pytest.mark.parametrize(
    ("name", "days", "classes", "law"),
    [
        ("violations", 1.0, ("bots",), "standards-before-the-work"),
        ("permissions", 1.0, ("bots",), "each-its-own-word"),
        ("grace", 1.0, ("bots",), "silence-is-told-first"),
    ],
)
def test_chaos_finds_what_is_switched_off(name: str, days: float, classes: tuple[str, ...], law: str) -> None:
    given = {"most": 5, "days": days, "classes": classes}
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        row = pool.apply(mutants.look, (name,), given)
    assert mutants.check_of(row) == law
