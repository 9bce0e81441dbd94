"""The gateway as a child of `moot up`: whose signals it gets, what it says, how it ends (K22)."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from moot.gateway_child import GatewayChild

TELLS_ITS_GROUP = """#!/bin/sh
ps -o pgid= -p $$
cat > /dev/null
echo over > "$3/over"
"""


def test_ctrl_c_reaches_the_parent_only_and_the_end_of_the_pipe_ends_the_child(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "python"
    program.write_text(TELLS_ITS_GROUP)
    program.chmod(0o700)
    monkeypatch.setattr("sys.executable", str(program))
    said: list[str] = []
    heard = threading.Event()

    def say(line: str) -> None:
        said.append(line)
        heard.set()

    child = GatewayChild(tmp_path, None, say=say)
    try:
        assert heard.wait(30)
        assert int(said[0]) != os.getpgid(0)
        assert not (tmp_path / "over").exists()
    finally:
        child.close(wait_s=30)
    assert (tmp_path / "over").read_text() == "over\n"
