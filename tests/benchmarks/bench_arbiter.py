"""Arbiter's monitor over 10,000 answers of 256 dimensions in batches of 50; whole mock runs with all their files."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter
from typing import Final

import numpy as np

from moot.arbiter.artifacts import ArtifactWriter
from moot.arbiter.clustering import LeaderClusters
from moot.arbiter.engine import Engine
from moot.arbiter.interrupt import Interrupt
from moot.arbiter.mocking import MockEmbedder, MockRunner
from moot.arbiter.monitor import Monitor
from moot.arbiter.outcomes import Outcomes
from moot.arbiter.ports import Embedded, Embedder
from moot.arbiter.resolving import prepare
from moot.clock import Clock, RealClock
from moot.config.arbiter.bank import load_bank
from moot.protocols.arbiter.generated import ResolvedConfiguration, ResolvedExecution, ResolvedMeasurement
from tests.doubles.arbiter_configs import resolved
from tests.doubles.arbiter_runs import policy

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


def mock_5000_per_s() -> float:
    """Trials of a run from plan to manifest: four dimensions, at most 32 clusters."""
    return _best(5_000)


def mock_1000_per_s() -> float:
    """The same in a run of 1,000 trials."""
    return _best(1_000)


def mock_384_per_s() -> float:
    """The same with vectors of 384 dimensions."""
    return _best(5_000, 384)


def leaders_10000x384_s() -> float:
    """Assign 10,000 answers of 384 dimensions to at most 32 clusters."""
    clustering = _config(1).measurement.clustering
    rows = _kinds(ANSWERS, 384)
    return min(_assigned(LeaderClusters(clustering), rows) for _ in range(3))


def mock_100000_mib() -> float:
    """The memory that a process needs at most for a run of 100,000 trials."""
    code = "from tests.benchmarks.bench_arbiter import alone; alone()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return float(done.stdout)


def alone() -> None:
    """Make a run of 100,000 trials and print the mebibytes that this process had at most."""
    _run(100_000)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


class _Vectors:
    """Embeds by number: vectors drawn beforehand."""

    def __init__(self, count: int, dimensions: int) -> None:
        self._rows = _kinds(count, dimensions)

    async def embed(self, trial_id: int, text: str, *, kept: str | None = None) -> Embedded:
        return Embedded(self._rows[trial_id])


def _best(trials: int, dimensions: int | None = None) -> float:
    embedder = None if dimensions is None else _Vectors(trials, dimensions)
    return max(trials / _run(trials, embedder) for _ in range(3))


def _run(trials: int, embedder: Embedder | None = None) -> float:
    """Make a mock run, and return the seconds that it took."""
    bank, config = load_bank(None), _config(trials)
    with tempfile.TemporaryDirectory() as place:
        began = perf_counter()
        prepared = prepare(config, bank)
        writer = ArtifactWriter(Path(place, "run"), print)

        async def main(clock: Clock) -> None:
            runner = MockRunner(Outcomes(config, None, "mock-v0"), clock)
            asked = embedder or MockEmbedder(config.run.seed)
            await Engine(prepared, policy(), runner, asked, clock, Interrupt(), [writer]).run()

        RealClock().run(main)
        return perf_counter() - began


def _config(trials: int) -> ResolvedConfiguration:
    found = resolved()
    found["sampling"]["decode"] = {"temperature": {"min": 0, "max": 1}, "max_tokens": 100}
    found["execution"].update(k_max=trials, batch_size=BATCH, workers=4)
    found["measurement"]["clustering"].update(cluster_limit=32, tau=0.97)
    return ResolvedConfiguration.from_json(json.dumps(found))


def _kinds(count: int, dimensions: int, near: float = 0.3) -> np.ndarray:
    chance = np.random.default_rng(1)
    kinds = chance.standard_normal((KINDS, dimensions))
    noise = chance.standard_normal((count, dimensions))
    return (kinds[chance.integers(0, KINDS, count)] + near * noise).astype(np.float32)


def _assigned(clusters: LeaderClusters, rows: np.ndarray) -> float:
    began = perf_counter()
    clusters.add(range(len(rows)), rows, 0)
    return perf_counter() - began


def _seconds(near: float, cluster_limit: int) -> list[float]:
    """Measure each batch.

    Args:
        near: How far answers of a kind lie from each other, where kinds lie 1 from each other.
    """
    vectors = _kinds(ANSWERS, DIMENSIONS, near)
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
