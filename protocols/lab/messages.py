"""The messages of experiments, all of the lab's in `#lab`; their figures are those of Arbiter's artifacts."""

from __future__ import annotations

from typing import Annotated, ClassVar, Final, Literal

from pydantic import Field

from moot.protocols.arbiter.generated import StopReason
from moot.protocols.calls.messages import Digest, Line, Micro
from moot.protocols.kernel.fields import Several
from moot.protocols.kernel.message import Count, Ident, Message, Part

MOST_QUESTION: Final = 2_000
"""Characters of a question that are told."""

MOST_EXAMPLES: Final = 3
"""Answers that a batch shows."""

MOST_EXAMPLE: Final = 280
"""Characters of each of them."""

MOST_LABEL: Final = 80
"""Characters of a label."""

MOST_CLUSTERS: Final = 200
"""Clusters whose sizes a batch tells; of more, the last size is that of all others together."""

MOST_LABELS: Final = 20
"""Labels whose counts a batch tells; of more, the rest is `other_labels`."""

LONGEST_SILENCE_S: Final = 1_000 * 86_400
"""Seconds of the society after which nobody waits for an experiment any more, at most; at 1000x, a day."""

Positive = Annotated[int, Field(ge=1)]

Ratio = Annotated[float, Field(ge=0, le=1)]
"""A share or a mean cosine, as the run's artifact holds it: not rounded, for others are computed from it."""

Nats = Annotated[float, Field(ge=0)]

Label = Annotated[str, Field(min_length=1, max_length=MOST_LABEL)]

Silence = Annotated[int, Field(ge=1, le=LONGEST_SILENCE_S)]
"""Seconds of the society after this message in which the next must come; then the experiment is lost."""

LOST: Final = "lost"
"""Why an experiment ends whose run fell silent; no run says so of itself."""

OUT_OF_BUDGET: Final = "out_of_budget"
"""Why one ends whose next call its budget had no room for."""

EndReason = Literal[StopReason, "lost", "out_of_budget"]


class Person(Part):
    """A person, as envelopes name them."""

    platform: Ident
    user_id: Annotated[str, Field(max_length=200)]


class StopPolicy(Part):
    """When a run counts as settled; see `moot.protocols.arbiter.stopping`."""

    novelty_epsilon: Ratio
    similarity_threshold: Ratio
    patience: Positive


class _OfExperiment(Message):
    case_field: ClassVar[str] = "experiment_id"
    experiment_id: Ident

    @property
    def key(self) -> str:
        """Return its id in the log: it is said once, however often a run tells it (K1)."""
        return f"lab/{self.experiment_id}/{self.part}"

    @property
    def part(self) -> str:
        """Return what it is of its experiment."""
        return self.type.removeprefix("EXPERIMENT_").lower()


class ExperimentStarted(_OfExperiment):
    """Say that a run has begun, who began it, and what it will do. Lab, #lab.

    Attributes:
        experiment_id: `exp_` and the run's id, and a number behind a dash where a run that had ended goes on.
        run_id: Names the folder of its artifacts.
        started_by: Whoever asked the society to hear of it.
        question: What is asked, cut to a bound.
        mode: Whether anybody is asked; a mock run makes its answers up.
        protocol: How a trial goes.
        models: Which may be drawn.
        k_planned: Trials, at most.
        k_min: Eligible trials before it may count as settled.
        batch_size: Trials of a batch.
        stop_mode: Whether settling stops it.
        stop_policy: When it counts as settled.
        cluster_limit: Most clusters; None: answers are not clustered.
        labels: What the contract lets an answer decide for; none where it leaves that open.
        config_sha256: Of the configuration.
        plan_sha256: Of the plan.
        silence_s: See `Silence`.
    """

    type: Literal["EXPERIMENT_STARTED"] = "EXPERIMENT_STARTED"
    run_id: Ident
    started_by: Person
    question: Annotated[str, Field(min_length=1, max_length=MOST_QUESTION)]
    mode: Literal["mock", "live"]
    protocol: Ident
    models: Several[Ident]
    k_planned: Positive
    k_min: Count
    batch_size: Positive
    stop_mode: Literal["advisor", "enforcer"]
    stop_policy: StopPolicy
    cluster_limit: Positive | None
    labels: Several[Label]
    config_sha256: Digest
    plan_sha256: Digest
    silence_s: Silence


