"""What was once found wrong, or would be without a safeguard, is rehearsed: nothing is found."""

from __future__ import annotations

from pathlib import Path

import pytest

from moot.simulation.scene import load_scene, run_scene

REGRESSIONS = sorted((Path(__file__).parent / "regressions").glob("*.yaml"))


@pytest.mark.parametrize("path", REGRESSIONS, ids=lambda path: path.stem)
def test_nothing_is_found_in_what_was_wrong_once(path: Path) -> None:
    result = run_scene(load_scene(path))
    assert result.findings == []
    assert result.warnings == []
    assert len(result.envelopes) > 2
