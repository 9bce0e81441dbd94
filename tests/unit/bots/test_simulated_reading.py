"""Simulated readers and solvers: their skill is what is stated, and what others say moves them as stated."""

import math
from itertools import combinations

import numpy as np
import pytest

from moot.bots.minds.simulated.proofreading.checks import CHECKS, Finding, findings
from moot.bots.minds.simulated.proofreading.reader import HABITS, Reader
from moot.bots.minds.simulated.solving import Solver
from moot.compare.cases.case import Case
from moot.compare.cases.documents import Documents
from moot.compare.cases.questions import Questions
from moot.compare.scoring import questions

TEXTS = [str(case.shown["text"]) for case in Documents(21, 120) if not case.id.endswith("twin")]


def _all(text: str) -> set[Finding]:
    return {one for kind in CHECKS for one in findings(kind, text)}


def _recall(reader: Reader) -> float:
    pairs = [(set(reader.read(text, seed)), _all(text)) for seed, text in enumerate(TEXTS)]
    return sum(len(found & there) for found, there in pairs) / sum(len(there) for _, there in pairs)


def test_who_checks_everything_finds_everything_and_nothing_else() -> None:
    reader = Reader(effort=len(CHECKS), slips=0.0)
    assert all(set(reader.read(text, 1)) == _all(text) for text in TEXTS)
    assert _recall(Reader(effort=0)) == 0.0
    assert _recall(Reader(effort=4)) < _recall(Reader(effort=8)) < _recall(Reader(effort=14))


def test_habits_say_what_is_checked() -> None:
    sums = Reader(effort=3, shared=0.0, slips=0.0)
    found = [one.kind for seed, text in enumerate(TEXTS * 6) for one in sums.read(text, seed)]
    there = [one.kind for text in TEXTS * 6 for one in _all(text)]
    often, seldom = (found.count(kind) / there.count(kind) for kind in ("wrong_sum", "wrong_weekday"))
    assert HABITS["wrong_sum"] > HABITS["wrong_weekday"]
    assert often > 3.0 * seldom


def test_slips_are_as_frequent_as_stated() -> None:
    clean = [str(case.shown["text"]) for case in Documents(22, 200) if case.id.endswith("twin")]
    reader = Reader(effort=10, slips=0.05)
    alarms = sum(len(reader.read(text, seed)) for seed, text in enumerate(clean * 4))
    expected = 4 * len(clean) * 10 * 0.05
    assert abs(alarms - expected) < 4.0 * math.sqrt(expected)


@pytest.mark.parametrize("shared", [0.0, 0.5, 1.0])
def test_readers_look_at_the_same_as_far_as_it_is_shared(shared: float) -> None:
    reader = Reader(effort=6, shared=shared, slips=0.0)
    found = np.array(
        [
            [_all(text) <= set(reader.read(text, seed * 5 + n)) for n in range(4)]
            for seed, text in enumerate(TEXTS)
        ]
    )
    alike = np.mean([(found[:, a] == found[:, b]).mean() for a, b in combinations(range(4), 2)])
    if shared == 1.0:
        assert alike == 1.0
    else:
        assert alike < 0.95


def test_what_was_found_before_is_looked_at_first_and_costs_attention() -> None:
    text = next(text for text in TEXTS if len(_all(text)) >= 4)
    known = tuple(sorted(_all(text)))[:1]
    moved = Reader(effort=1, slips=0.0, heed=1.0)
    # The only check it makes is the one that it was pointed to.
    assert all(moved.read(text, seed, known) == known for seed in range(20))
    assert {moved.read(text, seed) for seed in range(40)} != {known}
    # Who does not heed reads as if nobody had read before.
    alone = Reader(effort=5, heed=0.0)
    assert [set(alone.read(text, seed, known)) for seed in range(5)] != [set(known)] * 5


def test_a_finding_without_ground_is_believed_by_the_credulous_alone() -> None:
    groundless = Finding(3, "wrong_sum", "this does not look right")
    heeds = {"heed": 1.0, "slips": 0.0, "effort": 3}
    believed = [
        groundless in Reader(credulity=0.3, **heeds).read(TEXTS[0], seed, (groundless,))
        for seed in range(400)
    ]  # type: ignore[arg-type]
    assert 0.2 < sum(believed) / 400 < 0.4
    assert not any(
        groundless in Reader(credulity=0.0, **heeds).read(TEXTS[0], seed, (groundless,)) for seed in range(50)
    )  # type: ignore[arg-type]


def test_the_same_seed_reads_the_same() -> None:
    assert Reader().read(TEXTS[0], 5) == Reader().read(TEXTS[0], 5)


def _share(cases: list[Case], slip: float) -> tuple[float, float]:
    answers = [Solver(slip).solve(case.shown, seed) for seed, case in enumerate(cases)]
    right = [questions(case, answer)["correct"][0] for case, (answer, _) in zip(cases, answers, strict=True)]
    return sum(right) / len(right), sum(sure for _, sure in answers) / len(answers)


def test_a_solver_is_right_as_often_as_its_steps_hold_and_knows_it() -> None:
    cases = list(Questions(31, 600))
    assert _share(cases, 0.0) == (1.0, 1.0)
    few, more = _share(cases, 0.03), _share(cases, 0.1)
    assert more[0] < few[0] < 1.0
    # Two slips may make up for each other, and a row that is overlooked need not matter: never less than it says.
    for right, sure in (few, more):
        assert sure - 0.03 < right < sure + 0.15


def test_a_solver_guesses_among_options_where_it_understands_nothing() -> None:
    shown = {"question": "What is the capital of Norway?", "options": ("Oslo", "Bergen")}
    given = [Solver().solve(shown, seed) for seed in range(200)]
    assert {answer for answer, _ in given} == {"Oslo", "Bergen"}
    assert {sure for _, sure in given} == {0.5}
    assert Solver().solve({"question": "Why?"}, 1) == (None, 0.0)
