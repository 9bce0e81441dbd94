"""Documents with planted errors, and their twins without."""

import itertools
from collections import Counter
from typing import Any

import pytest

from moot.bots.minds.simulated.proofreading.checks import CHECKS, findings
from moot.compare.cases.case import Case
from moot.compare.cases.documents import MOST, Documents


@pytest.fixture(scope="module")
def cases() -> list[Case]:
    return list(Documents(3, 600))


def _text(case: Case) -> str:
    return str(case.shown["text"])


def _errors(case: Case) -> list[dict[str, Any]]:
    return list(case.truth["errors"])  # type: ignore[index, call-overload, arg-type]


def test_a_document_differs_from_its_twin_where_its_errors_are_and_nowhere_else(cases: list[Case]) -> None:
    for flawed, twin in zip(cases[::2], cases[1::2], strict=True):
        assert twin.id == f"{flawed.id}-twin"
        assert _errors(twin) == []
        assert 1 <= len(_errors(flawed)) <= MOST
        pairs = zip(_text(flawed).split("\n"), _text(twin).split("\n"), strict=True)
        differ = {number for number, (one, other) in enumerate(pairs, 1) if one != other}
        told = [set(range(error["lines"][0], error["lines"][1] + 1)) for error in _errors(flawed)]
        assert differ == set().union(*told)
        assert len(differ) == len(told)


def test_each_kind_of_error_is_planted_and_found_by_who_checks_for_it_and_a_twin_has_none(
    cases: list[Case],
) -> None:
    planted: Counter[str] = Counter()
    for case in cases:
        there = {(error["lines"][0], error["kind"]) for error in _errors(case)}
        found = {(one.line, one.kind) for kind in CHECKS for one in findings(kind, _text(case))}
        assert found == there, case.id
        planted.update(kind for _, kind in there)
    assert len(planted) >= 12
    assert set(planted) == set(CHECKS)
    assert min(planted.values()) >= 5


def test_no_two_documents_read_alike(cases: list[Case]) -> None:
    # Of the longer lines, those of tables and headings left out, few stand in any other document.
    lines = [
        {line for line in _text(case).split("\n") if len(line) > 40 and line[0] not in "|#"}
        for case in cases[:200:2]
    ]
    shared = [len(one & other) / min(len(one), len(other)) for one, other in itertools.combinations(lines, 2)]
    assert max(shared) < 0.5
    assert sum(shared) / len(shared) < 0.02


def test_nothing_of_how_a_text_was_made_is_left_in_it(cases: list[Case]) -> None:
    for case in cases:
        assert not set("<>{}") & set(_text(case)), _text(case)
        assert not any(kind in _text(case) for kind in CHECKS)
        assert set(case.shown) == {"title", "field", "text"}


def test_a_seed_gives_the_same_documents_and_another_one_others(cases: list[Case]) -> None:
    assert [one.sha256 for one in Documents(3, 20)] == [one.sha256 for one in cases[:20]]
    assert not {one.sha256 for one in Documents(4, 20)} & {one.sha256 for one in cases}
