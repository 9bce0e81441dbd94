"""Synthesis: what a view of memory teaches, by the arithmetic that `verify` recomputes (spec 2.1, 2.2)."""

from __future__ import annotations

from datetime import datetime

from moot.memory.view import MemoryView
from moot.protocols.research.learning import Pattern, find_patterns, matching, principle_from
from moot.protocols.research.messages import Principle
from moot.protocols.research.strictness import adjust


def patterns(view: MemoryView, since: datetime, until: datetime) -> tuple[Pattern, ...]:
    """Find what failed alike at least three times in the window (since, until] (spec 2.1 steps 1 to 3)."""
    return find_patterns(view.experiences(since=since, until=until))


def synthesise(
    view: MemoryView, *, since: datetime, until: datetime, at: datetime | None = None
) -> tuple[Principle, ...]:
    """Make the principles of a PRINCIPLE_SYNTHESIS: new ones without an id, updates with theirs (spec 2.1).

    Args:
        view: Memory as of the seq that woke the Evolver (K13).
        since: Start of the window, exclusive.
        until: End of the window, inclusive.
        at: `created` of new ones and `last_validated` of all; None for the window's end.

    Returns:
        One principle for each pattern, sorted by archetype, failure code and regime; often none.
    """
    at = until if at is None else at
    known = view.principles()
    made = []
    for pattern in patterns(view, since, until):
        existing = matching(pattern, known)
        finding = principle_from(pattern, existing)
        principle = Principle(
            principle_id="" if existing is None else existing.principle_id,
            statement=finding.statement,
            evidence_count=finding.evidence_count,
            confidence=finding.confidence,
            source_reflections=finding.sources,
            created=at if existing is None else existing.created,
            last_validated=at,
            change=finding.change,
            archetype=pattern.archetype,
            failure_code=pattern.failure_code,
            regime=pattern.regime,
        )
        made.append(principle)
    return tuple(made)


def adjusted(view: MemoryView, factor: float) -> tuple[dict[str, float], dict[str, float]]:
    """Return `before` and `after` of a THRESHOLDS_ADJUSTED that answers a review's factor (R-D14, R-D17)."""
    before = dict(view.thresholds())
    return before, adjust(before, factor)
