"""Studies run, killed, gone on with, answered again (moot/compare/running.py, registration.py)."""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from moot.compare import registration
from moot.compare.asking import Asking
from moot.compare.cases.case import Case
from moot.compare.reading import summary_of
from moot.compare.replaying import replayed
from moot.compare.results import FILE, Result, read_results
from moot.compare.running import Run, run
from moot.compare.study import Study, read_study
from moot.compare.telling import led
from moot.protocols.kernel.errors import BadInput
from tests.doubles.command_line import complaint, done

STUDY = f"""\
study: mine
cases: {{from: markets, seed: 3, count: 3}}
arms:
  one: {{is: single, budget: 1}}
  debate: {{is: debate, budget: 11}}
score: {__name__}:score
primary: {{arm: debate, than: one, score: correct, cost: natural}}
"""


def score(case: Case, answer: Any) -> dict[str, tuple[float, float]]:
    approves = answer is not None and answer["verdict"] == "APPROVE"
    truth: Any = case.truth
    return {"correct": (float(approves == (truth["sharpe"] > 0.3)), 1.0), "approved": (float(approves), 1.0)}


def refuse(case: Case, answer: Any) -> dict[str, tuple[float, float]]:
    raise KeyError("no such figure")


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    path = tmp_path_factory.mktemp("study") / "study.yaml"
    path.write_text(STUDY, encoding="utf-8")
    return read_study(path)


