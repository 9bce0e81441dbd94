"""Questions whose answers somebody else finds as well, by another way."""

import itertools
import re
from collections import Counter
from typing import Any

import pytest

from moot.compare.cases.case import Case
from moot.compare.cases.questions import HARDEST, SORTS, Questions


@pytest.fixture(scope="module")
def cases() -> list[Case]:
    return list(Questions(5, 300))


def _of(cases: list[Case], sort: str) -> list[tuple[dict[str, Any], Any]]:
    return [(dict(one.shown), one.truth["answer"]) for one in cases if one.truth["sort"] == sort]  # type: ignore[index, call-overload]


def test_arithmetic_is_right_step_by_step(cases: list[Case]) -> None:
    for shown, answer in _of(cases, "arithmetic"):
        value = 0
        for sentence in shown["question"].split(". "):
            by = int(found[0]) if (found := re.search(r"\d+", sentence)) else 0
            if " has " in sentence:
                value = by
            elif "times" in sentence:
                value *= by
            elif "given away" in sentence:
                value -= by
            elif "Half" in sentence:
                assert value % 2 == 0
                value //= 2
            elif "more are bought" in sentence:
                value += by
        assert value == answer
        assert len(set(shown["options"])) == 4
        assert str(answer) in shown["options"]
        assert value >= 0


def test_logic_has_one_answer_among_all_orders_of_the_people(cases: list[Case]) -> None:
    for shown, answer in _of(cases, "logic")[::4]:
        said = re.findall(r"(\w+) is (not as )?\w+ (?:than|as) (\w+)\.", shown["question"])
        above = [(second, first) if negated else (first, second) for first, negated, second in said]
        at = shown["question"].split("exactly ")[1].split()[0]
        place = 1 if at == "one" else int(at)
        fits = {
            order[place]
            for order in itertools.permutations(shown["options"])
            if all(order.index(first) < order.index(second) for first, second in above)
        }
        assert fits == {answer}


def test_a_table_has_one_town_that_fits(cases: list[Case]) -> None:
    for shown, answer in _of(cases, "table"):
        head, _, *rows = [
            [cell.strip() for cell in line.strip("|").split("|")] for line in shown["context"].split("\n")
        ]
        towns = [dict(zip(head, row, strict=True)) for row in rows]
        for bound, name in re.findall(r"at least (\d+) (\w+)", shown["question"]):
            towns = [town for town in towns if int(town[name]) >= int(bound)]
        most = max(int(town["inhabitants"]) for town in towns)
        assert [town["town"] for town in towns if int(town["inhabitants"]) == most] == [answer]


def test_all_sorts_and_difficulties_come_in_turn_and_no_question_twice(cases: list[Case]) -> None:
    counted = Counter((one.truth["sort"], one.truth["difficulty"]) for one in cases)  # type: ignore[index, call-overload]
    assert set(counted) == set(itertools.product(SORTS, range(1, HARDEST + 1)))
    assert max(counted.values()) - min(counted.values()) <= 1
    assert len({str(one.shown) for one in cases}) == len(cases)
    assert [one.sha256 for one in Questions(5, 9)] == [one.sha256 for one in cases[:9]]
