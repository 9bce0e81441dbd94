"""Whatever id a command prints, `moot why` understands."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Final

import pytest

from moot.explaining.explain import explain
from moot.logs import open_log
from moot.memory.bodies_file import CALLS_NAME
from moot.place import log_path
from moot.simulation.scene import load_scene, run_scene
from tests.doubles.called import a_claim
from tests.doubles.command_line import done
from tests.doubles.data_dir import write_log

ROOT: Final = Path(__file__).resolve().parents[2]

ID: Final = re.compile(r"(?<![\w/.#])(?:strat_\d|[a-z]+_\d{3})\w*(?:/[\w.-]+)*")
"""An id of a case or a strategy, and what is counted within it: an obligation, a message, a call of a model; not what a
model calls its own."""

LOOKS: Final = (
    "status",
    "obligations",
    "escalations",
    "log",
    "log --json",
    "calls",
    "calls --json",
    "positions",
    "strategies",
    "strategies --json",
    "view critic",
    "view trader",
    "verify",
    "anchor",
)
"""Commands that look at a log; the cases that they name are looked at as well."""


def scene(name: str, place: Path) -> Path:
    return write_log(place, run_scene(load_scene(ROOT / "docs" / "tutorial" / name)).envelopes)


@pytest.fixture(scope="module", params=["first-debate.yaml", "first-deployment.yaml", "calls"])
def place(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("every") / "d"
    return a_claim(made).write() if request.param == "calls" else scene(request.param, made)


def test_every_id_that_a_command_prints_is_understood_by_why(place: Path) -> None:
    def said(words: str) -> str:
        name, *more = words.split()
        return done(name, place, *more, COLUMNS="300")

    looks = [*LOOKS, *(["calls 3"] if (place / CALLS_NAME).exists() else [])]
    printed = {found: words for words in looks for found in ID.findall(said(words))}
    cases = {
        env["case_id"] for line in said("log --json").splitlines() if (env := json.loads(line))["case_id"]
    }
    for case_id in sorted(cases):
        for words in (f"case {case_id}", f"case --full {case_id}", f"why {case_id}"):
            printed |= dict.fromkeys(ID.findall(said(words)), words)
    assert len(printed) > 5

    path = log_path(place)
    for found, words in printed.items():
        told = explain(lambda: open_log(path), found)
        assert told.id == found, f"moot {words} prints {found}"


def test_a_call_of_a_model_is_explained_within_the_case_that_it_was_for(tmp_path: Path) -> None:
    path = log_path(a_claim(tmp_path / "d").write())

    for asked in ("motion_20260223_1000/claim/advocate/0/2/1", "#5"):
        told = explain(lambda: open_log(path), asked)
        assert (told.kind, told.case_id, told.about[0].seq) == ("Motion", "motion_20260223_1000", 5)
