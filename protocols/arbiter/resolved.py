"""A configuration with nothing left open: every default filled in, every prompt by text and hash."""

from moot.protocols.arbiter.generated import (
    EmbedSource,
    ResolvedConfiguration,
    ResolvedContract,
    ResolvedExecution,
    ResolvedInstrument,
    ResolvedMeasurement,
    ResolvedModel,
    ResolvedPersona,
    ResolvedProtocol,
    ResolvedRetryPolicy,
    ResolvedSampling,
    ResolvedStopPolicy,
    ResolvedTemplate,
    ResolvedTimeouts,
    RolePrompt,
    RolePrompts,
)

__all__ = [
    "EmbedSource",
    "ResolvedConfiguration",
    "ResolvedContract",
    "ResolvedExecution",
    "ResolvedInstrument",
    "ResolvedMeasurement",
    "ResolvedModel",
    "ResolvedPersona",
    "ResolvedProtocol",
    "ResolvedRetryPolicy",
    "ResolvedSampling",
    "ResolvedStopPolicy",
    "ResolvedTemplate",
    "ResolvedTimeouts",
    "RolePrompt",
    "RolePrompts",
]