@pytest.fixture(scope="module")
def whole(study: Study, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("done") / "out"
    ran = run(Run(study=study, folder=place, directory=place))
    assert (ran.answers, ran.new) == (6, 6)
    return place


def test_results_stand_in_the_order_of_the_study(whole: Path) -> None:
    found = list(read_results(whole / FILE))
    assert [one.arm for one in found] == ["one", "debate"] * 3
    assert [one.case[-5:] for one in found] == ["00001", "00001", "00002", "00002", "00003", "00003"]
    assert all((whole / one.log).is_file() for one in found if one.arm == "debate")


def test_the_study_is_in_the_log_before_its_results_and_the_results_are_in_it_after(whole: Path) -> None:
    said = registration.read_registration(whole)
    assert said["arms"]["debate"]["budget"] == 11
    assert set(said["hashes"]) >= {"minds", "prompts", "protocols", "cases", "score"}
    assert registration.results_said(whole) == registration.sha256_of_results(whole)


@pytest.mark.parametrize("cut", [0, 1, 3, 5])
def test_a_study_that_was_killed_goes_on_where_it_was(
    study: Study, whole: Path, tmp_path: Path, cut: int
) -> None:
    place = tmp_path / "out"
    registration.register(registration.read_registration(whole), place)
    lines = (whole / FILE).read_bytes().splitlines(keepends=True)
    half = lines[cut][: len(lines[cut]) // 2]
    (place / FILE).write_bytes(b"".join(lines[:cut]) + half)
    asked: list[Result] = []
    done = run(Run(study=study, folder=place, directory=place), lambda _done, _total, one: asked.append(one))
    assert (done.answers, done.new) == (6, 6 - cut)
    assert len(asked) == 6 - cut, "what was answered is not asked again"
    assert (place / FILE).read_bytes() == (whole / FILE).read_bytes()


def test_processes_give_the_same_bytes(study: Study, whole: Path, tmp_path: Path) -> None:
    count, where = replayed(whole, tmp_path / "again", 2, lambda *_: None)
    assert (count, where) == (6, "")
    assert (tmp_path / "again" / FILE).read_bytes() == (whole / FILE).read_bytes()


def test_a_replay_names_the_first_result_that_differs(whole: Path, tmp_path: Path) -> None:
    place = tmp_path / "changed"
    shutil.copytree(whole, place)
    lines = (place / FILE).read_text(encoding="utf-8").splitlines(keepends=True)
    lines[2] = lines[2].replace('"calls":1', '"calls":2')
    (place / FILE).write_text("".join(lines), encoding="utf-8")
    assert replayed(place, None, 1, lambda *_: None) == (2, f"see line 3 of {FILE}")


def test_a_study_that_changed_is_refused_with_the_first_difference(study: Study, whole: Path) -> None:
    other = study.model_copy(update={"seed": 2})
    with pytest.raises(BadInput, match=r"was registered with seed 1, and that is 2 now"):
        run(Run(study=other, folder=whole, directory=whole))


def test_a_registration_that_was_altered_is_refused(study: Study, whole: Path, tmp_path: Path) -> None:
    place = tmp_path / "altered"
    shutil.copytree(whole, place)
    said = json.loads((place / registration.FILE).read_text(encoding="utf-8"))
    said["arms"]["debate"]["budget"] = 12
    (place / registration.FILE).write_text(json.dumps(said), encoding="utf-8")
    with pytest.raises(BadInput, match="is not what was registered"):
        summary_of(place)


def test_a_directory_that_holds_something_else_is_left_alone(study: Study, tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("dear", encoding="utf-8")
    with pytest.raises(BadInput, match="holds something else"):
        run(Run(study=study, folder=tmp_path, directory=tmp_path))


def test_a_scorer_that_raises_is_one_line_that_names_the_case(study: Study, tmp_path: Path) -> None:
    given = study.model_copy(update={"score": f"{__name__}:refuse"})
    with pytest.raises(BadInput, match=r"case market-3-00001: .*:refuse raised KeyError"):
        run(Run(study=given, folder=tmp_path, directory=tmp_path / "out"))


def test_a_report_tells_of_arms_and_of_how_they_differ(whole: Path) -> None:
    found = summary_of(whole)
    assert (found.cases, found.answers, found.planned) == (3, 6, 6)
    assert [one.arm for one in found.arms] == ["one", "debate"]
    first = found.differences[0]
    assert first.is_primary and (first.arm, first.than, first.score) == ("debate", "one", "correct")
    assert first.found.value == pytest.approx(
        found.arms[1].scores["correct"].value - found.arms[0].scores["correct"].value
    )
    json.dumps(found.as_json(), allow_nan=False)


def test_pages_say_what_the_report_says_and_every_link_leads_somewhere(whole: Path, tmp_path: Path) -> None:
    pages = tmp_path / "pages"
    said = done("compare", "report", whole, "--pages", pages)
    came_to = led(summary_of(whole))
    assert came_to in " ".join(said.split())
    written = {path.name: path.read_text(encoding="utf-8") for path in pages.iterdir()}
    assert written.keys() == {"report.html", "report.md", "cases-001.html"}
    assert came_to in written["report.html"] and came_to in written["report.md"]
    links = [link for page in written.values() for link in re.findall(r'href="([^"]+)"', page)]
    assert any("logs/" in link for link in links)
    assert [link for link in links if not (pages / link).exists()] == []


def test_without_scipy_nothing_is_asked(monkeypatch: pytest.MonkeyPatch, whole: Path, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "scipy", None)
    (tmp_path / "study.yaml").write_text(STUDY, encoding="utf-8")
    for words in (
        ("compare", tmp_path / "study.yaml", "--out", tmp_path / "out"),
        ("compare", "report", whole),
    ):
        assert (
            complaint(2, *words)
            == "moot compare: the intervals of a study need scipy: pip install 'moot[study]'"
        )
    assert not (tmp_path / "out").exists()


OPEN = """\
study: open
cases: {from: cases.jsonl}
arms:
  guess: {is: solver, budget: 1}
  vote: {is: vote, budget: 3}
"""


@pytest.mark.parametrize(
    ("question", "is_refused"),
    [
        ('"truth": "Oslo"', True),
        ('"truth": "Oslo", "options": ["Oslo", "Bergen"]', False),
        ('"truth": ["Yes", "indeed"]', False),
    ],
)
def test_a_question_without_options_is_refused_where_an_arm_would_answer_yes_or_no(
    question: str, is_refused: bool, tmp_path: Path
) -> None:
    (tmp_path / "study.yaml").write_text(OPEN, encoding="utf-8")
    (tmp_path / "cases.jsonl").write_text(
        f'{{"id": "q", "question": "Which?", {question}}}\n', encoding="utf-8"
    )
    study, out = read_study(tmp_path / "study.yaml"), tmp_path / "out"
    if not is_refused:
        Asking(study, tmp_path, out)
        return
    why = r"cases\.jsonl:1: q has no options, so arms\.vote would answer yes or no, and neither is right: give it"
    with pytest.raises(BadInput, match=why):
        Asking(study, tmp_path, out)
    only = study.model_copy(update={"arms": {"guess": study.arms["guess"]}})
    Asking(only, tmp_path, out)


MINE = """\
from moot import Mind
from moot.protocols.research.messages import RiskScores


class Strict(Mind):
    def __init__(self, sure: float = 0.5) -> None:
        self.sure = sure

    def answer(self, view):
        scores = dict.fromkeys(RiskScores.model_fields, 0.9)
        return view.reply(
            risk_rating="REJECT", confidence=self.sure, scores=scores, conditions=[], fatal_flaws=["Too good."],
            reasoning="It is too good.",
        )
"""


def test_a_critic_of_ones_own_sits_in_system_as_debate_and_is_registered_with_the_study(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    mind, file, out = tmp_path / "strict_critic.py", tmp_path / "study.yaml", tmp_path / "out"
    mind.write_text(MINE, encoding="utf-8")
    own = "minds: {critic: {module: 'strict_critic:Strict', sure: 0.95}}"
    text = STUDY.replace("is: debate, budget: 11", f"is: debate, budget: 11, {own}")
    file.write_text(text, encoding="utf-8")
    try:
        done("compare", file, "--out", out, "--at-once", 1)
        debates = [one for one in read_results(out / FILE) if one.arm == "debate"]
        assert [answer_of(one)["verdict"] for one in debates] == ["REJECT"] * 3
        assert {one.calls for one in debates} == {2}, "an assessment that ends the debate, and the verdict"
        assert "critic by the mind 'strict_critic:Strict'" in done("verify", out / debates[0].log)
        assert "all as it says" in done("verify", out)

        mind.write_text(MINE.replace("too good", "too bad"), encoding="utf-8")
        (out / FILE).write_bytes(b"")
        said = complaint(2, "compare", file, "--out", out, "--at-once", 1)
        assert "was registered with hashes.mind debate critic" in said
    finally:
        sys.modules.pop("strict_critic", None)


def answer_of(one: Result) -> Any:
    return one.answer
