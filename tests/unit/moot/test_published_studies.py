"""The studies of docs/evidence can be run as they stand there, and pages quote what came of them."""

import html
import json
import shutil
from pathlib import Path

import pytest

from moot.compare.known import arms_of, cases_of, scorer_of
from moot.compare.reading import published, study_in
from moot.compare.registration import digest
from moot.compare.study import read_study
from moot.compare.summary import Differing
from moot.compare.telling import between, outcome, signed
from moot.compare.verifying import verify_study
from tests.doubles.command_line import complaint, data, done, moot

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "docs" / "evidence"


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.yaml")), ids=lambda path: path.stem)
def test_a_published_study_has_arms_for_its_cases_and_decides_by_a_figure_that_they_have(path: Path) -> None:
    study = read_study(path)
    cases = cases_of(study.cases, FOLDER)
    assert len(cases) == study.cases.count
    first = cases[0]
    assert set(arms_of(study, first.kind)) == set(study.arms)
    assert study.primary is not None
    assert study.primary.score in scorer_of(study)(first, None)


PUBLISHED = sorted(path.parent for path in FOLDER.glob("*/report.json"))


def _primary(folder: Path) -> Differing:
    """Return what decides a published study, as its figures say."""
    return published(folder).differences[0]


def _quoted(one: Differing) -> str:
    return f"{signed(one.found.value)} (95 % interval {between(one.found, signed)})"


@pytest.mark.parametrize("folder", PUBLISHED, ids=lambda path: path.name)
def test_a_published_study_is_the_one_that_was_registered_and_its_file_is_still_the_same(
    folder: Path,
) -> None:
    registration = json.loads((folder / "registration.json").read_text(encoding="utf-8"))
    log = (folder / "log.jsonl").read_text(encoding="utf-8").splitlines()
    first, last = (json.loads(line)["body"] for line in log)
    assert first["data"]["study_sha256"] == digest(registration)
    assert study_in(registration) == read_study(folder.with_suffix(".yaml")).model_copy(
        update={"score": registration["score"]}
    )
    attempts = (FOLDER / "attempts.md").read_text(encoding="utf-8")
    for sha256 in (digest(registration), last["reason"].rpartition(" ")[2]):
        assert f"`{sha256[:12]}`" in attempts


@pytest.mark.parametrize("folder", PUBLISHED, ids=lambda path: path.name)
def test_pages_quote_a_published_study_by_its_own_figures(folder: Path) -> None:
    primary = _primary(folder)
    assert primary.is_primary
    assert not published(folder).left
    assert f"**{outcome(primary)}**" in (folder / "report.md").read_text(encoding="utf-8")
    assert outcome(primary) in html.unescape((folder / "report.html").read_text(encoding="utf-8"))
    assert _quoted(primary) in " ".join((FOLDER / "index.md").read_text(encoding="utf-8").split())


def test_the_first_page_quotes_what_the_debate_was_worth_and_that_it_missed_more() -> None:
    regret = next(
        one
        for one in published(FOLDER / "markets").differences
        if (one.arm, one.than, one.score) == ("debate", "vote", "regret")
    )
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    assert _quoted(_primary(FOLDER / "markets")) in readme
    assert regret.found.interval.low <= 0 <= regret.found.interval.high, "no gain over all cases"
    assert "no gain over all cases" in readme
    assert _quoted(regret) in " ".join((FOLDER / "index.md").read_text(encoding="utf-8").split())


@pytest.mark.parametrize("folder", PUBLISHED, ids=lambda path: path.name)
def test_published_pages_are_drawn_from_the_figures_beside_them(folder: Path) -> None:
    found = verify_study(folder)
    assert (found.pages, found.findings) == (2, ())


def test_a_published_study_is_read_without_its_results_and_what_was_altered_in_it_is_told(
    tmp_path: Path,
) -> None:
    copy = tmp_path / "questions"
    shutil.copytree(FOLDER / "questions", copy)
    figures = json.loads((copy / "report.json").read_text(encoding="utf-8"))
    assert data("compare", "report", copy) == figures
    said = moot("compare", "report", copy, "--pages", tmp_path / "pages")
    assert f"{copy} is published without its results: these are the figures that it keeps" in said.stderr
    assert (tmp_path / "pages" / "report.html").read_text(encoding="utf-8") == (
        copy / "report.html"
    ).read_text(encoding="utf-8")
    assert "2 pages drawn again from its figures: all as it says" in done("verify", copy)

    (copy / "cases-001.html").touch()
    assert "report.html is not what report.json gives" in moot("verify", copy).stderr, "it leads to its cases"
    (copy / "cases-001.html").unlink()

    text = (copy / "report.json").read_text(encoding="utf-8")
    (copy / "report.json").write_text(text.replace('"high": 0.324407565', '"high": 0.2'), encoding="utf-8")
    assert "report.md is not what report.json gives" in moot("verify", copy).stderr
    (copy / "log.jsonl").unlink()
    said_in_one_line = complaint(2, "compare", "report", copy)
    assert said_in_one_line.endswith(
        "which says what registration.json has to be: copy it from where the study ran"
    )
