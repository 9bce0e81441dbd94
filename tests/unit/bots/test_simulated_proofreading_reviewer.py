"""Readers as reviewers of a panel: what they write passes the panel's lints, and is read as it was meant."""

from itertools import combinations_with_replacement

import pytest

from moot.bots.minds.simulated.proofreading.checks import CHECKS, Finding
from moot.bots.minds.simulated.proofreading.reviewer import commitment, review_of
from moot.bots.minds.simulated.proofreading.stated import Stated, numbered, plain, stated_in
from moot.bots.seats.in_turn import apart, followed
from moot.config.contracts import load_contract
from moot.protocols.panel.lint_phase1 import lint_phase1
from moot.protocols.panel.lint_phase2 import lint_phase2

FOUND = [
    [],
    *[[Finding(3, one, "it is wrong"), Finding(9, two, "so is this: it says 4, 5; and \"line 6\"")]
      for one, two in combinations_with_replacement(CHECKS, 2)],
]  # fmt: skip


@pytest.mark.parametrize("name", ["full", "methodology_focus"])
def test_what_a_reader_writes_on_a_panel_passes_its_lints_and_reads_back(name: str) -> None:
    contract = load_contract(name)
    committed = lint_phase1(commitment(contract), contract)
    assert committed.is_clean
    for found in FOUND:
        text = review_of("eic", contract, found)
        assert lint_phase2(text, contract, committed.plan).findings == ()
        back = [Finding(one.first, one.kind.replace(" ", "_"), one.text) for one in stated_in(text)]
        assert sorted(back) == sorted(found)


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        ("- line 12, wrong sum: it is 3", [(12, 12, "wrong sum", "it is 3")]),
        ("D1, warn: line 4: no source; lines 6 to 8: none.", [(4, 4, "", "no source"), (6, 8, "", "none.")]),
        ("Lines 6-8: one. Line 9: two", [(6, 8, "", "one"), (9, 9, "", "two")]),
        ("line 4 is fine, and line 9 too; I object to nothing", []),
        ("lines 8 to 6: it ends before it begins", []),
        ("line 0: there is none", []),
        ("a deadline 4: no line", []),
    ],
)  # fmt: skip
def test_an_objection_is_read_from_any_review(text: str, stated: list[tuple[int, int, str, str]]) -> None:
    assert [tuple(one) for one in stated_in(text)] == stated


def test_an_objection_reads_as_it_is_written() -> None:
    for one in (Stated(3, 3, "wrong sum", "it is 4"), Stated(3, 5, "", "no source: none at all")):
        assert stated_in(f"- {one}\n") == (one,)


@pytest.mark.parametrize("text", ["", "# A\n\nIt is  so. \n", "1: one\n2: two"])
def test_a_text_loses_its_numbers_as_it_got_them(text: str) -> None:
    assert plain(numbered(text)) == text


def test_the_reviews_behind_a_work_come_apart_again() -> None:
    work = numbered("# A\n\nB.\n=== review by eic ===\n")
    reviews = {"eic": "contract_role: eic\n", "methodology": "two\n\nlines\n"}
    assert apart(followed(work, {})) == (work, [])
    found, before = apart(followed(work, reviews))
    assert found == work
    assert [one.strip() for one in before] == [one.strip() for one in reviews.values()]
