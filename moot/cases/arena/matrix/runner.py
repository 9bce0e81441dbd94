"""The test matrix, run: every run in virtual time, held to its path, its criteria and the 13 checks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from moot.cases.arena.matrix.case import DRAFTS, Run, Scenario, fixture, review
from moot.cases.arena.matrix.criteria import Criterion, Record, path
from moot.cases.arena.matrix.guards import GUARDS
from moot.cases.arena.matrix.loop import LOOP
from moot.cases.arena.matrix.result import Held, MatrixResult, RunResult, ScenarioResult
from moot.cases.arena.offline import RunOptions, run_offline
from moot.cases.arena.script import script_from
from moot.protocols.arena.conformance.checker import check

SCENARIOS: Final = tuple(sorted((*LOOP, *GUARDS), key=lambda one: one.id))
"""The rows of the matrix in their order."""

FINAL: Final = "The plan, as it was approved.\n"


def run_matrix(progress: Callable[[str], None] | None = None) -> MatrixResult:
    """Run all scenarios.

    Args:
        progress: Told the id of each scenario before it runs.
    """
    found = []
    for scenario in SCENARIOS:
        if progress is not None:
            progress(scenario.id)
        found.append(run_scenario(scenario))
    return MatrixResult(tuple(found))


def run_scenario(scenario: Scenario) -> ScenarioResult:
    """Run one row of the matrix."""
    return ScenarioResult(scenario.id, scenario.title, tuple(map(judge, scenario.runs)))


def judge(run: Run) -> RunResult:
    """Hold one run, and its record to what the matrix asks."""
    record = run_offline(options_of(run))
    judged = check(record)
    failed = [
        f"check {one.number}: {'; '.join(one.evidence[:2])}" for one in judged.checks if not one.is_passed
    ]
    conforms = Held(
        "the record is conformant, its audit trail complete",
        "5, spec 12",
        judged.is_conformant,
        "; ".join(failed) or f"{len(judged.checks)} of {len(judged.checks)} checks",
    )
    return RunResult(
        name=run.name,
        expected=tuple(run.path.split()),
        actual=path(record),
        held=(*(_held(one, record) for one in run.criteria), conforms),
        level=judged.level,
    )


def options_of(run: Run) -> RunOptions:
    """Return what a run is given: the fixtures, and what it says otherwise."""
    said = {"planner": list(DRAFTS), "finalizer": [FINAL], "reviewer": [review(name) for name in run.reviews]}
    return RunOptions(
        task={**fixture("task_context_valid"), **run.task},
        config={"notebook_enabled": True, **run.config},
        notebook=fixture("notebook_context_valid"),
        script=script_from({**said, **run.script}),
    )


def _held(criterion: Criterion, record: Record) -> Held:
    try:
        is_passed, evidence = criterion.see(record)
    except (LookupError, TypeError, AttributeError, ValueError) as error:
        # A record that lacks what a criterion looks at fails it.
        is_passed, evidence = False, f"the record lacks what is looked at: {type(error).__name__} {error}"
    return Held(criterion.text, criterion.source, is_passed, evidence)
