"""Runs whose every byte is known: written again they are the same, and both judges find nothing in them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Final

import pytest

from moot.arbiter.outcomes import INTERRUPTED
from moot.arbiter.reading import read_run
from moot.arbiter.verify import verify_run
from moot.version import MOOT_VERSION
from tests.doubles.arbiter_golden import FOLDER, carry_out, goldens
from tests.doubles.arbiter_reference.judging import complaints

GOLDENS: Final = goldens()
NUMBER: Final = re.compile(r"-?\d+\.\d{9,}(e-?\d+)?")


def files(folder: Path) -> dict[str, bytes | str]:
    """Return what each file holds; of long fractions nine digits, since processors differ in the last ones."""
    found: dict[str, bytes | str] = {}
    for path in sorted(folder.rglob("*")):
        if path.suffix == ".arrow":
            found[path.name] = path.read_bytes()
        elif path.is_file():
            text = path.read_text(encoding="utf-8").replace(f'"{MOOT_VERSION}"', '"VERSION"')
            found[str(path.relative_to(folder))] = NUMBER.sub(lambda digits: f"{float(digits[0]):.9g}", text)
    return found


@pytest.mark.parametrize("name", GOLDENS)
def test_a_run_is_written_again_to_the_same_bytes(name: str, tmp_path: Path) -> None:
    """`python -m tests.doubles.arbiter_golden` writes what is kept anew."""
    carry_out(GOLDENS[name], tmp_path / "run")
    again, kept = files(tmp_path / "run"), files(FOLDER / name)
    assert again.keys() == kept.keys()
    for file, text in again.items():
        assert text == kept[file], file


@pytest.mark.parametrize("name", GOLDENS)
def test_both_judges_find_nothing_in_it(name: str) -> None:
    report = verify_run(FOLDER / name)
    assert [str(one) for check in report.checks for one in check.findings] == []
    assert complaints(FOLDER / name) == []


def test_they_are_all_that_is_kept() -> None:
    assert {path.name for path in FOLDER.iterdir()} == set(GOLDENS)


def test_an_error_without_a_code_says_none(tmp_path: Path) -> None:
    """An interrupt has no code; runs of earlier versions wrote null for it, and are read all the same."""
    carry_out(GOLDENS["interrupted-at-once"], tmp_path / "run")
    path = tmp_path / "run" / "trials.jsonl"
    cut_short = [one for one in map(json.loads, path.read_text().splitlines()) if one["error_code"]]
    assert [one["error"] for one in cut_short] == [{"message": INTERRUPTED, "retryable": True}]
    path.write_text(path.read_text().replace(f'"{INTERRUPTED}",', f'"{INTERRUPTED}","code":null,'))
    assert [one.status for one in read_run(tmp_path / "run").trials].count("error") == 1
    assert verify_run(tmp_path / "run").ok
