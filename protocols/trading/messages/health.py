"""Health: how the seats of a system are, derived from the log."""

from __future__ import annotations

from typing import Literal

from moot.protocols.kernel.fields import FrozenJson
from moot.protocols.kernel.message import Instant, Message


class HealthCheck(Message):
    """Say how the seats of a system are. Referee, #admin.

    `agents` maps a seat to {status: ok|timeout|error, last_active: instant or null}; `metrics` holds what the
    log counts.
    """

    type: Literal["HEALTH_CHECK"] = "HEALTH_CHECK"
    system: Literal["A", "B"]
    timestamp: Instant
    status: Literal["HEALTHY", "DEGRADED", "CRITICAL"]
    agents: FrozenJson
    metrics: FrozenJson
