"""What runs tell a society is what its rules take: each run's messages are held against them at a table."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from moot.arbiter.bulletins import LEAST_SILENCE_S, Bulletins, silence_of
from moot.arbiter.experiment import started_of
from moot.arbiter.ports import Embedded
from moot.arbiter.resolving import Prepared
from moot.protocols.lab.messages import (
    MOST_CLUSTERS,
    MOST_EXAMPLE,
    MOST_LABELS,
    ExperimentBatch,
    ExperimentEnded,
    Told,
)
from tests.doubles.arbiter_runs import Held, prepared
from tests.doubles.lab_table import LabTable
from tests.doubles.table import Table


def bulletins_of(run: Prepared) -> Bulletins:
    config = run.config
    has_labels = config.protocol.decision_contract is not None or config.protocol.type == "debate_v1"
    return Bulletins(started_of(run, 0, mode="mock", silence_s=silence_of(run)), has_labels=has_labels)


def told(run: Prepared, how: dict[str, Any] | None = None, **script: Any) -> list[Told]:
    """Carry a run out, and have a society's rules judge what it tells; return that."""
    bulletins, said = bulletins_of(run), list[Told]()

    def hear(event: Any) -> None:
        body = bulletins.heard(event)
        if body is not None:
            said.append(body)

    Held(run, **script).hold(hear, **(how or {}))
    table = Table(schedules={})
    for body in (bulletins.start, *said):
        LabTable.tell(table, body)  # type: ignore[arg-type]
    assert not table.docket.cases
    return said


def verdict(trial_id: int) -> str:
    label = ("yes", "no")[trial_id % 3 == 0]
    return f'{{"decision": "{label}", "rationale": "because of {trial_id}"}}'


def by_chance(trial_id: int) -> str | None:
    """Return every kind of reply."""
    return (None, "", "   ", verdict(trial_id), "prose", "{", f"  {verdict(trial_id)}\r\n")[trial_id % 7]


@pytest.mark.parametrize(
    "how", [{}, {"contract_failure_policy": "exclude"}, {"contract_failure_policy": "fail"}]
)
@pytest.mark.parametrize("labels", [(), ("yes", "no")])
@pytest.mark.parametrize("text", [verdict, by_chance])
def test_every_run_tells_what_follows(how: dict[str, Any], labels: tuple[str, ...], text: Any) -> None:
    run = prepared(labels=labels, k_max=23, batch_size=5, workers=3)
    said = told(run, how, text=text, seconds=lambda trial_id: 1 + trial_id % 4)
    end = said[-1]
    assert isinstance(end, ExperimentEnded)
    assert end.batches == 5


@pytest.mark.parametrize("seconds", [0.5, 3.5, 6.0])
@pytest.mark.parametrize("times", [1, 2])
def test_a_run_that_is_interrupted_tells_what_there_is(seconds: float, times: int) -> None:
    run = prepared(labels=("yes", "no"), k_max=40, batch_size=6, workers=2)
    said = told(run, {"stops": {seconds: times}}, text=verdict)
    end = said[-1]
    assert isinstance(end, ExperimentEnded)
    assert (end.stop_reason, end.incomplete) == ("user_interrupt", True)
    assert end.k_attempted < 40


def test_a_run_that_settles_tells_why_it_stops() -> None:
    same = Embedded(np.ones(4, dtype=np.float32))
    run = prepared(k_max=60, k_min=1, batch_size=5, workers=1, stop_mode="enforcer")
    said = told(run, embedded=lambda _trial_id: same)
    *_, last, end = said
    assert isinstance(last, ExperimentBatch)
    assert isinstance(end, ExperimentEnded)
    assert last.should_stop
    assert end.stop_reason == "converged"


def test_a_run_that_fails_tells_no_more_than_its_last_batch() -> None:
    def fail(trial_id: int) -> None:
        if trial_id == 7:
            raise OSError("gone")

    said = told(prepared(k_max=20, batch_size=5, workers=1), before=fail)
    end = said[-1]
    assert isinstance(end, ExperimentEnded)
    assert (end.stop_reason, end.k_attempted, end.batches) == ("error", 5, 1)
    assert end.notes


def test_very_many_labels_and_clusters_are_told_to_a_bound() -> None:
    names = tuple(f"label {n}" for n in range(MOST_LABELS + 5))
    run = prepared(labels=names, k_max=len(names), batch_size=len(names), workers=1)
    text = [f'{{"decision": "{name}", "rationale": "{"x" * 400}"}}' for name in names]
    batch = told(run, text=lambda trial_id: text[trial_id])[0]
    assert isinstance(batch, ExperimentBatch)
    assert (len(batch.labels), batch.other_labels) == (MOST_LABELS, 5)
    assert batch.clusters is None or len(batch.clusters.cluster_distribution) <= MOST_CLUSTERS
    assert {len(one.text) for one in batch.examples} == {MOST_EXAMPLE}


def test_an_example_is_one_line_without_half_a_character() -> None:
    run = prepared(k_max=1, batch_size=1, workers=1)
    batch = told(run, text=lambda _trial_id: "a\n\n b\ud83d\u2028c")[0]
    assert isinstance(batch, ExperimentBatch)
    assert [one.text for one in batch.examples] == ["a b� c"]


def test_a_run_that_cannot_tell_its_end_has_failed() -> None:
    bulletins = bulletins_of(prepared())
    end = bulletins.broken_off("the run broke off")
    assert (end.stop_reason, end.incomplete, end.notes) == ("error", True, "the run broke off")


def test_a_run_is_waited_for_twice_as_long_as_its_slowest_batch() -> None:
    run = prepared(batch_size=7, workers=3)
    limit = run.config.protocol.timeouts.total_trial_timeout_ms / 1000
    assert silence_of(run) == max(LEAST_SILENCE_S, 2 * 3 * limit)
