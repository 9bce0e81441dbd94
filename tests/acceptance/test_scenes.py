"""Every scene file in `scenes/` does what it says, its log verifies, breaks no law, and is explained as it was."""

from __future__ import annotations

from pathlib import Path

import pytest

from moot.simulation.scene import load_scene, run_scene
from tests.acceptance.expectations import complaints
from tests.doubles.checking import findings, unlawful
from tests.doubles.explained import misplaced

SCENES = sorted((Path(__file__).parent / "scenes").glob("*.yaml"))


@pytest.mark.parametrize("path", SCENES, ids=lambda path: path.stem)
def test_scene_does_what_it_says(path: Path) -> None:
    scene = load_scene(path)
    result = run_scene(scene)
    assert result.findings == []
    assert complaints(path, result.envelopes, scene.start) == []
    assert findings(result.envelopes) == []
    assert unlawful(env.line for env in result.envelopes) == []
    assert [*misplaced(result.envelopes)] == []
