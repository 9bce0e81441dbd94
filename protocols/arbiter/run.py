"""What a run says of itself: its manifest, its aggregates, where its embeddings come from."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from moot.protocols.arbiter.bank import CatalogVersion
from moot.protocols.arbiter.policy import Policy
from moot.protocols.arbiter.records import Count, Name, Positive, Record, SchemaVersion, Sha256, Share
from moot.protocols.arbiter.resolved import ResolvedStopPolicy
from moot.protocols.arbiter.stopping import StopReason

Instant = Annotated[str, Field(pattern=r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$")]


class Timestamps(Record):
    """When a run began and ended, UTC."""

    started_at: Instant
    completed_at: Instant


class RecordedStopPolicy(ResolvedStopPolicy):
    """When answers count as settled, and from how many on."""

    k_min_eligible: Count


class Hashes(Record):
    """What a run was made from."""

    config_sha256: Sha256
    plan_sha256: Sha256
    model_catalog_version: CatalogVersion
    model_catalog_sha256: Sha256
    prompt_manifest_sha256: Sha256


class Artifact(Record):
    """A file of a run."""

    path: Name
    record_count: Count | None = None
    note: str | None = None


class Artifacts(Record):
    """The files of a run."""

    entries: tuple[Artifact, ...]


class Manifest(Hashes):
    """What a run was, how it ended, and which files it left; manifest.json."""

    schema_version: SchemaVersion
    arbiter_version: Name
    run_id: Name
    started_at: Instant
    completed_at: Instant
    timestamps: Timestamps
    stop_reason: StopReason
    stopping_mode: Literal["advisor", "enforcer", "resolve_only"]
    incomplete: bool
    k_attempted: Count
    k_eligible: Count
    k_planned: Count
    k_min: Count
    k_min_count_rule: Literal["k_eligible", "k_attempted"]
    stop_policy: RecordedStopPolicy
    hash_algorithm: Literal["sha256"]
    provenance: Hashes
    artifacts: Artifacts
    policy: Policy
    usage: dict[str, Any] | None = None
    notes: str | None = None
    git_sha: str | None = None


class Aggregates(Record):
    """What stands for a run: what its last batch said, not means over it; aggregates.json."""

    schema_version: SchemaVersion
    k_attempted: Count
    k_eligible: Count
    novelty_rate: Share | None
    mean_max_sim_to_prior: Share | None
    cluster_count: Count | None
    entropy: Annotated[float, Field(ge=0)] | None
    incomplete: bool


class _Provenance(Record):
    schema_version: SchemaVersion
    intended_primary_format: Literal["arrow_ipc_file"]
    dtype: Literal["float32"]
    requested_embedding_model: Name
    actual_embedding_model: str | None
    generation_ids: tuple[str, ...] | None = None
    embed_text_strategy: Literal["outcome_only", "outcome_or_raw_assistant"]
    normalization: Literal["newline_to_lf+trim_trailing"]


class NotGenerated(_Provenance):
    """There are no embeddings."""

    status: Literal["not_generated"]
    reason: Literal["resolve_only", "no_successful_embeddings"]
    primary_format: Literal["none"]
    note: str


class EmbeddingCounts(Record):
    """How many trials were embedded."""

    total_trials: Count
    successful_embeddings: Count
    failed_embeddings: Count
    skipped_embeddings: Count


class ArrowGenerated(_Provenance):
    """The embeddings stand in embeddings.arrow."""

    status: Literal["arrow_generated"]
    primary_format: Literal["arrow"]
    dimensions: Positive
    counts: EmbeddingCounts
    debug_jsonl_present: bool


class JsonlFallback(_Provenance):
    """The embeddings could not be written as Arrow, and stand in debug/embeddings.jsonl."""

    status: Literal["jsonl_fallback"]
    primary_format: Literal["jsonl"]
    arrow_error: str
    jsonl_encoding: Literal["float32le_base64"]


Provenance = Annotated[NotGenerated | ArrowGenerated | JsonlFallback, Field(discriminator="status")]
"""Where the embeddings of a run are and how they came about; embeddings.provenance.json."""
