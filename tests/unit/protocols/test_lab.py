"""Experiments at a table: what a run tells is held against what it told before (K31)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from moot.channels.showing.rendering import predicate
from moot.protocols.kernel.envelope import OFFICER, Draft
from moot.protocols.kernel.errors import OfficerFault
from moot.protocols.kernel.seats import LAB
from moot.protocols.lab import messages as m
from moot.protocols.lab.messages import MOST_CLUSTERS
from tests.doubles.lab_table import ANN, EXPERIMENT, LabTable, batch, clusters, ended, started
from tests.doubles.table import Table


def quiet(n: int, **over: Any) -> m.ExperimentBatch:
    """Return a batch that brought nothing new."""
    return batch(n, **{"novelty_rate": 0.1, "mean_max_sim_to_prior": 0.9, **over})


# ---------------------------------------------------------------- its life


def test_an_experiment_starts_tells_its_batches_and_ends() -> None:
    table = LabTable()
    assert table.state.phase == "running"
    for n in range(4):
        table.tell(batch(n))
    table.tell(ended(batch(3), stop_reason="k_max_reached", incomplete=False))
    assert table.outcome == "finished"
    assert not table.docket.cases and not table.docket.open


def test_a_run_that_settled_ends_as_converged() -> None:
    table = LabTable()
    table.tell(batch(0))
    table.tell(quiet(1))
    table.tell(last := quiet(2, would_stop=True, should_stop=True))
    with pytest.raises(OfficerFault, match="stop_reason"):
        table.tell(ended(last, stop_reason="k_max_reached", incomplete=False))


def test_a_run_ends_as_completed_once_it_has_settled_what_it_was_to_settle() -> None:
    table = LabTable()
    table.tell(batch(0))
    table.tell(ended(batch(0), stop_reason="completed", incomplete=False))
    assert table.outcome == "completed"


def test_a_run_without_a_trial_has_settled_nothing() -> None:
    table = LabTable()
    with pytest.raises(OfficerFault, match="stop_reason"):
        table.tell(ended(stop_reason="completed", incomplete=False))


@pytest.mark.parametrize(("reason", "outcome"), [("error", "failed"), ("user_interrupt", "interrupted")])
def test_a_run_may_end_before_its_first_batch(reason: str, outcome: str) -> None:
    table = LabTable()
    table.tell(ended(stop_reason=reason))
    assert table.outcome == outcome


def test_two_experiments_run_side_by_side() -> None:
    table = LabTable()
    other = "20260223T100000Z_ffffff"
    table.tell(started(experiment_id=f"exp_{other}", run_id=other))
    table.tell(batch(0))
    table.tell(batch(0, experiment_id=f"exp_{other}"))
    assert len(table.docket.cases) == 2


# ---------------------------------------------------------------- what does not follow


@pytest.mark.rule("K31")
def test_a_batch_without_a_start_is_a_fault() -> None:
    table = LabTable()
    with pytest.raises(OfficerFault, match="never was"):
        table.tell(batch(0, experiment_id="exp_other"))


@pytest.mark.parametrize("n", [1, 2])
def test_the_first_batch_is_number_0(n: int) -> None:
    table = LabTable()
    with pytest.raises(OfficerFault, match="batch_number"):
        table.tell(batch(n))


@pytest.mark.rule("K31")
def test_no_batch_is_left_out_and_none_comes_again() -> None:
    table = LabTable()
    table.tell(batch(0))
    with pytest.raises(OfficerFault, match="batch_number"):
        table.tell(batch(2))


@pytest.mark.rule("K31")
def test_an_experiment_ends_once() -> None:
    table = LabTable()
    table.tell(ended())
    draft = Draft(channel="#lab", author=LAB, actor=OFFICER, key="lab/again", body=ended(notes="again"))
    with pytest.raises(OfficerFault, match="has ended"):
        table.publish(draft)


def test_what_it_says_has_an_id_of_its_own() -> None:
    table = LabTable()
    draft = Draft(channel="#lab", author=LAB, actor=OFFICER, key="lab/other", body=batch(0))
    with pytest.raises(OfficerFault, match=batch(0).key):
        table.publish(draft)


@pytest.mark.rule("K31")
@pytest.mark.parametrize(
    ("field", "over"),
    [
        ("k_attempted", {"k_attempted": 10}),
        ("k_attempted", {"k_attempted": 21, "k_eligible": 20}),
        ("k_eligible", {"k_eligible": 21}),
        ("k_eligible", {"k_eligible": 9}),
        ("novelty_rate", {"novelty_rate": None}),
        ("novelty_rate", {"novelty_rate": 0.55}),
        ("mean_max_sim_to_prior", {"mean_max_sim_to_prior": None}),
        ("would_stop", {"would_stop": True}),
        ("should_stop", {"should_stop": True}),
        ("unparsed", {"unparsed": 0}),
        ("tokens", {"tokens": 999}),
        ("cost", {"cost": 49}),
        ("labels", {"other_labels": 1}),
        ("labels", {"labels": (m.LabelCount(label="perhaps", count=2),)}),
        ("labels", {"labels": (m.LabelCount(label="no", count=2), m.LabelCount(label="yes", count=3))}),
        ("labels", {"labels": (m.LabelCount(label="no", count=2), m.LabelCount(label="no", count=2))}),
        ("clusters", {"clusters": None}),
        ("clusters.cluster_distribution", {"clusters": clusters((16, 3), (7, 3))}),
        ("clusters.cluster_distribution", {"clusters": clusters((18, 2), (7, 3))}),
        ("clusters.new_clusters_this_batch", {"clusters": clusters((17, 3))}),
        ("clusters.cluster_limit_hit", {"clusters": clusters((17, 3), (7, 3), cluster_limit_hit=True)}),
        ("clusters.cluster_count", {"clusters": clusters((17, 2, 1), (7, 3, 1), cluster_count=2)}),
        ("clusters.entropy", {"clusters": clusters((17, 3), (7, 3), entropy=0.4)}),
        ("clusters.effective_cluster_count", {"clusters": clusters((17, 3), (7, 3), effective_cluster_count=1.0)}),
        ("clusters.largest_cluster_share", {"clusters": clusters((17, 3), (7, 3), largest_cluster_share=0.5)}),
        ("clusters.singleton_count", {"clusters": clusters((17, 3), (7, 3), singleton_count=1)}),
        ("clusters.js_divergence", {"clusters": clusters((17, 3), (7, 3), js_divergence=None)}),
        (
            "clusters.forced_assignments_cumulative",
            {"clusters": clusters((17, 3), (7, 3), forced_assignments_this_batch=1)},
        ),
    ],
)  # fmt: skip
def test_a_batch_whose_figures_contradict_each_other_is_a_fault(field: str, over: dict[str, Any]) -> None:
    table = LabTable()
    table.tell(batch(0))
    with pytest.raises(OfficerFault, match=rf"{field}\b"):
        table.tell(batch(1, **over))


def test_no_trial_that_came_to_nothing_comes_to_something_later() -> None:
    table = LabTable()
    table.tell(batch(0, unsuccessful=1, unparsed=0))
    with pytest.raises(OfficerFault, match="unsuccessful"):
        table.tell(batch(1))


@pytest.mark.parametrize(
    ("field", "over"),
    [
        ("batches", {"batches": 1}),
        ("k_attempted", {"k_attempted": 21}),
        ("k_eligible", {"k_eligible": 19}),
        ("novelty_rate", {"novelty_rate": 0.4}),
        ("mean_max_sim_to_prior", {"mean_max_sim_to_prior": None}),
        ("labels", {"labels": ()}),
        ("other_labels", {"other_labels": 1}),
        ("tokens", {"tokens": 1}),
        ("cost", {"cost": 1}),
        ("incomplete", {"incomplete": False}),
        ("incomplete", {"incomplete": False, "stop_reason": "out_of_budget"}),
        ("stop_reason", {"stop_reason": "k_max_reached"}),
        ("stop_reason", {"stop_reason": "converged", "incomplete": False}),
        ("stop_reason", {"stop_reason": "lost"}),
        ("stopped_by", {"stopped_by": ANN}),
    ],
)  # fmt: skip
def test_an_end_that_contradicts_what_was_told_is_a_fault(field: str, over: dict[str, Any]) -> None:
    table = LabTable()
    table.tell(batch(0))
    table.tell(batch(1))
    with pytest.raises(OfficerFault, match=rf"{field}\b"):
        table.tell(ended(batch(1), **over))


@pytest.mark.parametrize(
    "experiment_id", ["exp_other", "exp_20260223T100000Z_ab12cd-x", "20260223T100000Z_ab12cd"]
)
def test_its_id_is_that_of_the_run(experiment_id: str) -> None:
    table = Table(schedules={})
    with pytest.raises(OfficerFault, match="experiment_id"):
        LabTable.tell(table, started(experiment_id=experiment_id))  # type: ignore[arg-type]


def test_a_run_whose_budget_is_spent_ends_so_and_by_nobodys_stop() -> None:
    table = LabTable()
    table.tell(batch(0))
    table.stop_it()
    table.tell(ended(batch(0), stop_reason="out_of_budget", notes="the budget of the run is $1"))
    assert table.outcome == "out_of_budget"


def test_a_run_that_goes_on_after_its_end_is_another_experiment() -> None:
    table = LabTable()
    table.tell(ended())
    table.tell(started(experiment_id=f"{EXPERIMENT}-2"))
    table.tell(batch(0, experiment_id=f"{EXPERIMENT}-2"))
    assert [*table.docket.cases] == [f"{EXPERIMENT}-2"]


def test_of_very_many_clusters_the_rest_is_one_size() -> None:
    sizes = [1 + n % 9 for n in range(MOST_CLUSTERS + 40)]
    total = sum(sizes)
    table = LabTable(cluster_limit=1000, k_planned=10_000, batch_size=10_000)
    told = (*sizes[: MOST_CLUSTERS - 1], sum(sizes[MOST_CLUSTERS - 1 :]))
    whole = clusters(sizes, cluster_limit_hit=False, cluster_distribution=told)
    table.tell(batch(0, k_attempted=total, k_eligible=total, novelty_rate=1.0, clusters=whole, labels=()))
    assert table.state.told == 1


# ---------------------------------------------------------------- stopped, and silent


@pytest.mark.rule("K31")
def test_a_stop_lets_the_batch_in_flight_end_and_the_end_says_who_stopped_it() -> None:
    table = LabTable()
    table.tell(batch(0))
    table.stop_it()
    assert table.state.phase == "stopping"
    table.tell(batch(1))
    table.tell(ended(batch(1), stopped_by=ANN))
    assert table.outcome == "interrupted"


def test_an_end_that_hides_who_stopped_it_is_a_fault() -> None:
    table = LabTable()
    table.stop_it()
    with pytest.raises(OfficerFault, match="stopped_by"):
        table.tell(ended())


def test_a_run_that_was_done_before_it_heard_the_stop_was_stopped_by_nobody() -> None:
    table = LabTable(k_planned=10)
    table.tell(batch(0))
    table.stop_it()
    table.tell(ended(batch(0), stop_reason="k_max_reached", incomplete=False))
    assert table.outcome == "finished"


def test_the_first_of_two_stops_counts() -> None:
    table = LabTable()
    table.stop_it()
    table.stop_it(user="bob")
    table.tell(ended(stopped_by=ANN))
    assert not table.docket.cases


@pytest.mark.rule("K31")
def test_one_that_falls_silent_is_lost_after_as_long_as_its_last_message_allows() -> None:
    table = LabTable()
    table.wait(minutes=14)
    table.tell(batch(0, silence_s=60))
    table.wait(seconds=59)
    assert table.docket.cases
    table.wait(seconds=1)
    end = table.last("EXPERIMENT_ENDED")
    assert table.outcome == "lost"
    assert end.body == ended(batch(0), stop_reason="lost", notes="nothing was heard of it for 0:01:00")
    assert end.sent_at - table.last("EXPERIMENT_BATCH").sent_at == timedelta(minutes=1)


def test_a_stopped_run_has_as_long_again_to_end() -> None:
    table = LabTable()
    table.wait(minutes=10)
    table.stop_it()
    table.wait(minutes=10)
    assert table.docket.cases
    table.wait(minutes=5)
    assert table.outcome == "lost"


def test_time_in_which_the_society_was_down_is_not_silence() -> None:
    table = LabTable()
    table.wait(minutes=10)
    table.down(crash=True, hours=3)
    table.wait(minutes=4)
    table.tell(batch(0))
    assert table.docket.cases


def test_what_comes_of_a_lost_experiment_changes_nothing() -> None:
    table = LabTable()
    table.wait(minutes=15)
    table.tell(batch(0))
    assert table.effects[-1].superseded
    assert table.outcome == "lost"


# ---------------------------------------------------------------- how it reads


def test_it_reads_in_plain_english() -> None:
    table = LabTable()
    table.tell(batch(0))
    table.stop_it()
    table.tell(ended(batch(0), stopped_by=ANN))
    said = [predicate(env) for env in table.log if env.author == LAB]
    assert said == [
        f"says that ann on test has started {EXPERIMENT}, a mock run of at most 40 trials (independent) with test/one; "
        "test/two: Should we adopt a four-day week?",
        f"has 10 trials of {EXPERIMENT} after batch 0: yes 7; no 2; 50 % of the batch new; 2 clusters; 1000 tokens, "
        "$0.00005",
        f"ends {EXPERIMENT} after 10 trials: interrupted, stopped by ann on test; yes 7; no 2; 1000 tokens, $0.00005",
    ]
