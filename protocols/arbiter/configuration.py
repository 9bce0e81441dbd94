"""What a user configures: one file, `arbiter.config.json`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag

from moot.protocols.arbiter.records import Count, Name, Positive, Record, SchemaVersion, Sha256, Share

ProtocolType = Literal["independent", "debate_v1"]
CatalogStatus = Literal["known", "unknown_to_catalog"]
Weight = Annotated[float, Field(ge=0)]


def _kind(given: Any) -> str:
    """Say which member of a union a value is meant for, so that one fault is told once."""
    if isinstance(given, dict | Record):
        return "range"
    return "text" if isinstance(given, str) else "number"


Seed = Annotated[
    Annotated[Count, Tag("number")] | Annotated[Name, Tag("text")],
    Discriminator(lambda given: "text" if isinstance(given, str) else "number"),
]


class Range(Record):
    """Bounds between which each trial draws a number."""

    min: float
    max: float


class WholeRange(Record):
    """Bounds between which each trial draws a whole number."""

    min: int
    max: int


Decoded = Annotated[
    Annotated[float, Tag("number")] | Annotated[Range, Tag("range")],
    Discriminator(lambda given: "range" if _kind(given) == "range" else "number"),
]
DecodedWhole = Annotated[
    Annotated[int, Tag("number")] | Annotated[WholeRange, Tag("range")],
    Discriminator(lambda given: "range" if _kind(given) == "range" else "number"),
]


class RunSettings(Record):
    """The run's id, given when it starts, and the seed that decides its plan."""

    run_id: Name
    seed: Seed


class Question(Record):
    """What every trial asks."""

    text: Name
    question_id: str | None = None
    source: str | None = None


class ModelChoice(Record):
    """A model, drawn in proportion to its weight."""

    model: Name
    weight: Weight
    catalog_status: CatalogStatus | None = None


class PersonaChoice(Record):
    """A persona, drawn in proportion to its weight."""

    persona: Name
    weight: Weight
    sha256: Sha256 | None = None
    text: str | None = None


class ProtocolChoice(Record):
    """A template of how to answer, drawn in proportion to its weight."""

    protocol: Name
    weight: Weight
    sha256: Sha256 | None = None
    text: str | None = None


class InstrumentChoice(Record):
    """Further words that every trial is told."""

    instrument: Name
    sha256: Sha256 | None = None
    text: str | None = None


class Decode(Record):
    """How answers are sampled; a range is drawn anew for each trial."""

    temperature: Decoded | None = None
    top_p: Decoded | None = None
    max_tokens: DecodedWhole | None = None
    presence_penalty: Decoded | None = None
    frequency_penalty: Decoded | None = None


class Sampling(Record):
    """What trials differ in."""

    models: Annotated[tuple[ModelChoice, ...], Field(min_length=1)]
    personas: Annotated[tuple[PersonaChoice, ...], Field(min_length=1)]
    protocols: Annotated[tuple[ProtocolChoice, ...], Field(min_length=1)]
    instruments: tuple[InstrumentChoice, ...] | None = None
    decode: Decode | None = None


class Timeouts(Record):
    """How long a call and a trial may take."""

    per_call_timeout_ms: Positive | None = None
    per_call_max_retries: Count | None = None
    total_trial_timeout_ms: Positive | None = None


class ContractChoice(Record):
    """The decision contract that answers are held to."""

    id: Name


class Protocol(Record):
    """How one trial goes: one call, or proposer, critic and proposer again."""

    type: ProtocolType
    timeouts: Timeouts | None = None
    decision_contract: ContractChoice | None = None


class RetryPolicy(Record):
    """How often a call that failed is sent again, and after which pause."""

    max_retries: Count
    backoff_ms: Count | None = None


class StopPolicy(Record):
    """When answers count as settled."""

    novelty_epsilon: Share | None = None
    similarity_threshold: Share | None = None
    patience: Positive | None = None


class Execution(Record):
    """How many trials, how many at once, and when to stop."""

    k_max: Positive
    k_min: Count
    k_min_count_rule: Literal["k_eligible", "k_attempted"]
    batch_size: Positive
    workers: Positive
    retry_policy: RetryPolicy
    timeout_ms: Positive | None = None
    stop_mode: Literal["advisor", "enforcer"]
    stop_policy: StopPolicy | None = None


class Clustering(Record):
    """How answers are grouped while they come in."""

    enabled: bool
    algorithm: Literal["online_leader"]
    tau: Share
    centroid_update_rule: Literal["fixed_leader", "incremental_mean"]
    cluster_limit: Positive
    stop_mode: Literal["disabled", "advisory", "enforced"]


class Measurement(Record):
    """How answers are measured."""

    embedding_model: Name
    embedding_max_chars: Positive | None = None
    embed_text_strategy: Literal["outcome_only", "outcome_or_raw_assistant"]
    novelty_threshold: Share
    clustering: Clustering


class Output(Record):
    """Where runs go when the command names no other folder."""

    runs_dir: str


class Configuration(Record):
    """A run as a user asks for it."""

    schema_version: SchemaVersion
    readme: Any = Field(default=None, alias="_readme", json_schema_extra={"not": {"type": "null"}})
    template_id: str | None = None
    display_name: str | None = None
    description: str | None = None
    run: RunSettings
    question: Question
    sampling: Sampling
    protocol: Protocol
    execution: Execution
    measurement: Measurement
    output: Output
