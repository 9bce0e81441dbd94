"""Every scene file in `scenes/` does what it says, its log verifies, breaks no law, and is explained as it was."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest

from moot.simulation.scene import load_scene, run_scene
from tests.acceptance.expectations import complaints
from tests.doubles.checking import findings, unlawful
from tests.doubles.explained import misplaced
from tests.doubles.permits import spoken

SCENES = sorted((Path(__file__).parent / "scenes").glob("*.yaml"))


FOREIGN = {"permits": spoken}
"""Protocols that are not Moot's own; a scene names one in a line that begins with `#@`."""


@pytest.mark.parametrize("path", SCENES, ids=lambda path: path.stem)
def test_scene_does_what_it_says(path: Path) -> None:
    named = [
        line[2:].strip() for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("#@")
    ]
    with ExitStack() as speaking:
        for name in named:
            speaking.enter_context(FOREIGN[name]())
        lives_and_verifies(path)


def lives_and_verifies(path: Path) -> None:
    scene = load_scene(path)
    result = run_scene(scene)
    assert result.findings == []
    assert complaints(path, result.envelopes, scene.start) == []
    assert findings(result.envelopes) == []
    assert unlawful(env.line for env in result.envelopes) == []
    assert [*misplaced(result.envelopes)] == []
