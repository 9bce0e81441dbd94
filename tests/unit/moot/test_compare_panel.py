"""A review panel as an arm of a study: blind, and shown what stands in earlier reviews."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from moot.api.log import open_log
from moot.bots.minds.simulated.proofreading.reviewer import commitment
from moot.bots.minds.simulated.proofreading.stated import stated_in
from moot.clock import VirtualClock
from moot.compare.arms.arm import Answer, Trial
from moot.compare.arms.panel import ReviewPanel
from moot.compare.cases.case import Case
from moot.compare.cases.documents import Documents
from moot.compare.scoring import documents
from moot.minds.choosing import UnusableMind
from moot.minds.mind import Mind
from moot.protocols.kernel.errors import BadInput
from moot.protocols.panel.contract import contract_from
from moot.protocols.panel.report_text import report_text
from moot.workshop import START

ROLES = ("eic", "methodology", "domain", "perspective", "da")
FLAWED = Documents(43, 1)[0]


def _ask(arm: ReviewPanel, case: Case = FLAWED, *, seed: int = 1, log: Path | None = None) -> Answer:
    def trial(clock: VirtualClock) -> Trial:
        return Trial(case=case, repetition=1, seed=seed, budget=arm.least, clock=clock, log=log)

    return VirtualClock(START).run(lambda clock: arm.run(trial(clock)))


def _said(path: Path, kind: str) -> list[Any]:
    return list(open_log(path).messages(type=kind))


def _lines(answer: Any) -> set[int]:
    return {line for one in answer for line in one["lines"]}


@pytest.mark.parametrize(("reviewers", "calls"), [(5, 11), (2, 5)])
def test_a_panel_answers_with_what_stands_in_the_reviews_of_its_log(
    reviewers: int, calls: int, tmp_path: Path
) -> None:
    path = tmp_path / "logs" / "d.jsonl"
    arm = ReviewPanel(reviewers=reviewers, skill={"effort": 2})
    found = _ask(arm, seed=5, log=path)
    log = open_log(path)
    assert log.verify(evidence=False).ok
    assert [*log.messages()][-1].hash == found.head
    assert (arm.least, arm.most, found.calls) == (calls, calls, calls)
    reviews = {env.author: env.body.text for env in _said(path, "PHASE2")}
    assert set(reviews) == set(ROLES[:reviewers])
    assert all(one.body.is_passed for one in _said(path, "LINT"))
    stated = {one.first for text in reviews.values() for one in stated_in(text)}
    assert _lines(found.answer) == stated
    assert stated
    (decided,) = _said(path, "PANEL_DECIDED")
    objects = [any(column[role] != "pass" for column in decided.body.matrix.values()) for role in reviews]
    assert found.confidence == sum(objects) / reviewers
    assert reviewers == 2 or 0 < sum(objects) < reviewers
    assert objects == [bool(stated_in(text)) for text in reviews.values()]


def test_an_answer_is_what_enough_reviewers_object_to() -> None:
    for seed, case in enumerate(Documents(42, 3)):
        any_of, three, all_of = (_ask(ReviewPanel(needed=n), case, seed=seed) for n in (1, 3, 5))
        votes = [_lines(vote) for vote in three.votes]
        assert len(votes) == 5
        assert _lines(any_of.answer) == set().union(*votes)
        assert _lines(three.answer) == {
            line for line in _lines(any_of.answer) if sum(line in vote for vote in votes) >= 3
        }
        assert _lines(all_of.answer) == set.intersection(*votes)


def test_reviewers_who_are_not_blind_speak_in_order_and_are_pointed_to_what_stands_there(
    tmp_path: Path,
) -> None:
    """Readers of one check who heed everything find nothing after the first but what that one found."""
    skill = {"effort": 1, "heed": 1.0, "slips": 0.0, "shared": 0.0}
    apart, together = (ReviewPanel(blind=blind, skill=skill) for blind in (True, False))
    found = []
    for seed in range(6):
        path = tmp_path / f"{seed}.jsonl"
        answer = _ask(together, seed=seed, log=path)
        reviews = _said(path, "PHASE2")
        assert open_log(path).verify(evidence=False).ok
        assert [env.author for env in reviews] == list(ROLES)
        assert reviews[-1].sent_at - reviews[0].sent_at == timedelta(minutes=40)
        first = next((vote for vote in answer.votes if vote), ())
        assert all(vote in ((), first) for vote in answer.votes)
        found.append((len(_lines(answer.answer)), len(_lines(_ask(apart, seed=seed).answer))))
    assert sum(one for one, _ in found) < sum(other for _, other in found)


def test_a_clean_document_and_careful_reviewers_end_in_acceptance(tmp_path: Path) -> None:
    twin, path = Documents(43, 2)[1], tmp_path / "d.jsonl"
    found = _ask(ReviewPanel(skill={"effort": 18, "slips": 0.0}), twin, log=path)
    (decided,) = _said(path, "PANEL_DECIDED")
    assert (found.answer, found.confidence) == ((), 1.0)
    assert decided.body.decision == "editorial_decision=accept"


def test_a_panel_finds_every_error_when_its_reviewers_make_every_check() -> None:
    careful = ReviewPanel(reviewers=2, needed=2, skill={"effort": 18, "slips": 0.0})
    for case in Documents(44, 6):
        found = documents(case, _ask(careful, case).answer)
        assert found["f1"][0] == found["f1"][1]
        assert found["correct"] == (1.0, 1.0)


class Pointing(Mind):
    """Commits itself as a reader does, and states what it is made with, in its own words."""

    pure = True
    seen: list[str] = []  # noqa: RUF012 - what all of them were shown

    def __init__(self, said: str = "Lines 3 to 4: nobody says why; line 7, wrong sum: it is 12") -> None:
        self._said = said

    def answer(self, view: Any) -> Any:
        contract = contract_from(view.brief["contract"])
        if view.panel.phase == "PHASE1":
            return view.reply(text=commitment(contract))
        self.seen.append(view.panel.work)
        scores: Any = {one.id: "pass" for one in contract.acceptance_dimensions}
        return view.reply(text=report_text(str(view.seat), contract, scores, [f"I say: {self._said}"]))


def test_a_mind_of_one_s_own_reviews_beside_simulated_ones_and_its_findings_are_read(tmp_path: Path) -> None:
    Pointing.seen.clear()
    arm = ReviewPanel(reviewers=2, blind=False, minds={"methodology": Pointing}, skill={"effort": 18})
    path = tmp_path / "d.jsonl"
    found = _ask(arm, log=path)
    assert found.votes[1] == (
        {"lines": (3, 4), "text": "nobody says why"},
        {"lines": (7, 7), "text": "it is 12"},
    )
    (seen,) = Pointing.seen
    work = str(FLAWED.shown["text"])
    assert seen.startswith(f"1: {work.splitlines()[0]}\n2: ")
    first, _own = _said(path, "PHASE2")
    assert seen.endswith(first.body.text), "what stood in the review before its own"
    (opened,) = _said(path, "PANEL_OPENED")
    notes = opened.body.contract["agent_amendments"]["stage_specific_notes"]
    assert "departs from its protocol" in notes
    assert opened.body.word_count == len(work.split())


def test_a_blind_reviewer_is_shown_the_work_and_nothing_else() -> None:
    Pointing.seen.clear()
    _ask(ReviewPanel(minds=dict.fromkeys(ROLES, Pointing)))
    assert len(Pointing.seen) == 5
    assert set(Pointing.seen) == {Pointing.seen[0]}
    plain = re.sub(r"^\d+: ", "", Pointing.seen[0], flags=re.MULTILINE)
    assert plain == FLAWED.shown["text"]


def test_a_panel_that_decides_nothing_answers_nothing() -> None:
    class Mute(Mind):
        pure = True

        def answer(self, view: Any) -> None:
            return None

    found = _ask(ReviewPanel(minds={"da": Mute}))
    assert (found.answer, found.confidence, found.votes) == (None, None, ())


def test_a_document_of_one_s_own_needs_nothing_but_its_text(tmp_path: Path) -> None:
    path = tmp_path / "d.jsonl"
    _ask(ReviewPanel(reviewers=2), Case("memo", "document", {"text": "# A\n\nB."}, {"errors": []}), log=path)
    (opened,) = _said(path, "PANEL_OPENED")
    assert (opened.body.title, opened.body.word_count) == ("memo", 3)


def test_a_panel_takes_as_many_reviewers_as_a_contract_has_roles() -> None:
    with pytest.raises(BadInput, match="reviewers: a panel has 2 or 5, as its contracts have roles, not 3"):
        ReviewPanel(reviewers=3)
    with pytest.raises(BadInput, match="blind: say true or false, not 'perhaps'"):
        ReviewPanel(blind="perhaps")  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="needed: 3 of 2 reviewers cannot agree"):
        ReviewPanel(reviewers=2, needed=3)
    with pytest.raises(BadInput, match="skill: a reader has no 'sight'"):
        ReviewPanel(skill={"sight": 1.0})
    with pytest.raises(UnusableMind, match="domain"):
        ReviewPanel(reviewers=2, minds={"domain": Pointing})
    with pytest.raises(UnusableMind, match=r"there is no \[models\.large\]"):
        ReviewPanel(minds={"eic": {"model": "large"}})
