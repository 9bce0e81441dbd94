"""A reader of documents and a solver of questions as arms of a study."""

import asyncio
from datetime import UTC, datetime
from typing import Any

import pytest

from moot.clock import VirtualClock
from moot.compare.arms.arm import Answer, Arm, Trial
from moot.compare.arms.reading import OneReader
from moot.compare.arms.solving import OneSolver
from moot.compare.cases.case import Case
from moot.compare.cases.documents import Documents
from moot.compare.cases.questions import Questions
from moot.protocols.kernel.errors import BadInput


def _ask(arm: Arm, case: Case, seed: int = 1) -> Answer:
    clock = VirtualClock(datetime(2026, 1, 1, tzinfo=UTC))
    return asyncio.run(arm.run(Trial(case=case, repetition=1, seed=seed, budget=1, clock=clock)))


def test_a_reader_answers_with_each_line_that_it_objects_to_once() -> None:
    reads_all = OneReader(skill={"effort": 18, "slips": 1.0})
    for seed, case in enumerate(Documents(42, 10)):
        found = _ask(reads_all, case, seed)
        answer: Any = found.answer
        truth: Any = case.truth
        lines = [one["lines"] for one in answer]
        assert found.calls == 1
        assert lines == sorted(set(lines))
        wanted = {error["lines"][0] for error in truth["errors"]}
        assert wanted <= {first for first, _ in lines}


def test_a_reader_s_skill_is_checked() -> None:
    with pytest.raises(
        BadInput, match="skill: a reader has no 'sight', but effort, shared, slips, heed, credulity"
    ):
        OneReader(skill={"sight": 1.0})
    with pytest.raises(BadInput, match="skill: effort is a number from 0 on, not 'much'"):
        OneReader(skill={"effort": "much"})  # type: ignore[dict-item]


def test_a_solver_answers_with_its_confidence() -> None:
    case = next(iter(Questions(1, 1)))
    sure = _ask(OneSolver(slip=0.0), case)
    assert (sure.answer, sure.confidence, sure.calls) == (case.truth["answer"], 1.0, 1)  # type: ignore[index, call-overload]
