"""What the lab says of a run when it starts."""

from __future__ import annotations

from typing import Final, Literal

from moot.arbiter.resolving import Prepared
from moot.protocols.arbiter.certificate import closed_labels
from moot.protocols.arbiter.embed_text import well_formed
from moot.protocols.arbiter.generated import ResolvedContract
from moot.protocols.lab.messages import (
    LONGEST_SILENCE_S,
    MOST_LABEL,
    MOST_QUESTION,
    ExperimentStarted,
    Person,
    StopPolicy,
)

RUNNER: Final = Person(platform="cli", user_id="arbiter")
"""Who starts a run of which no society hears."""


def started_of(
    prepared: Prepared,
    before: int,
    *,
    mode: Literal["mock", "live"] = "live",
    silence_s: int = LONGEST_SILENCE_S,
) -> ExperimentStarted:
    """Say how a run starts.

    Args:
        prepared: The run.
        before: Experiments of the same run that have ended.
        mode: Whether anybody is asked.
        silence_s: Seconds after each message in which the next must come.
    """
    config = prepared.config
    execution, clustering = config.execution, config.measurement.clustering
    is_clustered = clustering.enabled and clustering.stop_mode != "disabled"
    run_id = config.run.run_id
    return ExperimentStarted(
        experiment_id=f"exp_{run_id}-{before}" if before else f"exp_{run_id}",
        run_id=run_id,
        started_by=RUNNER,
        question=well_formed(config.question.text)[:MOST_QUESTION],
        mode=mode,
        protocol=config.protocol.type,
        models=tuple(dict.fromkeys(one.model for one in config.sampling.models)),
        k_planned=len(prepared.trials),
        k_min=execution.k_min,
        batch_size=execution.batch_size,
        stop_mode=execution.stop_mode,
        stop_policy=StopPolicy(**execution.stop_policy.as_json()),
        cluster_limit=clustering.cluster_limit if is_clustered else None,
        labels=_labels(config.protocol.decision_contract),
        config_sha256=prepared.hashes.config_sha256,
        plan_sha256=prepared.hashes.plan_sha256,
        silence_s=silence_s,
    )


def _labels(contract: ResolvedContract | None) -> tuple[str, ...]:
    """Return the labels that a contract lists; none where they are open, or longer than a message tells them."""
    found = closed_labels(contract)
    return () if any(len(label) > MOST_LABEL for label in found) else found
