"""`moot scene`: what it prints; scenes themselves are tested elsewhere."""

from pathlib import Path

import pytest

from moot.simulation.scene import SceneResult
from tests.doubles.command_line import complaint, done, moot, write
from tests.doubles.data_dir import a_debate, write_log

SCENE = "start: 2026-02-23T10:00:00Z\nuntil: 1h\n"


@pytest.fixture
def scene(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A scene that gives the log of a debate, without running anything."""
    result = SceneResult(a_debate().log, ["a script entry for VERDICT was never used"])
    monkeypatch.setattr("moot.simulation.scene.run_scene", lambda _scene, _out: result)
    return write(tmp_path / "scene.yaml", SCENE)


def test_a_scene_prints_its_log(scene: Path, tmp_path: Path) -> None:
    place = write_log(tmp_path / "data", a_debate().log)

    assert done("scene", scene) == done("log", place)
    assert done("scene", scene, "--json") == done("log", place, "--json")


def test_its_warnings_stand_beside_it(scene: Path) -> None:
    assert moot("scene", scene).stderr == "moot scene: a script entry for VERDICT was never used\n"


def test_a_typo_is_one_line_that_names_it(tmp_path: Path) -> None:
    file = write(tmp_path / "scene.yaml", f"{SCENE}seeed: 3\n")

    assert f"moot scene: {file}: seeed: there is no such key, did you mean 'seed'?" == complaint(
        2, "scene", file
    )
    assert "is not YAML" in complaint(2, "scene", write(tmp_path / "x.yaml", "{"))
    assert "cannot be read" in complaint(2, "scene", tmp_path / "no.yaml")


def test_a_log_that_is_there_is_not_written_over(scene: Path, tmp_path: Path) -> None:
    place = write_log(tmp_path / "data", a_debate().log)

    assert "holds a log already" in complaint(2, "scene", scene, "--out", place)


def test_a_scene_that_is_nested_beyond_reason_is_one_line(tmp_path: Path) -> None:
    deep = write(tmp_path / "deep.yaml", "a: " + "[" * 100_000)
    assert "is not YAML" in complaint(2, "scene", deep)
