"""The files of runs, as tests change and read them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any


def changed(path: Path, change: Callable[[Any], object]) -> None:
    """Change the file of a run."""
    plain = json.loads(path.read_text(encoding="utf-8"))
    change(plain)
    path.write_text(json.dumps(plain), encoding="utf-8")


def lines(directory: str | Path, name: str) -> list[Any]:
    """Return the records of a file in the folder of a run."""
    return [json.loads(line) for line in (Path(directory) / name).read_text(encoding="utf-8").splitlines()]


def write_lines(directory: str | Path, name: str, records: list[Any]) -> None:
    """Write them."""
    text = "".join(f"{json.dumps(one, ensure_ascii=False)}\n" for one in records)
    (Path(directory) / name).write_text(text, encoding="utf-8")


def said(directory: Path) -> dict[int, Any]:
    """Return what was said in each trial."""
    return {one["trial_id"]: one["transcript"] for one in lines(directory, "trials.jsonl")}
