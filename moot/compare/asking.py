"""All arms asked about one case, as a worker does it: a task in, results out, both plain data."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from moot.clock import VirtualClock
from moot.compare.arms.arm import Answer, Arm, Trial
from moot.compare.cases.case import CORRECT, QUESTION, Case, Cases, Scorer
from moot.compare.cases.own import Own
from moot.compare.known import arms_of, cases_of, scored, scorer_of
from moot.compare.results import Result
from moot.compare.study import Study, without_keys
from moot.protocols.kernel.errors import BadInput
from moot.protocols.motion.state import YES_OR_NO
from moot.workshop import START

LOGS: Final = "logs"


@dataclass(frozen=True, slots=True)
class Task:
    """What is to be asked: a case by its place, once, and what is known of its results already.

    Attributes:
        place: Of the case, from 0.
        repetition: From 1.
        known: Calls that arms used whose results are there.
    """

    place: int
    repetition: int
    known: Mapping[str, int]


class Asking:
    """Asks the arms of a study; every process has one."""

    def __init__(self, study: Study, folder: Path, directory: Path, past: Path | None = None) -> None:
        """Make cases, arms and scorer.

        Args:
            study: The study.
            folder: Of its file.
            directory: Where its logs go.
            past: Of the study that is answered again, from what models said then; None: it is new.

        Raises:
            BadInput: Something that the study names is not there, or does not fit.
        """
        self.study = study
        self.cases: Cases = cases_of(study.cases, folder)
        self.scorer: Scorer = scorer_of(study)
        asked = study if past is None else without_keys(study)
        self.arms: dict[str, Arm] = arms_of(asked, self.cases[0].kind)
        self._directory = directory
        self._past = past
        self._refuse_open_questions()

    def results(self, task: Task) -> list[Result]:
        """Ask all arms that are left, in the study's order.

        Raises:
            BadInput: The scorer raised.
            MootError: An arm cannot go on.
        """
        case = self.cases[task.place]
        if case.truth is None:
            raise BadInput(f"case {case.id} has no truth")
        used = dict(task.known)
        found = []
        for name, arm in self.arms.items():
            if name in used:
                continue
            one = self._asked(name, arm, case, task.repetition, used)
            used[name] = one.calls
            found.append(one)
        return found

    def _refuse_open_questions(self) -> None:
        """Refuse questions of one's own that an arm would answer by yes or no, and neither is right.

        Raises:
            BadInput: There is one.
        """
        chooses = [name for name, arm in self.arms.items() if arm.chooses]
        if not chooses or not isinstance(self.cases, Own):
            return
        for case in self.cases:
            if case.kind != QUESTION or case.shown.get("options"):
                continue
            place = self.cases.places[case.id]
            found = [scored(self.scorer, case, one, place).get(CORRECT, (1.0, 1.0)) for one in YES_OR_NO]
            if not any(part for part, _ in found):
                raise BadInput(
                    f"{place}: {case.id} has no options, so arms.{chooses[0]} would answer yes or no, and neither is "
                    "right: give it options, or leave that arm out"
                )

    def _asked(self, name: str, arm: Arm, case: Case, repetition: int, used: Mapping[str, int]) -> Result:
        budget = self.study.arms[name].budget
        calls = used[budget] if isinstance(budget, str) else budget
        seed = seed_of(self.study.seed, name, case.id, repetition)
        log = f"{LOGS}/{name}/{_safe(case.id)}-{repetition}.jsonl" if self.study.logs else ""
        path, past = (place / log if log and place else None for place in (self._directory, self._past))

        async def run(clock: VirtualClock) -> Answer:
            return await arm.run(
                Trial(
                    case=case,
                    repetition=repetition,
                    seed=seed,
                    budget=calls,
                    clock=clock,
                    log=path,
                    past=past,
                )
            )

        answer = VirtualClock(START).run(run)
        place = getattr(self.cases, "places", {}).get(case.id, "")
        scores = scored(self.scorer, case, answer.answer, place)
        votes = [scored(self.scorer, case, one, place).get(CORRECT) for one in answer.votes]
        return Result(
            case=case.id,
            case_sha256=case.sha256,
            repetition=repetition,
            arm=name,
            seed=seed,
            answer=answer.answer,
            confidence=answer.confidence,
            calls=answer.calls,
            usd=answer.usd,
            votes=answer.votes,
            votes_correct=tuple(one[0] for one in votes if one is not None),
            scores=scores,
            log=log if answer.head and log else "",
            head=answer.head,
        )


def seed_of(seed: int, arm: str, case: str, repetition: int) -> int:
    """Return the seed of one answer, in [0, 2**48)."""
    return int.from_bytes(hashlib.sha256(f"{seed}/{arm}/{case}/{repetition}".encode()).digest()[:6])


def _safe(case: str) -> str:
    """Return a case's id as a part of a path: equal ids, equal parts, and different ones differ."""
    plain = "".join(char if char.isascii() and (char.isalnum() or char in "-_") else "_" for char in case)[
        :60
    ]
    return plain if plain == case else f"{plain}-{hashlib.sha256(case.encode()).hexdigest()[:8]}"
