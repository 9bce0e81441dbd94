"""A configuration with nothing left open: every default filled in, every prompt by text and hash."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import ConfigDict, Field, model_validator

from moot.protocols.arbiter.configuration import (
    CatalogStatus,
    Configuration,
    ContractChoice,
    Execution,
    InstrumentChoice,
    Measurement,
    ModelChoice,
    PersonaChoice,
    Protocol,
    ProtocolChoice,
    RetryPolicy,
    Sampling,
    StopPolicy,
    Timeouts,
)
from moot.protocols.arbiter.records import Count, Name, Positive, Record, Sha256, Share

EmbedSource = Literal["decision", "rationale", "raw_content"]


class ResolvedModel(ModelChoice):
    """A model, and whether the catalog knows it."""

    catalog_status: CatalogStatus


class ResolvedPersona(PersonaChoice):
    """A persona and its words."""

    sha256: Sha256
    text: str


class ResolvedTemplate(ProtocolChoice):
    """A template of how to answer, and its words."""

    sha256: Sha256
    text: str


class ResolvedInstrument(InstrumentChoice):
    """Further words that every trial is told."""

    sha256: Sha256
    text: str


class ResolvedSampling(Sampling):
    """What trials differ in."""

    models: Annotated[tuple[ResolvedModel, ...], Field(min_length=1)]
    personas: Annotated[tuple[ResolvedPersona, ...], Field(min_length=1)]
    protocols: Annotated[tuple[ResolvedTemplate, ...], Field(min_length=1)]
    instruments: tuple[ResolvedInstrument, ...] | None = None


class ResolvedTimeouts(Timeouts):
    """How long a call and a trial may take."""

    per_call_timeout_ms: Positive
    per_call_max_retries: Count
    total_trial_timeout_ms: Positive


class ResolvedContract(ContractChoice):
    """The decision contract, whole."""

    sha256: Sha256
    schema_: dict[str, Any] = Field(alias="schema")
    embed_text_source: EmbedSource
    rationale_max_chars: Positive | None = None


class RolePrompt(Record):
    """What a role of a debate is told."""

    id: Name
    sha256: Sha256
    text: str


class RolePrompts(Record):
    """What the roles of a debate are told."""

    proposer_system: RolePrompt
    critic_system: RolePrompt
    proposer_final_system: RolePrompt


class ResolvedProtocol(Protocol):
    """How one trial goes."""

    model_config = ConfigDict(
        json_schema_extra={
            "if": {"properties": {"type": {"const": "debate_v1"}}},
            "then": {"required": ["prompts"]},
        }
    )

    timeouts: ResolvedTimeouts
    decision_contract: ResolvedContract | None = None
    prompts: RolePrompts | None = None

    @model_validator(mode="after")
    def _debate_has_prompts(self) -> Self:
        if self.type == "debate_v1" and self.prompts is None:
            raise ValueError("prompts are needed for debate_v1")
        return self


class ResolvedRetryPolicy(RetryPolicy):
    """How often a call that failed is sent again, and after which pause."""

    backoff_ms: Count


class ResolvedStopPolicy(StopPolicy):
    """When answers count as settled."""

    novelty_epsilon: Share
    similarity_threshold: Share
    patience: Positive


class ResolvedExecution(Execution):
    """How many trials, how many at once, and when to stop."""

    retry_policy: ResolvedRetryPolicy
    stop_policy: ResolvedStopPolicy


class ResolvedMeasurement(Measurement):
    """How answers are measured."""

    embedding_max_chars: Positive


class ResolvedConfiguration(Configuration):
    """A run as it is carried out; config.resolved.json."""

    sampling: ResolvedSampling
    protocol: ResolvedProtocol
    execution: ResolvedExecution
    measurement: ResolvedMeasurement
