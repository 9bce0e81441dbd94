"""The studies of docs/evidence can be run as they stand there, and pages quote what came of them."""

import html
import json
from pathlib import Path
from typing import Any

import pytest

from moot.compare.known import arms_of, cases_of, scorer_of
from moot.compare.reading import study_in
from moot.compare.registration import digest
from moot.compare.study import read_study
from moot.compare.summary import Differing
from moot.compare.telling import between, outcome, signed
from moot.statistics.clusters import Estimate
from moot.statistics.shares import Interval

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
    return _differing(json.loads((folder / "report.json").read_text(encoding="utf-8"))["differences"][0])


def _differing(said: dict[str, Any]) -> Differing:
    found = said["found"]
    estimate = Estimate(found["value"], Interval(**found["interval"]), found["cases"])
    return Differing(**{**said, "calls": tuple(said["calls"]), "found": estimate})


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
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    primary = _primary(folder)
    assert primary.is_primary
    assert report["answers"] == report["planned"]
    assert f"**{outcome(primary)}**" in (folder / "report.md").read_text(encoding="utf-8")
    assert outcome(primary) in html.unescape((folder / "report.html").read_text(encoding="utf-8"))
    assert _quoted(primary) in " ".join((FOLDER / "index.md").read_text(encoding="utf-8").split())


def test_the_first_page_quotes_what_the_debate_was_worth_and_that_it_missed_more() -> None:
    said = json.loads((FOLDER / "markets" / "report.json").read_text(encoding="utf-8"))["differences"]
    regret = next(
        one for one in map(_differing, said) if (one.arm, one.than, one.score) == ("debate", "vote", "regret")
    )
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    assert _quoted(_primary(FOLDER / "markets")) in readme
    assert regret.found.interval.low <= 0 <= regret.found.interval.high, "no gain over all cases"
    assert "no gain over all cases" in readme
    assert _quoted(regret) in " ".join((FOLDER / "index.md").read_text(encoding="utf-8").split())
