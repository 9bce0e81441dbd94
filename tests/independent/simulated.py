"""The log of a simulated society, as `moot log --json` prints it; the recomputation itself knows no society."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def log_of(folder: Path, *, days: int, seed: int) -> list[str]:
    """Simulate some days in a process of its own and return its log's lines."""
    out = str(folder / "log")
    _moot("simulate", "--days", str(days), "--seed", str(seed), "--out", out, "--json")
    return _moot("log", out, "--json").splitlines()


def _moot(*words: str) -> str:
    command = [sys.executable, "-m", "moot", *words]
    done = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, "NO_COLOR": "1"}, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
