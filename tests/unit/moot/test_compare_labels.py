"""Arms in which simulated minds answer are labelled "simulated, no model" in every output of a study."""

from __future__ import annotations

import html
import json
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from moot.compare.arm_labels import LABEL, labels_of
from moot.compare.arms.arm import Answer, Arm, Trial
from moot.compare.arms.motions import MotionDebate
from moot.compare.reading import REPORT, keep_report, published, summary_of
from moot.compare.running import Run, run
from moot.compare.study import read_study
from moot.compare.telling import arms_table, differences_table, led, sentences
from moot.compare.verifying import verify_study
from tests.doubles.command_line import data, done, moot

MODEL = "http://127.0.0.1:8080/v1#qwen3:8b"
FOLDER = Path(__file__).parents[3] / "docs" / "evidence"


class OwnArm(Arm):
    """An arm of which nothing is known."""

    kinds = frozenset({"question"})
    least = most = 1

    async def run(self, trial: Trial) -> Answer:
        return Answer(answer="yes", calls=1)


class OwnSimulated(OwnArm):
    """An arm that says that no model answers in it."""

    simulated = True


class ShippedDebate(MotionDebate):
    """The shipped debate under another name."""


class ModelsInside(MotionDebate):
    """A debate that seats its own models."""

    def __init__(self) -> None:
        super().__init__(model=MODEL)


HERE = __name__


def _label(arm: Mapping[str, Any], source: str = "questions") -> str:
    return labels_of({"arms": {"a": arm}, "cases": {"from": source}})["a"]


@pytest.mark.parametrize(
    ("source", "arm"),
    [
        ("markets", {"is": "single"}),
        ("markets", {"is": "single", "options": {"changes": False}}),
        ("markets", {"is": "debate"}),
        ("markets", {"is": "vote", "budget": "debate"}),
        ("markets", {"is": "vote", "options": {"of": "debate"}}),
        ("markets", {"is": "debate", "minds": {"critic": "simulated"}}),
        ("documents", {"is": "single", "options": {"skill": {"effort": 9}}}),
        ("documents", {"is": "panel", "options": {"reviewers": 2}}),
        ("documents", {"is": "vote", "options": {"of": "panel"}}),
        ("questions", {"is": "single"}),
        ("questions", {"is": "solver"}),
        ("questions", {"is": "vote", "options": {"of": "solver"}}),
        ("questions", {"is": "debate"}),
        ("questions", {"is": "arena"}),
        ("own.jsonl", {"is": "debate", "minds": {}, "model": None}),
        ("own.jsonl", {"is": "panel"}),
        ("own.jsonl", {"is": "single"}),
        ("questions", {"is": f"{HERE}:OwnSimulated"}),
        ("questions", {"is": f"{HERE}:ShippedDebate"}),
        ("questions", {"is": "moot.compare.arms.solving:OneSolver"}),
        ("questions", {"is": "vote", "options": {"of": f"{HERE}:OwnSimulated"}}),
    ],
)
def test_an_arm_without_a_model_is_simulated_no_model(source: str, arm: dict[str, Any]) -> None:
    assert _label(arm, source) == LABEL == "simulated, no model"


@pytest.mark.parametrize(
    ("source", "arm"),
    [
        ("markets", {"is": "debate", "model": MODEL}),
        ("questions", {"is": "debate", "model": {"url": "http://127.0.0.1:1/v1", "model": "m"}}),
        ("questions", {"is": "single", "model": MODEL}),
        ("questions", {"is": "single", "minds": {"advocate": {"model": "local"}}}),
        ("questions", {"is": "vote", "model": MODEL}),
        ("questions", {"is": "arena", "model": MODEL}),
        ("documents", {"is": "panel", "model": MODEL}),
        ("questions", {"is": "debate", "minds": dict.fromkeys(("advocate", "critic", "judge"), "my:Mind")}),
        ("questions", {"is": f"{HERE}:OwnArm"}),
        ("questions", {"is": f"{HERE}:ModelsInside"}),
        ("questions", {"is": f"{HERE}:ShippedDebate", "model": MODEL}),
        ("questions", {"is": "not_installed:Arm"}),
    ],
)
def test_an_arm_with_a_model_or_of_ones_own_has_no_label(source: str, arm: dict[str, Any]) -> None:
    assert _label(arm, source) == ""


