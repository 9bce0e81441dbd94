"""Runs of `moot arena run` in a test's hands: the files it reads, the record it writes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from moot.protocols.arena.conformance.checker import Conformance, check
from tests.doubles.command_line import Result, moot

TASK: Final = {
    "task_id": "weekend-gaps",
    "initial_prompt": "Plan how the desk should treat weekend gaps.",
    "session_id": "s1",
}
SCRIPT: Final = {
    "planner": ["Hold full positions over the weekend.", "Hold half of every position over the weekend."],
    "reviewer": ["VERDICT: APPROVED\n"],
    "finalizer": ["Hold half."],
}


class Files:
    """Writes what a run reads into a directory, and runs."""

    def __init__(self, place: Path) -> None:
        """Write into a directory."""
        self.place = place
        self.out = place / "record.json"

    def json(self, name: str, value: Any) -> Path:
        """Write a JSON file; the value may be text already."""
        path = self.place / name
        path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
        return path

    def script(self, **over: Any) -> Path:
        """Write a script: one approval, unless told otherwise."""
        path = self.place / "script.yaml"
        # JSON is YAML as well, and quickly read.
        path.write_text(json.dumps({**SCRIPT, **over}), encoding="utf-8")
        return path

    def run(self, *more: object, task: Any = TASK, config: Any = None, script: Any = None) -> Result:
        """Run a task, by default with a script that approves; `script=False` leaves it to simulated minds."""
        words: list[object] = ["arena", "run", "--task", self.json("task.json", task), "--out", self.out]
        if config is not None:
            words += ["--config", self.json("config.json", config)]
        if script is not False:
            words += ["--script", self.script(**(script or {}))]
        return moot(*words, *more)

    def record(self) -> dict[str, Any]:
        """Return the record that the last run wrote."""
        found: dict[str, Any] = json.loads(self.out.read_bytes())
        return found

    def judged(self) -> Conformance:
        """Return what the checker says of that record, read from its file."""
        return check(self.record())


def path_of(record: dict[str, Any]) -> str:
    """Return the states of a run."""
    steps = record["transitions"]
    return " ".join([steps[0]["from"], *(step["to"] for step in steps)])


def failed_checks(found: Conformance) -> list[int]:
    """Return the numbers of the checks that fail."""
    return [one.number for one in found.checks if not one.is_passed]
