"""What running the matrix found: each scenario, its runs, their paths and their criteria."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Held:
    """A criterion that was held against a record.

    Attributes:
        text: What the matrix asks.
        source: Where it asks: `3` for the scenario table, `4` for its detailed assertions, a ruling or a section.
        is_passed: Whether it holds.
        evidence: What was seen.
    """

    text: str
    source: str
    is_passed: bool
    evidence: str


@dataclass(frozen=True, slots=True)
class RunResult:
    """One run of a scenario.

    Attributes:
        name: What is particular to it.
        expected: The states that it must pass, in order.
        actual: The states that it passed.
        held: Its criteria.
        level: The level of compliance of its record (section 2).
    """

    name: str
    expected: tuple[str, ...]
    actual: tuple[str, ...]
    held: tuple[Held, ...]
    level: str

    @property
    def is_passed(self) -> bool:
        """Say whether path and criteria are as the matrix asks."""
        return self.expected == self.actual and all(one.is_passed for one in self.held)


@dataclass(frozen=True, slots=True)
class ScenarioResult:
    """One scenario: `T01` to `T12`."""

    id: str
    title: str
    runs: tuple[RunResult, ...]

    @property
    def is_passed(self) -> bool:
        """Say whether every run passes."""
        return all(run.is_passed for run in self.runs)


@dataclass(frozen=True, slots=True)
class MatrixResult:
    """All scenarios in their order."""

    scenarios: tuple[ScenarioResult, ...]

    @property
    def is_passed(self) -> bool:
        """Say whether every scenario passes."""
        return all(one.is_passed for one in self.scenarios)

    @property
    def runs(self) -> Sequence[RunResult]:
        """Return every run of every scenario."""
        return [run for one in self.scenarios for run in one.runs]

    def as_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "is_passed": self.is_passed,
            "scenarios": [
                {
                    "id": one.id,
                    "title": one.title,
                    "is_passed": one.is_passed,
                    "runs": [_run_json(run) for run in one.runs],
                }
                for one in self.scenarios
            ],
        }


def _run_json(run: RunResult) -> dict[str, Any]:
    return {
        "name": run.name,
        "is_passed": run.is_passed,
        "expected": list(run.expected),
        "actual": list(run.actual),
        "level": run.level,
        "criteria": [
            {"text": one.text, "source": one.source, "is_passed": one.is_passed, "evidence": one.evidence}
            for one in run.held
        ],
    }
