"""The studies of docs/evidence can be run as they stand there."""

from pathlib import Path

import pytest

from moot.compare.known import arms_of, cases_of, scorer_of
from moot.compare.study import read_study

FOLDER = Path(__file__).parents[3] / "docs" / "evidence"


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.yaml")), ids=lambda path: path.stem)
def test_a_published_study_has_arms_for_its_cases_and_decides_by_a_figure_that_they_have(path: Path) -> None:
    study = read_study(path)
    cases = cases_of(study.cases, FOLDER)
    assert len(cases) == study.cases.count
    first = cases[0]
    assert set(arms_of(study, first.kind)) == set(study.arms)
    assert study.primary is not None
    assert study.primary.score in scorer_of(study)(first, None)
