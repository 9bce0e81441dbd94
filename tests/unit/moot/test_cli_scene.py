"""`moot scene`: what it prints of a short scene; scenes themselves are tested elsewhere."""

import json
from pathlib import Path

import pytest

from tests.doubles.command_line import complaint, done, moot, write
from tests.doubles.data_dir import a_debate, write_log

SCENE = "start: 2026-02-23T10:00:00Z\nuntil: 1h\n"
DEBATE = f"""{SCENE}seed: 7
cycle: once
systems: [A]
minds:
  explorer: {{script: [{{delay: 20m}}, {{type: REBUTTAL, delay: 5m}}]}}
  critic: {{script: [{{type: RISK_ASSESSMENT, delay: 5m}}]}}
"""
LEFT_OVER = f"""{DEBATE}  evolver: {{script: [{{type: FINAL_VERDICT, delay: 5m, verdict: REJECT}}]}}
"""


@pytest.fixture
def scene(tmp_path: Path) -> Path:
    """A scene of an hour, in which a debate is argued."""
    return write(tmp_path / "scene.yaml", DEBATE)


def test_a_scene_prints_its_log(scene: Path, tmp_path: Path) -> None:
    place = tmp_path / "data"
    said = done("scene", scene, "--out", place)
    lines = done("scene", scene, "--json")

    assert said == done("log", place)
    assert lines == done("log", place, "--json")
    kinds = [json.loads(line)["body"]["type"] for line in lines.splitlines()]
    assert {"SOCIETY_STARTED", "CYCLE_TRIGGER", "HYPOTHESIS", "RISK_ASSESSMENT", "REBUTTAL"} <= {*kinds}
    assert len(said.splitlines()) >= len(kinds)


def test_its_warnings_stand_beside_it(scene: Path, tmp_path: Path) -> None:
    assert moot("scene", scene).stderr == ""
    told = moot("scene", write(tmp_path / "left-over.yaml", LEFT_OVER))
    assert told.exit_code == 0
    assert told.stderr == "moot scene: evolver: a script entry for FINAL_VERDICT was never used\n"


def test_a_post_that_was_refused_is_said_and_ends_as_a_refusal_does(tmp_path: Path) -> None:
    inject = '- {after: 5m, seat: viewer, channel: "#admin", body: {type: NOTE, text: hallo}}'
    told = moot("scene", write(tmp_path / "refused.yaml", f"{SCENE}cycle: none\ninject:\n  {inject}\n"))
    why = (
        "viewer may post NOTE in #a-arena, #a-report, #a-research, #a-verdict, #bridge or #lab, not in #admin"
    )
    assert (told.exit_code, told.stderr) == (3, f"moot scene: inject[0]: refused: channel: {why}\n")
    assert f"records a refused post by the Viewer in #admin: channel: {why}" in told.stdout
    assert "[messages]" not in told.stdout, "a word for programs"


def test_a_typo_is_one_line_that_names_it(tmp_path: Path) -> None:
    file = write(tmp_path / "scene.yaml", f"{SCENE}seeed: 3\n")

    assert f"moot scene: {file}: seeed: there is no such field: did you mean seed?" == complaint(
        2, "scene", file
    )
    assert "is not YAML" in complaint(2, "scene", write(tmp_path / "x.yaml", "{"))
    assert "cannot be read" in complaint(2, "scene", tmp_path / "no.yaml")


def test_a_log_that_is_there_is_not_written_over(scene: Path, tmp_path: Path) -> None:
    place = write_log(tmp_path / "data", a_debate().log)

    assert "holds a log already" in complaint(2, "scene", scene, "--out", place)


def test_a_scene_that_is_nested_beyond_reason_is_one_line(tmp_path: Path) -> None:
    deep = write(tmp_path / "deep.yaml", "a: " + "[" * 100_000)
    assert "nested too deeply" in complaint(2, "scene", deep)
