"""A run that asks nobody: everything is resolved, planned and hashed, and stands in a folder to be read."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from moot.config.arbiter.bank import Bank
from moot.protocols.arbiter.convergence import aggregates
from moot.protocols.arbiter.embed_text import NORMALIZATION
from moot.protocols.arbiter.generated import (
    Artifact,
    Artifacts,
    Hashes,
    Manifest,
    NotGenerated,
    PlannedTrial,
    Policy,
    RecordedStopPolicy,
    ResolvedConfiguration,
    Timestamps,
)
from moot.protocols.arbiter.hashes import config_sha256, plan_sha256, whole_numbers
from moot.protocols.arbiter.plan import plan
from moot.protocols.arbiter.record import SCHEMA_VERSION, Record
from moot.version import MOOT_VERSION

EMPTY: Final = ("trials.jsonl", "parsed.jsonl", "convergence_trace.jsonl")
"""What holds a line for each trial or batch that was carried out."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A run before its first call.

    Attributes:
        config: With nothing left open.
        trials: The plan, by trial_id.
        hashes: What it is made from.
    """

    config: ResolvedConfiguration
    trials: tuple[PlannedTrial, ...]
    hashes: Hashes


def prepare(config: ResolvedConfiguration, bank: Bank) -> Prepared:
    """Draw the plan and take the hashes."""
    trials = tuple(plan(config))
    hashes = Hashes(
        config_sha256=config_sha256(config.as_json()),
        plan_sha256=plan_sha256([one.as_json() for one in trials]),
        model_catalog_version=bank.catalog.catalog_version,
        model_catalog_sha256=bank.model_catalog_sha256,
        prompt_manifest_sha256=bank.prompt_manifest_sha256,
    )
    return Prepared(config, trials, hashes)


def run_id(now: datetime, chance: bytes) -> str:
    """Return the id of a run that begins now.

    Args:
        now: UTC.
        chance: Three random bytes, that runs of the same second differ.
    """
    return f"{now:%Y%m%dT%H%M%SZ}_{chance.hex()}"


def write_resolved(prepared: Prepared, directory: Path, policy: Policy, now: datetime) -> Manifest:
    """Write the folder of a run that makes no trial; the manifest comes last.

    Args:
        prepared: The run.
        directory: Is made; must not exist yet.
        policy: What it allows.
        now: UTC.

    Raises:
        OSError: The folder exists, or cannot be written.
    """
    directory.mkdir(parents=True)
    config, trials = prepared.config, prepared.trials
    manifest = _manifest(prepared, policy, now)
    _write_json(directory / "config.resolved.json", config)
    _write_lines(directory / "trial_plan.jsonl", trials)
    for name in EMPTY:
        _write_lines(directory / name, ())
    _write_json(
        directory / "aggregates.json",
        aggregates(None, incomplete=False),
    )
    _write_json(
        directory / "embeddings.provenance.json",
        NotGenerated(
            schema_version=SCHEMA_VERSION,
            status="not_generated",
            reason="resolve_only",
            intended_primary_format="arrow_ipc_file",
            primary_format="none",
            dtype="float32",
            requested_embedding_model=config.measurement.embedding_model,
            actual_embedding_model=None,
            embed_text_strategy=config.measurement.embed_text_strategy,
            normalization=NORMALIZATION,
            note="The run was resolved only: nothing was asked, nothing embedded.",
        ),
    )
    _write_json(directory / "manifest.json", manifest)
    return manifest


def _manifest(prepared: Prepared, policy: Policy, now: datetime) -> Manifest:
    config, execution = prepared.config, prepared.config.execution
    instant = f"{now:%Y-%m-%dT%H:%M:%S}.{now.microsecond // 1000:03}Z"
    counts = {"trial_plan.jsonl": len(prepared.trials), **dict.fromkeys(EMPTY, 0)}
    return Manifest(
        **prepared.hashes.model_dump(),
        schema_version=SCHEMA_VERSION,
        arbiter_version=MOOT_VERSION,
        run_id=config.run.run_id,
        started_at=instant,
        completed_at=instant,
        timestamps=Timestamps(started_at=instant, completed_at=instant),
        stop_reason="completed",
        stopping_mode="resolve_only",
        incomplete=False,
        k_attempted=0,
        k_eligible=0,
        k_planned=len(prepared.trials),
        k_min=execution.k_min,
        k_min_count_rule=execution.k_min_count_rule,
        stop_policy=RecordedStopPolicy(**execution.stop_policy.model_dump(), k_min_eligible=execution.k_min),
        hash_algorithm="sha256",
        provenance=prepared.hashes,
        artifacts=Artifacts(
            entries=(
                Artifact(path="config.resolved.json"),
                *(Artifact(path=name, record_count=count) for name, count in counts.items()),
                Artifact(path="aggregates.json"),
                Artifact(path="embeddings.provenance.json"),
                Artifact(path="manifest.json"),
            )
        ),
        policy=policy,
    )


def _write_json(path: Path, record: Record) -> None:
    _write(path, json.dumps(whole_numbers(record.as_json()), ensure_ascii=False, indent=2) + "\n")


def _write_lines(path: Path, records: Iterable[Record]) -> None:
    lines = (json.dumps(whole_numbers(one.as_json()), ensure_ascii=False) for one in records)
    _write(path, "".join(f"{line}\n" for line in lines))


def _write(path: Path, text: str) -> None:
    """Write a file that is there whole or not at all."""
    beside = path.with_name(f"{path.name}.part")
    beside.write_text(text, encoding="utf-8")
    beside.replace(path)
