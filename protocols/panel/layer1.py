"""A report held to itself: its flags to its scores, its decision to its flags (R-P5)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from moot.protocols.panel.contract import Contract
from moot.protocols.panel.expression import Predicate
from moot.protocols.panel.reports import Report
from moot.protocols.panel.synthesis import decide


class Inconsistent(NamedTuple):
    """Where a report contradicts itself.

    Attributes:
        condition: The condition whose flag is wrong; None when it is the decision.
        declared: What the report says.
        recomputed: What follows from the rest of it.
    """

    condition: str | None
    declared: str
    recomputed: str


def inconsistencies(
    report: Report, contract: Contract, predicates: Mapping[str, Predicate]
) -> Iterator[Inconsistent]:
    """Find where a report contradicts itself.

    Args:
        report: As it was read.
        contract: What it keeps to.
        predicates: By condition; a condition without one is not looked at.
    """
    for name, declared in report.fired.items():
        if name in predicates and (holds := predicates[name].holds(report.scores)) != declared:
            yield Inconsistent(name, str(declared).lower(), str(holds).lower())
    derived = decide(contract, [name for name, is_fired in report.fired.items() if is_fired])
    if derived != report.decision:
        yield Inconsistent(None, report.decision, derived)
