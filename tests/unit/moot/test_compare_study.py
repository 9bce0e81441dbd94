"""Files of studies, and what they get wrong: one line each, with file and line (moot/compare/study.py)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from moot.compare.arms.arm import Answer, Arm, Trial
from moot.compare.known import arms_of, cases_of, dotted_scorer
from moot.compare.study import read_study
from moot.protocols.kernel.errors import BadInput

STUDY = """\
study: mine
cases: {from: markets, seed: 3, count: 12}
arms:
  one: {is: single, budget: 1}
  debate: {is: debate, budget: 11}
  vote: {is: vote, budget: debate}
primary: {arm: debate, than: vote, score: correct}
"""


class Bare(Arm):
    kinds = frozenset({"market"})
    least = most = 1

    async def run(self, trial: Trial) -> Answer:
        return Answer(answer=None, calls=1)


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "study.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_study_of_a_few_lines_is_read(tmp_path: Path) -> None:
    study = read_study(write(tmp_path, STUDY))
    assert list(study.arms) == ["one", "debate", "vote"]
    assert len(cases_of(study.cases, tmp_path)) == 12
    assert list(arms_of(study, "market")) == ["one", "debate", "vote"]
    assert dotted_scorer(study) == "moot.compare.scoring:markets"


@pytest.mark.parametrize(
    ("was", "is_", "says"),
    [
        ("{is: single, budget: 1}", "{is: single}", r"study.yaml:4: arms.one.budget: is needed"),
        ("{is: single, budget: 1}", "{is: single, budget: 0}", r"study.yaml:4: arms.one.budget"),
        (
            "budget: debate}",
            "budget: debat}",
            r"study.yaml:6: arms.vote.budget: there is no other arm 'debat'",
        ),
        ("one: {is: single, budget: 1}", "one: {is: single, budget: vote}", r"vote must stand before one"),
        (
            "budget: debate}",
            "budget: 5}",
            r"study.yaml:7: primary.cost: debate may use 11 calls and vote 5: give both",
        ),
        ("than: vote", "than: votes", r"study.yaml:7: primary.than: there is no arm 'votes'"),
        ("than: vote", "than: debate", r"debate cannot be compared with itself"),
        ("seed: 3", "sead: 3", r"study.yaml:2: cases.sead: there is no such field: did you mean seed\?"),
        ("study: mine", "study: [", r"study.yaml: line \d is not YAML"),
        ("study: mine", "study: Mine!", r"study.yaml:1: study"),
    ],
)
def test_what_is_wrong_is_one_line_with_its_place(tmp_path: Path, was: str, is_: str, says: str) -> None:
    assert was in STUDY
    with pytest.raises(BadInput) as told:
        read_study(write(tmp_path, STUDY.replace(was, is_)))
    assert re.search(says, str(told.value)), str(told.value)
    assert "\n" not in str(told.value)


def test_unequal_budgets_are_fine_where_nobody_claims_that_they_are_equal(tmp_path: Path) -> None:
    text = STUDY.replace("budget: debate}", "budget: 5}").replace(
        "score: correct}", "score: correct, cost: natural}"
    )
    assert read_study(write(tmp_path, text)).arms["vote"].budget == 5


@pytest.mark.parametrize(
    ("was", "is_", "says"),
    [
        ("is: single", "is: singel", r"arms.one.is: there is no arm 'singel'"),
        ("is: single", "is: nowhere.to_be:Found", r"arms.one.is: nowhere.to_be cannot be imported"),
        ("is: single", "is: pathlib:Path", r"pathlib:Path is no Arm"),
        ("budget: 11", "budget: 4", r"arms.debate.budget: debate needs up to 11 calls, not 4"),
        (
            "is: single, budget: 1",
            "is: single, budget: 1, options: {n: 2}",
            r"arms.one: single takes no 'n' for market cases: it takes changes",
        ),
        (
            "is: single, budget: 1",
            f"is: '{__name__}:Bare', budget: 1, model: 'http://127.0.0.1:1/v1#m'",
            r"arms.one: \S+:Bare takes no 'model' for market cases: leave it out",
        ),
        (
            "is: debate, budget: 11",
            "is: debate, budget: 11, minds: {judge: simulated}",
            r"arms.debate: minds: the seat 'judge' has no say here: choose critic, evolver, explorer",
        ),
    ],
)
def test_arms_that_cannot_be_made_are_one_line(tmp_path: Path, was: str, is_: str, says: str) -> None:
    study = read_study(write(tmp_path, STUDY.replace(was, is_)))
    with pytest.raises(BadInput, match=says):
        arms_of(study, "market")


def test_what_an_arm_itself_refuses_names_it(tmp_path: Path) -> None:
    panel = "is: panel, budget: 7, options: {reviewers: 3}"
    study = read_study(write(tmp_path, STUDY.replace("is: single, budget: 1", panel)))
    with pytest.raises(
        BadInput, match=r"^arms.one: reviewers: a panel has 2 or 5, as its contracts have roles"
    ):
        arms_of(study, "document")


def test_an_arm_takes_the_cases_that_it_is_made_for(tmp_path: Path) -> None:
    with pytest.raises(
        BadInput, match=r"arms.one: single takes no cases of the kind poem, but document, market"
    ):
        arms_of(read_study(write(tmp_path, STUDY)), "poem")
