"""What the lab says of a run when it starts."""

from __future__ import annotations

from typing import Final

from moot.arbiter.resolving import Prepared
from moot.protocols.arbiter.embed_text import well_formed
from moot.protocols.lab.messages import (
    LONGEST_SILENCE_S,
    MOST_QUESTION,
    ExperimentStarted,
    Person,
    StopPolicy,
)

RUNNER: Final = Person(platform="cli", user_id="arbiter")
"""Who starts a run of which no society hears."""


def started_of(prepared: Prepared, before: int) -> ExperimentStarted:
    """Say how a live run starts.

    Args:
        prepared: The run.
        before: Experiments of the same run that have ended.
    """
    config = prepared.config
    execution, clustering = config.execution, config.measurement.clustering
    is_clustered = clustering.enabled and clustering.stop_mode != "disabled"
    run_id = config.run.run_id
    return ExperimentStarted(
        experiment_id=f"exp_{run_id}.{before}" if before else f"exp_{run_id}",
        run_id=run_id,
        started_by=RUNNER,
        question=well_formed(config.question.text)[:MOST_QUESTION],
        mode="live",
        protocol=config.protocol.type,
        models=tuple(dict.fromkeys(one.model for one in config.sampling.models)),
        k_planned=len(prepared.trials),
        k_min=execution.k_min,
        batch_size=execution.batch_size,
        stop_mode=execution.stop_mode,
        stop_policy=StopPolicy(**execution.stop_policy.as_json()),
        cluster_limit=clustering.cluster_limit if is_clustered else None,
        labels=(),
        config_sha256=prepared.hashes.config_sha256,
        plan_sha256=prepared.hashes.plan_sha256,
        silence_s=LONGEST_SILENCE_S,
    )
