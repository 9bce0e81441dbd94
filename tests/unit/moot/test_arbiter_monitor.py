from __future__ import annotations

import base64
import random
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moot.arbiter.monitor import Measured, Monitor
from moot.protocols.arbiter.generated import (
    ClusteredRow,
    ConvergenceRow,
    ResolvedExecution,
    ResolvedMeasurement,
)
from tests.doubles.arbiter_configs import resolved
from tests.doubles.arbiter_monitor import NOW, PlainMonitor

Batch = Mapping[int, Sequence[float] | None]


def settings_of(**changes: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Measurement and execution, changed wherever a field has such a name."""
    measurement, execution = resolved()["measurement"], resolved()["execution"]
    for part in (measurement, measurement["clustering"], execution, execution["stop_policy"]):
        part.update({name: value for name, value in changes.items() if name in part})
    return measurement, execution


def monitor_of(**changes: Any) -> Monitor:
    measurement, execution = settings_of(**changes)
    return Monitor(
        ResolvedMeasurement.model_validate(measurement), ResolvedExecution.model_validate(execution)
    )


def measure(monitor: Monitor, batch: Batch) -> Measured:
    arrays = {trial: None if v is None else np.array(v, dtype=np.float32) for trial, v in batch.items()}
    return monitor.measure(arrays, NOW)


def rows(monitor: Monitor, *batches: Batch) -> list[dict[str, Any]]:
    return [measure(monitor, batch).row.as_json() for batch in batches]


VECTORS = st.none() | st.lists(st.integers(-2, 2), min_size=3, max_size=3)
SHARES = st.sampled_from([0.0, 0.05, 0.5, 0.8, 1.0])


@settings(
    derandomize=True,
    max_examples=150,
)
@given(
    st.lists(st.lists(VECTORS, max_size=5), max_size=6),
    st.fixed_dictionaries(
        {
            "novelty_threshold": SHARES,
            "tau": SHARES,
            "novelty_epsilon": SHARES,
            "similarity_threshold": SHARES,
            "cluster_limit": st.integers(1, 6),
            "centroid_update_rule": st.sampled_from(["fixed_leader", "incremental_mean"]),
            "patience": st.integers(1, 3),
            "k_min": st.integers(0, 6),
            "stop_mode": st.sampled_from(["advisor", "enforcer"]),
        }
    ),
    st.randoms(),
)
def test_a_plain_monitor_measures_the_same(
    batches: list[list[list[int] | None]], changes: dict[str, Any], chance: random.Random
) -> None:
    stop_mode = changes["stop_mode"]
    measurement, execution = settings_of(**changes)
    measurement["clustering"]["stop_mode"], execution["stop_mode"] = "advisory", stop_mode
    plain = PlainMonitor(measurement, execution)
    monitor = Monitor(
        ResolvedMeasurement.model_validate(measurement), ResolvedExecution.model_validate(execution)
    )
    trial = 0
    for batch in batches:
        ordered = dict(enumerate(batch, start=trial))
        trial += len(batch)
        ended = list(ordered.items())
        chance.shuffle(ended)
        found = measure(monitor, dict(ended))
        row, assignments = plain.measure(ordered)
        stop = row.pop("stop")
        told = found.row.as_json()
        assert told.pop("stop") == stop
        distribution = row.pop("cluster_distribution")
        assert told.pop("cluster_distribution") == distribution
        assert told == pytest.approx(row, abs=1e-9)
        assert [each.as_json() for each in found.assignments] == [
            pytest.approx(each, abs=1e-9) for each in assignments
        ]
    state = monitor.cluster_state()
    assert state is not None
    assert [each.exemplar_trial_id for each in state.clusters] == [each[0][0] for each in plain.members]
    for cluster, members in zip(state.clusters, plain.members, strict=True):
        assert cluster.member_count == len(members)
        assert vector_of(cluster.centroid_vector_b64) == pytest.approx(plain.centroid(members), abs=1e-6)
    assert state.totals.as_json() == {
        "total_assigned": len(plain.seen),
        "total_excluded": plain.attempted - len(plain.seen),
        "forced_assignments": plain.forced,
    }


def vector_of(text: str) -> list[float]:
    found: list[float] = np.frombuffer(base64.b64decode(text), dtype="<f4").tolist()
    return found


@pytest.mark.rule("R-S2")
def test_an_answer_is_compared_with_earlier_ones_of_its_own_batch_and_the_first_with_none() -> None:
    (row,) = rows(monitor_of(novelty_threshold=1.0), {0: [1, 0], 1: [1, 0], 2: [-1, 0], 3: [0, 0]})
    assert row["mean_max_sim_to_prior"] == pytest.approx(0.25)  # 0, 1, a negative as 0, a zero vector as 0
    assert row["novelty_rate"] == 0.75  # strictly below the threshold


def test_a_batch_without_answers_measures_nothing_and_breaks_a_run_of_quiet_ones() -> None:
    monitor = monitor_of(k_min=1, patience=2)
    quiet = {1: [1.0, 0.0]}
    found = rows(monitor, {0: [1, 0]}, quiet, {2: None}, {3: [1, 0]}, {4: [1, 0]})
    assert found[2]["novelty_rate"] is None
    assert found[2]["mean_max_sim_to_prior"] is None
    assert found[2]["has_eligible_in_batch"] is False
    assert [row["stop"]["would_stop"] for row in found] == [False, False, False, False, True]
    assert (found[2]["k_attempted"], found[2]["k_eligible"]) == (3, 2)


def test_only_an_enforcer_converges() -> None:
    batches = ({0: [1, 0]}, {1: [1, 0]})
    for mode, reason in (("advisor", None), ("enforcer", "converged")):
        measurement, execution = settings_of(k_min=1, patience=1)
        execution["stop_mode"] = mode
        monitor = Monitor(
            ResolvedMeasurement.model_validate(measurement), ResolvedExecution.model_validate(execution)
        )
        stop = rows(monitor, *batches)[-1]["stop"]
        assert (stop["would_stop"], stop["should_stop"]) == (True, mode == "enforcer")
        assert stop.get("stop_reason") == reason


@pytest.mark.rule("R-S3")
def test_divergence_is_null_until_answers_were_assigned_before() -> None:
    found = rows(monitor_of(), {0: None}, {1: [1, 0]}, {2: [0, 1]}, {3: None})
    assert [row["js_divergence"] for row in found] == [None, None, pytest.approx(0.3112781245), 0.0]
    assert found[0]["cluster_distribution"] == []
    assert (found[0]["entropy"], found[0]["effective_cluster_count"], found[0]["largest_cluster_share"]) == (
        0,
        0,
        0,
    )
    assert found[2]["effective_cluster_count"] == pytest.approx(2)


def test_a_full_set_of_clusters_says_so_before_the_first_forced_assignment() -> None:
    monitor = monitor_of(cluster_limit=1)
    first, second = measure(monitor, {0: [1, 0]}), measure(monitor, {1: [-1, 1]})
    assert isinstance(first.row, ClusteredRow)
    assert first.row.cluster_limit_hit
    assert first.row.forced_assignments_cumulative == 0
    (forced,) = second.assignments
    assert (forced.cluster_id, forced.forced) == (0, True)
    assert forced.similarity == pytest.approx(-(0.5**0.5))


@pytest.mark.rule("R-S4")
def test_equal_answers_are_exactly_alike() -> None:
    chance = random.Random(7)
    monitor = monitor_of(tau=1.0, novelty_threshold=1.0, cluster_limit=1000)
    for trial in range(0, 600, 2):
        vector = [chance.random() for _ in range(4)]
        first, again = measure(monitor, {trial: vector, trial + 1: vector}).assignments
        assert (again.cluster_id, again.similarity, again.is_exemplar) == (first.cluster_id, 1.0, False)


def test_a_large_batch_is_measured_as_small_ones_are() -> None:
    chance = random.Random(3)
    vectors = {trial: [chance.gauss(0, 1) for _ in range(3)] for trial in range(700)}
    whole, parts = monitor_of(), monitor_of()
    one = measure(whole, vectors)
    many = [
        each
        for n in range(0, 700, 7)
        for each in measure(parts, {k: vectors[k] for k in range(n, n + 7)}).assignments
    ]
    assert [each.cluster_id for each in one.assignments] == [each.cluster_id for each in many]
    plain = PlainMonitor(*settings_of())
    assert one.row.mean_max_sim_to_prior == pytest.approx(plain.measure(vectors)[0]["mean_max_sim_to_prior"])


@pytest.mark.parametrize("off", [{"enabled": False}, {"stop_mode": "disabled"}])
def test_a_run_without_clustering_says_nothing_of_clusters(off: dict[str, Any]) -> None:
    measurement, execution = settings_of()
    measurement["clustering"].update(off)
    monitor = Monitor(
        ResolvedMeasurement.model_validate(measurement), ResolvedExecution.model_validate(execution)
    )
    found = measure(monitor, {0: [1, 0], 1: None})
    assert type(found.row) is ConvergenceRow
    assert found.assignments == ()
    assert monitor.cluster_state() is None


@pytest.mark.parametrize(
    "batch", [{1: [1, 0, 0]}, {1: []}, {1: [float("nan"), 0]}, {1: [float("inf"), 0]}, {1: [1, 0], 2: [1]}]
)
def test_embeddings_that_do_not_fit_are_refused_and_nothing_is_measured(batch: Batch) -> None:
    monitor = monitor_of()
    rows(monitor, {0: [1, 0]})
    with pytest.raises(ValueError, match="embedding"):
        measure(monitor, batch)
    (row,) = rows(monitor, {1: [1, 0]})
    assert (row["batch_number"], row["k_attempted"]) == (1, 2)


def test_the_numbers_of_a_trial_are_of_float32() -> None:
    monitor = monitor_of()
    rows(monitor, {0: [0.1, 0.2]})
    state = monitor.cluster_state()
    assert state is not None
    assert state.clusters[0].centroid_vector_b64 == "zczMPc3MTD4="


def test_of_two_clusters_equally_near_the_older_one_takes_the_answer() -> None:
    monitor = monitor_of(tau=0.5)
    rows(monitor, {0: [1, 0]})
    opened, tied = measure(monitor, {1: [0, 1], 2: [1, 1]}).assignments
    assert (opened.cluster_id, tied.cluster_id) == (1, 0)
