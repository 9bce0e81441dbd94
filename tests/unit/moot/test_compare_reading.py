"""Readers of documents as arms of a study: alone, blind to each other, and not."""

import asyncio
from datetime import UTC, datetime
from typing import Any

import pytest

from moot.clock import VirtualClock
from moot.compare.arms.arm import Answer, Arm, Trial
from moot.compare.arms.reading import OneReader, Readers
from moot.compare.arms.solving import OneSolver
from moot.compare.cases.case import Case
from moot.compare.cases.documents import Documents
from moot.compare.cases.questions import Questions
from moot.compare.scoring import documents
from moot.protocols.kernel.errors import BadInput


def _ask(arm: Arm, case: Case, seed: int = 1) -> Answer:
    clock = VirtualClock(datetime(2026, 1, 1, tzinfo=UTC))
    return asyncio.run(arm.run(Trial(case=case, repetition=1, seed=seed, budget=5, clock=clock)))


def _recall(arm: Arm) -> float:
    scores = [
        documents(case, _ask(arm, case, seed).answer)["recall"]
        for seed, case in enumerate(Documents(41, 120))
    ]
    return sum(part for part, _ in scores) / sum(of for _, of in scores)


def test_readers_who_are_blind_find_more_together_than_one_and_than_those_who_read_each_other() -> None:
    one, blind, unblinded = (
        _recall(OneReader()),
        _recall(Readers()),
        _recall(Readers(blind=False, skill={"heed": 1.0})),
    )
    assert one + 0.1 < unblinded < blind
    # Who heeds nothing may be shown everything.
    assert _recall(Readers(blind=False, skill={"heed": 0.0})) == pytest.approx(blind, abs=0.06)


def test_an_answer_is_what_enough_readers_object_to() -> None:
    for seed, case in enumerate(Documents(42, 20)):
        any_of, three, all_of = (_lines(_ask(Readers(needed=n), case, seed).answer) for n in (1, 3, 5))
        votes = [_lines(vote) for vote in _ask(Readers(needed=3), case, seed).votes]
        assert len(votes) == 5
        assert any_of == set().union(*votes)
        assert three == {line for line in any_of if sum(line in vote for vote in votes) >= 3}
        assert all_of == set.intersection(*votes)


def test_readers_count_each_of_their_readings_as_a_call() -> None:
    case = next(iter(Documents(1, 1)))
    assert (_ask(OneReader(), case).calls, _ask(Readers(readers=3), case).calls) == (1, 3)
    assert (Readers(readers=3).least, Readers(readers=3).most) == (3, 3)
    with pytest.raises(BadInput, match="needed: 4 of 3 readers cannot agree"):
        Readers(readers=3, needed=4)
    with pytest.raises(
        BadInput, match="skill: a reader has no 'sight', but effort, shared, slips, heed, credulity"
    ):
        OneReader(skill={"sight": 1.0})
    with pytest.raises(BadInput, match="skill: effort is a number from 0 on, not 'much'"):
        Readers(skill={"effort": "much"})  # type: ignore[dict-item]


def test_a_solver_answers_with_its_confidence() -> None:
    case = next(iter(Questions(1, 1)))
    sure = _ask(OneSolver(slip=0.0), case)
    assert (sure.answer, sure.confidence, sure.calls) == (case.truth["answer"], 1.0, 1)  # type: ignore[index, call-overload]


def _lines(answer: Any) -> set[int]:
    return {line for one in answer for line in one["lines"]}
