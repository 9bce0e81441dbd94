"""What the figures of an experiment say of each other: those of a batch, of the batch before it, and of the end (K31).

Nothing here judges whether a run measured rightly; it says what no run can have measured.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from moot.protocols.arbiter.distribution import effective_clusters, entropy, js_divergence
from moot.protocols.arbiter.stopping import is_incomplete, is_quiet
from moot.protocols.kernel.errors import Violation
from moot.protocols.lab.messages import (
    LOST,
    MOST_CLUSTERS,
    OUT_OF_BUDGET,
    Clusters,
    ExperimentBatch,
    ExperimentEnded,
    ExperimentStarted,
    LabelCount,
)

RULE: Final = "K31"
PREFIX: Final = "exp"
"""How the ids of experiments begin."""
CLOSE: Final = 1e-9
"""Two ways to the same figure may differ by so much."""

RUNNING_TOTALS: Final = ("k_attempted", "k_eligible", "unsuccessful", "unparsed", "tokens")
TAKEN_OVER: Final = (
    "k_attempted",
    "k_eligible",
    "novelty_rate",
    "mean_max_sim_to_prior",
    "labels",
    "other_labels",
)
"""What the end says again of the last batch."""

Said = ExperimentBatch | ExperimentEnded


def check_start(body: ExperimentStarted) -> None:
    """Check what a start says of itself.

    Raises:
        Violation: It contradicts itself.
    """
    own = f"{PREFIX}_{body.run_id}"
    if not re.fullmatch(rf"{re.escape(own)}(-[1-9]\d{{0,5}})?", body.experiment_id):
        why = f"{body.experiment_id} is no id of an experiment of run {body.run_id}: {own}"
        raise Violation(RULE, why, field="experiment_id")


def check_batch(
    start: ExperimentStarted, last: ExperimentBatch | None, quiet: int, body: ExperimentBatch
) -> None:
    """Hold a batch against itself, the one before it, and what the run set out to do.

    Args:
        start: How it started.
        last: The batch before; None for the first.
        quiet: Batches in a row, this one among them, that brought nothing new.
        body: The batch.

    Raises:
        Violation: Something does not fit; the field is named.
    """
    _raise_first(_batch(start, last, quiet, body))


def check_end(start: ExperimentStarted, last: ExperimentBatch | None, body: ExperimentEnded) -> None:
    """Hold an end against the last batch, and its reason against the figures.

    Raises:
        Violation: Something does not fit; the field is named.
    """
    _raise_first(_end(start, last, body))


def quiet_after(start: ExperimentStarted, quiet: int, body: ExperimentBatch) -> int:
    """Count the batches in a row that brought nothing new, with this one."""
    is_one = is_quiet(
        start.stop_policy, start.k_min, body.novelty_rate, body.mean_max_sim_to_prior, body.k_eligible
    )
    return quiet + 1 if is_one else 0


Fault = tuple[str, str]
"""A field, and what is wrong with it."""


def _raise_first(faults: Iterator[Fault]) -> None:
    for field, why in faults:
        raise Violation(RULE, why, field=field)


def _batch(
    start: ExperimentStarted, last: ExperimentBatch | None, quiet: int, body: ExperimentBatch
) -> Iterator[Fault]:
    following = 0 if last is None else last.batch_number + 1
    if body.batch_number != following:
        yield "batch_number", f"is {body.batch_number}: the next is {following}"
    for name in RUNNING_TOTALS:
        before, now = 0 if last is None else getattr(last, name), getattr(body, name)
        if now < before:
            yield name, f"is {now}, and was {before} before"
    yield from _cost(last, body)
    before = 0 if last is None else last.k_attempted
    if not 0 < body.k_attempted - before <= start.batch_size:
        yield "k_attempted", f"a batch has 1 to {start.batch_size} trials, not {body.k_attempted - before}"
    yield from _counts(start, body)
    eligible = body.k_eligible - (0 if last is None else last.k_eligible)
    if eligible > body.k_attempted - before:
        yield "k_eligible", f"{eligible} of {body.k_attempted - before} trials were eligible"
    for name in ("novelty_rate", "mean_max_sim_to_prior"):
        if (getattr(body, name) is None) != (eligible == 0):
            yield name, "is there where the batch has an eligible trial, and null elsewhere"
    rate = body.novelty_rate
    if rate is not None and eligible and abs(rate * eligible - round(rate * eligible)) > CLOSE * eligible:
        yield "novelty_rate", f"{rate} is no share of {eligible}"
    would_stop = quiet >= start.stop_policy.patience
    if body.would_stop != would_stop:
        yield (
            "would_stop",
            f"{quiet} batches in a row brought nothing new, {start.stop_policy.patience} are asked for",
        )
    if body.should_stop != (would_stop and start.stop_mode == "enforcer"):
        yield "should_stop", f"the stopping mode is {start.stop_mode}"
    yield from _clustered(start, last, body)


def _cost(last: ExperimentBatch | None, body: Said) -> Iterator[Fault]:
    if last is not None and body.cost is not None and last.cost is not None and body.cost < last.cost:
        yield "cost", f"is {body.cost}, and was {last.cost} before"


def _counts(start: ExperimentStarted, body: ExperimentBatch) -> Iterator[Fault]:
    if body.k_attempted > start.k_planned:
        yield "k_attempted", f"is {body.k_attempted} of {start.k_planned} planned"
    if body.k_eligible > body.k_attempted:
        yield "k_eligible", f"is {body.k_eligible} of {body.k_attempted}"
    told = sum(one.count for one in body.labels) + body.other_labels
    if told + body.unsuccessful + body.unparsed > body.k_attempted:
        yield (
            "labels",
            f"{told} labels and {body.unsuccessful + body.unparsed} without one are more than there were trials",
        )
    yield from _labels(start, body.labels)


def _labels(start: ExperimentStarted, labels: Sequence[LabelCount]) -> Iterator[Fault]:
    names = [one.label for one in labels]
    if len(set(names)) != len(names):
        yield "labels", "a label is counted twice"
    if [one.count for one in labels] != sorted((one.count for one in labels), reverse=True):
        yield "labels", "the most frequent comes first"
    if start.labels and (unknown := sorted(set(names) - set(start.labels))):
        yield "labels", f"{unknown[0]} is none that the contract knows"


def _clustered(
    start: ExperimentStarted, last: ExperimentBatch | None, body: ExperimentBatch
) -> Iterator[Fault]:
    now = body.clusters
    if (now is None) != (start.cluster_limit is None):
        yield "clusters", "the start says whether answers are clustered"
    if now is None or start.cluster_limit is None:
        return
    before = last.clusters if last is not None else None
    count, sizes = now.cluster_count, now.cluster_distribution
    was = before.cluster_count if before is not None else 0
    forced = before.forced_assignments_cumulative if before is not None else 0
    expected: dict[str, Any] = {
        "cluster_distribution": (sum(sizes), body.k_eligible, "answers in clusters"),
        "new_clusters_this_batch": (now.new_clusters_this_batch, count - was, "new clusters"),
        "cluster_limit_hit": (now.cluster_limit_hit, count == start.cluster_limit, "at the limit"),
        "forced_assignments_cumulative": (
            now.forced_assignments_cumulative,
            forced + now.forced_assignments_this_batch,
            "forced",
        ),
    }
    for name, (said, follows, what) in expected.items():
        if said != follows:
            yield f"clusters.{name}", f"says {said} {what}, {follows} follow"
    if count > start.cluster_limit or len(sizes) != min(count, MOST_CLUSTERS):
        yield (
            "clusters.cluster_count",
            f"is {count}, with {len(sizes)} sizes and a limit of {start.cluster_limit}",
        )
    old = before.cluster_distribution if before is not None else ()
    if any(size < grown for size, grown in zip(sizes, old, strict=False)):
        yield "clusters.cluster_distribution", "a cluster has lost answers"
    if count <= MOST_CLUSTERS:
        yield from _spread(now, old)


def _spread(now: Clusters, old: Sequence[int]) -> Iterator[Fault]:
    """Compute again what follows from the sizes, where all of them are told."""
    sizes = now.cluster_distribution
    total = sum(sizes)
    follows = {
        "largest_cluster_share": max(sizes) / total if total else 0.0,
        "entropy": entropy(sizes),
        "effective_cluster_count": effective_clusters(sizes),
        "singleton_count": sizes.count(1),
        "js_divergence": js_divergence(old, sizes),
    }
    for name, figure in follows.items():
        said = getattr(now, name)
        if (said is None) != (figure is None) or (
            said is not None
            and figure is not None
            and not math.isclose(said, figure, rel_tol=CLOSE, abs_tol=CLOSE)
        ):
            yield f"clusters.{name}", f"is {said}, the sizes give {figure}"


def _end(start: ExperimentStarted, last: ExperimentBatch | None, body: ExperimentEnded) -> Iterator[Fault]:
    told = 0 if last is None else last.batch_number + 1
    if body.batches != told:
        yield "batches", f"is {body.batches}: {told} were told"
    for name, of_none in zip(TAKEN_OVER, (0, 0, None, None, (), 0), strict=True):
        said, was = getattr(body, name), of_none if last is None else getattr(last, name)
        if said != was:
            yield name, f"is {said}, the last batch said {was}"
    if last is not None and body.tokens < last.tokens:
        yield "tokens", f"is {body.tokens}, and was {last.tokens} before"
    yield from _cost(last, body)
    if body.incomplete < (body.stop_reason in (LOST, OUT_OF_BUDGET) or is_incomplete(body.stop_reason)):
        yield "incomplete", f"a run that ended for {body.stop_reason} is"
    settled = last is not None and last.should_stop
    if body.stop_reason == "converged" and not settled:
        yield "stop_reason", "the last batch did not say that it should stop"
    if body.stop_reason == "k_max_reached" and (settled or body.k_attempted != start.k_planned):
        yield "stop_reason", f"{body.k_attempted} of {start.k_planned} trials were carried out"
    if body.stop_reason == "completed" and last is None:
        yield "stop_reason", "a run that carried no trial out has settled nothing"