@pytest.mark.parametrize(
    ("source", "arm", "label"),
    [
        ("questions", {"is": "debate", "minds": {"critic": {"model": "local"}}}, "advocate and judge"),
        ("questions", {"is": "debate", "model": MODEL, "minds": {"judge": "simulated"}}, "judge"),
        ("questions", {"is": "debate", "model": MODEL, "minds": {"judge": {"module": "simulated"}}}, "judge"),
        ("questions", {"is": "debate", "minds": {"judge": "silent"}}, "advocate and critic"),
        ("markets", {"is": "debate", "minds": {"critic": "my:Mind"}}, "evolver and explorer"),
        ("own.jsonl", {"is": "debate", "minds": {"evolver": "my:Mind"}}, "critic and explorer"),
        ("questions", {"is": "arena", "model": MODEL, "minds": {"reviewer": "simulated"}}, "reviewer"),
        (
            "documents",
            {"is": "panel", "options": {"reviewers": 2}, "minds": {"methodology": {"model": "m"}}},
            "eic and synthesizer",
        ),
        (
            "questions",
            {"is": "vote", "options": {"of": "debate"}, "minds": {"judge": "my:Mind"}},
            "advocate and critic",
        ),
    ],
)
def test_a_mixed_arm_says_which_of_its_seats_are_simulated(
    source: str, arm: dict[str, Any], label: str
) -> None:
    assert _label(arm, source) == f"{label} {LABEL}"


STUDY = """\
study: mine
cases: {from: cases.jsonl}
arms:
  one: {is: single, budget: 1}
  own: {is: "my_arms_for_labels:First", budget: 1}
  debate: {is: debate, budget: 9, minds: {judge: silent}}
primary: {arm: own, than: one, score: correct}
"""
OWN = """\
from moot.compare.arms.arm import Answer, Arm


class First(Arm):
    kinds = frozenset({"question"})
    least = most = 1

    async def run(self, trial):
        return Answer(answer=trial.case.shown["options"][0], confidence=0.5, calls=1)
"""
CASES = """\
{"id": "sum", "question": "What is 2 + 2?", "options": ["3", "4"], "truth": "4"}
{"id": "sky", "question": "Is the sky blue?", "options": ["yes", "no"], "truth": "yes"}
"""
MIXED = f"advocate and critic {LABEL}"


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("labels")
    (folder / "study.yaml").write_text(STUDY, encoding="utf-8")
    (folder / "cases.jsonl").write_text(CASES, encoding="utf-8")
    (folder / "my_arms_for_labels.py").write_text(OWN, encoding="utf-8")
    out = folder / "out"
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        run(Run(study=read_study(folder / "study.yaml"), folder=folder, directory=out))
        keep_report(out, summary_of(out))
        yield out


def test_terminal_markdown_pages_and_json_label_the_arm_that_is_simulated_and_no_other(
    study: Path, tmp_path: Path
) -> None:
    found = summary_of(study)
    assert found.labels == {"one": LABEL, "own": "", "debate": MIXED}
    assert led(found).startswith("No difference in share of right answers was shown between own and one (sim")
    assert next(sentences(found)) == f"Simulated minds answer in one ({LABEL}), debate ({MIXED})."
    heads, rows = arms_table(found.arms)
    assert (heads, rows[0]) == (("figure", "one", "own", "debate"), ("minds", LABEL, "–", MIXED))
    named = [row[0] for row in differences_table(found, "correct")[1]]
    assert named == [
        f"own over one ({LABEL})",
        f"debate ({MIXED}) over one ({LABEL})",
        f"debate ({MIXED}) over own",
    ]

    pages = tmp_path / "pages"
    printed = " ".join(done("compare", "report", study, "--pages", pages).split())
    assert f"between own and one ({LABEL})" in printed
    assert "debate (advocate" in printed, "in the table of differences"
    assert f"Simulated minds answer in one ({LABEL}), debate ({MIXED})." in printed
    markdown = (pages / "report.md").read_text(encoding="utf-8")
    assert f"| minds | {LABEL} | – | {MIXED} |" in markdown
    assert f"**{led(found)}**" in markdown
    page = html.unescape((pages / "report.html").read_text(encoding="utf-8"))
    assert led(found) in page
    assert f"one ({LABEL})</li>" in page, "in the legend of what arms cost"
    assert f"<b>debate ({MIXED}) over one ({LABEL})</b>" in page, "in the drawing of differences"
    cases = (pages / "cases-001.html").read_text(encoding="utf-8")
    assert f"<td>one ({LABEL})</td>" in cases
    assert "<td>own</td>" in cases

    plain = data("compare", "report", study)
    assert [one.get("label") for one in plain["arms"]] == [LABEL, None, MIXED]
    assert plain["differences"][0]["labels"] == ["", LABEL]
    assert plain == json.loads((study / REPORT).read_text(encoding="utf-8"))


