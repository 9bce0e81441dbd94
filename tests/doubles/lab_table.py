"""A synchronous society in which one experiment runs, what its run tells in the test's hands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from moot.protocols.arbiter.distribution import effective_clusters, entropy, js_divergence
from moot.protocols.kernel.envelope import OFFICER, Draft, Envelope
from moot.protocols.kernel.people import Stop
from moot.protocols.kernel.seats import ADMIN, LAB
from moot.protocols.lab import messages as m
from moot.protocols.lab.experiment import ExperimentState
from tests.doubles.table import Table

RUN: Final = "20260223T100000Z_ab12cd"
EXPERIMENT: Final = f"exp_{RUN}"
SHA: Final = "ab" * 32
ANN: Final = m.Person(platform="test", user_id="ann")


def started(**over: Any) -> m.ExperimentStarted:
    """Return a start: 40 trials in batches of 10, at most eight clusters, settled after two quiet batches."""
    fields: dict[str, Any] = {
        "experiment_id": EXPERIMENT,
        "run_id": RUN,
        "started_by": ANN,
        "question": "Should we adopt a four-day week?",
        "mode": "mock",
        "protocol": "independent",
        "models": ("test/one", "test/two"),
        "k_planned": 40,
        "k_min": 10,
        "batch_size": 10,
        "stop_mode": "enforcer",
        "stop_policy": m.StopPolicy(novelty_epsilon=0.1, similarity_threshold=0.9, patience=2),
        "cluster_limit": 8,
        "labels": ("yes", "no"),
        "config_sha256": SHA,
        "plan_sha256": SHA,
        "silence_s": 900,
        **over,
    }
    return m.ExperimentStarted(**fields)


def clusters(sizes: Sequence[int], before: Sequence[int] = (), **over: Any) -> m.Clusters:
    """Return what a batch says of clusters of these sizes, after some others."""
    fields: dict[str, Any] = {
        "cluster_count": len(sizes),
        "new_clusters_this_batch": len(sizes) - len(before),
        "largest_cluster_share": max(sizes, default=0) / sum(sizes) if sizes else 0.0,
        "cluster_distribution": tuple(sizes),
        "js_divergence": js_divergence(before, sizes),
        "entropy": entropy(sizes),
        "effective_cluster_count": effective_clusters(sizes),
        "singleton_count": list(sizes).count(1),
        "cluster_limit_hit": len(sizes) == 8,
        "forced_assignments_this_batch": 0,
        "forced_assignments_cumulative": 0,
        **over,
    }
    return m.Clusters(**fields)


def batch(n: int, **over: Any) -> m.ExperimentBatch:
    """Return the batch of a number: ten trials more, half of them new."""
    k = 10 * (n + 1)
    fields: dict[str, Any] = {
        "experiment_id": EXPERIMENT,
        "batch_number": n,
        "k_attempted": k,
        "k_eligible": k,
        "novelty_rate": 0.5,
        "mean_max_sim_to_prior": 0.8,
        "labels": (m.LabelCount(label="yes", count=k - 3), m.LabelCount(label="no", count=2)),
        "other_labels": 0,
        "unsuccessful": 0,
        "unparsed": 1,
        "tokens": 100 * k,
        "cost": 5 * k,
        "would_stop": False,
        "should_stop": False,
        "clusters": clusters((k - 3, 3), (k - 13, 3) if n else ()),
        "examples": (m.Example(trial_id=k - 1, label="yes", cluster_id=0, text="Rest helps."),),
        "silence_s": 900,
        **over,
    }
    return m.ExperimentBatch(**fields)


def ended(last: m.ExperimentBatch | None = None, **over: Any) -> m.ExperimentEnded:
    """Return the end after a batch: a person's interrupt unless something else is said."""
    taken = ("k_attempted", "k_eligible", "novelty_rate", "mean_max_sim_to_prior", "labels", "other_labels")
    nothing = dict(zip(taken, (0, 0, None, None, (), 0), strict=True))
    fields: dict[str, Any] = {
        "experiment_id": EXPERIMENT,
        **({name: getattr(last, name) for name in taken} if last else nothing),
        "tokens": last.tokens if last else 0,
        "cost": last.cost if last else 0,
        "stop_reason": "user_interrupt",
        "incomplete": True,
        "notes": "",
        "batches": last.batch_number + 1 if last else 0,
        "stopped_by": None,
        **over,
    }
    return m.ExperimentEnded(**fields)


class LabTable(Table):
    """Starts an experiment; then its run tells what the test wants it to tell."""

    def __init__(self, **start: Any) -> None:
        """Start it in a society without any schedule."""
        super().__init__(schedules={})
        self.tell(started(**start))

    def tell(self, body: m.ExperimentStarted | m.ExperimentBatch | m.ExperimentEnded) -> Envelope:
        """Say something as the lab, then let the officers do what follows."""
        draft = Draft(channel="#lab", author=LAB, actor=OFFICER, key=body.key, body=body)
        env = self.publish(draft)
        assert env is not None
        self.officers()
        return env

    def stop_it(self, user: str = "ann") -> Envelope:
        """Have a person stop the experiment."""
        return self.say(ADMIN, Stop(scope=EXPERIMENT, why="it is clear"), channel="#admin", user=user)

    @property
    def state(self) -> ExperimentState:
        """Return the experiment's state."""
        state = self.docket.cases[EXPERIMENT]
        assert isinstance(state, ExperimentState)
        return state

    def lived(self) -> list[Envelope]:
        """Tell a batch before a STOP, one after it, and the end; return all that was said."""
        self.tell(batch(0))
        self.stop_it()
        self.tell(batch(1))
        self.tell(ended(batch(1), stopped_by=ANN))
        return self.log

    @property
    def outcome(self) -> str:
        """Return how it ended."""
        return self.docket.ended[EXPERIMENT].outcome
