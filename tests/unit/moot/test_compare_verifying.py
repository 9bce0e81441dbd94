"""Studies computed again: what was altered is named (moot/compare/verifying.py)."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from moot.compare.reading import REPORT, keep_report, summary_of
from moot.compare.results import FILE
from moot.compare.running import Run, run
from moot.compare.study import read_study
from moot.compare.verifying import verify_study

STUDY = """\
study: mine
cases: {from: cases.jsonl}
arms:
  one: {is: single, budget: 1}
  debate: {is: debate, budget: 9}
primary: {arm: debate, than: one, score: correct, cost: natural}
"""
CASES = """\
{"id": "sum", "question": "What is 2 + 2?", "options": ["3", "4"], "truth": "4"}
{"id": "sky", "question": "Is the sky blue?", "truth": "yes"}
"""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("study")
    (folder / "study.yaml").write_text(STUDY, encoding="utf-8")
    (folder / "cases.jsonl").write_text(CASES, encoding="utf-8")
    out = folder / "out"
    run(Run(study=read_study(folder / "study.yaml"), folder=folder, directory=out))
    keep_report(out, summary_of(out))
    return out


@pytest.fixture
def copy(whole: Path, tmp_path: Path) -> Path:
    shutil.copytree(whole, tmp_path / "out")
    return tmp_path / "out"


def change(path: Path, was: str, is_: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert was in text
    path.write_text(text.replace(was, is_, 1), encoding="utf-8")


def test_a_study_that_nobody_touched_is_as_it_says(whole: Path) -> None:
    found = verify_study(whole)
    assert (found.results, found.logs, found.findings) == (4, 4, ())


def test_a_score_that_was_altered_is_found(copy: Path) -> None:
    first = json.loads((copy / FILE).read_text(encoding="utf-8").splitlines()[0])
    right = first["scores"]["correct"][0]
    change(copy / FILE, f'"correct":[{right},1.0]', f'"correct":[{1.0 - right},1.0]')
    found = verify_study(copy).findings
    assert found[0] == f"{FILE} is not what the log says that the study came to"
    assert found[1].startswith(f"{FILE}:1: one scored ({1.0 - right}, 1.0) in correct")
    assert any(one.startswith(REPORT) for one in found)


@pytest.mark.parametrize(
    ("was", "is_", "says"),
    [
        ('"case":"sum"', '"case":"sun"', "is of sun, one: sum, one, answer 1 is due there"),
        ('"repetition":1', '"repetition":2', "sum, one, answer 1 is due there"),
        ('"case_sha256":"', '"case_sha256":"0', "sum is another case than was answered"),
        ('"seed":', '"seed":1', "does not follow from the study's seed"),
        ('"head":"', '"head":"0', "is not the log that one left"),
    ],
)
def test_a_result_that_was_altered_is_found(copy: Path, was: str, is_: str, says: str) -> None:
    change(copy / FILE, was, is_)
    assert any(says in one for one in verify_study(copy).findings)


def test_a_log_that_was_altered_is_found(copy: Path) -> None:
    path = next((copy / "logs" / "debate").glob("*.jsonl"))
    change(path, "2 + 2" if "2 + 2" in path.read_text(encoding="utf-8") else "the sky", "2 + 3")
    assert any(f"{path.relative_to(copy)}: seq" in one for one in verify_study(copy).findings)


def test_a_figure_that_was_altered_is_found(copy: Path) -> None:
    change(copy / REPORT, '"answers": 4', '"answers": 40')
    assert verify_study(copy).findings == (f"{REPORT}: answers is 40, the results give 4",)


def test_a_figure_of_an_arm_that_was_altered_is_found_by_its_place(copy: Path) -> None:
    said = json.loads((copy / REPORT).read_text(encoding="utf-8"))
    was = said["arms"][1]["calls"]
    said["arms"][1]["calls"] = was + 1
    (copy / REPORT).write_text(json.dumps(said), encoding="utf-8")
    assert verify_study(copy).findings == (f"{REPORT}: arms.1.calls is {was + 1}, the results give {was}",)


def test_a_truth_that_was_altered_is_found(copy: Path) -> None:
    change(copy / "cases.jsonl", '"truth": "yes"', '"truth": "no"')
    found = verify_study(copy).findings
    assert found[0].startswith("hashes.file is not what was registered")
    assert any("sky is another case than was answered" in one for one in found)


def test_results_that_were_cut_off_at_the_end_are_missed(copy: Path) -> None:
    lines = (copy / FILE).read_text(encoding="utf-8").splitlines(keepends=True)
    (copy / FILE).write_text("".join(lines[:2]), encoding="utf-8")
    assert f"{FILE} has 2 results, and the study has 4" in verify_study(copy).findings
