"""Who posts the messages of an escalation: all in #admin, a change of mode where the system speaks; one row a type."""

from __future__ import annotations

from typing import Final

from moot.protocols.escalation.mode import CHANNELS
from moot.protocols.kernel.catalogue import Right
from moot.protocols.kernel.rights import ADMIN, ADMIN_CHANNEL, REFEREE

RIGHTS: Final = (
    Right("ESCALATION", REFEREE, ADMIN_CHANNEL),
    Right("ESCALATION_PAGED", REFEREE, ADMIN_CHANNEL),
    Right("ESCALATION_ACK", ADMIN, ADMIN_CHANNEL),
    Right("ESCALATION_ANSWER", ADMIN, ADMIN_CHANNEL),
    Right("ESCALATION_RESOLVED", REFEREE, ADMIN_CHANNEL),
    Right("MODE_CHANGED", REFEREE, frozenset(CHANNELS.values())),
)
