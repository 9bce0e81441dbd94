"""A trial as it was carried out."""

from moot.protocols.arbiter.generated import (
    Attempt,
    Call,
    Payload,
    Speaker,
    Trial,
    TrialError,
    Turn,
    Usage,
)

__all__ = [
    "Attempt",
    "Call",
    "Payload",
    "Speaker",
    "Trial",
    "TrialError",
    "Turn",
    "Usage",
]
