"""Weeks that are broken on purpose, one after the other on one core."""

from __future__ import annotations

from moot.chaos.run import ChaosOptions, run

WEEKS = 30


def chaos_weeks_per_hour() -> float:
    """Seeds 1 to 30, all classes of faults; the first week warms the caches that all share."""
    run(ChaosOptions(seed=1))
    result = run(ChaosOptions(seed=1, weeks=WEEKS))
    assert not result.found, result.found[0].findings
    return WEEKS / result.wall_s * 3600.0