def test_a_label_that_is_longer_than_a_column_is_broken_into_lines(study: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    printed = done("compare", "report", study)
    assert "…" not in printed
    assert "advocate and critic" in printed


def test_a_report_that_an_older_moot_kept_without_labels_is_no_finding_and_a_forged_label_is(
    study: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "out"
    shutil.copytree(study, copy)
    kept = json.loads((copy / REPORT).read_text(encoding="utf-8"))
    for one in kept["arms"]:
        one.pop("label", None)
    for one in kept["differences"]:
        one.pop("labels", None)
    (copy / REPORT).write_text(json.dumps(kept), encoding="utf-8")
    assert verify_study(copy).findings == ()
    kept["arms"][1]["label"] = LABEL
    (copy / REPORT).write_text(json.dumps(kept), encoding="utf-8")
    assert verify_study(copy).findings


PUBLISHED = [FOLDER / "markets", FOLDER / "documents"]


@pytest.mark.parametrize("folder", PUBLISHED, ids=lambda path: path.name)
def test_every_published_report_of_simulated_minds_says_so(folder: Path) -> None:
    found = published(folder)
    assert set(found.labels.values()) == {LABEL}
    plain = (folder / "report.md").read_text(encoding="utf-8")
    page = html.unescape((folder / "report.html").read_text(encoding="utf-8"))
    for text in (plain, page):
        assert led(found) in text
        assert f"(both {LABEL})" in led(found)
        assert "Every arm is simulated, no model" in text
    assert f"| minds |{f' {LABEL} |' * len(found.arms)}" in plain
    differences = plain.partition("## Differences")[2].partition("## Registered")[0]
    rows = [line for line in differences.splitlines() if " over " in line]
    assert all(f"(both {LABEL})" in row for row in rows)
    for arm in found.labels:
        assert f"{arm} ({LABEL})</li>" in page


def test_a_published_study_of_a_model_has_no_label() -> None:
    assert set(published(FOLDER / "questions").labels.values()) == {""}
    for name in ("report.md", "report.html", REPORT):
        assert "simulated" not in (FOLDER / "questions" / name).read_text(encoding="utf-8")


def _unlabelled(folder: Path, tmp_path: Path) -> Path:
    """Return a copy of a published study as an older Moot wrote it."""
    from moot.compare.registration import read_registration
    from moot.compare.report import pages

    copy = tmp_path / folder.name
    shutil.copytree(folder, copy)
    older = published(copy).with_labels({})
    keep_report(copy, older)
    for name, text in pages(older, read_registration(copy)):
        (copy / name).write_text(text, encoding="utf-8")
        assert LABEL not in text
    return copy


@pytest.mark.parametrize("folder", PUBLISHED, ids=lambda path: path.name)
def test_a_study_that_an_older_moot_published_verifies_with_a_note_and_is_read_with_labels(
    folder: Path, tmp_path: Path
) -> None:
    copy = _unlabelled(folder, tmp_path)
    found = verify_study(copy)
    assert found.findings == ()
    assert found.notes[0].startswith("report.html was drawn by an older Moot and does not say which arms")
    said = moot("verify", copy)
    assert said.exit_code == 0
    assert "note: report.md was drawn by an older Moot" in said.stderr
    assert {one["label"] for one in data("compare", "report", copy)["arms"]} == {LABEL}
    done("compare", "report", copy, "--pages", copy)
    assert (copy / "report.md").read_bytes() == (folder / "report.md").read_bytes()
    assert not [note for note in verify_study(copy).notes if "drawn by" in note]


def test_a_published_label_that_the_registration_contradicts_is_a_finding(tmp_path: Path) -> None:
    copy = tmp_path / "markets"
    shutil.copytree(FOLDER / "markets", copy)
    keep_report(copy, published(copy).with_labels({"vote": LABEL}))
    (found, *_) = verify_study(copy).findings
    assert found == "report.json labels as-given '', the registration gives 'simulated, no model'"


def test_the_page_of_studies_says_it_beside_each_study_of_simulated_minds() -> None:
    rows = [
        line for line in (FOLDER / "index.md").read_text(encoding="utf-8").splitlines() if ".yaml](" in line
    ]
    assert ["simulated, no model" in row for row in rows] == [True, True, False]
