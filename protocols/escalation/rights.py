"""Who posts the messages of an escalation: all in #admin, a change of mode where the system speaks; one row a type."""

from __future__ import annotations

from typing import Final

from moot.protocols.escalation.mode import CHANNELS
from moot.protocols.kernel.catalogue import Right
from moot.protocols.kernel.rights import ADMIN_CHANNEL
from moot.protocols.kernel.seats import ADMIN, REFEREE

RIGHTS: Final = (
    Right("ESCALATION", frozenset({REFEREE}), ADMIN_CHANNEL),
    Right("ESCALATION_PAGED", frozenset({REFEREE}), ADMIN_CHANNEL),
    Right("ESCALATION_ACK", frozenset({ADMIN}), ADMIN_CHANNEL),
    Right("ESCALATION_ANSWER", frozenset({ADMIN}), ADMIN_CHANNEL),
    Right("ESCALATION_RESOLVED", frozenset({REFEREE}), ADMIN_CHANNEL),
    Right("MODE_CHANGED", frozenset({REFEREE}), frozenset(CHANNELS.values())),
)
