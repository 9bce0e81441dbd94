"""A trial as it was carried out."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import ConfigDict, Field, model_validator

from moot.protocols.arbiter.configuration import ProtocolType
from moot.protocols.arbiter.plan import AssignedConfig, Roles
from moot.protocols.arbiter.records import Count, Name, Record
from moot.protocols.arbiter.run import Instant

Speaker = Literal["proposer", "critic"]
Payload = dict[str, Any]


class Attempt(Record):
    """When a call or a trial was made, and how often it was sent again."""

    started_at: Instant
    completed_at: Instant
    latency_ms: Count
    retry_count: Count


class TrialError(Record):
    """What went wrong."""

    message: str
    code: str | None
    retryable: bool


class Usage(Record):
    """Tokens that a reply says it took, and its price in US dollars where it names one."""

    prompt_tokens: Count
    completion_tokens: Count
    total_tokens: Count
    cost: Annotated[float, Field(ge=0)] | None = None


class Call(Record):
    """A call of a debate."""

    call_index: Count
    turn: Count
    role: Speaker
    model_requested: Name
    model_actual: str | None
    request_payload: Payload
    response_payload: Payload | None
    usage: Usage | None = None
    attempt: Attempt
    error_message: str | None


class Turn(Record):
    """What was said in a turn of a debate."""

    turn: Count
    role: Speaker
    content: str


class Trial(Record):
    """A line of trials.jsonl; a debate tells its roles, calls and turns."""

    model_config = ConfigDict(
        json_schema_extra={
            "if": {"properties": {"protocol": {"const": "debate_v1"}}},
            "then": {"required": ["role_assignments", "calls", "transcript"]},
        }
    )

    trial_id: Count
    requested_model_slug: Name
    actual_model: str | None
    protocol: ProtocolType
    status: Literal["success", "error", "model_unavailable", "timeout_exhausted"]
    assigned_config: AssignedConfig
    attempt: Attempt | None = None
    error: TrialError | None = None
    error_code: str | None
    raw_assistant_text: str | None = None
    request_payload: Payload | None = None
    response_payload: Payload | None = None
    usage: Usage | None = None
    metadata: Payload | None = None
    role_assignments: Roles | None = None
    calls: tuple[Call, ...] | None = None
    transcript: tuple[Turn, ...] | None = None

    @model_validator(mode="after")
    def _debate_tells_its_turns(self) -> Self:
        if self.protocol == "debate_v1" and None in (self.role_assignments, self.calls, self.transcript):
            raise ValueError("role_assignments, calls and transcript are needed for debate_v1")
        return self
