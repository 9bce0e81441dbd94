"""Arbiter's monitor over 10,000 answers of 256 dimensions in batches of 50."""

from __future__ import annotations

from time import perf_counter
from typing import Final

import numpy as np

from moot.arbiter.monitor import Monitor
from moot.protocols.arbiter.generated import ResolvedExecution, ResolvedMeasurement
from tests.doubles.arbiter_configs import resolved

ANSWERS: Final = 10_000
DIMENSIONS: Final = 256
BATCH: Final = 50
KINDS: Final = 40


def measured_10000_s() -> float:
    """All batches together, answers of 40 kinds."""
    return sum(_seconds(near=0.3, cluster_limit=200))


def slowest_batch_ms() -> float:
    """The slowest of those batches."""
    return max(_seconds(near=0.3, cluster_limit=200)) * 1000


def all_different_10000_s() -> float:
    """All batches together when each answer opens a cluster of its own."""
    return sum(_seconds(near=100.0, cluster_limit=ANSWERS))


def _seconds(near: float, cluster_limit: int) -> list[float]:
    """Measure each batch.

    Args:
        near: How far answers of a kind lie from each other, where kinds lie 1 from each other.
    """
    chance = np.random.default_rng(1)
    kinds = chance.standard_normal((KINDS, DIMENSIONS))
    noise = chance.standard_normal((ANSWERS, DIMENSIONS))
    vectors = (kinds[chance.integers(0, KINDS, ANSWERS)] + near * noise).astype(np.float32)
    config = resolved()
    config["measurement"]["clustering"]["cluster_limit"] = cluster_limit
    monitor = Monitor(
        ResolvedMeasurement.model_validate(config["measurement"]),
        ResolvedExecution.model_validate(config["execution"]),
    )
    found = []
    for start in range(0, ANSWERS, BATCH):
        began = perf_counter()
        monitor.measure(
            {trial: vectors[trial] for trial in range(start, start + BATCH)}, "2026-01-01T00:00:00Z"
        )
        found.append(perf_counter() - began)
    return found
