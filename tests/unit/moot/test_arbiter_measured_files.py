"""What is parsed and measured holds against the committed schemas, line by line and read again."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from pydantic import TypeAdapter

from moot.arbiter.monitor import Monitor
from moot.arbiter.schemas import validator
from moot.protocols.arbiter.convergence import aggregates
from moot.protocols.arbiter.generated import ResolvedExecution, ResolvedMeasurement
from moot.protocols.arbiter.mock import mock_answer, mock_debate, mock_vector
from moot.protocols.arbiter.parsing import Parsed, not_answered, parse_debate, parse_plain
from moot.protocols.arbiter.record import Record
from tests.doubles.arbiter_configs import resolved
from tests.doubles.arbiter_monitor import NOW
from tests.doubles.arbiter_schemas import SCHEMAS

TRIALS = 12
BATCH = 4


def check(name: str, record: Record) -> None:
    line = json.dumps(record.as_json(), allow_nan=False)
    validator(name).validate(json.loads(line))
    assert TypeAdapter(SCHEMAS[name]).validate_json(line) == record


def parsed() -> list[Parsed]:
    return [
        *(parse_plain(trial, mock_answer(trial), "mock-v0", max_chars=9) for trial in range(3)),
        *(parse_debate(trial, mock_debate(trial).final, max_chars=9) for trial in range(3)),
        parse_debate(3, " ", max_chars=9),
        not_answered(4, "debate-v1"),
    ]


def test_what_is_parsed_holds_against_its_schema() -> None:
    assert {each.line.parse_status for each in parsed()} == {"success", "fallback", "failed"}
    for each in parsed():
        check("parsed", each.line)


@pytest.mark.parametrize("enabled", [True, False])
@pytest.mark.parametrize("rule", ["fixed_leader", "incremental_mean"])
def test_what_a_mock_run_measures_holds_against_its_schemas(enabled: bool, rule: str) -> None:
    config: dict[str, Any] = resolved()
    config["measurement"]["clustering"].update(enabled=enabled, centroid_update_rule=rule, cluster_limit=2)
    monitor = Monitor(
        ResolvedMeasurement.model_validate(config["measurement"]),
        ResolvedExecution.model_validate({**config["execution"], "k_min": 0, "stop_mode": "enforcer"}),
    )
    last = None
    for start in range(0, TRIALS, BATCH):
        batch = {
            trial: np.array(mock_vector(424242, trial), dtype=np.float32) if trial >= BATCH else None
            for trial in range(start, start + BATCH)
        }
        last, assignments = monitor.measure(batch, NOW)
        check("convergence_trace", last)
        assert len(assignments) == (BATCH if enabled and start else 0)
        for each in assignments:
            check("online.assignments", each)
    assert last is not None
    assert (last.k_attempted, last.k_eligible) == (TRIALS, TRIALS - BATCH)
    check("aggregates", aggregates(last, incomplete=False))
    state = monitor.cluster_state()
    assert (state is not None) is enabled
    if state is not None:
        check("online.state", state)
        assert state.totals.total_excluded == BATCH