class LabelCount(Part):
    """How many answers so far decided for a label."""

    label: Label
    count: Positive


class Example(Part):
    """An answer, cut to a bound.

    Attributes:
        label: What it decided for; None where nothing was read from it.
        cluster_id: Its cluster; None where it is in none.
    """

    trial_id: Count
    label: Label | None
    cluster_id: Count | None
    text: Annotated[str, Field(min_length=1, max_length=MOST_EXAMPLE)]


class Clusters(Part):
    """How the answers so far group; see `moot.protocols.arbiter.convergence.ClusteredRow`.

    Attributes:
        cluster_distribution: Sizes by cluster; of more than `MOST_CLUSTERS`, the last is that of all others.
    """

    cluster_count: Count
    new_clusters_this_batch: Count
    largest_cluster_share: Ratio
    cluster_distribution: Annotated[tuple[Positive, ...], Field(max_length=MOST_CLUSTERS)]
    js_divergence: Ratio | None
    entropy: Nats
    effective_cluster_count: Nats
    singleton_count: Count
    cluster_limit_hit: bool
    forced_assignments_this_batch: Count
    forced_assignments_cumulative: Count


class _Measured(_OfExperiment):
    """What a batch and the end tell alike; counts are of the run so far.

    Attributes:
        k_attempted: Trials carried out.
        k_eligible: Those whose answer was embedded.
        novelty_rate: Share of the last batch's eligible trials that were new; None without any.
        mean_max_sim_to_prior: How near they came to what was there before; None without any.
        labels: Answers by what they decided for, most first.
        other_labels: Those of all other labels together.
        tokens: What calls of models took.
        cost: What they cost; None: nobody knows.
    """

    k_attempted: Count
    k_eligible: Count
    novelty_rate: Ratio | None
    mean_max_sim_to_prior: Ratio | None
    labels: Annotated[tuple[LabelCount, ...], Field(max_length=MOST_LABELS)]
    other_labels: Count
    tokens: Micro
    cost: Micro | None


class ExperimentBatch(_Measured):
    """Tell what a batch brought. Lab, #lab.

    Attributes:
        batch_number: From 0.
        unsuccessful: Trials so far that came to no answer.
        unparsed: Answers so far from which no decision could be read.
        would_stop: So many batches in a row brought nothing new that it counts as settled.
        should_stop: So the run ends.
        clusters: None where answers are not clustered.
        examples: Some of its answers.
        silence_s: See `Silence`.
    """

    type: Literal["EXPERIMENT_BATCH"] = "EXPERIMENT_BATCH"
    batch_number: Count
    unsuccessful: Count
    unparsed: Count
    would_stop: bool
    should_stop: bool
    clusters: Clusters | None
    examples: Annotated[tuple[Example, ...], Field(max_length=MOST_EXAMPLES)]
    silence_s: Silence

    @property
    def part(self) -> str:
        """Return which batch it is."""
        return f"batch/{self.batch_number}"


class ExperimentEnded(_Measured):
    """Say why a run ended, and what its last batch had said by then. Lab, #lab.

    Attributes:
        stop_reason: `lost`: nothing was heard of it any more.
        incomplete: Whether it is less than what was asked for.
        notes: What else is to be said of the end, "" for nothing.
        batches: So many were told.
        stopped_by: The person whose STOP it obeyed; None where there was none.
    """

    type: Literal["EXPERIMENT_ENDED"] = "EXPERIMENT_ENDED"
    stop_reason: EndReason
    incomplete: bool
    notes: Line
    batches: Count
    stopped_by: Person | None


Told = ExperimentStarted | ExperimentBatch | ExperimentEnded
"""What a run tells."""
