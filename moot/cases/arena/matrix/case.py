"""What a row of the test matrix consists of, and the fixtures that its runs are given (test matrix 2)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from moot.cases.arena.matrix.criteria import Criterion, ends_in

FIXTURES: Final = Path(__file__).parent / "fixtures"

DRAFTS: Final = (
    "Treat the weekend gap as risk of its own: reduce what is held before Friday's close.",
    "Treat the weekend gap as risk of its own: hold at most 2 percent a position. The Guardian watches the open.",
    "Treat the weekend gap as risk of its own: hold at most 2 percent a position. The Guardian watches from 14:30 UTC.",
    "Hold at most 2 percent a position over the weekend, none before holidays. The Guardian watches from 14:30 UTC.",
    "Hold at most 1 percent a position over the weekend, none before holidays. The Guardian watches from 14:30 UTC.",
)
"""What the Planner says, unless a run says otherwise."""


def fixture(name: str) -> Any:
    """Return the value of a JSON fixture."""
    return json.loads((FIXTURES / f"{name}.json").read_bytes())


def review(name: str) -> str:
    """Return a raw review; its line ends are those of the file."""
    return (FIXTURES / "reviewer_outputs" / f"{name}.md").read_bytes().decode()


@dataclass(frozen=True, kw_only=True)
class Run:
    """One run of a scenario.

    Attributes:
        name: What is particular to it.
        path: The states that it must pass, in order.
        criteria: What must hold besides.
        reviews: Names of fixtures, in the order in which the Reviewer says them; the last one repeats.
        script: Keys of the script besides the reviews.
        config: Keys of the config that are not the default.
        task: Keys of the task that are not the fixture's.
    """

    name: str
    path: str
    criteria: tuple[Criterion, ...]
    reviews: tuple[str, ...] = ()
    script: Mapping[str, Any] = field(default_factory=dict)
    config: Mapping[str, Any] = field(default_factory=dict)
    task: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Scenario:
    """A row of the matrix."""

    id: str
    title: str
    runs: tuple[Run, ...]


APPROVED: Final = Criterion("it ends approved", "3, 4", ends_in("TERMINATED_APPROVED", "APPROVED"))

SEEDED: Final = "INIT SEEDING DRAFTING REVIEWING"
ONCE: Final = f"{SEEDED} FINALIZING TERMINATED_APPROVED"
AGAIN: Final = "REVISING DRAFTING REVIEWING"
TWICE: Final = f"{SEEDED} {AGAIN} FINALIZING TERMINATED_APPROVED"
