"""What a run says of itself in manifest.json: at its start, and again at its end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from moot.arbiter.events import RunEnded
from moot.arbiter.resolving import Prepared
from moot.protocols.arbiter.generated import (
    Artifact,
    Artifacts,
    Manifest,
    Policy,
    RecordedStopPolicy,
    Timestamps,
)
from moot.protocols.arbiter.record import SCHEMA_VERSION
from moot.version import MOOT_VERSION


def first_manifest(
    prepared: Prepared,
    policy: Policy,
    now: str,
    entries: Sequence[Artifact],
    *,
    mode: Literal["advisor", "enforcer", "resolve_only"] | None = None,
    notes: str | None = None,
) -> Manifest:
    """Return what a run says before its first trial; a killed one leaves that, and so is incomplete.

    Source: ruling R-S8.

    Args:
        prepared: The run.
        policy: What it allows.
        now: ISO 8601, UTC and ending in Z.
        entries: The files there are.
        mode: `resolve_only` for a run that makes no trial, and so is complete; else the run's own.
        notes: What else is to be said of it.
    """
    config, execution = prepared.config, prepared.config.execution
    return Manifest(
        **dict(prepared.hashes),
        schema_version=SCHEMA_VERSION,
        arbiter_version=MOOT_VERSION,
        run_id=config.run.run_id,
        started_at=now,
        completed_at=now,
        timestamps=Timestamps(started_at=now, completed_at=now),
        stop_reason="completed",
        stopping_mode=mode or execution.stop_mode,
        incomplete=mode != "resolve_only",
        k_attempted=0,
        k_eligible=0,
        k_planned=len(prepared.trials),
        k_min=execution.k_min,
        k_min_count_rule=execution.k_min_count_rule,
        stop_policy=RecordedStopPolicy(**dict(execution.stop_policy), k_min_eligible=execution.k_min),
        hash_algorithm="sha256",
        provenance=prepared.hashes,
        artifacts=Artifacts(entries=tuple(entries)),
        policy=policy,
        notes=notes,
    )


def last_manifest(first: Manifest, ended: RunEnded, entries: Sequence[Artifact]) -> Manifest:
    """Return what a run says at its end.

    Args:
        first: What it said at its start.
        ended: How it ended.
        entries: The files it left.
    """
    return Manifest(
        **{
            **dict(first),
            "completed_at": ended.ended_at,
            "timestamps": Timestamps(started_at=first.started_at, completed_at=ended.ended_at),
            "stop_reason": ended.stop_reason,
            "incomplete": ended.incomplete,
            "k_attempted": ended.k_attempted,
            "k_eligible": ended.embeddings.successful,
            "artifacts": Artifacts(entries=tuple(entries)),
            "usage": ended.usage,
            "notes": "; ".join(filter(None, (ended.notes, first.notes))) or None,
        }
    )
