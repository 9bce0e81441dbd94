from __future__ import annotations

from typing import Any

import pytest

from moot.protocols.arbiter.convergence import aggregates
from moot.protocols.arbiter.generated import ClusteredRow, ConvergenceRow, ResolvedExecution
from moot.protocols.arbiter.stopping import Stopping, is_incomplete, why_stopped
from tests.doubles.arbiter_configs import resolved

QUIET = (0.05, 0.95)
"""Novelty rate and mean similarity that just meet the policy."""


def stopping(**changes: Any) -> Stopping:
    return Stopping(ResolvedExecution.model_validate({**resolved()["execution"], "k_min": 0, **changes}))


def would(found: Stopping, *batches: tuple[float | None, float | None], k_eligible: int = 8) -> list[bool]:
    return [found.judge(novelty, mean, k_eligible).would_stop for novelty, mean in batches]


def test_both_bounds_belong_to_what_is_quiet() -> None:
    assert would(stopping(), QUIET, QUIET) == [False, True]
    assert would(stopping(), (0.0500001, 0.95), (0.05, 0.9499999), QUIET) == [False] * 3


def test_any_other_batch_begins_the_count_again() -> None:
    for other in ((0.5, 0.95), (0.05, 0.5), (None, None)):
        assert would(stopping(), QUIET, other, QUIET, QUIET, QUIET) == [False, False, False, True, True]


def test_batches_before_k_min_eligible_trials_do_not_count() -> None:
    found = stopping(k_min=10)
    assert would(found, QUIET, QUIET, QUIET, k_eligible=9) == [False] * 3
    assert would(found, QUIET, QUIET, k_eligible=10) == [False, True]


@pytest.mark.rule("R-S6")
def test_an_advisor_never_stops_a_run() -> None:
    for mode, stops in (("advisor", False), ("enforcer", True)):
        found = stopping(stop_mode=mode)
        found.judge(*QUIET, 8)
        line = found.judge(*QUIET, 8).as_json()
        assert (line["mode"], line["would_stop"], line["should_stop"]) == (mode, True, stops)
        assert line.get("stop_reason", "none") == ("converged" if stops else "none")


@pytest.mark.parametrize(
    ("failed", "interrupted", "converged", "settled", "reason", "incomplete"),
    [
        (False, False, False, False, "k_max_reached", False),
        (False, False, False, True, "completed", False),
        (False, False, True, True, "converged", False),
        (False, True, True, True, "user_interrupt", True),
        (True, True, True, True, "error", True),
    ],
)
def test_an_error_outranks_an_interrupt_which_outranks_convergence(
    failed: bool, interrupted: bool, converged: bool, settled: bool, reason: str, incomplete: bool
) -> None:
    found = why_stopped(failed=failed, interrupted=interrupted, converged=converged, settled=settled)
    assert (found, is_incomplete(found)) == (reason, incomplete)


def row() -> dict[str, Any]:
    return {
        "batch_number": 1,
        "k_attempted": 8,
        "k_eligible": 6,
        "has_eligible_in_batch": True,
        "novelty_rate": 0.5,
        "mean_max_sim_to_prior": 0.75,
        "recorded_at": "2026-01-01T00:00:00.000Z",
        "stop": stopping().judge(0.5, 0.75, 6),
    }


@pytest.mark.rule("R-S6")
def test_the_last_row_stands_for_the_run() -> None:
    clustered = ClusteredRow(
        **row(),
        cluster_count=2,
        new_clusters_this_batch=0,
        largest_cluster_share=0.5,
        cluster_distribution=(3, 3),
        js_divergence=None,
        entropy=0.69,
        effective_cluster_count=2,
        singleton_count=0,
        cluster_limit_hit=False,
        forced_assignments_this_batch=0,
        forced_assignments_cumulative=0,
    )
    assert clustered.as_json()["js_divergence"] is None
    assert aggregates(clustered, incomplete=True).as_json() == {
        "schema_version": "1.0.0",
        "k_attempted": 8,
        "k_eligible": 6,
        "novelty_rate": 0.5,
        "mean_max_sim_to_prior": 0.75,
        "cluster_count": 2,
        "entropy": 0.69,
        "incomplete": True,
    }
    plain = aggregates(ConvergenceRow(**row()), incomplete=False)
    assert (plain.novelty_rate, plain.cluster_count, plain.entropy) == (0.5, None, None)


def test_a_run_without_a_batch_measured_nothing() -> None:
    found = aggregates(None, incomplete=False).as_json()
    assert (found["k_attempted"], found["k_eligible"], found["novelty_rate"], found["entropy"]) == (
        0,
        0,
        None,
        None,
    )
